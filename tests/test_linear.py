"""No pattern that meets a user's text takes more than linear time, and so no reader of tables.

Python's patterns try one way after the other. A text of n letters is tried in about n² ways where two
repeats can divide the same letters between them, or where a search may begin anywhere in a repeat that it
cannot leave. Both are seen in the pattern itself.
"""

import ast
import base64
import itertools
import random
import re
import re._constants as signs
import re._parser as parser
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import truism
from truism.errors import TruismError
from truism.table.files import read
from truism.table.looking import look

LETTERS = frozenset(
    [*map(chr, range(128)), *"\x85\xa0\u202f\u2009\u2028°%‰/³²µΩ€£¥−’≤≥∈⇒äöüÄÖÜ", "\ue000"]
)
SOURCES = Path(truism.__file__).parent
SEARCHES = {"search", "sub", "subn", "split", "findall", "finditer"}
METHODS = {*SEARCHES, "match", "fullmatch", "compile"}


# --- the automaton of a pattern: each place holds the letters that may stand there ---


class Automaton:
    """Places of single letters, and which may follow which."""

    def __init__(self, pattern, flags=0):
        self.flags, self.letters, self.after = flags, [], []
        empty, self.first, self.last = self._sequence(parser.parse(pattern, flags))
        self.may_be_empty = empty

    def _place(self, letters):
        self.letters.append(frozenset(letters))
        self.after.append(set())
        place = len(self.letters) - 1
        return False, {place}, {place}

    def _sequence(self, items):
        """Return whether nothing may stand for items, and their first and last places."""
        empty, first, last = True, set(), set()
        for item in items:
            own_empty, own_first, own_last = self._item(*item)
            for place in last:
                self.after[place] |= own_first
            first |= own_first if empty else set()
            last = own_last | last if own_empty else own_last
            empty = empty and own_empty
        return empty, first, last

    def _item(self, sign, value):
        if sign is signs.SUBPATTERN:
            return self._sequence(value[-1])
        if sign is signs.BRANCH:
            ways = [self._sequence(way) for way in value[1]]
            firsts, lasts = (set().union(*(way[i] for way in ways)) for i in (1, 2))
            return any(way[0] for way in ways), firsts, lasts
        if sign in (signs.MAX_REPEAT, signs.MIN_REPEAT):
            return self._repeat(*value)
        if sign in (signs.AT, signs.ASSERT, signs.ASSERT_NOT):  # a condition, which may not hold
            return self._place(LETTERS)
        return self._place(x for x in LETTERS if self._accepts(sign, value, x))

    def _repeat(self, least, most, item):
        n_copies = least if most is signs.MAXREPEAT else most
        empty, first, last = True, set(), set()
        for i in range(n_copies + (most is signs.MAXREPEAT)):
            own_empty, own_first, own_last = self._sequence(item)
            if i == n_copies:  # as often as one likes
                for place in own_last:
                    self.after[place] |= own_first
            for place in last:
                self.after[place] |= own_first
            first |= own_first if empty else set()
            may_lack = own_empty or i >= least
            last = own_last | last if may_lack else own_last
            empty = empty and may_lack
        return empty, first, last

    def _accepts(self, sign, value, letter):
        if self.flags & re.IGNORECASE and letter.swapcase() != letter:
            return self._is(sign, value, letter) or self._is(sign, value, letter.swapcase())
        return self._is(sign, value, letter)

    def _is(self, sign, value, letter):
        match sign:
            case signs.LITERAL:
                return ord(letter) == value
            case signs.NOT_LITERAL:
                return ord(letter) != value
            case signs.ANY:
                return letter != "\n" or bool(self.flags & re.DOTALL)
            case signs.RANGE:
                return value[0] <= ord(letter) <= value[1]
            case signs.IN:
                wanted = value[0][0] is not signs.NEGATE
                return wanted == any(self._is(*one, letter) for one in value[not wanted :])
            case signs.CATEGORY:
                name = str(value).removeprefix("CATEGORY_").removeprefix("UNI_")
                kind = {"DIGIT": str.isdecimal, "SPACE": str.isspace, "WORD": _is_word}
                return kind[name.removeprefix("NOT_")](letter) != name.startswith("NOT_")
        raise NotImplementedError(sign)

    def reachable(self, places, letters):
        """Return all places to which some lead, by way of places that share letters."""
        seen, ahead = set(), set(places)
        while ahead:
            place = ahead.pop()
            if place not in seen and self.letters[place] & letters:
                seen.add(place)
                ahead |= self.after[place]
        return seen

    def loops(self):
        """Return the places that lead to each other."""
        all_after = [self.reachable(self.after[i], LETTERS) for i in range(len(self.after))]
        found = {
            frozenset(j for j in all_after[i] if i in all_after[j])
            for i in range(len(self.after))
            if i in all_after[i]
        }
        return [(loop, frozenset().union(*(self.letters[i] for i in loop))) for loop in found]


def _is_word(letter):
    return letter.isalnum() or letter == "_"


def faults(pattern, flags=0, *, searched=False):
    """Return what may take more than linear time, as the letters that are tried again and again."""
    automaton = Automaton(pattern, flags)
    loops = automaton.loops()
    found = []
    for loop, letters in loops:
        for place in loop:  # two ways on within one repeat
            for one, other in itertools.combinations(automaton.after[place] & loop, 2):
                found.append(automaton.letters[one] & automaton.letters[other])
        for other, others in loops:  # two repeats one after the other
            if loop != other:
                start = set().union(*(automaton.after[place] for place in loop))
                shared = letters & others
                found.append(shared if automaton.reachable(start, shared) & other else None)
        if searched and automaton.reachable(automaton.first, letters) & loop:
            found.append(None if loop <= automaton.last else letters)
    return [letters for letters in found if letters]


@pytest.mark.parametrize(
    ("pattern", "searched"),
    [
        (r"[^\s,]*[^\x00-\x7f][^\s,]*", False),
        (r"\s*[+-]?\s*\d+", False),
        (r"(a+)+b", False),
        (r"(a|aa)+b", False),
        (r"(\s*\S+){4}", False),
        (r"\d[\d,]*\.?\d*", False),
        (r".*[°%].*", False),
        (r"\d+(?:\.\d+)?\s*([a-z]*)\s*", False),
        (r"(?i:A*)a*", False),
        (r"\s*=", True),
        (r"\d+(?=x)", True),
    ],
)
def test_what_is_not_linear_is_seen(pattern, searched):
    flags = re.IGNORECASE if "(?i" in pattern else 0
    assert faults(pattern, flags, searched=searched)


@pytest.mark.parametrize(
    ("pattern", "searched"),
    [
        (r"\s*=", False),
        (r"[\W_]+|(?<=a)(?=b)", True),
        (r"\{%-?\s*endraw\s*-?%\}", True),
        (r"\d+(?:,\d{3})+\.\d+|\d+,\d*", False),
        (r'"[^"\\]*(?:\\.[^"\\]*)*"', False),
        (r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?(?![\w.])", False),
    ],
)
def test_what_is_linear_is_not(pattern, searched):
    assert not faults(pattern, searched=searched)


# --- the patterns of truism ---


def _text_of(node):
    """Return the text of an expression; what is known only later stands as one letter."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(map(_text_of, values))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text_of(left) + _text_of(right)
    return "\ue000"


def _flags_of(nodes):
    names = {
        each.attr for node in nodes for each in ast.walk(node) if isinstance(each, ast.Attribute)
    }
    return sum(getattr(re, name) for name in names & {"IGNORECASE", "DOTALL"})


def _called(tree):
    """Yield calls of methods: the name of what they belong to, their own name, and the call."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name)):
                yield owner, name, node


def patterns_in(text):
    """Return the patterns of a module, their flags, and whether texts are searched for them."""
    tree = ast.parse(text)
    uses = {}
    for owner, name, _ in _called(tree):
        uses.setdefault(owner, set()).add(name)
    searched_of = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                methods = uses.get(name, {"search"}) & METHODS
                searched_of[call] = not methods or bool(methods & SEARCHES)
            case ast.Attribute(value=ast.Call() as call, attr=name):
                searched_of[call] = name in SEARCHES
    for owner, name, call in _called(tree):
        if owner == "re" and name in METHODS:
            searched = searched_of.get(call, True) if name == "compile" else name in SEARCHES
            yield _text_of(call.args[0]), _flags_of([*call.args[1:], *call.keywords]), searched


def all_patterns():
    for source in sorted(SOURCES.rglob("*.py")):
        text = source.read_text("utf-8")
        for pattern, flags, searched in patterns_in(text) if "import re\n" in text else ():
            yield str(source.relative_to(SOURCES)), pattern, flags, searched


def test_every_pattern_of_truism_is_linear():
    patterns = list(all_patterns())
    assert len(patterns) > 20
    for place, pattern, flags, searched in patterns:
        assert not faults(pattern, flags, searched=searched), (place, pattern)


# --- tables ---

LENGTH = 40_000
CELLS = {
    "base64": base64.b64encode(random.Random(0).randbytes(LENGTH)).decode()[:LENGTH],
    "foreign at the end": "a" * LENGTH + "é",
    "blanks": "5" + " " * LENGTH + "x",
    "signs": "-" * LENGTH + "x",
    "groups": "1 234 " * (LENGTH // 6) + "x",
    "commas": "1," * (LENGTH // 2) + "x",
    "times": "12:30 " * (LENGTH // 6) + "x",
    "pairs": "a=b " * (LENGTH // 4),
    "camels": "aA1" * (LENGTH // 3),
}


def write_csv(cell, name, encoding="utf-8"):
    rows = "".join(f"{i};{i},5;{cell if i % 20 == 3 else 'on'}\n" for i in range(60))
    Path("t.csv").write_text(f"n;x;{name}\n{rows}", encoding)


def write_one_column(cell, name):
    rows = "".join(f"{i} {cell if i % 20 == 3 else cell[:50]}\n" for i in range(60))
    Path("t.csv").write_text(f"{name}\n{rows}")


def write_one_line(cell, name):
    Path("t.csv").write_text(name + cell * 75)  # of megabytes


def write_parquet(cell, name):
    cells = [cell if i % 20 == 3 else f"{i},5" for i in range(60)]
    pq.write_table(pa.table({"n": [*range(60)], name: cells}), "t.csv")


def write_windows(cell, name):
    write_csv(cell + "é", name, "cp1252")


WRITERS = (write_csv, write_windows, write_one_column, write_one_line, write_parquet)


def seconds(write, *how):
    """Return the processor time that reading and looking takes, or refusing to."""
    write(*how)
    started = time.process_time()
    try:
        found = read(["t.csv"], allow_empty=True)
    except TruismError:  # which is as good an answer, if it comes as soon
        pass
    else:
        look(found.table, found.reading, found.notices)
    return time.process_time() - started


@pytest.mark.parametrize("kind", CELLS)
def test_eight_times_as_long_cells_and_names_take_at_most_some_ten_times_as_long(
    kind, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    cell = CELLS[kind]
    short = cell[: LENGTH // 16] + cell[-LENGTH // 16 :]
    for write in WRITERS:
        base = max(seconds(write, short, "state"), 0.05)  # less is the cost of any file
        assert seconds(write, cell, "state") < 16 * base, write.__name__
    base = max(seconds(write_csv, "on", short), 0.05)
    assert seconds(write_csv, "on", cell) < 16 * base
