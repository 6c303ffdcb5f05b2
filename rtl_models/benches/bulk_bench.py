"""Many beats of a unit under stalls: Python fills memories, waits for `done`, compares the results with goldens.

`rtl_models.bulk` says in the environment which unit, and how many beats.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer

from rtl_models.benches.frame import Frame
from rtl_models.benches.protocol import FAILURE, REPORT
from rtl_models.benches.unit_settings import BENCH, LANES
from rtl_models.bulk.compare import compared_numbers, expected, first_wrong, place_of, told
from rtl_models.bulk.harness import BEATS_VARIABLE, MOST_BEATS
from rtl_models.bulk.images import COMMANDS, OPERANDS, RESULTS, Commands, operand_image, parts, results_in
from rtl_models.bulk.stimulus import frames, long_frame
from rtl_models.unit_values import Results

BEATS: Final = int(os.environ[BEATS_VARIABLE])
FEW: Final = 16
FIGURES: Final[dict[str, float]] = dict.fromkeys(("beats", "frames", "lanes_compared"), 0)


class Stalls(NamedTuple):
    """Numbers of patterns of `bulk_stalls`."""

    offers: int
    takes: int


NEVER: Final = Stalls(0, 0)
IN_TURN: Final = tuple(Stalls(offers, takes) for offers in range(4) for takes in range(4) if offers or takes)


@dataclass(frozen=True)
class Counts:
    """What `bulk_traffic` counted in a run."""

    cycles: int
    accepted: int
    delivered: int
    unstable: int
    hung: int
    error: int


class Traffic:
    """The unit behind its memories, from a reset on."""

    def __init__(self, dut: Any) -> None:
        self._dut, self._commands = dut, Commands()

    async def start(self) -> None:
        """Start the clock, and reset."""
        self._dut.start_i.value, self._dut.rst_ni.value = 0, 0
        Clock(self._dut.clk_i, 2, "step").start()
        await Timer(4, "step")
        self._dut.rst_ni.value = 1

    async def run(self, part: Sequence[Frame], stalls: Stalls) -> tuple[Counts, Results]:
        """Send frames, and wait until all results are in the memory."""
        Path(COMMANDS).write_bytes(self._commands.image(part))
        Path(OPERANDS).write_bytes(operand_image(BENCH.unit, part))
        Path(RESULTS).unlink(missing_ok=True)
        self._dut.offers_i.value, self._dut.takes_i.value = stalls
        self._dut.seed_i.value = random.randrange(1, (1 << 32) - 1)
        await self._until_done()
        names = ("cycles", "accepted", "delivered", "unstable", "hung", "error")
        counts = Counts(*(int(getattr(self._dut, f"{name}_o").value) for name in names))
        return counts, results_in(Path(RESULTS), BENCH.unit, LANES)

    async def _until_done(self) -> None:
        await FallingEdge(self._dut.clk_i)
        self._dut.start_i.value = 1
        await FallingEdge(self._dut.clk_i)
        self._dut.start_i.value = 0
        await RisingEdge(self._dut.done_o)


async def compare(traffic: Traffic, part: Sequence[Frame], stalls: Stalls) -> Counts:
    """Send frames and compare them and the rules of the handshake."""
    counts, given = await traffic.run(part, stalls)
    due, sent = expected(BENCH.unit, part, LANES), sum(frame.beats for frame in part)
    problems = _broken(counts, sent)
    if wrong := first_wrong(BENCH.unit, given, due):
        if not problems:
            _note(part, *place_of(part, wrong.beat))
        problems.append(told(part, wrong))
    assert not problems, f"{'; '.join(problems)}; stalls {stalls.offers} and {stalls.takes} of bulk_stalls"
    FIGURES["beats"] += sent
    FIGURES["lanes_compared"] += compared_numbers(BENCH.unit, due)
    return counts


def _broken(counts: Counts, sent: int) -> list[str]:
    """The rules of the handshake that were broken."""
    rules = {
        f"{counts.unstable} results changed or vanished while they were not taken": counts.unstable,
        f"{counts.accepted - counts.delivered} of {counts.accepted} beats are lost": counts.delivered < counts.accepted,
        f"{counts.delivered - counts.accepted} results have no beat": counts.delivered > counts.accepted,
        f"the unit hangs after {counts.accepted} of {sent} beats": counts.hung,
        "a legal write of a configuration register is refused": counts.error,
    }
    return [said for said, broken in rules.items() if broken]


def _note(part: Sequence[Frame], number: int, beat: int) -> None:
    """Leave few beats around one that is wrong, with those before and after its frame, and stalls: to be shrunk."""
    before = [frame.cut(max(0, frame.beats - FEW), FEW) for frame in part[max(0, number - 1) : number]]
    after = [frame.cut(0, FEW) for frame in part[number + 1 : number + 2]]
    around = part[number].cut(max(0, beat - FEW), 2 * FEW)
    whole = [frame.as_json() for cut in (*before, around, *after) if (frame := BENCH.fitted(cut, LANES))]
    if not Path(FAILURE).exists():
        takes = [random.random() < 1 / 4 for _ in range(16 * FEW)]
        Path(FAILURE).write_text(json.dumps({"frames": whole, "offers": [], "takes": takes, "early": False}))


@cocotb.test()
async def volume(dut: Any) -> None:
    """Random frames, every combination of patterns of stalls in turn."""
    traffic = Traffic(dut)
    await traffic.start()
    made = frames(BENCH.unit, LANES, random.getrandbits(32), BEATS)
    for number, part in enumerate(parts(made, min(MOST_BEATS, BEATS // len(IN_TURN) + 1))):
        await compare(traffic, part, IN_TURN[number % len(IN_TURN)])
        FIGURES["frames"] += len(part)


@cocotb.test()
async def sustained(dut: Any) -> None:
    """Without stalls every cycle accepts a beat."""
    traffic = Traffic(dut)
    await traffic.start()
    frame = long_frame(BENCH.unit, LANES, random.getrandbits(32), min(MOST_BEATS, max(BEATS // 8, 1)))
    counts = await compare(traffic, [frame], NEVER)
    FIGURES["beats_per_cycle"] = counts.accepted / counts.cycles
    assert counts.accepted >= 0.999 * counts.cycles, f"{counts.accepted} beats in {counts.cycles} cycles, 0.999 are due"


@cocotb.test(stage=1)
async def report(dut: Any) -> None:
    """Write what was compared; too little is a failure."""
    Path(REPORT).write_text(json.dumps(FIGURES))
    assert FIGURES["beats"] >= BEATS, f"{FIGURES['beats']} of {BEATS} beats were compared"
