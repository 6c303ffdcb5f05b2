"""Layers in, bytes out: for those outside who want to know what `gemm_core` gives.

`rtl_models.cores.layers_run` says in the environment which core, and leaves the layers in a file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cocotb

from rtl_models.benches.demand import demand
from rtl_models.benches.driving.gemm_testbench import GemmTestbench
from rtl_models.benches.gemm_core_bench import CORE, demand_cycles, sent
from rtl_models.cores.gemm import layer_of_json
from rtl_models.cores.gemm_cycles import GemmTraffic, beat_cycles
from rtl_models.tools.protocol import FRAMES, NUMBERS


@cocotb.test()
async def send(dut: Any) -> None:
    """Send all layers without stalls, one by one, and write the rows of their tiles."""
    bench, rows = GemmTestbench(dut, CORE.channels), []
    await bench.reset()
    for layer in map(layer_of_json, json.loads(Path(FRAMES).read_text())):
        await bench.write(layer.registers)
        demand(bench.state == (False, False), f"error_o and busy_o are {bench.state} before a layer {layer.title}")
        due = beat_cycles(CORE, layer.shape, GemmTraffic())
        found, beats = await sent(bench, [layer], GemmTraffic(), due.taken[-1] + 1 + CORE.output_stages)
        demand_cycles(found, due, f"a layer {layer.title}")
        kept = [(len(beat.numbers), beat.last) for beat in beats]
        demand(kept == layer.shape.marks(CORE), f"keep_o or last_o is wrong in a layer {layer.title}")
        rows += [beat.numbers for beat in beats]
    Path(NUMBERS).write_text(json.dumps({"rows": rows}))
