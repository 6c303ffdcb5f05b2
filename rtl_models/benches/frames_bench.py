"""Frames in, numbers out: for those outside who want to know what a unit gives.

`rtl_models.frames_run` says in the environment which unit, and leaves the frames in a file.
"""

from __future__ import annotations

import json
from itertools import repeat
from pathlib import Path
from typing import Any

import cocotb

from rtl_models.benches.demand import demand
from rtl_models.benches.driving.frame import frame_of_json, numbers_of
from rtl_models.benches.driving.stream import Stream, StreamDecisions
from rtl_models.benches.driving.unit_case import testbench
from rtl_models.benches.driving.unit_settings import BENCH, CHANNELS, LANES
from rtl_models.tools.protocol import FRAMES, NUMBERS


@cocotb.test()
async def send(dut: Any) -> None:
    """Send all frames without stalls, and write the numbers of every result port."""
    bench = testbench(dut)
    await bench.reset()
    stream = Stream(bench, BENCH.unit, LANES, StreamDecisions(repeat(True), repeat(True)), CHANNELS)
    for frame in map(frame_of_json, json.loads(Path(FRAMES).read_text())):
        await stream.send(frame)
    while bench.beats_inside > 0:
        await stream.cycle()
    demand(not bench.error, "the configuration registers refuse a setting that their map allows")
    numbers = numbers_of(BENCH.unit, bench.monitor.results, LANES)
    Path(NUMBERS).write_text(json.dumps({port: rows.tolist() for port, rows in numbers.items()}))
