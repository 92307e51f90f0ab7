"""Words that stand in place of a value, and words in the names of columns."""

import re
from collections.abc import Collection

MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NAN", "NaN", "NaT", "n/a", "nan", "null"),
)

# What historians, control systems, loggers and spreadsheets write where there is no value, in lower
# case. They are missing values only in a column that otherwise holds numbers or times: in a column of
# states "bad" is a state.
_STATUS_WORDS = frozenset(
    (
        *("-", "--", "---", "----", "-----", "?", "??", "???", ".", "..", "...", "*", "**", "***"),
        *("****", "*****", "######", "#####", "####", "###", "##", "#", "x", "xx", "xxx"),
        *("#value!", "#ref!", "#div/0!", "#name?", "#null!", "#num!", "#n/a", "#calc!", "#wert!"),
        *("#bezug!", "#nv", "#zahl!", "#getting_data", "#spill!", "#error", "#fehler"),
        *("bad", "bad input", "bad quality", "bad value", "badval", "bad tag", "bad data", "uncertain"),
        *("i/o timeout", "io timeout", "timeout", "time out", "comm fail", "comm failure", "commfail"),
        *("comm error", "communication error", "not connected", "disconnected", "no connection"),
        *("no data", "nodata", "no value", "novalue", "no sample", "no reading", "no result", "void"),
        *("calc failed", "calc failure", "calc timeout", "calc off", "arc off-line", "arc offline"),
        *("arcoff", "intf shut", "intf shutdown", "interface shutdown", "scan off", "scan timeout"),
        *("scanoff", "point off", "pt created", "pt off", "configure", "not configured", "no config"),
        *("under range", "over range", "underrange", "overrange", "under", "over", "ovr", "udr"),
        *("out of range", "out of service", "outofservice", "out of serv", "oos", "under lcl"),
        *("above ucl", "over ucl", "off-line", "offline", "equip fail", "equipment failure"),
        *("device failure", "device fail", "sensor failure", "sensor fail", "sensor fault", "snsr fail"),
        *("sensor error", "last known", "last known value", "failed", "fail", "failure", "fault"),
        *("faulty", "error", "err", "err!", "fehler", "ungültig", "störung", "invalid", "inv"),
        *("unknown", "unbekannt", "undefined", "undef", "undetermined", "none", "nil", "missing"),
        *("not available", "n.a.", "n.a", "na.", "na", "n/a", "nan", "null", "k.a.", "n/d", "nd"),
        *("n.d.", "b.d.", "bdl", "<dl", "<lod", "lod", "not detected", "not measured", "n.m.", "tbd"),
        *("maintenance", "maint", "calibration", "calibrating", "in calibration", "cal", "standby"),
        *("blank", "empty", "(null)", "[null]", "<null>", "(blank)"),
        *("no good data", "no good data for calculation", "stale", "suspect", "substituted", "snf"),
        *("wait", "waiting", "pending", "init", "initializing", "initialising"),
    )
)  # fmt: skip

_TIME_WORDS = frozenset(
    (
        *("time", "timestamp", "timestamps", "date", "datetime", "ts", "epoch", "unixtime", "unix"),
        *("utc", "localtime", "systime", "zeit", "zeitstempel", "datum", "uhrzeit", "zeitpunkt"),
        *("when", "heure", "fecha", "hora", "horodatage", "tijd", "dato"),
    )
)
_COUNTER_WORDS = frozenset(
    (
        *("id", "ids", "counter", "count", "cnt", "total", "totalizer", "totaliser", "totals"),
        *("tot", "zähler", "zaehler", "zählerstand", "meter", "cumulative", "cum", "accumulated"),
    )
)
_TOTAL_WORDS = frozenset(
    (
        *("total", "totals", "subtotal", "sum", "sums", "average", "avg", "mean", "median"),
        *("min", "max", "minimum", "maximum", "std", "stdev", "stddev"),
        *(
            "summe",
            "gesamt",
            "gesamtsumme",
            "zwischensumme",
            "mittelwert",
            "mittel",
            "durchschnitt",
        ),
        *("somme", "moyenne", "suma", "promedio", "media"),
    )
)
_CAMEL = re.compile(r"(?<=[a-zäöü])(?=[A-ZÄÖÜ])|(?<=[A-Za-zÄÖÜäöü])(?=\d)|[\W_]+")


def is_status(word: str) -> bool:
    """Return whether a text is a known word for a missing value.

    >>> is_status("I/O Timeout"), is_status("running")
    (True, False)
    """
    plain = " ".join(word.casefold().split())
    return plain in _STATUS_WORDS or plain.strip("[]()<>") in _STATUS_WORDS


def words_in(name: str) -> tuple[str, ...]:
    """Return the words of a name, in lower case.

    >>> words_in("FlowTotal_m3 [bar]")
    ('flow', 'total', 'm', '3', 'bar')
    """
    return tuple(part.casefold() for part in _CAMEL.split(name) if part)


def says_time(name: str) -> bool:
    """Return whether a whole word of a name says that the column is about time."""
    return _has_word(name, _TIME_WORDS)


def says_counter(name: str) -> bool:
    """Return whether a whole word of a name says id, counter or total."""
    return _has_word(name, _COUNTER_WORDS)


def _has_word(name: str, words: Collection[str]) -> bool:
    return any(word in words for word in words_in(name))


def says_total(value: object) -> bool:
    """Return whether a text in a cell is a word such as total, sum or average, perhaps of something.

    >>> says_total("Summe:"), says_total("Grand total"), says_total("sum of all pumps"), says_total(3)
    (True, True, True, False)
    """
    words = words_in(value) if isinstance(value, str) else ()
    return any(word in _TOTAL_WORDS for word in words[: 2 if words[:1] == ("grand",) else 1])
