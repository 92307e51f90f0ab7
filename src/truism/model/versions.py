"""Model files of former versions, brought up to date: plain JSON objects go in and come out.

Version 1 had rules alone. Version 2 had evidence beside them, in keys of its own, and said in sentences
why the threshold is what it is and what the user should know.
"""

from typing import Any

Json = dict[str, Any]

_EVIDENCE = ("units", "usual", "grave", "spacings", "splits", "contexts")
_ORIGINS = {"": "any_broken_rule", "any broken rule": "any_broken_rule", "set by hand": "by_hand"}
_USUAL_SUPPORT, _MOST_SUPPORT, _MAX_RATE = 0.01, 0.32, 0.01


def upgrade(content: Json) -> Json:
    """Turn a file of version 1 or 2 into one of version 3; leave any other as it is."""
    if content.get("format_version") not in (1, 2):
        return content
    evidence = {name: content[name] for name in _EVIDENCE if name in content}
    kept = {
        name: value
        for name, value in content.items()
        if name not in (*_EVIDENCE, "threshold_meaning")
    }
    return {
        **kept,
        "format_version": 3,
        "sections": {"evidence": 1} if evidence else {},
        "provenance": _provenance(content),
        "threshold": _threshold(content),
        **({"evidence": _with_lists(evidence)} if evidence else {}),
    }


def _with_lists(evidence: Json) -> Json:
    """Add the lists that were left out of a file because they were empty."""
    return {**{name: [] for name in ("usual", "spacings", "splits", "contexts")}, **evidence}


def _threshold(content: Json) -> Json:
    meaning = content.get("threshold_meaning", "")
    known = _ORIGINS.get(meaning) if isinstance(meaning, str) else None
    if not meaning and content.get("threshold"):
        known = None  # version 1 did not say why
    origin = {"type": "told", "text": meaning} if known is None else {"type": known}
    return {"value": content.get("threshold"), "origin": origin}


def _provenance(content: Json) -> Any:
    made = content.get("provenance")
    if not isinstance(made, dict):
        return made
    notices = made.get("notices")
    if isinstance(notices, list):
        notices = [
            {"type": "told", "text": text}
            for text in notices
            if not (isinstance(text, str) and _tells_what_is_left_out(text, content))
        ]
    listed = {} if notices is None else {"notices": notices}
    return {**made, **listed, "support_origin": _support_origin(content, made)}


def _tells_what_is_left_out(text: str, content: Json) -> bool:
    """Recognise what the list of columns that were left out says too."""
    left_out = content.get("left_out")
    return isinstance(left_out, list) and any(
        isinstance(each, dict)
        and text == f"Column {each.get('name')!r} is left out: {each.get('reason')}."
        for each in left_out
    )


def _support_origin(content: Json, made: Json) -> str:
    """Find out why θ was what it is, which former versions did not write down."""
    settings = content.get("settings")
    chosen = settings if isinstance(settings, dict) else {}
    value, trials = made.get("min_support"), made.get("trials")
    if chosen.get("min_support") != "auto":
        return "asked"
    if chosen.get("scoring", "paper") == "evidence":
        if value == _USUAL_SUPPORT:
            return "share"
        return "most" if value == _MOST_SUPPORT else "rows"
    for trial in trials if isinstance(trials, list) else ():
        if isinstance(trial, dict) and trial.get("min_support") == value:
            rate = trial.get("n_broken", 0) / max(trial.get("n_held_out", 1), 1)
            return "smallest" if rate < _MAX_RATE else "fewest"
    return "untried"
