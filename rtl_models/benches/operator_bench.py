"""Every combinational operator against the isa semantics, in all of its widths.

`rtl_models.run` says in the environment which operator, and which of its widths.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import cocotb

from rtl_models.benches.coverage import stimulus
from rtl_models.benches.coverage.operator import OperatorCoverage
from rtl_models.benches.demand import demand, demand_met
from rtl_models.benches.driving.lane_array import LaneArray
from rtl_models.benches.driving.settings import OPERATOR, WIDTHS
from rtl_models.expected import Column, Expressions
from rtl_models.tools.protocol import COVERPOINTS, FAILURE, REPORT
from sim.view.sentences import counted

RANDOM_ROWS: Final = 4_000


@dataclass
class WidthUnderTest:
    """What the tests of one width share."""

    expected: Expressions
    coverage: OperatorCoverage
    rows: int = 0


@cache
def comparison(width: int) -> WidthUnderTest:
    """That of a width, the same one in every test."""
    lanes = Expressions([(OPERATOR.expression(width), OPERATOR.result_of(width))])
    return WidthUnderTest(lanes, OperatorCoverage(OPERATOR, width))


async def compare(dut: Any, width: int, operands: list[Column]) -> None:
    """Every row must give the result and the saturation of the semantics."""
    shared = comparison(width)
    observed = await LaneArray(dut, OPERATOR, width).apply(operands)
    expected = shared.expected.on(operands)
    shared.coverage.look(operands)
    shared.rows += len(operands[0])
    wrong = (observed.result != expected[0]) | (observed.saturated != expected.saturated)
    if wrong.any():
        rows = [[int(number) for number in row] for row in zip(*(column[wrong] for column in operands), strict=True)]
        simplest = min(rows, key=lambda row: sum(map(abs, row)))
        Path(FAILURE).write_text(json.dumps({"width": width, "operands": simplest}))  # for it to be shrunk
        count = counted(len(rows), "row")
        raise AssertionError(f"{count} of operands of {width} bits unlike the semantics, such as {simplest}")


@cocotb.test()
@cocotb.parametrize(width=WIDTHS)
async def edges_by_edges(dut: Any, width: int) -> None:
    """The ends of the types, powers of two and their neighbours, against each other."""
    await compare(dut, width, stimulus.edges_by_edges(OPERATOR.operand_types(width), stimulus.seeded()))


@cocotb.test()
@cocotb.parametrize(width=WIDTHS)
async def ties(dut: Any, width: int) -> None:
    """Half-way cases of products and of shifts."""
    await compare(dut, width, stimulus.ties(OPERATOR.operand_types(width), stimulus.seeded()))


@cocotb.test()
@cocotb.parametrize(width=[width for width in WIDTHS if stimulus.bits_by_counts(OPERATOR.operand_types(width))])
async def bits_by_counts(dut: Any, width: int) -> None:
    """Single bits shifted by about the width, where the second operand is such a count."""
    await compare(dut, width, stimulus.bits_by_counts(OPERATOR.operand_types(width)))


@cocotb.test()
@cocotb.parametrize(width=WIDTHS)
async def random_operands(dut: Any, width: int) -> None:
    """Seeded random numbers, edges among them."""
    types = OPERATOR.operand_types(width)
    await compare(dut, width, stimulus.random_operands(types, stimulus.seeded(), RANDOM_ROWS))


@cocotb.test()
@cocotb.parametrize(width=[width for width in WIDTHS if stimulus.can_be_exhausted(OPERATOR.operand_types(width))])
async def every_combination(dut: Any, width: int) -> None:
    """All numbers of all operands, where they have 16 bits together."""
    await compare(dut, width, stimulus.every_combination(OPERATOR.operand_types(width)))


@cocotb.test(stage=1)
@cocotb.parametrize(width=WIDTHS)
async def functional_coverage(dut: Any, width: int) -> None:
    """Every class of every operand with every one of the others, and all that can happen, was met by the others."""
    demand_met(comparison(width).coverage.unmet(), f" at width {width}")


@cocotb.test(stage=2)
async def report(dut: Any) -> None:
    """Write what was compared; nothing at all is a failure."""
    shared = {width: comparison(width) for width in WIDTHS}
    coverpoints = {
        f"{coverpoint}, width {width}": times
        for width, each in shared.items()
        for coverpoint, times in each.coverage.hits().items()
    }
    Path(COVERPOINTS).write_text(json.dumps(coverpoints))
    Path(REPORT).write_text(json.dumps({"lanes_compared": sum(each.rows for each in shared.values())}))
    demand(all(each.rows for each in shared.values()), "nothing was compared at some width")
