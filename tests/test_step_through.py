"""A call gone through instruction by instruction: what its table has, on kernels whose lanes are known by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim.call.guards.findings import CallError
from sim.check.check import Job, check_job
from sim.check.vectors import Vectors
from sim.debug.stepping import LARGEST_TABLE, step_through
from sim.kernels import Inputs, Kernel, parse_prototype
from sim.kernels.kernel import Outputs
from sim.toolchain.objects import open_image
from sim.view.lane_table import LaneRow, LaneTable, NamedLanes

Write = Callable[[str, str], Path]

DOUBLE = """
    .text
    .global f
    .type f, %function
f:
    ldr q0, [x0]
    add v0.4s, v0.4s, v0.4s
    str q0, [x1]
    ret
    .size f, . - f
"""
"""Twice each number, where three times is wanted."""
NARROW = """
    .text
    .global f
    .type f, %function
f:
    ldr d1, [x0]
    movi v2.8b, #1
    uqadd v1.8b, v1.8b, v2.8b
    str d1, [x1]
    ret
    .size f, . - f
"""
"""One more, where two more is wanted."""
SCALAR = """
    .text
    .global f
    .type f, %function
f:
    add w8, w0, #1
    mov w0, w8
    ret
    .size f, . - f
"""
TWICE = DOUBLE.replace(
    "    add v0.4s, v0.4s, v0.4s", "    mov w9, #2\n1:  add v0.4s, v0.4s, v0.4s\n    subs w9, w9, #1\n    b.ne 1b"
)
"""Four times each number."""
HALVES = """
    .text
    .global f
    .type f, %function
f:
    ldr q0, [x0]
    xtn v0.4h, v0.4s
    str d0, [x1]
    ret
    .size f, . - f
"""
DOT = """
    .arch armv8.2-a+dotprod
    .text
    .global f
    .type f, %function
f:
    ldr q1, [x0]
    movi v0.4s, #0
    udot v0.4s, v1.16b, v1.4b[1]
    str q0, [x1]
    ret
    .size f, . - f
"""
SLOW = f"""
    .text
    .global f
    .type f, %function
f:
    ldr q0, [x0]
    str q0, [x1]
    mov w9, #{LARGEST_TABLE}
1:  subs w9, w9, #1
    b.ne 1b
    ret
    .size f, . - f
"""


def triple(inputs: Inputs) -> Outputs:
    return {"out": inputs["in"] * np.int32(3)}


def two_more(inputs: Inputs) -> Outputs:
    return {"out": np.minimum(inputs["in"].astype(int) + 2, 255).astype(np.uint8)}


def two_more_returned(inputs: Inputs) -> Outputs:
    return {"returned": np.array(inputs["x"] + 2, np.uint32)}


def table_of(kernel: Kernel, inputs: Inputs) -> LaneTable:
    """Of the first lane that a check of these inputs alone finds wrong."""
    job = Job(kernel.sources[0], ())
    outcome = check_job(kernel, job, Vectors([inputs], [kernel.expected(inputs)], 0), lambda _: None)
    assert outcome.mismatch is not None, outcome.failure or "nothing is wrong"
    return step_through(kernel, open_image(kernel.sources[0], "f"), inputs, outcome.mismatch)


def doubling(source: Path) -> Kernel:
    _, signature = parse_prototype("void f(const int32_t in[4], int32_t out[4])")
    return Kernel(
        name="f",
        symbol="f",
        sources=(source,),
        signature=signature,
        golden=triple,
        steps=lambda inputs: {"triple": triple(inputs)["out"]},
    )


FIVE: Inputs = {"in": np.array([0, 5, 0, 0], np.int32)}


@pytest.fixture
def doubled(write: Write) -> LaneTable:
    return table_of(doubling(write("f.s", DOUBLE)), FIVE)


def test_row_has_the_lanes_before_and_after(doubled: LaneTable) -> None:
    row = doubled.rows[1]
    assert (row.instruction, row.reads, row.written) == (
        "add v0.4s, v0.4s, v0.4s", (NamedLanes("v0.4s", (0, 5, 0, 0)),), NamedLanes("v0", (0, 10, 0, 0)),
    )  # fmt: skip


def test_loaded_register_is_shown_in_the_lanes_that_are_read_next(doubled: LaneTable) -> None:
    assert doubled.rows[0].written == NamedLanes("v0", (0, 5, 0, 0))


def test_store_is_shown_as_the_output(doubled: LaneTable) -> None:
    row = doubled.rows[2]
    assert (row.written, row.marked, row.golden) == (NamedLanes("out", (0, 10, 0, 0)), frozenset({1}), "out 15")


def test_row_that_parts_has_the_golden_step(doubled: LaneTable) -> None:
    assert doubled.parting is doubled.rows[1]
    assert (doubled.rows[1].marked, doubled.rows[1].golden) == (frozenset({1}), "triple 15")


def test_machine_and_emulator_agree(doubled: LaneTable) -> None:
    assert doubled.engines_agree


def test_source_line_is_named(doubled: LaneTable) -> None:
    assert [row.source for row in doubled.rows] == ["f.s:6", "f.s:7", "f.s:8"]


def test_step_that_agrees_is_named_before_the_parting(write: Write) -> None:
    _, signature = parse_prototype("void f(const int32_t in[4], int32_t out[4])")
    steps = lambda inputs: {"twice": 2 * inputs["in"], "triple": 3 * inputs["in"]}  # noqa: E731
    table = table_of(
        Kernel(name="f", symbol="f", sources=(write("f.s", DOUBLE),), signature=signature, golden=triple, steps=steps),
        FIVE,
    )
    assert table.rows[1].golden == "twice 10"


def test_lanes_as_wide_as_the_output_have_its_sign(write: Write) -> None:
    _, signature = parse_prototype("void f(const uint8_t in[8], uint8_t out[8])")
    kernel = Kernel(name="f", symbol="f", sources=(write("f.s", NARROW),), signature=signature, golden=two_more)
    table = table_of(kernel, {"in": np.array([250, 0, 0, 0, 0, 0, 0, 0], np.uint8)})
    assert table.rows[2].written == NamedLanes("v1", (251, 1, 1, 1, 1, 1, 1, 1))


def test_only_the_first_execution_of_the_instruction_parts(write: Write) -> None:
    table = table_of(doubling(write("f.s", TWICE)), FIVE)
    assert [row.parts for row in table.rows] == [False, True, False, False]


def test_destination_that_is_also_an_operand_is_shown_once(write: Write) -> None:
    _, signature = parse_prototype("void f(const int32_t in[4], int16_t out[4])")
    kernel = Kernel(
        name="f",
        symbol="f",
        sources=(write("f.s", HALVES),),
        signature=signature,
        golden=lambda inputs: {"out": np.zeros(4, np.int16)},
    )
    assert table_of(kernel, FIVE).rows[1].reads == (NamedLanes("v0.4s", (0, 5, 0, 0)),)


def test_named_lane_of_an_operand_is_all_that_is_shown_of_it(write: Write) -> None:
    _, signature = parse_prototype("void f(const uint8_t in[16], uint32_t out[4])")
    kernel = Kernel(
        name="f",
        symbol="f",
        sources=(write("f.s", DOT),),
        signature=signature,
        golden=lambda inputs: {"out": np.zeros(4, np.uint32)},
    )
    table = table_of(kernel, {"in": np.arange(16, dtype=np.uint8)})
    assert table.rows[2].reads[-1] == NamedLanes("v1.4b[1]", (4, 5, 6, 7))


def test_general_registers_are_shown_where_the_wrong_lane_came_through(write: Write) -> None:
    _, signature = parse_prototype("uint32_t f(uint32_t x)")
    table = table_of(
        Kernel(name="f", symbol="f", sources=(write("f.s", SCALAR),), signature=signature, golden=two_more_returned),
        {"x": 7},
    )
    assert [(row.reads, row.written) for row in table.rows] == [((NamedLanes("w0", (7,)),), NamedLanes("w8", (8,)))]


def test_call_that_is_too_long_is_refused(write: Write) -> None:
    with pytest.raises(CallError, match="more than 2,000 instructions: shrink its inputs"):
        table_of(doubling(write("f.s", SLOW)), FIVE)


ROW = LaneRow(
    source="a<b.c:1",
    instruction="add v0.4s, v1.4s, v2.4s",
    reads=(NamedLanes("v1.4s", (1, 2)),),
    written=NamedLanes("v0", (3, 4)),
    emulator=(3, 5),
    marked=frozenset({1}),
)


def test_engines_that_differ_are_told() -> None:
    assert not LaneTable((ROW,)).engines_agree
    assert str(LaneTable((ROW,))).splitlines()[1].split("  ")[-1] == "3 5"


def test_text_marks_lanes_by_brackets() -> None:
    assert "v0: 3 [4]" in str(LaneTable((ROW,)))


def test_html_marks_lanes_bold_and_escapes() -> None:
    shown = LaneTable((replace(ROW, parts=True, golden="s 5"),))._repr_html_()
    assert [part in shown for part in ("v0: 3 <b>4</b>", "a&lt;b.c:1", "parts: s 5")] == [True] * 3
