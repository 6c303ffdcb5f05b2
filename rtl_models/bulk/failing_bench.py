"""Frames that fail among many beats, under the same stalls alone after a reset: for a waveform."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cocotb

from rtl_models.benches.driving.frame import frame_of_json
from rtl_models.bulk.harness import BULK_FAILURE
from rtl_models.bulk.traffic import BulkStalls, BulkTraffic, checked
from rtl_models.tools.protocol import SMALLEST
from sim.view.sentences import counted


@cocotb.test()
async def show(dut: Any) -> None:
    """Send them, and write what is wrong with them now."""
    kept = json.loads(Path(BULK_FAILURE).read_text())
    part, stalls = [frame_of_json(frame) for frame in kept["frames"]], BulkStalls(*kept["stalls"])
    traffic = BulkTraffic(dut)
    await traffic.start()
    problems = (await checked(traffic, part, stalls)).problems
    said = "; ".join(problems) or "nothing is wrong, so what came before them counts: the waveform shows them right"
    what = f"{counted(len(part), 'frame')}, {counted(sum(frame.beats for frame in part), 'beat')}"
    Path(SMALLEST).write_text(json.dumps({"told": f"shown alone, {what}, {stalls}: {said}"}))
