"""The chapter about the first week is executed, and what it says is so."""

import re
from pathlib import Path

import truism

PAGE = Path(__file__).parent.parent / "docs" / "first-week.md"


def test_the_first_week_goes_as_told(tmp_path, monkeypatch, capsys):
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 6
    monkeypatch.chdir(tmp_path)
    week: dict[str, object] = {}
    said = []
    for block in blocks:
        exec(compile(block, "first-week.md", "exec"), week)
        said.append(capsys.readouterr().out)
    assert "at 01:33 LIT301 read 751.1 instead of at least 764.3" in said[1]
    assert said[2].startswith("stale\n  LIT301 is outside its range of training in 52")
    assert week["offer"].price.n_gone >= 1
    assert week["offer"].acceptance.variables == ("LIT301",)
    assert "would no longer be judged in 62.7 %" in week["offer"].warnings[0]
    start, end = week["alarm"].start, week["alarm"].end
    assert not any(each.start <= end and start <= each.end for each in week["replayed"])
    assert "no longer" in said[3]
    assert len(truism.load("april.truism.json").model_.accepted) == 1
    assert said[5].startswith(("fresh", "drifting"))
