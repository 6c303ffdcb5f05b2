"""Coverage of a build: lines and branch outcomes of calls in lockstep, operand classes of vector instructions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import sim.command.app
from isa.rows import TABLE
from sim.call.call import CompiledKernel
from sim.call.coverage import Coverage, share_of_branches, share_of_lines
from sim.check.operand_classes import class_conditions, collect_operand_classes, vector_arithmetic
from sim.check.vectors import Vectors
from sim.kernels import Kernel, parse_prototype
from sim.toolchain.compilers import build_text

SOURCE = """#include <arm_neon.h>
int before(int a) { return a; } int choose(int a)
{
    if (a > 3)
        return a * 7;
    return a + 1;
}
int behind(int a)
{
    return a;
}
"""
AVERAGE = """#include <arm_neon.h>
void f(const int8_t *a, int8_t *out)
{
    vst1_s8(out, vqrshrn_n_s16(vmovl_s8(vqadd_s8(vld1_s8(a), vdup_n_s8(100))), 1));
}
"""


def covered(values: list[int]) -> Coverage:
    name, signature = parse_prototype("int choose(int a)")
    compiled = CompiledKernel(
        build_text(SOURCE, ".c", "-O0"), Kernel(name=name, symbol=name, sources=(), signature=signature, golden=dict)
    )
    for value in values:
        compiled.call({"a": value}, seed=1)
    found = compiled.coverage()
    assert found is not None
    return found


def never(values: list[int]) -> list[int]:
    """The source lines that were never executed."""
    return [int(line.split(":")[1]) for line, met in covered(values).lines.items() if not met]


@pytest.mark.parametrize(("values", "lines"), [([1], [5]), ([4], [6]), ([1, 4], [])])
def test_a_line_that_no_call_reached_is_never(values: list[int], lines: list[int]) -> None:
    assert never(values) == lines


@pytest.mark.parametrize(("values", "outcomes"), [([1], 1), ([4], 1), ([1, 4], 2)])
def test_a_branch_has_two_outcomes(values: list[int], outcomes: int) -> None:
    branches = covered(values).branches
    assert (sum(branches.values()), len(branches)) == (outcomes, 2)


def test_a_branch_is_named_by_its_line_and_the_line_that_it_goes_to() -> None:
    """From the condition past the statement under it."""
    for name in covered([1]).branches:
        line, _, to, target, *_ = name.split()
        assert (line.partition(":")[2], to, target.partition(":")[2]) == ("4", "to", "6")


def test_a_line_is_met_if_some_build_meets_it() -> None:
    builds = [Coverage({"a.c:1": True, "a.c:2": False}, {}), Coverage({"a.c:2": True, "a.c:3": False}, {})]
    share = share_of_lines(builds)
    assert (share.met, share.of, share.never) == (2, 3, ("a.c:3",))


def test_branches_of_builds_are_told_apart() -> None:
    builds = {name: Coverage({}, {"a.c:1 b.lo at 0x10 taken": name == "-O1"}) for name in ("-O1", "-O2")}
    assert share_of_branches(builds).never == ("-O2: a.c:1 b.lo at 0x10 taken",)


def classes(values: list[int]) -> set[str]:
    """Instruction and class of what the lanes met."""
    _, signature = parse_prototype("void f(const int8_t a[8], int8_t out[8])")
    kernel = Kernel(name="f", symbol="f", sources=(), signature=signature, golden=dict)
    inputs = [{"a": np.array(values, np.int8)}]
    found = collect_operand_classes(build_text(AVERAGE, ".c", "-O1"), kernel, Vectors(inputs, [], seed=1))
    return {f"{name.split()[1]} {name.split(': ')[1]}" for name, met in found.items() if met}


@pytest.mark.parametrize(
    ("value", "name", "met"),
    [
        (28, "sqadd saturated high", True),
        (27, "sqadd saturated high", False),  # 27 + 100 is the largest int8
        (-128, "sqadd min", True),
        (0, "sqadd zero", True),
        (1, "sqrshrn tie", True),  # 101 / 2
        (2, "sqrshrn tie", False),
    ],
)
def test_a_class_is_met_where_some_lane_meets_it(value: int, name: str, met: bool) -> None:
    assert (name in classes([4, value, 4, 4, 4, 4, 4, 4])) == met


@pytest.mark.parametrize(
    ("mnemonic", "names"),
    [
        ("sqadd", {"min", "max", "zero", "saturated low", "saturated high"}),
        ("uqadd", {"min", "max", "zero", "saturated high"}),  # no sum of two is below zero
        ("uqsub", {"min", "max", "zero", "saturated low"}),
        ("add", {"min", "max", "zero", "wrapped"}),
    ],
)
def test_a_class_is_looked_for_where_operands_of_an_instruction_can_be_of_it(mnemonic: str, names: set[str]) -> None:
    (write, *_) = vector_arithmetic(TABLE.instruction(mnemonic, "v0.16b, v1.16b, v2.16b"))
    assert set(class_conditions(write.lanes[0])) == names


@pytest.mark.slow
def test_the_report_has_the_shares_and_with_an_option_the_classes(tmp_path: Path) -> None:
    CliRunner().invoke(sim.command.app.app, ["init", "kernel", "k", "--folder", str(tmp_path)])
    command = ["check", str(tmp_path / "k.py"), "--opt", "O1", "--vectors", "50", "--json"]
    plain, with_classes = (
        json.loads(CliRunner().invoke(sim.command.app.app, [*command, *more]).stdout)["coverage"]
        for more in ((), ("--coverage",))
    )
    assert (set(plain), set(with_classes)) == (
        {"source lines", "branch outcomes"},
        {"source lines", "branch outcomes", "operand classes"},
    )
