"""A unit in its wrapper for AXI: settings over AXI4-Lite, frames over AXI4-Stream, under stalls on every channel."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any, Final

import cocotb
import numpy as np
from cocotb.triggers import Timer

from rtl_models.benches.demand import demand
from rtl_models.benches.driving.frame import UnitFrame, difference
from rtl_models.benches.unit_bench import bench_of
from rtl_models.register_map import ADDRESSES, STATUS, register_writes
from rtl_models.tools.protocol import LANES_VARIABLE, UNIT_VARIABLE
from rtl_models.unit_values import Results
from rtl_models.units import UnitPort

BENCH: Final = bench_of(os.environ[UNIT_VARIABLE])
LANES: Final = int(os.environ[LANES_VARIABLE])
FRAMES: Final = 30
PATIENCE: Final = 2_000
OKAY, SLVERR = 0, 2
_SHIFT: Final = ADDRESSES["SHIFT"]
_VALID: Final = ("s_axil_awvalid", "s_axil_wvalid", "s_axil_arvalid", "s_axis_tvalid")


def octets_of(port: UnitPort) -> int:
    """What a number of the port takes of tdata."""
    return -(-port.bits // 8)


def words_of(frame: UnitFrame) -> Iterator[int]:
    """The tdata of each beat."""
    columns = []
    for port in BENCH.unit.operands:
        octets = np.ascontiguousarray(frame.operands[port.name] & ((1 << port.bits) - 1), "<i8").view(np.uint8)
        columns.append(octets.reshape(frame.beats, -1, 8)[:, :, : octets_of(port)].reshape(frame.beats, -1))
    for row in np.hstack(columns):
        yield int.from_bytes(row.tobytes(), "little")


def numbers_in(words: list[int]) -> Results:
    """By result port the numbers of each beat."""
    numbers, place = {}, 0
    for port in BENCH.unit.results:
        size, count = 8 * octets_of(port), port.count(LANES)
        half = 1 << (port.bits - 1) if port.signed else 0
        rows = [[(word >> (place + size * k)) & ((1 << size) - 1) for k in range(count)] for word in words]
        numbers[port.name] = (np.array(rows, np.int64).reshape(len(words), count) ^ half) - half
        place += size * count
    return numbers


class AxiHost:
    """Both sides of a wrapper.  A cycle is one call; whoever is ready is so at random."""

    def __init__(self, dut: Any, seed: int, eager: float) -> None:
        self._dut, self._rng, self._eager = dut, Random(seed), eager
        self._waiting: dict[str, tuple[int, int]] = {}
        self.beats: list[tuple[int, int]] = []

    def chance(self) -> int:
        """Whether a side does something in this cycle."""
        return int(self._rng.random() < self._eager)

    async def reset(self) -> None:
        """Nothing is accepted meanwhile."""
        self._dut.aclk.value, self._dut.aresetn.value = 0, 0
        for _ in range(3):
            await self.cycle(**dict.fromkeys(_VALID, 1))
        self._dut.aresetn.value = 1
        self.beats.clear()
        self._waiting.clear()

    async def cycle(self, **inputs: int) -> dict[str, int]:
        """The outputs just before the edge.  Results are taken, and what is valid and not taken must stay."""
        given = (
            dict.fromkeys(_VALID, 0) | {"m_axis_tready": self.chance(), "s_axil_bready": 0, "s_axil_rready": 0} | inputs
        )
        for name, value in given.items():
            getattr(self._dut, name).value = value
        await Timer(1, "step")
        names = ("awready", "wready", "arready", "bvalid", "bresp", "rvalid", "rdata", "rresp")
        out = {name: int(getattr(self._dut, f"s_axil_{name}").value) for name in names}
        out |= {name: int(getattr(self._dut, name).value) for name in ("s_axis_tready", "m_axis_tvalid", "error_o")}
        beat = (0, 0)
        if out["m_axis_tvalid"]:
            beat = int(self._dut.m_axis_tdata.value), int(self._dut.m_axis_tlast.value)
        shown = {"m_axis": beat, "b": (out["bresp"], 0), "r": (out["rdata"], out["rresp"])}
        valid = {"m_axis": out["m_axis_tvalid"], "b": out["bvalid"], "r": out["rvalid"]}
        for stream, kept in self._waiting.items():
            demand(bool(valid[stream]) and shown[stream] == kept, f"{stream} was valid and not taken, and has changed")
        ready = {"m_axis": given["m_axis_tready"], "b": given["s_axil_bready"], "r": given["s_axil_rready"]}
        self._waiting = {stream: shown[stream] for stream in shown if valid[stream] and not ready[stream]}
        if out["m_axis_tvalid"] and given["m_axis_tready"]:
            self.beats.append(beat)
        self._dut.aclk.value = 1
        await Timer(1, "step")
        self._dut.aclk.value = 0
        return out

    async def write(self, address: int, data: int, strobes: int = 15) -> int:
        """Address and data come in any order; the response."""
        address_there = data_there = 0
        for _ in range(PATIENCE):
            address_there, data_there = address_there | self.chance(), data_there | self.chance()
            out = await self.cycle(
                s_axil_awvalid=address_there, s_axil_awaddr=address, s_axil_wvalid=data_there, s_axil_wdata=data,
                s_axil_wstrb=strobes,
            )  # fmt: skip
            demand(out["awready"] == out["wready"], "address and data are taken apart")
            if out["awready"]:
                demand(address_there == data_there == 1, "a write is taken that is not there")
                return await self._response("bvalid", "bresp")
        raise AssertionError("a write is never taken")

    async def read(self, address: int) -> int:
        """The word."""
        for _ in range(PATIENCE):
            if (await self.cycle(s_axil_arvalid=1, s_axil_araddr=address))["arready"]:
                return await self._response("rvalid", "rdata")
        raise AssertionError("a read is never taken")

    async def _response(self, valid: str, name: str) -> int:
        for _ in range(PATIENCE):
            taken = self.chance()
            out = await self.cycle(**{f"s_axil_{valid[0]}ready": taken})
            if taken and out[valid]:
                return out[name]
        raise AssertionError("there is no response")

    async def send(self, word: int, last: int) -> None:
        """A beat."""
        while not self.chance():
            await self.cycle()
        for _ in range(PATIENCE):
            if (await self.cycle(s_axis_tvalid=1, s_axis_tdata=word, s_axis_tlast=last))["s_axis_tready"]:
                return
        raise AssertionError("a beat is never taken")


@cocotb.test()
@cocotb.parametrize(eager=[0.4, 1.0])
async def frames_with_their_settings(dut: Any, eager: float) -> None:
    """Every result is the one due, and so is the mark of the last beat of a frame."""
    seed = cocotb.RANDOM_SEED
    host = AxiHost(dut, seed, eager)
    await host.reset()
    sent = list(islice(BENCH.frames(Random(seed), LANES), FRAMES))
    for frame in sent:
        for address, data in register_writes(frame.settings):
            response = await host.write(address, data)
            demand(response == OKAY, f"the write of {data:#x} to {address:#x} has the response {response}")
        words = list(words_of(frame))
        for number, word in enumerate(words, 1):
            await host.send(word, int(number == len(words)))
    for _ in range(PATIENCE):
        await host.cycle()
    demand(len(host.beats) == sum(frame.beats for frame in sent), f"{len(host.beats)} results came")
    beats = iter(host.beats)
    for place, frame in enumerate(sent):
        own = [next(beats) for _ in range(frame.beats)]
        wrong = difference(
            BENCH.unit,
            numbers_in([word for word, _ in own]),
            BENCH.unit.expected(frame.settings, frame.operands, LANES),
        )
        demand(wrong is None, f"frame {place}: {wrong}")
        marks = [last for _, last in own]
        demand(marks == [0] * (frame.beats - 1) + [1], f"frame {place}: the marks of the last beat are {marks}")


@cocotb.test()
async def registers(dut: Any) -> None:
    """What is written is read; a write of single bytes changes nothing; what is refused is in STATUS."""
    host = AxiHost(dut, cocotb.RANDOM_SEED, 0.5)
    await host.reset()
    for value in (5, 31, 0, 17):
        await host.write(_SHIFT, value)
        demand(await host.read(_SHIFT) == value, "what was written is not read")
    response = await host.write(_SHIFT, 3, strobes=1)
    demand((response, await host.read(_SHIFT)) == (SLVERR, 17), "a write of one byte was made")
    await host.write(_SHIFT, 32)
    demand(await host.read(STATUS) == 1, "an illegal value is not in STATUS")
    demand((await host.cycle())["error_o"] == 1, "error_o does not show it")
    demand(await host.write(STATUS, 7) == OKAY and await host.read(STATUS) == 0, "STATUS is not cleared")


@cocotb.test()
async def a_write_goes_before_a_read(dut: Any) -> None:
    """Where both come in a cycle, the read waits, and has the new word."""
    host = AxiHost(dut, cocotb.RANDOM_SEED, 1.0)
    await host.reset()
    both = {"s_axil_awvalid": 1, "s_axil_awaddr": _SHIFT, "s_axil_wvalid": 1, "s_axil_wdata": 9, "s_axil_wstrb": 15}
    out = await host.cycle(**both, s_axil_arvalid=1, s_axil_araddr=_SHIFT)
    demand((out["awready"], out["arready"]) == (1, 0), "both were taken, or the read was")
    out = await host.cycle(s_axil_bready=1, s_axil_arvalid=1, s_axil_araddr=_SHIFT)
    demand((out["bvalid"], out["arready"]) == (1, 1), "the read is not taken behind the write")
    out = await host.cycle(s_axil_rready=1)
    demand((out["rvalid"], out["rdata"]) == (1, 9), "the word is not the new one")
