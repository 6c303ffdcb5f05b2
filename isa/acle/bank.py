"""The registers of one file during a linear scan: which value is where, and the lines that move values about."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from isa.acle.assembly import SLOTS, CodeLine, FileAssembly, Role
from isa.acle.liveness import LiveInterval

LOW = range(16)
"""The vector registers that an element of 16 bits can be read from (see `isa.acle.register_slots`)."""


@dataclass
class Code:
    """The lines so far, and the stack slots."""

    lines: list[CodeLine] = field(default_factory=list)
    number: int = 0
    slots: int = 0
    _free_slots: list[int] = field(default_factory=list)

    def add(self, role: Role, *texts: str) -> None:
        self.lines += [CodeLine(text, role, self.number) for text in texts]

    def take_slot(self) -> int:
        """A stack slot that is free.  Raises ValueError where no more can be reached."""
        if self._free_slots:
            return self._free_slots.pop()
        if self.slots == SLOTS:
            raise ValueError(f"more than {SLOTS} values are spilled at once: record a shorter program")
        self.slots += 1
        return self.slots - 1

    def give_slot(self, slot: int) -> None:
        self._free_slots.append(slot)


class Bank:
    """The registers of one file during the scan.

    `_held` are the values that are still needed, by register.  `_pinned` are the registers that the instruction at
    hand reads or writes: lines in front of it must not write them.  `_results` are those that it writes.
    """

    def __init__(self, file: FileAssembly, code: Code) -> None:
        self._file, self._code = file, code
        self._held: dict[int, LiveInterval] = {}
        self._where: dict[LiveInterval, int] = {}
        self._slots: dict[LiveInterval, int] = {}
        self._pinned: set[int] = set()
        self._results: set[int] = set()
        self._needed_after = 0

    def begin(self) -> None:
        """Go on to the next instruction, which has not read its operands yet."""
        self._pinned.clear()
        self._results.clear()
        self._needed_after = self._code.number - 1

    def operands_placed(self) -> None:
        """From here on an operand counts as needed only if a later instruction reads it."""
        self._needed_after = self._code.number

    def read(self, value: LiveInterval, allowed: Collection[int]) -> int:
        """The register, one of those allowed, in which the instruction reads the value."""
        register = self._where.get(value)
        if register is None or register not in allowed:
            usable = [r for r in self._file.order if r in allowed and r not in self._pinned]
            free = [r for r in usable if r not in self._held]
            register = self._file.chosen(free, value.constant) if free else self._furthest(usable)
            if not free:
                self._vacate(register)
            self._bring(value, register)
        self._pinned.add(register)
        return register

    def read_list(self, values: Sequence[LiveInterval], starts: Iterable[int] = range(32)) -> list[int]:
        """Consecutive registers in which the instruction reads these values, v0 after v31."""
        window = min(self._windows(starts, len(values)), key=lambda w: self._misplaced(values, w))
        for value, register in zip(values, window, strict=True):
            if self._held.get(register) is not value:
                if register in self._held:
                    self._vacate(register, window)
                source = self._where.get(value)
                if source is not None and source in self._pinned:  # the list has it already: it stays where it is
                    self._code.add("copy", self._file.copied(register, source))
                else:
                    self._bring(value, register)
            self._pinned.add(register)
        return window

    def _misplaced(self, values: Sequence[LiveInterval], window: list[int]) -> int:
        """About how many lines it takes to have the values there; impossible where the instruction reads others."""
        if not self._pinned.isdisjoint(window):
            return 2 * len(self._file.order)
        placed = zip(values, window, strict=True)
        return sum((self._where.get(v) != r) + (r in self._held and self._held[r] is not v) for v, r in placed)

    def keep(self, register: int) -> None:
        """Let the value live on elsewhere, if it does, because the instruction overwrites its register."""
        value = self._held.get(register)
        if value is not None and value.lives_after(self._code.number):
            self._vacate(register)
        self._results.add(register)

    def end(self, value: LiveInterval) -> None:
        """Free the register and the stack slot of a value if nothing reads it any more."""
        if not value.lives_after(self._code.number):
            self._held.pop(self._where.pop(value, -1), None)
            if value in self._slots:
                self._code.give_slot(self._slots.pop(value))

    def write(self, value: LiveInterval) -> int:
        """A register for a result; one that the instruction reads for the last time can be it."""
        order = self._file.order
        if value.needs_low:  # those first that every reader of the value can use
            order = tuple(sorted(order, key=lambda register: register not in LOW))
        free = [register for register in order if register not in self._held]
        if not free:
            free = [self._furthest(self._held.keys() - self._results)]
            self._evict(free[0])
        fitting = [register for register in free if self._fits(value, register)] if value.listed else []
        return self.result(value, self._file.chosen(fitting or free, None))

    def _fits(self, value: LiveInterval, register: int) -> bool:
        """Whether the list that the value is read in could have its consecutive registers around this one."""
        start = register - value.listed.index(value)
        window = [(member, (start + k) % 32) for k, member in enumerate(value.listed)]
        return all(self._where.get(m, r) == r and self._held.get(r, m) is m for m, r in window if m is not value)

    def write_list(self, values: Sequence[LiveInterval]) -> list[int]:
        """Consecutive registers for results, v0 after v31."""
        windows = self._windows(range(32), len(values))
        window = min(windows, key=lambda w: sum(register in self._held for register in w))
        for register in window:
            if register in self._held:
                self._vacate(register, window)
        return [self.result(value, register) for value, register in zip(values, window, strict=True)]

    def result(self, value: LiveInterval, register: int) -> int:
        """Let the register, which holds nothing that is needed, take a result."""
        self._hold(value, register)
        self._file.overwritten(register)
        self._pinned.add(register)
        self._results.add(register)
        return register

    def _windows(self, starts: Iterable[int], length: int) -> list[list[int]]:
        order = self._file.order
        windows = [[(start + k) % 32 for k in range(length)] for start in starts]
        return sorted(windows, key=lambda window: max(map(order.index, window)))

    def _vacate(self, register: int, window: Sequence[int] = ()) -> None:
        """Let a value live on in a register outside of the window, or evict the one that is needed last."""
        usable = [r for r in self._file.order if r not in self._pinned and r not in window]
        free = [r for r in usable if r not in self._held]
        target = free[0] if free else self._furthest([*usable, register])
        if target in self._held:
            self._evict(target)
        if target != register:
            self._bring(self._held[register], target)

    def _furthest(self, registers: Iterable[int]) -> int:
        held = [register for register in registers if register in self._held]
        return max(held, key=lambda register: self._held[register].next_use(self._needed_after))

    def _evict(self, register: int) -> None:
        """Take a register away from its value, which is stored unless it can be had again."""
        value = self._held.pop(register)
        del self._where[value]
        if value.constant is None and value not in self._slots:
            self._slots[value] = self._code.take_slot()
            self._code.add("spill", self._file.stored(register, self._slots[value]))

    def _bring(self, value: LiveInterval, register: int) -> None:
        """Get a value into a register that holds nothing that is needed, and take it as its place."""
        source = self._where.get(value)
        if source is not None:
            self._code.add("copy", self._file.copied(register, source))
        elif value.constant is not None:
            self._code.add("constant", *self._file.constant(register, value.constant))
        else:
            self._code.add("reload", self._file.loaded(register, self._slots[value]))
        self._hold(value, register)

    def _hold(self, value: LiveInterval, register: int) -> None:
        self._held.pop(self._where.pop(value, -1), None)
        self._held[register], self._where[value] = value, register
