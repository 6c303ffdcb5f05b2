"""A call of a process that stands at its entry, run on the lane machine, which reads pages as the call touches them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sim.machine.errors import AlignmentFault, MemoryFault
from sim.machine.machine import Machine
from sim.machine.memory import PAGE, merged
from sim.machine.registers import SP, RegisterStorage

ReadPage = Callable[[int], bytes | None]
"""The page at an address, as the process has it; None where it has none."""


@dataclass(kw_only=True)
class LiveCall:
    """One call, from its entry until it is at `ret`.

    `pages` holds what was in the pages before the call, by address; `permissions` says what the call does with them:
    pages of code are "rx", or "rwx" where it writes them, others "rw", also where it only reads.
    `executed` counts the instructions.
    """

    name: str
    registers: RegisterStorage
    entry: int
    ret: int
    read_page: ReadPage
    pages: dict[int, bytes] = field(default_factory=dict)
    permissions: dict[int, str] = field(default_factory=dict)
    executed: int = 0

    def run(self, limit: int) -> Machine:
        """The machine after the call, or after so many instructions.  Raises ExecutionError."""
        machine = self._machine()
        while machine.pc != self.ret and machine.instructions_executed < limit:
            try:
                machine.run(self.ret, limit - machine.instructions_executed)
            except MemoryFault as fault:
                if isinstance(fault, AlignmentFault):
                    raise
                if not self._bring(machine, fault):
                    machine = self._machine()
        self.executed = machine.instructions_executed
        return machine

    def _machine(self) -> Machine:
        """A machine at the entry of the call, with the pages that are known."""
        machine = Machine()
        machine.registers.copy(self.registers)
        machine.pc = self.entry
        for address, data in self.pages.items():
            machine.memory.map(address, PAGE, self.permissions[address])
            machine.memory.write(address, data)
        return machine

    def _bring(self, machine: Machine, fault: MemoryFault) -> bool:
        """Give the machine what it lacks; whether it can go on, or has to begin anew as a page is used otherwise.

        Raises the fault where the process lacks it too.
        """
        is_fetch = fault.address == fault.pc and not fault.disassembly
        wanted = "x" if is_fetch else "w" if fault.writes else "r"
        for address in range(fault.address // PAGE * PAGE, fault.address + fault.size, PAGE):
            if address not in self.pages:
                data = self.read_page(address)
                if data is None:
                    raise fault
                self.pages[address], self.permissions[address] = data, "rx" if is_fetch else "rw"
                machine.memory.map(address, PAGE, self.permissions[address])
                machine.memory.write(address, data)
            elif wanted not in self.permissions[address]:
                self.permissions[address] = "rx" if self.permissions[address] == "rw" else "rwx"
                return False
        return True

    def runs(self) -> Iterator[tuple[int, int, str]]:
        """Address, size and permissions of pages that follow each other and are used alike."""
        for wanted in ("rx", "rw", "rwx"):
            alike = (address for address, permissions in self.permissions.items() if permissions == wanted)
            for start, end in merged((address, address + PAGE) for address in alike):
                yield start, end - start, wanted

    def before(self, address: int, size: int) -> bytes:
        """What was in pages before the call."""
        return b"".join(self.pages[at] for at in range(address, address + size, PAGE))

    def results(self) -> Iterator[tuple[int, int]]:
        """Address and size of what the call may have written and somebody may read: not its own stack, below sp."""
        sp = self.registers.general[SP]
        for start, size, permissions in self.runs():
            end = start + size
            if "w" in permissions and end > sp >= start:
                start = sp
            if "w" in permissions and start < end:
                yield start, end - start
