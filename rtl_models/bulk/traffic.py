"""A unit between the memories and stalls of `bulk_traffic.sv`: frames in; counts, results, what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer

from rtl_models.benches.driving.frame import Difference, UnitFrame
from rtl_models.benches.driving.unit_settings import BENCH, LANES
from rtl_models.bulk.compare import expected, first_wrong, told
from rtl_models.bulk.images import COMMANDS, OPERANDS, RESULTS, Commands, operand_image, results_in
from rtl_models.unit_values import Results
from sim.view.sentences import counted


class BulkStalls(NamedTuple):
    """Numbers of patterns of `bulk_stalls`, and its seed."""

    offers: int
    takes: int
    seed: int = 1

    def __str__(self) -> str:
        return f"stalls {self.offers} and {self.takes} of bulk_stalls, seed {self.seed}"


@dataclass(frozen=True)
class Counts:
    """What `bulk_traffic` counted in a run."""

    cycles: int
    accepted: int
    delivered: int
    unstable: int
    hung: int
    error: int


class BulkTraffic:
    """The unit behind its memories, from a reset on."""

    def __init__(self, dut: Any) -> None:
        self._dut, self._commands = dut, Commands()

    async def start(self) -> None:
        """Start the clock, and reset."""
        self._dut.start_i.value, self._dut.rst_ni.value = 0, 0
        Clock(self._dut.clk_i, 2, "step").start()
        await Timer(32, "step")  # 16 edges, for a module that takes its reset through some registers
        self._dut.rst_ni.value = 1

    async def run(self, part: Sequence[UnitFrame], stalls: BulkStalls) -> tuple[Counts, Results]:
        """Send frames, and wait until all results are in the memory."""
        Path(COMMANDS).write_bytes(self._commands.image(part))
        Path(OPERANDS).write_bytes(operand_image(BENCH.unit, part))
        Path(RESULTS).unlink(missing_ok=True)
        self._dut.offers_i.value, self._dut.takes_i.value, self._dut.seed_i.value = stalls
        await FallingEdge(self._dut.clk_i)
        self._dut.start_i.value = 1
        await FallingEdge(self._dut.clk_i)
        self._dut.start_i.value = 0
        await RisingEdge(self._dut.done_o)
        names = ("cycles", "accepted", "delivered", "unstable", "hung", "error")
        counts = Counts(*(int(getattr(self._dut, f"{name}_o").value) for name in names))
        return counts, results_in(Path(RESULTS), BENCH.unit, LANES)


class TrafficResult(NamedTuple):
    """What a run gave: its counts, what it must give, what is wrong in words.

    `wrong` is the first number that is, where the handshake was kept.
    """

    counts: Counts
    due: Results
    problems: list[str]
    wrong: Difference | None


async def checked(traffic: BulkTraffic, part: Sequence[UnitFrame], stalls: BulkStalls) -> TrafficResult:
    """Send frames and compare them and the rules of the handshake."""
    counts, given = await traffic.run(part, stalls)
    due = expected(BENCH.unit, part, LANES)
    more, sent = counts.delivered - counts.accepted, sum(frame.beats for frame in part)
    rules = {
        f"{counted(counts.unstable, 'result')} changed or vanished without being taken": counts.unstable,
        f"{-more} of {counted(counts.accepted, 'beat')} lost": more < 0,
        f"{counted(more, 'result')} without a beat": more > 0,
        f"the unit hangs after {counts.accepted} of {counted(sent, 'beat')}": counts.hung,
        "a legal write of a configuration register is refused": counts.error,
    }
    problems, wrong = [said for said, broken in rules.items() if broken], first_wrong(BENCH.unit, given, due)
    return TrafficResult(
        counts, due, [*problems, *([told(BENCH.unit, part, wrong)] if wrong else [])], None if problems else wrong
    )
