"""A bench that looks at nothing: both sides of a unit at random, with a reset, for assertions that are bound to it."""

from __future__ import annotations

from random import Random

import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def random_traffic(dut) -> None:  # type: ignore[no-untyped-def]  # a handle of the simulator
    """Random gaps, stalls and data; at first none, so that a beat goes through an empty unit."""
    rng = Random(1)
    for port in ("clk_i", "valid_i", "ready_i", "rst_ni"):
        getattr(dut, port).value = 0
    for cycle in range(400):
        quiet = cycle < 40
        dut.rst_ni.value = int(cycle >= 4 and not 200 <= cycle < 204)
        dut.valid_i.value = int(cycle == 8) if quiet else rng.randrange(2)
        dut.ready_i.value = 1 if quiet else rng.randrange(2)
        dut.accumulator_i.value = rng.getrandbits(128)
        for value in (0, 1):
            await Timer(1, "step")
            dut.clk_i.value = value
            await Timer(1, "step")
