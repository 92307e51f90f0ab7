"""A module imports only what stands before it, and every heavy library has one door."""

import ast
from pathlib import Path

import pytest

import truism

SOURCE = Path(truism.__file__).parent

# Data flows one way; a module may import the ones above it (design section 7, style section 1).
ORDER = [
    "version",
    "errors",
    "progress",
    "threads",
    "plant",
    "columns",
    "table",
    "schema",
    "inference",
    "predicates",
    "wording",
    "bits",
    "truths",
    "_compiling",
    "_prefetch",
    "_tree_kernels",
    "trees",
    "candidates",
    "_mining_kernels",
    "mining",
    "rules",
    "rarity",
    "readings",
    "contexts",
    "evidence",
    "model",
    "thresholds",
    "limits",
    "rulebook",
    "scoring",
    "places",
    "clues",
    "explaining",
    "incidents",
    "_context_kernels",
    "groves",
    "tallies",
    "holdout",
    "calibration",
    "learning",
    "tuning",
    "deriving",
    "training",
    "checking",
    "drafts",
    "modelforms",
    "modelfiles",
    "csvfiles",
    "tablefiles",
    "plantfiles",
    "export",
    "report",
    "cli",
    "__main__",
    "arguments",
    "estimator",
    "plot",
    "pyod",
]
# Libraries and the only modules that may import them.
FENCES = {
    "narwhals": {"table"},
    "pyarrow": {"table", "csvfiles", "tablefiles"},
    "click": {"cli"},
    "rich": {"cli", "report"},
    "bokeh": {"report"},
    "jinja2": {"report"},
    "matplotlib": {"plot"},
    "numba": {"_compiling", "_prefetch", "_mining_kernels"},
    "llvmlite": {"_prefetch"},
    "sklearn": {"estimator"},
    "pandas": set(),
    "polars": set(),
    "pickle": set(),
    "random": set(),
}
KERNELS = {"_context_kernels", "_tree_kernels", "_mining_kernels"}
BETWEEN_SCHEMA_AND_TUNING = ORDER[ORDER.index("schema") : ORDER.index("tuning") + 1]
SEEDED = {"default_rng"}


def modules():
    single = [path.stem for path in SOURCE.glob("*.py") if path.stem != "__init__"]
    return sorted([*single, *(path.parent.name for path in SOURCE.glob("*/__init__.py"))])


def tree_of(module):
    """Parse a module, or all modules of a package as one."""
    single = SOURCE / f"{module}.py"
    files = [single] if single.exists() else sorted((SOURCE / module).glob("*.py"))
    parsed = [ast.parse(path.read_text(encoding="utf-8")) for path in files]
    return ast.Module([node for tree in parsed for node in tree.body], [])


def imports(tree):
    """Every import: top-level package, module of truism or None, and whether it is in a function."""

    def visit(node, inside):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                yield parts[0], parts[1] if parts[0] == "truism" and parts[1:] else None, inside
        elif isinstance(node, ast.ImportFrom):
            parts = (node.module or "").split(".")
            if parts == ["truism"]:
                for alias in node.names:
                    yield "truism", alias.name, inside
            else:
                yield parts[0], parts[1] if parts[0] == "truism" else None, inside
        within = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, within)

    return list(visit(tree, False))


def calls(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            target = node.func
            yield (target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")), node


def test_every_module_has_its_place():
    assert modules() == sorted(ORDER)


@pytest.mark.parametrize("module", ORDER)
def test_a_module_imports_only_modules_above_it(module):
    above = set(ORDER[: ORDER.index(module)])
    used = {name for package, name, _ in imports(tree_of(module)) if package == "truism"}
    assert used - {module} <= above


@pytest.mark.parametrize("module", ORDER)
def test_heavy_libraries_have_one_door(module):
    for package, _, _ in imports(tree_of(module)):
        assert module in FENCES.get(package, {module})


@pytest.mark.parametrize("module", ORDER)
def test_compiled_code_is_imported_only_inside_functions(module):
    for package, name, inside in imports(tree_of(module)):
        if package == "truism" and name in KERNELS:
            assert inside


@pytest.mark.parametrize("module", BETWEEN_SCHEMA_AND_TUNING)
def test_the_core_neither_prints_nor_opens_nor_draws_unseeded_numbers(module):
    for name, call in calls(tree_of(module)):
        assert name not in {"print", "open", "input", "exec", "eval", "read_bytes", "write_bytes"}
        if name in SEEDED:
            assert call.args


def test_the_oracle_imports_value_types_only():
    values = {
        "truism.mining": {"UnitRule"},
        "truism.predicates": {"AnyOf", "Interval", "OneOf", "Present", "Range"},
        "truism.rules": {"Rule"},
        "truism.schema": {"Categorical", "Numeric"},
    }
    tree = ast.parse(Path(__file__).with_name("oracle.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("truism") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module.startswith("truism"):
            assert {alias.name for alias in node.names} <= values[node.module]


def test_the_plant_knows_nothing_of_learning_and_learning_nothing_of_the_plant():
    for path in (SOURCE / "plant").glob("*.py"):
        for package, name, _ in imports(ast.parse(path.read_text(encoding="utf-8"))):
            assert package != "truism" or name in {"plant", "errors"}
    for module in set(ORDER) - {"plant", "plantfiles", "cli"}:
        used = {name for package, name, _ in imports(tree_of(module)) if package == "truism"}
        assert "plant" not in used


@pytest.mark.parametrize("module", ORDER)
def test_a_module_opens_with_what_it_is(module):
    assert ast.get_docstring(tree_of(module))
