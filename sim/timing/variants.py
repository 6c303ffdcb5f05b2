"""Variants of a loop that a programmer would try: unrolled, and interleaved with copies of itself.

What only counts iterations is done once in a variant: the branch that closes the loop, and what is for nothing else.
Iteration k of a variant of n copies does what iterations n*k to n*k + n - 1 of the loop do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from isa.instruction import Instruction
from isa.lane import Place
from isa.register_slots import slots_of
from sim.timing.loop import Loop
from sim.timing.stream import Executed

LOW = range(16)
"""The vector registers that some forms can take only: see `isa.register_slots.Slots`."""
HANDED_OUT: Mapping[str, tuple[int, ...]] = {"v": tuple(range(32)), "x": (*range(18), *range(19, 29))}
"""Registers that copies may use: all but x18 of the platform, frame pointer and link register (AAPCS64 6.1.1)."""
_NAMES = {"v": "vector", "x": "general"}

Register = tuple[str, int]
"""A register file and a number."""


_Renaming = Mapping[Register, int]
_Item = tuple[int, int, _Renaming]
"""A copy, a place in the body, and the new numbers of the registers of that copy."""


def unrolled(loop: Loop, times: int) -> Loop:
    """The loop with its body written so many times in a row.  Raises ValueError for fewer than one."""
    _require_copies(times)
    places = range(len(loop.body))
    return _variant(loop, times, [(copy, place, {}) for copy in range(times) for place in places])


def interleaved(loop: Loop, copies: int) -> Loop:
    """So many copies of the body with registers of their own, one instruction of each in turn.

    What the body only reads is shared; everything it writes is renamed, accumulators and pointers too, so that the
    copies are independent: what they accumulate is still to be added up after the loop, which is not counted.
    Registers that the body does not name count as free.  Raises ValueError where they do not suffice, and where the
    copies would need flags or a stack pointer of their own.
    """
    _require_copies(copies)
    if copies > 1:
        _require_independent(loop)
    renamings = _renamings(loop, copies)
    places = range(len(loop.body))
    return _variant(loop, copies, [(copy, place, new) for place in places for copy, new in enumerate(renamings)])


def _require_copies(copies: int) -> None:
    if copies < 1:
        raise ValueError(f"a body is there once or more, not {copies} times")


def _variant(loop: Loop, copies: int, items: Iterable[_Item]) -> Loop:
    """The loop of these items, without the control of all copies but the last."""
    control, iterations = _control(loop.body), [loop.iteration(copy) for copy in range(copies)]
    kept = [item for item in items if item[0] == copies - 1 or item[1] not in control]
    body = tuple(_renamed(iterations[copy][place], renaming) for copy, place, renaming in kept)
    return Loop(body, tuple(tuple(copies * stride for stride in loop.strides[place]) for _, place, _ in kept))


def _renamed(one: Executed, renaming: _Renaming) -> Executed:
    registers = tuple(renaming.get(register, register[1]) for register in _registers(one.instruction))
    if registers == one.instruction.registers:
        return one
    return one._replace(instruction=Instruction(one.instruction.pattern, registers))


def _registers(instruction: Instruction) -> list[Register]:
    """Its registers in the order of the text; one that nothing is read of has no file."""
    slots = slots_of(instruction.pattern)
    files = {**slots.reads, **slots.writes}
    return [(files.get(slot, ""), number) for slot, number in enumerate(instruction.registers)]


def _control(body: Sequence[Executed]) -> frozenset[int]:
    """The places of the closing branch and of what only it needs: a counter, a comparison."""
    last = len(body) - 1
    found = {last} if body[last].instruction.is_branch else set[int]()
    while more := {place for place in range(last) if place not in found and _only_for(body, place, found)}:
        found |= more
    return frozenset(found)


def _only_for(body: Sequence[Executed], place: int, control: Set[int]) -> bool:
    """Whether an instruction is read by some of these, and by nobody else but itself."""
    written = set(body[place].instruction.places_written) - {Place("pc")}
    readers = {other for other, one in enumerate(body) if written & set(one.instruction.places_read)} - {place}
    return bool(readers) and readers <= control and not body[place].instruction.stores


def _copied(loop: Loop) -> list[Instruction]:
    """What each copy does for itself."""
    control = _control(loop.body)
    return [one.instruction for place, one in enumerate(loop.body) if place not in control]


def _require_independent(loop: Loop) -> None:
    for instruction in _copied(loop):
        files = {place.file for place in (*instruction.places_read, *instruction.places_written)}
        if instruction.is_branch:
            raise ValueError(f"{instruction.text!r} branches in the middle of the loop: it cannot be interleaved")
        if "nzcv" in files:
            raise ValueError(
                f"{instruction.text!r} needs the flags, of which there is one set: it cannot be interleaved"
            )
        if Place("sp") in instruction.places_written:
            raise ValueError(f"{instruction.text!r} moves the stack pointer: it cannot be interleaved")


def _renamings(loop: Loop, copies: int) -> list[_Renaming]:
    """The new numbers of what each copy writes; the first copy keeps its registers."""
    groups, low = _groups(loop), _low(loop)
    used = {register for one in loop.body for register in _registers(one.instruction)}
    free = {(file, number) for file, numbers in HANDED_OUT.items() for number in numbers} - used
    spare = Counter(file for file, _ in free)
    renamings: list[_Renaming] = [{}]
    for _ in range(copies - 1):
        renaming: dict[Register, int] = {}
        for group in groups:
            found = _moved(group, free, low)
            if found is None:
                raise ValueError(_too_few(groups, copies, group[0][0], spare))
            renaming.update(found)
            free -= {(file, found[file, number]) for file, number in group}
        renamings.append(renaming)
    return renamings


def _too_few(groups: Sequence[Sequence[Register]], copies: int, file: str, spare: Mapping[str, int]) -> str:
    needed = (copies - 1) * sum(len(group) for group in groups if group[0][0] == file)
    limits = " (some of them in a row, or below v16)" if needed <= spare[file] else ""
    return f"{copies} copies need {needed} more {_NAMES[file]} registers{limits}, and {spare[file]} are free"


def _moved(group: Sequence[Register], free: Set[Register], low: frozenset[Register]) -> dict[Register, int] | None:
    """New numbers for registers that keep their distances; None if there are none."""
    for distance in range(1, 32):
        moved = {(file, number): (number + distance) % 32 for file, number in group}
        fits = all((file, new) in free for (file, _), new in moved.items())
        if fits and all(moved[register] in LOW for register in low.intersection(group)):
            return moved
    return None


def _groups(loop: Loop) -> list[list[Register]]:
    """The registers to rename: those that are written, and those that stand in a list with one; large groups first."""
    copied = _copied(loop)
    groups = [{register} for register in {register for one in copied for register in _written(one)}]
    for members in (set(members) for one in copied for members in _lists(one)):
        joined = [group for group in groups if group & members]
        if joined:
            groups = [group for group in groups if group not in joined] + [members.union(*joined)]
    low = _low(loop)
    return sorted((sorted(group) for group in groups), key=lambda group: (-len(group), low.isdisjoint(group), group))


def _written(instruction: Instruction) -> list[Register]:
    """The registers that it writes, of those that have numbers in its text."""
    written = slots_of(instruction.pattern).writes
    return [(file, instruction.registers[slot]) for slot, file in written.items()]


def _lists(instruction: Instruction) -> Iterator[list[Register]]:
    registers = _registers(instruction)
    for members in slots_of(instruction.pattern).lists:
        yield [registers[slot] for slot in members]


def _low(loop: Loop) -> frozenset[Register]:
    """The registers that some instruction can read below v16 only."""
    found = [(_registers(one.instruction), slots_of(one.instruction.pattern).low) for one in loop.body]
    return frozenset(registers[slot] for registers, slots in found for slot in slots)
