"""Rules of this house that a reader relies on: records, names, the size of folders, and the page about its rooms."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from support.sampled import sampled

ROOT = Path(__file__).parents[1]
PACKAGES = ("isa", "sim", "rtl_models")
NARROWING = re.compile(r"isinstance\([\w.]+, (?:[\w.]+|\([\w., ]+\))\)|[\w.]+ is not None")
MOST = 6
"""Fields that a record may take by position."""
BY_POSITION = {
    "isa.acle.rules.Rule": "a table of one line a family: what is read first is by position, the rest by keyword",
    "isa.lane.FloatOperation": "an operator of expressions: what, of which and to which format are by position",
    "sim.golden.registry.record.Family": "a table of families, in a module that holds nothing else",
    "sim.kernels.operator.TensorInfo": "shape and type, as everywhere, are by position, the rest by keyword",
    "sim.kernels.quantize_down.golden.Mode": "a table of modes; its rows are by keyword",
    "sim.kernels.signature.Pointer": "name, type and shape, as its neighbours have them; the rest is by keyword",
    "sim.kernels.signature.Struct": "name and fields, and whether it is by pointer; the rest is by keyword",
    "sim.machine.trace.Step": "made for every executed instruction: a tuple takes a third of the time of a record",
    "sim.prove.claim.Claim": "a name, the inputs, two sides: as they are written; the rest is by keyword",
    "sim.timing.model.dataflow.Flight": "made for every instruction that is timed: by keyword that takes 5 % longer",
    "sim.timing.model.dataflow.FlightPart": "made for every instruction that is timed, as `Flight` is",
}
"""Larger records of which something may be given by position, and why."""
SEVERAL_MEANINGS = {
    "Memory": "`isa.lane.Memory` is where a store goes, inside of lane expressions; users know `sim.Memory`",
    "Mode": "every golden module of a kernel has its modes: read it with the module's name, as `golden.Mode`",
    "Parameters": "every golden module of a kernel has its parameters: read it as `golden.Parameters`",
    "Session": "a simulator's, inside of `rtl_models`; users know `sim.debug.Session`",
    "Source": "what three evaluators write, and what the semantics read: names inside of `isa` that never meet",
}
"""Public class names that are defined more than once, and why."""


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    """Every class at the top of a module, by the module's name."""
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            for node in parsed(file).body:
                if isinstance(node, ast.ClassDef):
                    yield module, node


def record_options(node: ast.ClassDef) -> dict[str, bool] | None:
    """The options of its `dataclass` decorator that are true or false, none for a NamedTuple; None for no record."""
    if any(isinstance(base, ast.Name) and base.id == "NamedTuple" for base in node.bases):
        return {}
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else ast.Call(decorator, [], [])
        if isinstance(call.func, ast.Name) and call.func.id == "dataclass":
            return {str(word.arg): ast.unparse(word.value) == "True" for word in call.keywords}
    return None


def fields(node: ast.ClassDef) -> list[ast.AnnAssign]:
    """What a caller may give, with the mark `KW_ONLY` where there is one."""
    annotated = [one for one in node.body if isinstance(one, ast.AnnAssign)]
    constants = [one for one in annotated if ast.unparse(one.annotation).startswith("ClassVar")]
    made = [one for one in annotated if one.value is not None and "init=False" in ast.unparse(one.value)]
    return [one for one in annotated if one not in constants and one not in made]


def taken_by_position(node: ast.ClassDef) -> int:
    """How many fields of a record of more than `MOST` of its own can be given by position."""
    options, given = record_options(node), [ast.unparse(one.annotation) for one in fields(node)]
    named = [one for one in given if one != "KW_ONLY"]
    if options is None or options.get("kw_only") or len(named) <= MOST:
        return 0
    return given.index("KW_ONLY") if "KW_ONLY" in given else len(named)


def large_records_by_position() -> dict[str, int]:
    found = {f"{module}.{node.name}": taken_by_position(node) for module, node in classes()}
    return {name: count for name, count in found.items() if count}


@pytest.mark.slow
def test_no_record_of_more_than_six_fields_is_built_by_position() -> None:
    assert sorted(large_records_by_position()) == sorted(BY_POSITION)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("@dataclass(frozen=True)\nclass A:\n" + "".join(f"    f{i}: int\n" for i in range(7)), 7),
        ("@dataclass\nclass A:\n" + "".join(f"    f{i}: int = 0\n" for i in range(8)), 8),
        ("class A(NamedTuple):\n" + "".join(f"    f{i}: int\n" for i in range(7)), 7),
        ("@dataclass\nclass A:\n    a: int\n    _: KW_ONLY\n" + "".join(f"    f{i}: int\n" for i in range(6)), 1),
        ("@dataclass(kw_only=True)\nclass A:\n" + "".join(f"    f{i}: int\n" for i in range(9)), 0),
        ("@dataclass\nclass A:\n    N: ClassVar = 1\n" + "".join(f"    f{i}: int\n" for i in range(6)), 0),
        ("class A:\n" + "".join(f"    f{i}: int\n" for i in range(9)), 0),
    ],
)
def test_what_a_record_takes_by_position_is_counted(text: str, count: int) -> None:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.ClassDef)

    assert taken_by_position(node) == count


@pytest.mark.slow
def test_a_public_class_name_is_defined_in_one_module() -> None:
    modules: dict[str, set[str]] = defaultdict(set)
    for module, node in classes():
        modules[node.name].add(module)
    several = {name for name, where in modules.items() if len(where) > 1 and not name.startswith("_")}
    assert sorted(several) == sorted(SEVERAL_MEANINGS)


def test_no_folder_has_more_than_sixteen_modules() -> None:
    folders = [folder for package in PACKAGES for folder in (ROOT / package, *(ROOT / package).rglob("*/"))]
    counts = {str(folder.relative_to(ROOT)): len(list(folder.glob("*.py"))) for folder in folders}
    assert {folder: count for folder, count in counts.items() if count > 16} == {}


def described_rooms(package: str) -> list[str]:
    """What the table of the package on the page about the house names, in order."""
    table = (ROOT / "docs/architecture.md").read_text().partition(f"### {package}:")[2].partition("\n##")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [room for cell in cells for room in re.findall(r"`(\w+)`", cell)]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_rooms_that_are_described_are_those_that_are_there(package: str) -> None:
    entries = (ROOT / package).iterdir()
    rooms = {path.stem for path in entries if path.suffix == ".py" or (path / "__init__.py").exists()}
    if package == "rtl_models":
        rooms.add("lanes")  # SystemVerilog, and no package of Python
    assert sorted(described_rooms(package)) == sorted(room for room in rooms if not room.startswith("__"))


@pytest.mark.slow
def test_nothing_is_decided_by_an_assert() -> None:
    """PYTHONOPTIMIZE leaves them out: only those may stand that tell a type checker what a type is."""
    deciding = []
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(parsed(file)):
                if isinstance(node, ast.Assert) and not NARROWING.fullmatch(ast.unparse(node.test)):
                    deciding.append(f"{file.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert deciding == []


def functions_of(file: Path) -> dict[str, str]:
    """The functions of a file and what stands above each."""
    functions = [node for node in parsed(file).body if isinstance(node, ast.FunctionDef)]
    return {node.name: " ".join(map(ast.unparse, node.decorator_list)) for node in functions}


def test_what_is_left_to_long_runs_is_slow_and_has_somebody_who_stands_for_it() -> None:
    """Nobody gives the mark but `support.sampled`: the first value stays, or a test that is named and is run."""
    texts = {file: file.read_text() for file in sorted((ROOT / "tests").rglob("*.py"))}
    assert [file.stem for file, text in texts.items() if re.search(r"pytest\.mark\.long", text)] == ["sampled"]
    lacking = []
    for file in (file for file, text in texts.items() if "from support.sampled" in text and file != Path(__file__)):
        given = functions_of(file)
        for way in ("sampled(", "shown_too_by("):
            lacking += [name for name, marks in given.items() if way in marks and "pytest.mark.slow" not in marks]
            assert sum(marks.count(way) for marks in given.values()) == texts[file].count(way), file
        for name, marks in given.items():
            for other in re.findall(r"shown_too_by\('(.*?)'\)", marks):
                of, _, test = other.partition("::")
                stands = functions_of(ROOT / "tests" / of).get(test)
                lacking += [name] if stands is None or "shown_too_by(" in stands else []
    assert lacking == []


def test_a_sample_is_the_first_value_and_every_so_manyth() -> None:
    values: list[object] = ["a", ("b", 1), pytest.param("c", id="name"), "d"]
    some = sampled(values, 3)
    assert (some[0], some[3]) == ("a", "d")
    assert [(one.values, one.id, [mark.name for mark in one.marks]) for one in some[1:3]] == [
        (("b", 1), None, ["long"]), (("c",), "name", ["long"]),
    ]  # fmt: skip
