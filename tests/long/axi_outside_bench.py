"""A unit in its wrapper for AXI, driven by the buses of `cocotbext-axi`, which know nothing of ours."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any, Final

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

from rtl_models.benches.axi_bench import BENCH, FRAMES, LANES, OKAY, SLVERR, numbers_in, words_of
from rtl_models.benches.demand import demand
from rtl_models.benches.driving.frame import difference
from rtl_models.register_map import ADDRESSES, STATUS, register_writes

PERIOD: Final = 10
"""Steps of a clock."""
PATIENCE: Final = 200_000 * PERIOD
"""Several times what a test takes: buses wait for a frame as long as it does not come."""
_SHIFT: Final = ADDRESSES["SHIFT"]


class Buses:
    """The three buses of a wrapper, each of whose channels pauses at random, so often."""

    def __init__(self, dut: Any, seed: int, pauses: float) -> None:
        self._dut = dut
        common = {"clock": dut.aclk, "reset": dut.aresetn, "reset_active_level": False}
        self.registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), **common)
        # One word is a beat.
        self.source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), **common, byte_lanes=1)
        self.sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), **common, byte_lanes=1)
        written, read = self.registers.write_if, self.registers.read_if
        channels = (written.aw_channel, written.w_channel, written.b_channel, read.ar_channel, read.r_channel)
        for number, channel in enumerate((*channels, self.source, self.sink)):
            channel.set_pause_generator(_at_random(Random(f"{seed} {number}"), pauses))

    async def reset(self) -> None:
        Clock(self._dut.aclk, PERIOD, unit="step").start()
        self._dut.aresetn.value = 0
        await ClockCycles(self._dut.aclk, 3)
        self._dut.aresetn.value = 1
        await ClockCycles(self._dut.aclk, 1)

    async def write(self, address: int, data: int) -> int:
        """The response to a whole word."""
        return int((await self.registers.write(address, data.to_bytes(4, "little"))).resp)

    async def read(self, address: int) -> int:
        """The word."""
        return int.from_bytes((await self.registers.read(address, 4)).data, "little")


def _at_random(rng: Random, often: float) -> Iterator[bool]:
    while True:
        yield rng.random() < often


@cocotb.test(timeout_time=PATIENCE, timeout_unit="step")
@cocotb.parametrize(pauses=[0.0, 0.3, 0.7])
async def frames_with_their_settings(dut: Any, pauses: float) -> None:
    """Every frame comes as a frame, and every result is the one due."""
    seed = cocotb.RANDOM_SEED
    buses = Buses(dut, seed, pauses)
    await buses.reset()
    for place, frame in enumerate(islice(BENCH.frames(Random(seed), LANES), FRAMES)):
        for address, data in register_writes(frame.settings):
            response = await buses.write(address, data)
            demand(response == OKAY, f"the write of {data:#x} to {address:#x} has the response {response}")
        await buses.source.send(AxiStreamFrame(list(words_of(frame))))
        came = list((await buses.sink.recv()).tdata)
        demand(len(came) == frame.beats, f"frame {place}: {len(came)} of {frame.beats} results came")
        due = BENCH.unit.expected(frame.settings, frame.operands, LANES)
        wrong = difference(BENCH.unit, numbers_in(came), due)
        demand(wrong is None, f"frame {place}: {wrong}")
    demand(buses.sink.empty(), "more results came than operands went")


@cocotb.test(timeout_time=PATIENCE, timeout_unit="step")
async def registers(dut: Any) -> None:
    """What is written is read, many times in turn; part of a word is refused; STATUS has what is illegal."""
    buses = Buses(dut, cocotb.RANDOM_SEED, 0.3)
    await buses.reset()
    for value in np.random.default_rng(cocotb.RANDOM_SEED).integers(0, 32, 50):
        await buses.write(_SHIFT, int(value))
        demand(await buses.read(_SHIFT) == value, "what was written is not read")
    await buses.write(_SHIFT, 17)
    refused = int((await buses.registers.write(_SHIFT, b"\3")).resp)
    demand((refused, await buses.read(_SHIFT)) == (SLVERR, 17), "a write of one byte was made")
    await buses.write(_SHIFT, 32)
    demand(await buses.read(STATUS) == 1, "an illegal value is not in STATUS")
