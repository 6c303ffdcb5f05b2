"""The testbench of `gemm_core`: clock, reset, bus, the drivers of both inputs, the monitor of the results.

Inputs change while the clock is low; outputs are read when they have settled, just before the rising edge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cocotb.triggers import Timer

from rtl_models.benches.driving.testbench import Bits, Driver, Monitor
from rtl_models.cores.gemm_cycles import Decided, GemmCycles, GemmTraffic
from rtl_models.register_map import register_writes


class GemmTestbench:
    """A core behind its ports."""

    __test__ = False  # no class of tests, whatever pytest thinks of its name

    def __init__(self, dut: Any, channels: int) -> None:
        """The core has so many channels."""
        self._dut, self._channels = dut, channels

    async def reset(self) -> None:
        """For two cycles; what is offered meanwhile is not accepted."""
        self._put(clk_i=0, bus_write_i=0, ready_i=0, rst_ni=1)  # so that the fall of rst_ni is an event
        await Timer(1, "step")
        self._put(rst_ni=0, a_valid_i=1, b_valid_i=1)
        await self._edge()
        self._put(a_valid_i=0, b_valid_i=0)
        await self._edge()
        self._put(rst_ni=1)

    async def write(self, settings: Mapping[str, int]) -> None:
        """All settings, a word a cycle."""
        for address, data in register_writes(settings, self._channels):
            await self.write_word(address, data)

    async def write_word(self, address: int, data: int) -> None:
        """A word on the bus, legal or not."""
        self._put(bus_write_i=1, bus_address_i=address, bus_data_i=data)
        await self._edge()
        self._put(bus_write_i=0)

    async def stream(
        self, a: Sequence[int], b: Sequence[int], traffic: GemmTraffic, cycles: int
    ) -> tuple[GemmCycles, list[Bits]]:
        """Offer the words for so many cycles: when which were accepted, and the results taken, with their marks.

        Raises Wrong where a result that is not taken does not stay.
        """
        sides = (("a", Driver(), traffic.a, list[int]()), ("b", Driver(), traffic.b, list[int]()))
        monitor, there = Monitor(), list[int]()
        for (_, driver, _, _), words in zip(sides, (a, b), strict=True):
            driver.waiting.extend((word,) for word in words)
        for cycle in range(cycles):
            for name, driver, decided, _ in sides:
                beat = driver.offer(_does(decided, cycle))
                self._put(**{f"{name}_valid_i": int(beat is not None)})
                if beat is not None:
                    self._put(**{f"{name}_data_i": beat[0]})
            takes = _does(traffic.takes, cycle)
            self._put(ready_i=int(takes))
            await Timer(1, "step")
            ports = ("result_o", "keep_o", "last_o")
            result: Bits | None = None
            if self._bit("valid_o"):
                result = tuple(str(getattr(self._dut, name).value) for name in ports)
            if result is not None and monitor.held is None:
                there.append(cycle)
            monitor.see(cycle, result, takes)
            for name, driver, _, accepted in sides:
                if driver.offered and self._bit(f"{name}_ready_o"):
                    driver.accepted()
                    accepted.append(cycle)
            await self._edge()
        self._put(a_valid_i=0, b_valid_i=0)
        (_, _, _, a_cycles), (_, _, _, b_cycles) = sides
        return GemmCycles(a_cycles, b_cycles, there, monitor.cycles), monitor.results

    @property
    def state(self) -> tuple[bool, bool]:
        """Whether it is in error, and whether busy."""
        return self._bit("error_o"), self._bit("busy_o")

    def _put(self, **values: int) -> None:
        for name, value in values.items():
            getattr(self._dut, name).value = value

    def _bit(self, name: str) -> bool:
        return bool(getattr(self._dut, name).value)

    async def _edge(self) -> None:
        self._put(clk_i=1)
        await Timer(1, "step")
        self._put(clk_i=0)
        await Timer(1, "step")


def _does(decided: Decided, cycle: int) -> bool:
    return decided[cycle] if cycle < len(decided) else True
