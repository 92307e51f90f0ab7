"""Rooms import only rooms before them, no modules import each other, and libraries have one door."""

import ast
import functools
import graphlib
from pathlib import Path

import truism

SOURCE = Path(truism.__file__).parent

# Data flows one way: a room may import itself and the rooms before it.
ROOMS = (
    *("base", "table", "model", "score", "incidents", "learn", "explain"),
    *("plant", "review", "export", "show", "cli", "estimator", "faces"),
)
# Modules that are in no room: what every room may import, and what no room does.
BASE = {"arrays", "errors", "version", "work"}
# Imports that point downward, inside a method: conveniences, by the module that has them.
CONVENIENCES = {
    "cli.learn": {"truism.dask"},
    "truism": {"truism.estimator"},
    "model.rules": {"truism.model.summary"},
    "review.compare": {"truism.show.comparison"},
    "estimator.detector": {"truism.show", "truism.show.summarising"},
}
# Libraries, and the rooms or modules that may import them.
FENCES = {
    "narwhals": {"table.frames"},
    "pyarrow": {"table", "review.ledgers", "estimator.batches", "dask", "spark"},
    "click": {"cli"},
    "rich": {"cli", "show"},
    "jinja2": {"show"},
    "matplotlib": {"plot"},
    "mlflow": {"mlflow"},
    "numba": {"learn.kernels", "score.kernels"},
    "llvmlite": {"learn.kernels"},
    "scipy": {"review.compare"},
    "sklearn": {"estimator"},
    "pandas": {"sktime"},
    "polars": set(),
    "dask": {"dask"},
    "distributed": {"dask"},
    "pyspark": {"spark"},
    "sktime": {"sktime"},
    "duckdb": {"table.cells"},
    "openpyxl": set(),
    "python_calamine": {"table.cells"},
    "sqlglot": {"export.sql.dialects"},
    "sqlite3": {"table.cells"},
    "pickle": set(),
    "random": set(),
}
# What a model uses of tables: values of how one was read, and files written whole or not at all.
NEAR_VALUES = {"table.layouts", "table.notices", "table.atomic", "table.versioned"}
COMPILED = ("learn.kernels.", "score.kernels.", "incidents.kernels", "incidents.phases")
CORE = ("model", "score", "incidents", "explain", "learn", "review")
MAY_OPEN = {"score.kernels.compiling"}


def name_of(path):
    """Return a module's name below truism: the room, a dot, the module."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "truism"


MODULES = {name_of(path): path for path in sorted(SOURCE.rglob("*.py"))}


def room_of(module):
    """Return the place of a module's room."""
    room = module.partition(".")[0]
    outside = "base" if room in BASE else "faces"
    return ROOMS.index(room if room in ROOMS else outside)


def of_all(check):
    """Call a test for each module, and name the one that fails."""

    def test():
        for module in MODULES:
            try:
                check(module)
            except AssertionError as error:
                raise AssertionError(f"{module}: {error}") from error

    test.__name__ = check.__name__
    return test


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


@of_all
def test_a_module_imports_only_its_room_and_rooms_before_it(module):
    for name, inside in own_imports(module):
        if not (inside and f"truism.{name}" in CONVENIENCES.get(module, ())):
            assert room_of(name) <= room_of(module), name


@of_all
def test_what_explains_does_not_import_what_learns(module):
    if module.split(".")[0] == "explain":
        assert not [name for name, _ in own_imports(module) if name.startswith("learn")]


def test_no_modules_import_each_other():
    above = {
        module: {
            name
            for name, _ in own_imports(module)
            if name in MODULES
            and name.partition(".")[0] != module  # a room's own front door
            and f"truism.{name}" not in CONVENIENCES.get(module, ())
        }
        for module in MODULES
    }
    tuple(graphlib.TopologicalSorter(above).static_order())


@of_all
def test_heavy_libraries_have_one_door(module):
    for name, _ in imports(tree_of(module)):
        allowed = FENCES.get(name.split(".")[0])
        if allowed is not None:
            assert any(module == door or module.startswith(f"{door}.") for door in allowed)


@of_all
def test_compiled_code_is_imported_inside_functions_of_its_own_room(module):
    if module.startswith(COMPILED):
        return
    for name, inside in own_imports(module):
        if name.startswith(COMPILED):
            assert inside
            assert module.split(".")[0] in {name.split(".")[0], "learn"}


@of_all
def test_the_core_neither_prints_nor_opens_nor_draws_unseeded_numbers(module):
    if module.split(".")[0] not in CORE:
        return
    for name, call in calls(tree_of(module)):
        assert name not in {"print", "input", "exec", "eval"}
        if module not in MAY_OPEN:
            assert name not in {"open", "read_bytes", "write_bytes", "read_text", "write_text"}
        if name == "default_rng":
            assert call.args


@of_all
def test_values_import_only_values(module):
    if module.split(".")[0] != "model":
        return
    for name, inside in own_imports(module):
        if not inside:
            assert name.split(".")[0] in {"model", "errors", "version"} or name in NEAR_VALUES


def test_how_a_table_was_read_is_a_value_that_a_model_may_hold():
    assert {name for name, _ in own_imports("table.layouts")} == {"errors"}
    assert not {name for name, _ in imports(tree_of("table.layouts"))} & {"numpy", "pyarrow"}


def test_the_oracle_imports_value_types_only():
    values = {
        "truism.learn.mining": {"UnitRule"},
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


@of_all
def test_a_module_opens_with_what_it_is(module):
    assert ast.get_docstring(tree_of(module))
