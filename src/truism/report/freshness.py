"""The status of a model in words: what it is, why, and what to do about it."""

from truism.explaining.freshness import Status
from truism.model.wording import count

N_SIGNS = 8


def say_status(status: Status) -> list[tuple[str, str]]:
    """Return lines with a heading each: the verdict, why, since when, and what to do."""
    lines = [("status", f"{status.verdict}, by {count(status.n_rows, 'row')}")]
    heading = "because"
    for sign in status.signs[:N_SIGNS]:
        lines.append((heading, sign.text))
        heading = ""
    if len(status.signs) > N_SIGNS:
        lines.append(("", f"and {len(status.signs) - N_SIGNS:,} more signs"))
    if status.since is not None and status.n_older is not None:
        lines.append(
            (
                "change",
                f"the newest lasting change began at {status.since}; all "
                f"{count(status.n_older, 'training row')} are older",
            )
        )
    lines.append(("remedy", say_remedy(status)))
    return lines


def say_remedy(status: Status) -> str:
    """Say what to do."""
    after = "" if status.since is None else f" after {status.since}"
    learn = f"learn again from rows{after}"
    match status.remedy:
        case "none":
            return "none needed" if status.verdict == "fresh" else "look at the variables above"
        case "look":
            return f"look at how the rows were exported; if that is meant to stay, {learn}"
        case "accept":
            named = "" if status.change is None else f" (--shift {status.change})"
            return f"accept the lasting change if it is meant to stay{named}, or {learn}"
        case "calibrate":
            return "calibrate the threshold on rows known to be normal"
    return learn
