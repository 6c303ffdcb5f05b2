"""Every evaluator knows every node: mypy names those that lack an added one, and until then they refuse it."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from conftest import ROOT

from isa import lane as nodes
from isa.evaluate import batch, c, floating, python
from isa.evaluate.batch import source as batch_source
from isa.evaluate.batch.arithmetic import wide
from isa.evaluate.batch.narrowing import Narrowed
from isa.evaluate.c import source as c_source
from isa.evaluate.exact import Evaluation
from isa.evaluate.host_floating import HostSource
from isa.evaluate.rolling import Rolled, Roller
from isa.evaluate.smt import Solver
from isa.floating import F32, FloatOperation, Operation
from isa.instruction import Form, Instruction, Pattern
from isa.lane import U8, Binary, Lane, Operator, Place, Write, constant, head, read, rebuilt
from isa.text.expressions import expression
from rtl_models.benches.coverage.operator import conditions
from rtl_models.formal.equations.path import on_path
from sim.check import origin
from sim.check.operand_classes import class_conditions, vector_arithmetic
from sim.prove import steps as prove_steps
from sim.prove.claim import ClaimInputs, clamped

CLASSES = {kind.__name__ for kind in get_args(Lane)}
OPERATORS = set(get_args(Operator))
INDISPENSABLE = {
    "isa/lane.py", "isa/text/expressions.py", "isa/instruction.py", "isa/evaluate/exact.py", "isa/evaluate/source.py",
    "isa/evaluate/host_floating.py", "isa/evaluate/smt_terms.py", "isa/evaluate/batch/source.py",
    "isa/evaluate/batch/narrowing.py", "isa/evaluate/batch/arithmetic.py", "isa/evaluate/rolling.py",
    "isa/evaluate/c/source.py",
    "isa/evaluate/c/vectors.py",
}  # fmt: skip
"""Evaluators that are known to match: whatever looks for such files must find these."""
ADDED = "\n\nclass Added(_Node):\n    pass\n"


def modules() -> Iterator[Path]:
    for package in ("isa", "sim", "rtl_models"):
        yield from sorted((ROOT / package).rglob("*.py"))


@cache
def matches(path: Path) -> list[ast.Match]:
    """The matches of a file that tell nodes or operators apart; one with a single case only looks for something."""
    text = path.read_text()
    if "assert_never" not in text and "isa.lane" not in text:
        return []
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Match) and len(node.cases) > 1]
    return [match for match in found if any(_is_of_lanes(case.pattern) for case in match.cases)]


def _is_of_lanes(pattern: ast.pattern) -> bool:
    match pattern:
        case ast.MatchOr(patterns):
            return any(map(_is_of_lanes, patterns))
        case ast.MatchClass(ast.Name(name)):
            return name in CLASSES
        case ast.MatchValue(ast.Constant(value)):
            return value in OPERATORS
    return False


def end_of(match: ast.Match) -> ast.expr | None:
    """The call of `assert_never` in which a match ends."""
    last = match.cases[-1]
    match last.body:
        case [ast.Expr(ast.Call(ast.Name("assert_never")) as call)] if last.guard is None:
            return call
    return None


def sites() -> set[tuple[str, int]]:
    """File and line of the end of every match on nodes or operators."""
    ends = ((path, end_of(match)) for path in modules() for match in matches(path))
    return {(str(path.relative_to(ROOT)), end.lineno) for path, end in ends if end is not None}


@pytest.mark.slow
def test_every_match_on_nodes_or_operators_ends_in_assert_never() -> None:
    assert [f"{path}:{match.lineno}" for path in modules() for match in matches(path) if end_of(match) is None] == []


def test_no_table_is_keyed_by_operators() -> None:
    """mypy cannot see that a table lacks one."""
    told_by = ("shift_left", "shift_right")
    suspects = [path for path in modules() if any(f'"{name}"' in path.read_text() for name in told_by)]
    keys = [(path, key) for path in suspects for table in dicts(path) for key in table.keys]
    assert [path for path, key in keys if isinstance(key, ast.Constant) and key.value in told_by] == []


def dicts(path: Path) -> list[ast.Dict]:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Dict)]


@pytest.mark.slow
def test_mypy_names_every_match_that_lacks_an_added_node_or_operator(tmp_path: Path) -> None:
    files = sorted({file for file, _ in sites()})
    assert set(files) > INDISPENSABLE
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    union = (ROOT / "isa/lane.py").read_text().replace("TypeAlias = ", "TypeAlias = Added | ") + ADDED
    (tmp_path / "isa/lane.py").write_text(union.replace('    "minimum",', '    "added", "minimum",'))
    command = [sys.executable, "-m", "mypy", "--config-file=", "--cache-dir=cache", "--explicit-package-bases"]
    command += ["--follow-imports=skip", *files]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    named = re.findall(r'^(.+?):(\d+): error: Argument 1 to "assert_never"', done.stdout, re.MULTILINE)
    assert {(file, int(line)) for file, line in named} == sites()


class Foreign(nodes._Node):
    """A node that is none of the union."""

    args, low, high = (U8.field(read(Place("x", 0)), 0),), 0, 255


X0, V0 = Place("x", 0), Place("v", 0)
BYTE = U8.field(read(X0), 0)
VALUES = {"x": 7}
ADD = FloatOperation("add", F32, F32)


def instruction_of(lane: Lane) -> Instruction:
    form = Form("foreign", "", lambda: (Write(V0, 32, [lane]),))
    return Instruction(Pattern(form, "foreign", "", 0), ())


def written(lane: Lane) -> tuple[Write, ...]:
    return (Write(V0, 32, [lane]),)


OF_OPERATORS: dict[str, Callable[[Lane], object]] = {
    "exact": lambda lane: Evaluation(ClaimInputs(VALUES)).value(lane),
    "python": lambda lane: python.generate(written(lane), 0, ""),
    "batch": lambda lane: batch.generate(written(lane), 0, ""),
    "batch source": lambda lane: batch_source.Source().value(rolled(lane)),
    "batch narrowing": lambda lane: Narrowed(written(lane), 1 << 31),
    "solver": lambda lane: Solver(time.monotonic() + 60).terms.term(lane),
    "text": expression,
    "C": lambda lane: c.instruction("f", written(lane), 0, ""),
    "C source": lambda lane: c_source.Source().value(rolled(lane)),
    "steps of a proof": lambda lane: prove_steps.steps({"value": lane}, VALUES),
    "path of a proof": lambda lane: on_path({"value": lane}, VALUES),
    "origin": lambda lane: list(origin.source_bytes(lane, Evaluation(ClaimInputs(VALUES)))),
    "arithmetic": lambda lane: vector_arithmetic(instruction_of(lane)),
}
OF_NODES: dict[str, Callable[[Lane], object]] = OF_OPERATORS | {
    "head": head,
    "rebuilt": lambda lane: rebuilt(lane, []),
    "host floating": lambda lane: HostSource([ADD(lane, lane)]).float_layout([ADD(lane, lane)]),
    "batch rolling": lambda lane: Roller().fold((lane,)),
    "places read": lambda lane: instruction_of(lane).places_read,
    "QC": lambda lane: instruction_of(lane).can_saturate,
    "QC of a claim": clamped,
    "coverage": conditions,
    "operand classes": class_conditions,
}


def rolled(lane: Lane) -> Rolled:
    byte = Roller().fold((BYTE,))
    return Rolled(lane, (byte, byte), 0, 255, 1)


@pytest.mark.parametrize("evaluator", OF_NODES)
def test_a_foreign_node_is_refused(evaluator: str) -> None:
    foreign: Any = Foreign()
    with pytest.raises(AssertionError, match="unreachable"):
        OF_NODES[evaluator](foreign)


@pytest.mark.parametrize("evaluator", OF_OPERATORS)
def test_a_foreign_operator_is_refused(evaluator: str) -> None:
    operator: Any = "rotate"
    with pytest.raises(AssertionError, match="unreachable"):
        OF_OPERATORS[evaluator](Binary(operator, BYTE, constant(1), 0, 255))


def test_a_foreign_operator_on_arrays_is_refused() -> None:
    operator: Any = "rotate"
    with pytest.raises(AssertionError, match="unreachable"):
        wide(operator, np.array([[1]], np.uint8), 2)


def test_the_arbiter_has_every_floating_point_operation_and_no_other() -> None:
    assert set(floating._OPERATIONS) == set(get_args(Operation))
