"""The promise of whole files: after an attack each output is the old one or the new one, and whole."""

from pathlib import Path

from attack.attempts import Bench, Broken
from attack.samples import DRAFT, LOCKED, Writing, contents, masked


def check_outputs(
    bench: Bench, writing: Writing, before: dict[str, bytes], drafts_allowed: bool
) -> bool:
    """Raise `Broken` unless every output is as before or whole; return whether all are new."""
    wanted = bench.samples.written(writing, over=writing.outputs[0] in before)
    after = contents(bench.folder)
    n_new = 0
    for output in writing.outputs:
        found = after.pop(output, None)
        if found is not None and masked(found) == wanted[output]:
            n_new += 1
        elif drafts_allowed and not found and LOCKED.fullmatch(output) and output not in before:
            continue  # made for its lock by who was killed; counts as none
        elif found != before.get(output):
            size = "missing" if found is None else f"{len(found)} bytes"
            raise Broken(f"{output} is neither the old nor the new one ({size})")
    drafts = [name for name in after if DRAFT.fullmatch(Path(name).name)]
    if drafts and not drafts_allowed:
        raise Broken(f"a draft was left behind: {drafts[0]!r}")
    others = {name: content for name, content in after.items() if name not in drafts}
    kept = {name: content for name, content in before.items() if name not in writing.outputs}
    if others != kept:
        changed = sorted(set(others.items()) ^ set(kept.items()))
        raise Broken(f"another file was changed: {changed[0][0]!r}")
    return n_new == len(writing.outputs)
