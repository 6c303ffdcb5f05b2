"""Many beats of a unit under stalls: Python fills memories, waits for `done`, compares the results with goldens.

`rtl_models.bulk` says in the environment which unit, and how many beats.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import cocotb

from rtl_models.benches.demand import demand
from rtl_models.benches.driving.frame import Difference, UnitFrame
from rtl_models.benches.driving.unit_case import Case
from rtl_models.benches.driving.unit_settings import BENCH, LANES, STRICT
from rtl_models.bulk.compare import compared_numbers, place_of
from rtl_models.bulk.harness import BEATS_VARIABLE, BULK_FAILURE, MOST_BEATS
from rtl_models.bulk.images import parts
from rtl_models.bulk.stimulus import frames, long_frame
from rtl_models.bulk.traffic import BulkStalls, BulkTraffic, Counts, checked
from rtl_models.tools.protocol import FAILURE, REPORT
from sim.view.sentences import counted

BEATS: Final = int(os.environ[BEATS_VARIABLE])
FEW: Final = 16
FIGURES: Final[dict[str, float]] = dict.fromkeys(("beats", "frames", "lanes_compared"), 0)
NEVER: Final = BulkStalls(0, 0)
IN_TURN: Final = tuple(BulkStalls(offers, takes) for offers in range(4) for takes in range(4) if offers or takes)


async def compare(traffic: BulkTraffic, part: Sequence[UnitFrame], pattern: BulkStalls) -> Counts:
    """Send frames, under stalls of this pattern, and compare; leave what is wrong to be shown."""
    stalls = pattern._replace(seed=random.randrange(1, (1 << 32) - 1))
    found = await checked(traffic, part, stalls)
    if found.problems:
        _keep(part, found.wrong, stalls)
    demand(not found.problems, f"{'; '.join(found.problems)}; {stalls}")
    FIGURES["beats"] += sum(frame.beats for frame in part)
    FIGURES["lanes_compared"] += compared_numbers(BENCH.unit, found.due)
    return found.counts


def _keep(part: Sequence[UnitFrame], wrong: Difference | None, stalls: BulkStalls) -> None:
    """Of the first failure the frame that is wrong with the one before, or all.

    To be shrunk, few beats around the one that is wrong, with those before and after its frame, and stalls.
    """
    if Path(BULK_FAILURE).exists():
        return
    number, beat = place_of(part, wrong.beat) if wrong else (0, 0)
    kept = part[max(0, number - 1) : number + 1] if wrong else part
    Path(BULK_FAILURE).write_text(json.dumps({"frames": [frame.as_json() for frame in kept], "stalls": stalls}))
    if not wrong:
        return
    before = [frame.cut(max(0, frame.beats - FEW), FEW) for frame in part[max(0, number - 1) : number]]
    after = [frame.cut(0, FEW) for frame in part[number + 1 : number + 2]]
    around = part[number].cut(max(0, beat - FEW), 2 * FEW)
    whole = tuple(frame for cut in (*before, around, *after) if (frame := BENCH.fitted(cut, LANES)))
    takes = tuple(random.random() < 1 / 4 for _ in range(16 * FEW))
    Path(FAILURE).write_text(json.dumps(Case(whole, takes=takes).as_json()))


@cocotb.test()
async def volume(dut: Any) -> None:
    """Random frames, every combination of patterns of stalls in turn."""
    traffic = BulkTraffic(dut)
    await traffic.start()
    made = frames(BENCH.unit, LANES, random.getrandbits(32), BEATS)
    for number, part in enumerate(parts(made, min(MOST_BEATS, BEATS // len(IN_TURN) + 1))):
        await compare(traffic, part, IN_TURN[number % len(IN_TURN)])
        FIGURES["frames"] += len(part)


@cocotb.test()
async def sustained(dut: Any) -> None:
    """Without stalls every cycle accepts a beat; by the rules of AXI-Stream that is only measured."""
    traffic = BulkTraffic(dut)
    await traffic.start()
    frame = long_frame(BENCH.unit, LANES, random.getrandbits(32), min(MOST_BEATS, max(BEATS // 8, 1)))
    counts = await compare(traffic, [frame], NEVER)
    FIGURES["beats_per_cycle"] = counts.accepted / counts.cycles
    rate = f"{counted(counts.accepted, 'beat')} in {counted(counts.cycles, 'cycle')}"
    demand(not STRICT or counts.accepted >= 0.999 * counts.cycles, f"{rate}, 0.999 are due")


@cocotb.test(stage=1)
async def report(dut: Any) -> None:
    """Write what was compared; too little is a failure."""
    Path(REPORT).write_text(json.dumps(FIGURES))
    demand(FIGURES["beats"] >= BEATS, f"compared {FIGURES['beats']} of {counted(BEATS, 'beat')}")
