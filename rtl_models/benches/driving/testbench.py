"""The testbench of a streaming unit: clock, reset, bus of the configuration registers, driver, monitor.

A cycle is one call.  Inputs change while the clock is low, outputs are read when they have settled, just before the
rising edge: what a flip-flop beside the unit would see, in whatever order a simulator runs its processes.

The rules are those of AXI-Stream: what is valid stays as it is until it is taken, and valid does not wait for ready.
Those of the package's own units are stricter: ready_o is ready_i or not valid_o, and the reset is asynchronous.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cocotb.handle import LogicArrayObject
from cocotb.triggers import Timer

Words = tuple[int, ...]
"""The packed word of each operand port."""
Bits = tuple[str, ...]
"""The bits on each result port, the highest first; "X" or "Z" where a simulator knows that they have no value."""
Write = tuple[int, int]
"""The address of a configuration register, and the word for it."""


RESET_EDGES: Final = 16
"""Of the clock, that a reset lasts for a module which may take it synchronously, and through some registers."""


class Wrong(AssertionError):
    """The hardware broke a rule that holds for every unit, or gave another number than is due: one sentence."""


@dataclass
class Driver:
    """Beats not yet accepted.  One that is offered stays until it is accepted."""

    waiting: deque[Words] = field(default_factory=deque)
    offered: bool = False

    def offer(self, may: bool) -> Words | None:
        """The beat of this cycle, if there is one."""
        self.offered = bool(self.waiting) and (self.offered or may)
        return self.waiting[0] if self.offered else None

    def accepted(self) -> None:
        """The beat on the inputs has moved."""
        self.waiting.popleft()
        self.offered = False


@dataclass
class Monitor:
    """Results taken, each with its cycle.  A result that is not taken must stay as it is."""

    results: list[Bits] = field(default_factory=list)
    cycles: list[int] = field(default_factory=list)
    held: Bits | None = None

    def see(self, cycle: int, result: Bits | None, taken: bool) -> None:
        """The outputs of a cycle, None where valid_o is 0."""
        if self.held is not None and result != self.held:
            became = "vanished" if result is None else "changed"
            raise Wrong(f"in cycle {cycle} a result that was valid and not taken {became}: outputs must hold")
        self.held = None if taken else result
        if result is not None and taken:
            self.results.append(result)
            self.cycles.append(cycle)


class Testbench:
    """A unit behind its configuration registers."""

    __test__ = False  # no class of tests, whatever pytest thinks of its name

    def __init__(
        self, dut: Any, operands: Sequence[str], results: Sequence[str], strict: bool, asynchronous: bool
    ) -> None:
        """`operands` and `results` are the names of the ports of the streams; `strict`: by the rules of the package.

        `asynchronous`: the reset must act without an edge of the clock.
        """
        self._dut, self.strict, self._asynchronous = dut, strict, asynchronous
        self._operands: list[LogicArrayObject] = [getattr(dut, name) for name in operands]
        self._results: list[LogicArrayObject] = [getattr(dut, name) for name in results]
        self.cycle_number = 0
        self._begin()

    def _begin(self) -> None:
        self._cycles_before = self.cycle_number
        self.accepted: list[int] = []
        self.refused = 0
        self.written_with_a_beat: Counter[int] = Counter()
        self.driver, self.monitor = Driver(), Monitor()

    async def reset(self) -> None:
        """Begin between two edges of the clock and last for two; beats that wait or are inside are lost.

        Nothing is accepted meanwhile, whatever ready_o says, so that the undefined numbers that are offered
        must not come out.  Where the rules are those of AXI-Stream, it lasts longer, nothing is offered, and nothing
        must be valid in its last cycle.
        """
        self._begin()
        for port, value in (("clk_i", 0), ("bus_write_i", 0), ("rst_ni", 1)):  # so that the fall of rst_ni is an event
            getattr(self._dut, port).value = value
        await Timer(1, "step")
        self._dut.rst_ni.value = 0
        await Timer(1, "step")
        if self._asynchronous and self._bit("valid_o"):
            says = "" if self.strict else ", as reset.kind says"
            raise Wrong(f"valid_o is 1 under reset before the next edge: the reset must be asynchronous{says}")
        if not self.strict:
            await self._long_reset()
            return
        self._put(tuple((1 << len(port)) - 1 for port in self._operands), take=False)
        for _ in range(2):
            await self._edge()
        self._put(None, take=False)
        self._dut.rst_ni.value = 1

    async def _long_reset(self) -> None:
        self._put(None, take=False)
        for _ in range(RESET_EDGES):
            await self._edge()
        await Timer(1, "step")
        if self._bit("valid_o"):
            raise Wrong(f"valid_o is 1 under reset, after {RESET_EDGES} edges of the clock")
        self._dut.rst_ni.value = 1
        await self._edge()  # the first beat is offered in the cycle after one without reset

    async def cycle(self, may_offer: bool = False, take: bool = False, write: Write | None = None) -> None:
        """One cycle: at most one beat in, one result out, and one write to the configuration registers."""
        beat = self.driver.offer(may_offer)
        if write is not None:
            self._dut.bus_address_i.value, self._dut.bus_data_i.value = write
            self._dut.bus_write_i.value = 1
        shown = await self._settled(beat, take=False) if take and not self.strict else None
        result = await self._settled(beat, take)
        if take and not self.strict and shown != result:
            differs = "the result becomes another" if shown and result else f"valid_o becomes {int(shown is None)}"
            raise Wrong(f"in cycle {self.now} {differs} when ready_i rises: valid and data must not wait for ready")
        self.monitor.see(self.now, result, take)
        ready, due = self._bit("ready_o"), take or result is None
        self.refused += self.driver.offered and not ready
        if self.strict and ready != due:
            raise Wrong(f"in cycle {self.now} ready_o is {ready:d}: it must be ready_i or not valid_o, {due:d}")
        if ready and self.driver.offered:
            self.driver.accepted()
            self.accepted.append(self.now)
            if write is not None:
                self.written_with_a_beat[write[0]] += 1
        await self._edge()
        if write is not None:
            self._dut.bus_write_i.value = 0
        self.cycle_number += 1

    async def will_accept(self, may_offer: bool, take: bool) -> bool:
        """Whether a beat moves in the cycle to come, given the decisions of both sides."""
        offered = bool(self.driver.waiting) and (self.driver.offered or may_offer)
        if self.strict:
            return offered and (take or not self._bit("valid_o"))
        await self._settled(self.driver.offer(may_offer), take)
        return offered and self._bit("ready_o")

    @property
    def valid(self) -> bool:
        """Whether a result waits, as the outputs stand."""
        return self._bit("valid_o")

    async def read(self, address: int) -> int:
        """A configuration register; takes no cycle."""
        self._dut.bus_address_i.value = address
        await Timer(1, "step")
        return int(str(self._dut.bus_read_data_o.value), 2)

    @property
    def error(self) -> bool:
        """Whether some sticky error is set."""
        return self._bit("bus_error_o")

    @property
    def now(self) -> int:
        """The cycle since the reset, from 0 on; `cycle_number` goes on through resets."""
        return self.cycle_number - self._cycles_before

    @property
    def beats_inside(self) -> int:
        """Accepted, and their results not yet taken."""
        return len(self.accepted) - len(self.monitor.results)

    async def _settled(self, beat: Words | None, take: bool) -> Bits | None:
        """The result of the cycle with these inputs, None where valid_o is 0."""
        self._put(beat, take)
        await Timer(1, "step")
        return tuple(str(port.value) for port in self._results) if self._bit("valid_o") else None

    def _put(self, beat: Words | None, take: bool) -> None:
        self._dut.valid_i.value, self._dut.ready_i.value = int(beat is not None), int(take)
        if beat is not None:
            for port, word in zip(self._operands, beat, strict=True):
                port.value = word

    def _bit(self, name: str) -> bool:
        value = str(getattr(self._dut, name).value)
        if value not in ("0", "1"):
            raise Wrong(f"in cycle {self.now} {name} is {value}")
        return value == "1"

    async def _edge(self) -> None:
        self._dut.clk_i.value = 1
        await Timer(1, "step")
        self._dut.clk_i.value = 0
