"""What is public is listed once, exported, documented, and all that examples, notebooks and pages import."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import nbformat
import numpy as np
import pytest

import isa
import rtl_models
import sim
from sim import explain, explanation

ROOT = Path(__file__).parents[1]
PACKAGES = (isa, sim, rtl_models)
PUBLIC = re.findall(r"^\| `([\w.]+)`", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE)
"""The list is that of docs/api.md; the reference is made of it too."""
EXPORTED = [(module, name) for module in PUBLIC for name in import_module(module).__all__]
RAISED = re.compile(r"\bRaises (.*?)(?:\.\s|\.?$)", re.DOTALL)
WRITTEN = [path for path in (ROOT / "docs").rglob("*.md") if "generated" not in path.parts]
PAGES = sorted([ROOT / "README.md", *WRITTEN, *(ROOT / "rtl_models").glob("*.md")])

each_module = pytest.mark.parametrize("module", [import_module(name) for name in PUBLIC], ids=PUBLIC)


def imports_in(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that code imports from the packages, as (module, name), and whole modules as (module, "")."""
    ours = {package.__name__ for package in PACKAGES}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in ours:
            yield from ((node.module, alias.name) for alias in node.names)
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.partition(".")[0] in ours)


def private(code: str) -> list[tuple[str, str]]:
    """What code imports that is not exported by a public module; intrinsics are all those that there are."""
    return [
        (module, name)
        for module, name in imports_in(ast.parse(code))
        if f"{module}.{name}" not in PUBLIC  # a public module, imported from its package
        if module not in PUBLIC
        or (name and (module, name) not in EXPORTED and not (module == "isa.intrinsics" and name.startswith("v")))
    ]


def blocks_of(page: Path) -> list[str]:
    """The Python code of a page."""
    return re.findall(r"^```(?:python|py)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


def imported_names(module: ModuleType) -> set[str]:
    """What the statements of a module import; of a lazy package, those that only a type checker runs."""
    tree = ast.parse(inspect.getsource(module))
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in ("isa", "sim", "rtl_models")
        for alias in node.names
        if alias.name != "lazy_exports"
    }


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert sim.__version__ == project["version"]


def test_an_explanation_and_its_parts_have_public_names() -> None:
    found = explain(np.array([0], np.int8), accumulators=np.array([-2]), multiplier=1 << 30, shift=1)
    assert isinstance(found, explanation.Explanation)
    parts: list[object] = [found.matches[0], found.nearest[0], found.nearest[0].traces[0]]
    parts += [found.nearest[0].traces[0].steps[0]]
    parts += [one for match in found.matches for one in (*match.alike[:1], *match.directed[:1])][:2]
    assert {type(part).__name__ for part in parts} <= set(explanation.__all__)
    with pytest.raises(explanation.QuestionError):
        explain(np.array([0]), accumulators=np.array([-2]), multiplier=1 << 30, shift=1)


def test_every_public_module_is_listed_once() -> None:
    assert PUBLIC
    assert len(PUBLIC) == len(set(PUBLIC))


@each_module
def test_exports_are_sorted(module: ModuleType) -> None:
    def place(name: str) -> tuple[int, list[str | int]]:
        """Constants, classes, functions; numbers in names by their value."""
        kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
        return kind, [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]

    assert list(module.__all__) == sorted(set(module.__all__), key=place)


@pytest.mark.parametrize("package", [name for name in PUBLIC if name not in ("isa.intrinsics", "sim.pytest_plugin")])
def test_a_public_package_imports_what_it_exports_and_nothing_else(package: str) -> None:
    module = import_module(package)
    assert imported_names(module) == set(module.__all__)


@each_module
def test_every_export_is_there(module: ModuleType) -> None:
    assert [name for name in module.__all__ if getattr(module, name) is None or name not in dir(module)] == []


@each_module
def test_no_export_has_the_name_of_a_module(module: ModuleType) -> None:
    folder = Path(inspect.getfile(module)).parent if hasattr(module, "__path__") else None
    modules = {path.stem for path in folder.iterdir()} if folder else set()
    assert modules & set(module.__all__) == set()


def text_below(source: str, name: str) -> str:
    """What stands below an assignment: the documentation of a constant."""
    found = re.search(rf'^{name}\b[^\n]*=.*?\n(?=\S)(""".*?""")', source, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def home_of(module: ModuleType, name: str) -> ModuleType:
    """The module that a module imports a name from."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and node.module and any(alias.name == name for alias in node.names):
            return import_module(node.module)
    return module


def is_documented(module: ModuleType, name: str) -> bool:
    value = getattr(module, name)
    if inspect.isclass(value) or callable(value):
        return bool(inspect.getdoc(value))
    text = text_below(inspect.getsource(home_of(module, name)), name)
    return bool(text) or type(value).__module__ != "builtins"


@each_module
def test_every_export_says_what_it_is(module: ModuleType) -> None:
    assert [name for name in module.__all__ if not is_documented(module, name)] == []


def methods_of(cls: type) -> dict[str, object]:
    """The public methods and properties of a class; functions that are the values of fields are none."""
    fields = getattr(cls, "__dataclass_fields__", {})
    found = {name: value for name, value in vars(cls).items() if not name.startswith("_") and name not in fields}
    return {name: value for name, value in found.items() if inspect.isfunction(value) or isinstance(value, property)}


@each_module
def test_every_public_method_says_what_it_does(module: ModuleType) -> None:
    classes = {name: getattr(module, name) for name in module.__all__ if inspect.isclass(getattr(module, name))}
    silent = [f"{c}.{name}" for c, cls in classes.items() for name, it in methods_of(cls).items() if not it.__doc__]
    assert silent == []


@each_module
def test_every_error_that_an_export_raises_is_exported(module: ModuleType) -> None:
    exports = [getattr(module, name) for name in module.__all__]
    methods = [method for cls in exports if inspect.isclass(cls) for method in methods_of(cls).values()]
    sentences = [found for it in (*exports, *methods) for found in RAISED.findall(inspect.getdoc(it) or "")]
    named = {word for sentence in sentences for word in re.findall(r"\b[A-Z][a-z]+[A-Z]\w+\b", sentence)}
    assert named - {name for _, name in EXPORTED} - set(dir(builtins)) == set()


@each_module
def test_every_exported_function_is_typed(module: ModuleType) -> None:
    functions = {name: getattr(module, name) for name in module.__all__ if inspect.isfunction(getattr(module, name))}
    untyped = [
        name
        for name, function in functions.items()
        if {*inspect.signature(function).parameters, "return"} != set(function.__annotations__)
    ]
    assert untyped == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_imports_public_names_only(page: Path) -> None:
    assert [found for block in blocks_of(page) for found in private(block)] == []


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_imports_public_names_only(path: Path) -> None:
    cells = nbformat.reads(path.read_text(encoding="utf-8"), 4).cells  # type: ignore[no-untyped-call]
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert private(re.sub("^%.*$", "", code, flags=re.MULTILINE)) == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "sim" / "command" / "example").glob("*.py")), ids=lambda path: path.name
)
def test_the_example_imports_public_names_only(path: Path) -> None:
    assert private(path.read_text()) == []


def test_what_is_private_is_found() -> None:
    code = "import sim.golden\nimport sim.machine\nfrom sim.check.report import Report\nfrom sim import Machine, Foo"
    assert private(code) == [("sim.machine", ""), ("sim.check.report", "Report"), ("sim", "Foo")]


def test_an_unknown_name_is_refused_in_a_sentence() -> None:
    with pytest.raises(AttributeError, match=r"module 'sim\.check' has no attribute 'nothing'"):
        import_module("sim.check").nothing  # noqa: B018  # to be asked for is all that it does
