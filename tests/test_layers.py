"""Rooms import only rooms before them, modules only modules before them, and libraries have one door."""

import ast
import functools
from pathlib import Path

import pytest

import truism

SOURCE = Path(truism.__file__).parent

# Data flows one way: a room may import the rooms above it, a module the modules above it in its room.
ROOMS = {
    "": ["version", "errors", "work"],
    "table": [
        *("zones", "layouts", "columns", "distinct", "notices", "cells", "frames", "libraries"),
        *(
            "deltas",
            "fingerprint",
            "joining",
            "aside",
            "atomic",
            "files",
            "counters",
            "looking",
            "labels",
            "batches",
        ),
    ],
    "model": [
        *(
            "ids",
            "schema",
            "predicates",
            "acceptances",
            "legend",
            "parsing",
            "wording",
            "rules",
            "evidence",
            "series",
            "rates",
            "settings",
        ),
        *("origins", "notices", "provenance", "model", "reduction", "stamps", "soundness"),
        *("contents", "format", "versions", "files", "implication", "matching", "comparison"),
    ],
    "scoring": [
        *("kernels", "scratch", "bits", "alignment", "truths", "limits", "readings", "leaves"),
        *("contexts", "repeats", "rarity", "sums", "worth", "decimals"),
        *(
            "evidence",
            "rulebook",
            "weighed",
            "stillness",
            "memory",
            "series",
            "tolerance",
            "weigher",
            "scorer",
            "thresholds",
        ),
    ],
    "explaining": [
        *("expectations", "circumstances", "nodes", "clues", "investigation", "reasons"),
        *(
            "statements",
            "moments",
            "rates",
            "events",
            "delays",
            "culprits",
            "tallies",
            "sparing",
            "blames",
            "explanations",
            "keeping",
        ),
        *(
            "marks",
            "folding",
            "roundings",
            "following",
            "outlines",
            "stories",
            "listings",
            "incidents",
            "patterns",
            "quiet",
        ),
        *("findings", "rowblames", "checker", "absences", "scorelists", "gathering", "states"),
        "statefiles",
        *("advantage", "comparison", "situations", "chosen", "prices", "accepting", "freshness"),
    ],
    "learning": [
        *("kernels", "kinds", "trees", "candidates", "predicates", "mining", "counts"),
        *("exceptions", "rules"),
        *("spacings", "context_trees", "leaf_sums", "holdout", "study", "evidence", "order"),
        *(
            "twins",
            "stretches",
            "memory",
            "support",
            "learned",
            "sampling",
            "totals",
            "parts",
            "verification",
        ),
        *("recounts", "passes", "training", "suspects", "scattered"),
    ],
    "clusters": ["daskcrew", "sparkcrew"],
    "plant": [
        *("tags", "recording", "surroundings", "control", "process", "tampering", "attacks"),
        *("timetable", "simulation", "files"),
    ],
    "export": [
        "records",
        "facts",
        "incidents",
        "markdown",
        "spreadsheets",
        "suspects",
        "sql",
        "contracts",
    ],
    "report": [
        *("prices", "freshness"),
        *("patterncards", "contents", "series", "histograms", "pictures", "detection", "models"),
        *("verdicts", "summarising", "pages", "looks", "lookpage", "terminal", "suspicion"),
        *("progress", "plain", "charts"),
        *("panels", "html", "output"),
        *("sections", "changes", "outcomes", "differences", "contrast"),
    ],
    "cli": [
        *(
            "streams",
            "screen",
            "options",
            "app",
            "reading",
            "large",
            "fitting",
            "legends",
            "batched",
            "holding",
            "ledgers",
            "calibrating",
            "excluding",
            "checking",
            "machines",
            "plant",
            "look",
            "learn",
            "check",
            "calibrate",
            "demo",
            "explain",
        ),
        *("rules", "compare", "accept", "status", "export"),
    ],
    "estimator": [
        "inputs",
        "fitting",
        "sources",
        "answers",
        "accepting",
        "keeping",
        "detector",
        "loading",
        "comparing",
        "freshness",
        "batches",
        "clusters",
    ],
    "faces": ["plot", "pyod", "dask", "spark", "mlflow", "__main__"],
}
# Rooms inside rooms.
INNER = {
    "table.cells": [
        *("words", "fixedtimes", "shapes", "timeformats", "notices", "kinds", "names", "numerals"),
        *("times", "timelines", "texts", "sentinels", "plain", "shaped", "interpreting"),
        "conforming",
    ],
    "table.files": [
        *(
            "notices",
            "unitrows",
            "dialects",
            "csvfiles",
            "csvbatches",
            "sheets",
            "databases",
            "jsonlines",
        ),
        *("historian", "sources", "stacking", "columnar", "reading", "portions", "writing"),
        "ledgers",
    ],
    "export.sql": [
        *("dialects", "levels", "strength", "conditions", "violations", "penalties", "rarities"),
        *("contexts", "evidence", "statements"),
    ],
    "learning.kernels": [
        *("prefetch", "splits", "trees", "forest", "bits", "predicates", "antecedents"),
        *("consequents", "exceptions", "mining", "contexts", "verification", "surroundings"),
    ],
    "scoring.kernels": [
        *("compiling", "words", "readings", "repeats", "truths", "rules", "contexts", "rarity"),
        *("worth", "memory"),
    ],
}
# Imports that point downward, inside a method: conveniences, by the module that has them.
CONVENIENCES = {
    "truism": {"truism.estimator"},
    "explaining.accepting": {"truism.report.prices"},
    "explaining.comparison": {"truism.report.contrast", "truism.report.differences"},
    "report.contents": {"truism.report.plain"},
    "estimator.detector": {"truism.report", "truism.report.output"},
}
# Libraries, and the rooms or modules that may import them.
FENCES = {
    "narwhals": {"table.frames", "table.libraries"},
    "pyarrow": {"table"},
    "click": {"cli"},
    "rich": {"cli", "report"},
    "bokeh": {"report"},
    "jinja2": {"report"},
    "matplotlib": {"plot"},
    "mlflow": {"mlflow"},
    "numba": {"learning.kernels", "scoring.kernels"},
    "llvmlite": {"learning.kernels"},
    "sklearn": {"estimator", "report.detection"},
    "pandas": set(),
    "polars": set(),
    "dask": {"dask"},
    "distributed": {"clusters", "dask"},
    "pyspark": {"clusters", "spark"},
    "duckdb": {"table.files.databases"},
    "openpyxl": {"table.files.sheets"},
    "python_calamine": {"table.files.sheets"},
    "sqlglot": {"export.sql.dialects"},
    "sqlite3": {"table.files.databases"},
    "pickle": set(),
    "random": set(),
}
# What a model uses of tables: values of how one was read, and files written whole or not at all.
NEAR_VALUES = {"table.layouts", "table.atomic"}
CORE = ("model", "scoring", "explaining", "learning")
MAY_OPEN = {"model.files", "explaining.statefiles", "scoring.kernels.compiling"}


def name_of(path):
    """Return a module's name below truism: the room, a dot, the module."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "truism"


MODULES = {name_of(path): path for path in sorted(SOURCE.rglob("*.py"))}


def rank(module):
    """Return where a module stands: its room, its place there, and its place in an inner room."""
    room, _, rest = module.partition(".")
    if room not in ROOMS or not room:
        home = "" if module in ROOMS[""] else "faces"
        return (list(ROOMS).index(home), ROOMS[home].index(module), 0)
    first, _, inner = rest.partition(".")
    place = ROOMS[room].index(first) if first else -1
    return (list(ROOMS).index(room), place, INNER[f"{room}.{first}"].index(inner) if inner else -1)


@functools.cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def tree_of(module):
    return parsed(MODULES[module])


@functools.cache
def imports(tree):
    """Return every imported module by its whole name, and whether that happens in a function."""

    def visit(node, inside):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, inside
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole.removeprefix("truism.") in MODULES else node.module, inside
        typing_only = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if typing_only:
            return
        within = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, within)

    return list(visit(tree, False))


def own_imports(module):
    """Return the modules of truism that a module imports, below truism."""
    found = [
        (name, inside)
        for name, inside in imports(tree_of(module))
        if name.split(".")[0] == "truism"
    ]
    return [(name.removeprefix("truism."), inside) for name, inside in found if name != "truism"]


def calls(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            target = node.func
            yield (target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")), node


def test_every_module_has_its_place():
    placed = {
        name if room in ("", "faces") else f"{room}.{name}"
        for room, names in ROOMS.items()
        for name in names
    }
    placed |= {room for room in ROOMS if room not in ("", "faces")}
    placed |= {f"{room}.{name}" for room, names in INNER.items() for name in names}
    assert {*MODULES} - {"truism"} == placed


@pytest.mark.parametrize("module", [name for name in MODULES if name != "truism"])
def test_a_module_imports_only_what_stands_before_it(module):
    for name, inside in own_imports(module):
        if inside and f"truism.{name}" in CONVENIENCES.get(module, ()):
            continue
        room = module.partition(".")[0]
        if room in ROOMS and (name == room or module == room):  # a room's own front door
            assert name.partition(".")[0] == room or rank(name) < rank(module)
            continue
        assert rank(name) < rank(module), f"{module} imports {name}"


@pytest.mark.parametrize("module", MODULES)
def test_heavy_libraries_have_one_door(module):
    for name, _ in imports(tree_of(module)):
        allowed = FENCES.get(name.split(".")[0])
        if allowed is not None:
            assert any(module == door or module.startswith(f"{door}.") for door in allowed)


@pytest.mark.parametrize("module", MODULES)
def test_compiled_code_is_imported_inside_functions_of_its_own_room(module):
    if module.startswith(("learning.kernels", "scoring.kernels")):
        return
    for name, inside in own_imports(module):
        if name.startswith(("learning.kernels.", "scoring.kernels.")):
            assert inside
            assert module.split(".")[0] == name.split(".")[0]


@pytest.mark.parametrize("module", [name for name in MODULES if name.split(".")[0] in CORE])
def test_the_core_neither_prints_nor_opens_nor_draws_unseeded_numbers(module):
    for name, call in calls(tree_of(module)):
        assert name not in {"print", "input", "exec", "eval"}
        if module not in MAY_OPEN:
            assert name not in {"open", "read_bytes", "write_bytes", "read_text", "write_text"}
        if name == "default_rng":
            assert call.args


@pytest.mark.parametrize("module", [name for name in MODULES if name.split(".")[0] == "model"])
def test_values_import_only_values(module):
    for name, inside in own_imports(module):
        if not inside:
            assert name.split(".")[0] in {"model", "errors", "version"} or name in NEAR_VALUES


@pytest.mark.parametrize("module", ["table.layouts", "table.zones"])
def test_how_a_table_was_read_is_a_value_that_a_model_may_hold(module):
    assert {name for name, _ in own_imports(module)} <= {"errors", "table.zones"}
    assert not {name for name, _ in imports(tree_of(module))} & {"numpy", "pyarrow"}


def test_the_oracle_imports_value_types_only():
    values = {
        "truism.learning.mining": {"UnitRule"},
        "truism.model.predicates": {"AnyOf", "Interval", "OneOf", "Present", "Range"},
        "truism.model.rules": {"Rule"},
        "truism.model.schema": {"Categorical", "Numeric"},
    }
    tree = ast.parse(Path(__file__).with_name("oracle.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("truism") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module.startswith("truism"):
            assert {alias.name for alias in node.names} <= values[node.module]


def test_the_plant_knows_nothing_of_learning_and_learning_nothing_of_the_plant():
    for module in MODULES:
        used = {name.split(".")[0] for name, _ in own_imports(module)}
        room = module.split(".")[0]
        if room == "plant":
            assert used <= {"plant", "errors", "table"}
        elif room != "cli":
            assert "plant" not in used


# Modules over 400 lines, and why they are not divided.
LONG = {
    "plant.attacks": "one list of attacks, a few lines each",
}
MAX_LINES, MAX_FUNCTION_LINES = 400, 60


@pytest.mark.parametrize("module", MODULES)
def test_modules_and_functions_are_short(module):
    text = MODULES[module].read_text(encoding="utf-8")
    assert (len(text.splitlines()) > MAX_LINES) == (module in LONG)
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.FunctionDef):
            described = ast.get_docstring(node, clean=False) or ""
            n_lines = node.end_lineno - node.lineno + 1 - len(described.splitlines())
            assert n_lines <= MAX_FUNCTION_LINES, node.name


@pytest.mark.parametrize("module", MODULES)
def test_a_module_opens_with_what_it_is(module):
    assert ast.get_docstring(tree_of(module))


# A module has a test file of its name, or of its room's and its name; for others it is said here.
TESTED_IN = {
    "table.aside": "test_gathering",
    "table.files.columnar": "test_large",
    "table.files.csvbatches": "test_large",
    "table.files.portions": "test_large",
    "explaining.scorelists": "test_large",
    "cli.batched": "test_large",
    "cli.holding": "test_large",
    "learning.learned": "test_passes",
    "clusters": "test_dask",
    "clusters.daskcrew": "test_dask",
    "clusters.sparkcrew": "test_spark",
    "estimator.clusters": "test_dask",
    "learning.parts": "test_passes",
    "learning.recounts": "test_passes",
    "learning.sampling": "test_passes",
    "learning.totals": "test_passes",
    "learning.verification": "test_passes",
    "table.joining": "test_passes",
    "__main__": "test_cli",
    "cli": "test_cli",
    "estimator": "test_estimator",
    "estimator.comparing": "test_compare",
    "estimator.accepting": "test_accept",
    "explaining.accepting": "test_accept",
    "explaining.chosen": "test_accept",
    "explaining.prices": "test_accept",
    "explaining.sparing": "test_accept",
    "explaining.freshness": "test_status",
    "report.freshness": "test_status",
    "estimator.freshness": "test_status",
    "report.prices": "test_accept",
    "table.files.ledgers": "test_accept",
    "explaining.rowblames": "test_batches",
    "estimator.answers": "test_estimator",
    "estimator.sources": "test_estimator",
    "estimator.fitting": "test_suspects",
    "report.suspicion": "test_suspects",
    "estimator.detector": "test_estimator",
    "estimator.inputs": "test_estimator",
    "estimator.keeping": "test_estimator",
    "estimator.loading": "test_estimator",
    "explaining.absences": "test_estimator",
    "explaining.circumstances": "test_clues",
    "explaining.findings": "test_checker",
    "explaining.investigation": "test_clues",
    "explaining.marks": "test_patterns",
    "explaining.outlines": "test_patterns",
    "explaining.quiet": "test_checker",
    "explaining.rates": "test_model_series",
    "explaining.statefiles": "test_states",
    "explaining.tallies": "test_following",
    "export.facts": "test_states",
    "export.incidents": "test_states",
    "report.progress": "test_states",
    "learning.study": "test_learning_evidence",
    "model.contents": "test_model_files",
    "model.rates": "test_model_series",
    **{
        f"export.sql.{name}": "test_sql"
        for name in (
            *("dialects", "levels", "strength", "conditions", "violations", "penalties"),
            *("rarities", "contexts", "evidence", "statements"),
        )
    },
    "learning.kernels": "test_kernels",
    "learning.kernels.antecedents": "test_mining",
    "learning.kernels.verification": "test_passes",
    "learning.kernels.bits": "test_mining",
    "learning.kernels.consequents": "test_mining",
    "learning.kernels.contexts": "test_context_trees",
    "learning.kernels.exceptions": "test_exceptions",
    "learning.kernels.forest": "test_trees",
    "learning.kernels.mining": "test_mining",
    "learning.kernels.predicates": "test_mining",
    "learning.kernels.prefetch": "test_kernels",
    "learning.kernels.splits": "test_trees",
    "learning.kernels.surroundings": "test_rarity",
    "learning.kernels.trees": "test_trees",
    "model.model": "test_model",
    "plant": "test_plant",
    "report": "test_report",
    "report.patterncards": "test_report",
    "scoring.kernels": "test_kernels",
    "scoring.kernels.compiling": "test_kernels",
    "scoring.kernels.contexts": "test_contexts",
    "scoring.kernels.memory": "test_memory",
    "scoring.kernels.rarity": "test_evidence",
    "scoring.kernels.readings": "test_readings",
    "scoring.kernels.repeats": "test_repeats",
    "scoring.kernels.rules": "test_rulebook",
    "scoring.kernels.truths": "test_truths",
    "scoring.kernels.words": "test_kernels",
    "scoring.kernels.worth": "test_worth",
    "scoring.decimals": "test_roundings",
    "scoring.leaves": "test_contexts",
    "learning.stretches": "test_stillness",
    "scoring.series": "test_following",
    "scoring.sums": "test_scorer",
    "report.lookpage": "test_looks",
    "report.pages": "test_html",
    "report.changes": "test_differences",
    "report.contrast": "test_differences",
    "report.outcomes": "test_differences",
    "report.sections": "test_differences",
    "scoring.weighed": "test_scorer",
    "table.cells.conforming": "test_reading",
    "table.cells.interpreting": "test_reading",
    "table.cells.fixedtimes": "test_reading",
    "table.cells.kinds": "test_reading",
    "table.cells.names": "test_reading",
    "table.cells.numerals": "test_reading",
    "table.cells.plain": "test_reading",
    "table.cells.shaped": "test_shapes",
    "table.cells.texts": "test_reading",
    "table.cells.timeformats": "test_reading",
    "table.cells.timelines": "test_reading",
    "table.cells.words": "test_reading",
    "table.cells.notices": "test_table_notices",
    "table.counters": "test_reading",
    "table.files.csvfiles": "test_reading",
    "table.files.databases": "test_reading",
    "table.files.dialects": "test_reading",
    "table.files.historian": "test_reading",
    "table.files.jsonlines": "test_reading",
    "table.files.sheets": "test_reading",
    "table.files.sources": "test_reading",
    "table.files.stacking": "test_reading",
    "table.files.unitrows": "test_reading",
    "table.files.notices": "test_table_notices",
    "table.files.reading": "test_files",
    "table.files.writing": "test_files",
    "table.layouts": "test_reading",
    "table.libraries": "test_frames",
    "table.looking": "test_reading",
    "table.zones": "test_reading",
    "version": "test_surface",
}
# Rooms of which one file tests all modules.
TESTED_TOGETHER = ("cli", "plant")
# Modules that only hold their room's docstring.
EMPTY = {
    "table",
    "table.cells",
    "table.files",
    "model",
    "scoring",
    "explaining",
    "learning",
    "export",
    "export.sql",
}
# What a test file must use to reach modules that it does not import by their whole name.
REACHED_BY = {
    "test_large": "truism.table.files",
    "test_passes": "truism.learning",
    "test_batches": "truism.explaining",
    "test_cli": "truism.cli",
    "test_checker": "truism.explaining",
    "test_clues": "truism.explaining",
    "test_accept": "truism",
    "test_status": "truism",
    "test_compare": "truism.estimator",
    "test_context_trees": "truism.learning.context_trees",
    "test_differences": "truism.report.differences",
    "test_contexts": "truism.scoring.contexts",
    "test_exceptions": "truism.learning.exceptions",
    "test_kernels": "truism.learning.kernels",
    "test_rarity": "truism.learning.spacings",
    "test_rulebook": "truism.scoring.rulebook",
    "test_worth": "truism.scoring.worth",
    "test_following": "truism",
    "test_states": "truism",
    "test_suspects": "truism",
    "test_learning_evidence": "truism.learning",
    "test_looks": "truism.report.lookpage",
    "test_memory": "truism.scoring.memory",
    "test_mining": "truism.learning.mining",
    "test_model_files": "truism.model",
    "test_model_series": "truism",
    "test_model": "truism.model",
    "test_patterns": "truism.explaining",
    "test_plant": "truism.plant",
    "test_estimator": "truism.estimator",
    "test_files": "truism.table.files",
    "test_frames": "truism.table.libraries",
    "test_dask": "truism.clusters.daskcrew",
    "test_gathering": "truism.table.aside",
    "test_html": "truism.report",
    "test_evidence": "truism.scoring.kernels.rarity",
    "test_readings": "truism.scoring.kernels.readings",
    "test_repeats": "truism.scoring.kernels.repeats",
    "test_truths": "truism.scoring.kernels.truths",
    "test_reading": "truism.table",
    "test_report": "truism.report",
    "test_roundings": "truism.scoring.decimals",
    "test_scorer": "truism.scoring",
    "test_shapes": "truism.table.cells.shaped",
    "test_spark": "truism.clusters.sparkcrew",
    "test_sql": "truism.export.sql",
    "test_stillness": "truism.learning.stretches",
    "test_surface": "truism",
    "test_table_notices": "truism.table",
    "test_trees": "truism.learning.trees",
}


def file_that_tests(module):
    """Return the name of the file that tests a module, and what it must import."""
    room, _, name = module.rpartition(".")
    if module in TESTED_IN or room in TESTED_TOGETHER:
        file = TESTED_IN[module if module in TESTED_IN else room]
        return file, REACHED_BY[file]
    candidates = [f"test_{room}_{name}", f"test_{name}"] if room else [f"test_{name}"]
    tests = Path(__file__).parent
    found = [each for each in candidates if (tests / f"{each}.py").exists()]
    assert found, f"no test file for {module}: tests/{candidates[-1]}.py is missing"
    return found[0], f"truism.{module}"


@pytest.mark.parametrize("module", [name for name in MODULES if name not in {"truism", *EMPTY}])
def test_every_module_has_a_test_file_that_imports_it(module):
    file, needed = file_that_tests(module)
    path = Path(__file__).with_name(f"{file}.py")
    used = {name for name, _ in imports(parsed(path))}
    assert any(name == needed or name.startswith(f"{needed}.") for name in used), (file, needed)


def test_what_is_said_of_test_files_is_about_modules_that_are_there():
    assert {*TESTED_IN, *TESTED_TOGETHER, *EMPTY} <= {*MODULES}
    for module in EMPTY:
        assert len(tree_of(module).body) == 1
