"""Virtual registers to v0..v31 and x0..x15: a linear scan over a recorded, straight-line sequence.

At each instruction every value's next use is known, so where a register is missing the value that is needed last
gives up its own (Belady).  It is stored to the stack, unless it is there already; a constant is loaded or built again
instead.  An operand that its instruction overwrites is copied only if the old value is still needed afterwards.

Sources: Poletto and Sarkar, "Linear scan register allocation" (1999); Belady, "A study of replacement algorithms for a
virtual-storage computer" (1966); AAPCS64 6.9 (results).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from isa.acle.assembly import CodeLine, GeneralFileAssembly, Role, VectorFileAssembly, assembly, framed
from isa.acle.bank import LOW, Bank, Code
from isa.acle.liveness import LiveInterval, Lives, Pressure, RecordedOperation
from isa.acle.register_slots import slots_of

RESULTS = 4
"""Vectors that a function can return, in v0 to v3: the most members of an HVA (AAPCS64 5.9.5)."""


class _Scan:
    """The scan over both register files."""

    def __init__(self, vectors: VectorFileAssembly, code: Code) -> None:
        self._code = code
        self._banks = {"v": Bank(vectors, code), "x": Bank(GeneralFileAssembly(), code)}
        self._orders = {"v": vectors.order, "x": GeneralFileAssembly.order}

    def place(self, operation: RecordedOperation) -> None:
        """Give one instruction its registers, after the lines that it needs in front."""
        self._begin(operation.number)
        registers = self._reads(operation)
        for bank in self._banks.values():
            bank.operands_placed()
        for slot in operation.tied:
            self._banks[operation.reads[slot].file].keep(registers[slot])
        self._end(operation.reads.values())
        self._writes(operation, registers)
        # An operand of which nothing is read (EXT #0) is like the first one.
        some, count = (registers[min(registers)] if registers else 0), len(operation.instruction.registers)
        filled = tuple(registers.get(slot, some) for slot in range(count))
        instruction = replace(operation.instruction, registers=filled)
        self._code.lines.append(CodeLine(instruction.text, "recorded", operation.number, instruction))
        self._end(operation.writes.values())

    def _begin(self, number: int) -> None:
        self._code.number = number
        for bank in self._banks.values():
            bank.begin()

    def _reads(self, operation: RecordedOperation) -> dict[int, int]:
        """By slot, where the instruction reads: lists first, then what must be low."""
        slots, reads = slots_of(operation.instruction.pattern), operation.reads
        registers: dict[int, int] = {}
        for members in slots.lists:
            if members[0] in reads:
                found = self._banks["v"].read_list([reads[slot] for slot in members])
                registers.update(zip(members, found, strict=True))
        for slot in sorted(reads.keys() - registers.keys(), key=lambda slot: slot not in slots.low):
            file = reads[slot].file
            allowed = LOW if slot in slots.low else self._orders[file]
            registers[slot] = self._banks[file].read(reads[slot], allowed)
        return registers

    def _writes(self, operation: RecordedOperation, registers: dict[int, int]) -> None:
        """Give results their registers: that of the operand which they overwrite, or a free one."""
        writes = operation.writes
        for slot in operation.tied:
            self._banks[writes[slot].file].result(writes[slot], registers[slot])
        for members in slots_of(operation.instruction.pattern).lists:
            if members[0] in writes and members[0] not in registers:
                found = self._banks["v"].write_list([writes[slot] for slot in members])
                registers.update(zip(members, found, strict=True))
        for slot in writes.keys() - registers.keys():
            registers[slot] = self._banks[writes[slot].file].write(writes[slot])

    def _end(self, values: Iterable[LiveInterval]) -> None:
        for value in dict.fromkeys(values):
            self._banks[value.file].end(value)

    def give_back(self, values: Sequence[LiveInterval], number: int) -> None:
        """Bring what the function returns into v0 and those after it."""
        self._begin(number)
        if values:
            self._banks["v"].read_list(values, [0])


@dataclass(frozen=True)
class Allocation:
    """A recorded sequence on the registers of a machine: one function without arguments.

    `lines` are all its instructions in order, from the first of its frame to `ret`.
    """

    name: str
    lines: tuple[CodeLine, ...]
    pool: dict[int, int]
    lives: Lives

    @cached_property
    def text(self) -> str:
        """Assembly for GNU as or clang: the function `name`, and its constants in read-only data."""
        return assembly(self.name, self.lines, self.pool)

    def of(self, role: Role) -> tuple[CodeLine, ...]:
        """The lines that are there for that reason."""
        return tuple(line for line in self.lines if line.role == role)

    @property
    def spills(self) -> tuple[CodeLine, ...]:
        """The lines that store a value to the stack because it lost its register; `reload`s load it again."""
        return self.of("spill")

    @property
    def dead(self) -> tuple[RecordedOperation, ...]:
        """The recorded instructions of which nothing is ever stored or returned."""
        return self.lives.dead()

    @cached_property
    def pressure(self) -> Pressure:
        """How many vectors need a register at each recorded instruction."""
        return self.lives.pressure("v")

    @property
    def summary(self) -> str:
        """The figures in three lines."""
        counts = {role: len(self.of(role)) for role in ("recorded", "copy", "constant", "spill", "reload")}
        dead = ", ".join(f"{o.number} ({o.instruction.text})" for o in self.dead[:4])
        return "\n".join((
            f"lines     {len(self.lines)}: " + ", ".join(f"{count} {role}" for role, count in counts.items()),
            f"pressure  at most {self.pressure.maximum} live vectors, first at instruction {self.pressure.where}",
            f"dead      {len(self.dead)}" + (f": {dead}{', ...' if len(self.dead) > 4 else ''}" if dead else ""),
        ))  # fmt: skip

    def annotated(self) -> str:
        """The recorded instructions, one a line, each after the number of live vectors; dead ones say so."""
        dead = {operation.number for operation in self.dead}
        rows = enumerate(zip(self.pressure.live, self.lives.instructions, strict=True))
        return "\n".join(f"{live:4}  {i.text}{'  // dead' if n in dead else ''}" for n, (live, i) in rows)


def allocate(found: Lives, name: str = "program") -> Allocation:
    """A recorded sequence as a function of that name on the registers of a machine.

    Raises ValueError for more results than a function returns, or more spilled values than the stack frame takes.
    """
    if len(found.returned) > RESULTS:
        raise ValueError(f"a function returns at most {RESULTS} vectors, not {len(found.returned)}: store the others")
    vector_file, code = VectorFileAssembly(), Code()
    scan = _Scan(vector_file, code)
    for operation in found.operations:
        scan.place(operation)
    scan.give_back(found.returned, len(found.instructions))
    return Allocation(name, framed(code.lines, code.slots, len(found.instructions)), vector_file.pool, found)
