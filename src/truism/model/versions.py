"""Upgrades of model files of former versions: plain JSON objects go in and come out.

Version 1 had only rules. Version 2 added evidence, in keys of its own, and gave in sentences why the
threshold is what it is and what the user should know.
"""

from typing import Any

Json = dict[str, Any]

_EVIDENCE = ("units", "usual", "grave", "spacings", "splits", "contexts")
_ORIGINS = {"": "any_broken_rule", "any broken rule": "any_broken_rule", "set by hand": "by_hand"}
_USUAL_SUPPORT, _MOST_SUPPORT, _MAX_RATE = 0.01, 0.32, 0.01


def upgrade(content: Json) -> Json:
    """Return a file of version 1 or 2 as one of version 3, and any other as it is."""
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
    """Add the lists that a file omits because they are empty."""
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
    """Return whether a notice only repeats the list of columns that were left out."""
    left_out = content.get("left_out")
    return isinstance(left_out, list) and any(
        isinstance(each, dict)
        and text == f"Column {each.get('name')!r} is left out: {each.get('reason')}."
        for each in left_out
    )


def _support_origin(content: Json, made: Json) -> str:
    """Work out why θ is what it is, which former versions did not record."""
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
