"""A wrong row of operands shrunk in the simulator to its simplest, and shown alone for a waveform.

Hypothesis chooses what to try; it knows nothing of simulators, so it runs in a thread (cocotb's `bridge`) that comes
back to the simulator for every trial (`resume`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cocotb
from cocotb.task import bridge, resume

from rtl_models.benches.coverage.stimulus import columns
from rtl_models.benches.demand import demand
from rtl_models.benches.driving.lane_array import LaneArray
from rtl_models.benches.driving.settings import OPERATOR
from rtl_models.benches.shrinking.simpler import simpler
from rtl_models.expected import Expressions
from rtl_models.tools.protocol import FAILURE, SMALLEST
from sim.shrink.search import smallest_indices

Row = tuple[int, ...]


class RowTrial:
    """One row of operands on the hardware, against the semantics."""

    def __init__(self, dut: Any, width: int) -> None:
        self._types = OPERATOR.operand_types(width)
        self._expected = Expressions([(OPERATOR.expression(width), OPERATOR.result_of(width))])
        self._array = LaneArray(dut, OPERATOR, width)

    async def outcome(self, row: Row) -> dict[str, Sequence[int]]:
        """Result and saturation, each as given and as expected."""
        operands = columns(self._types, [row])
        observed, expected = await self._array.apply(operands), self._expected.on(operands)
        given = [int(observed.result[0]), int(observed.saturated[0])]
        return {"operands": row, "given": given, "expected": [int(expected[0][0]), int(expected.saturated[0])]}

    async def fails(self, row: Row) -> bool:
        """Whether they differ."""
        outcome = await self.outcome(row)
        return outcome["given"] != outcome["expected"]


@cocotb.test()
async def shrink(dut: Any) -> None:
    """Write the simplest row found that fails, with what it gives."""
    failure = json.loads(Path(FAILURE).read_text())
    trial = RowTrial(dut, failure["width"])
    smallest = await bridge(_smallest)(trial, tuple(failure["operands"]))
    demand(await trial.fails(smallest), f"{smallest} fails only among others")
    Path(SMALLEST).write_text(json.dumps({"width": failure["width"], **await trial.outcome(smallest)}))


@cocotb.test()
async def show(dut: Any) -> None:
    """The simplest row alone, after a row of zeros, so that the waveform has the change."""
    smallest = json.loads(Path(SMALLEST).read_text())
    trial = RowTrial(dut, smallest["width"])
    await trial.outcome(tuple(0 for _ in smallest["operands"]))
    demand(await trial.fails(tuple(smallest["operands"])), "it does not fail alone")


def _smallest(trial: RowTrial, row: Row) -> Row:
    """Simpler numbers in place of each, until nothing simpler fails.  Runs in a thread beside the simulation."""
    fails, before = resume(trial.fails), None
    while row != before:
        before, row = row, _simpler(row, fails)
    return row


def _simpler(row: Row, fails: Callable[[Row], bool]) -> Row:
    """One search over the numbers of the row and those in place of each."""
    pools = list(map(simpler, row))

    def at(indices: Sequence[int]) -> Row:
        return tuple(pool[index] for pool, index in zip(pools, indices, strict=True))

    found = smallest_indices(list(map(len, pools)), lambda indices: fails(at(indices)))
    return row if found is None else at(found)
