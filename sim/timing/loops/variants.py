"""Variants of a loop that a programmer would try: unrolled, and interleaved with copies of itself.

What only counts iterations is done once in a variant: the branch that closes the loop, and what is for nothing else.
A loop that ends by what it loads on its way, as one that looks for a zero, has no variants.
Iteration k of a variant of n copies does what iterations n*k to n*k + n - 1 of the loop do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set

from isa.acle.register_slots import slots_of
from isa.instruction import Instruction
from isa.lane import Place
from sim.timing.loops.loop import Loop
from sim.timing.model.stream import Executed

LOW = range(16)
"""The vector registers that some forms can take only: see `isa.acle.register_slots.Slots`."""
HANDED_OUT: Mapping[str, tuple[int, ...]] = {"v": tuple(range(32)), "x": (*range(18), *range(19, 29))}
"""Registers that copies may use: all but x18 of the platform, frame pointer and link register (AAPCS64 6.1.1)."""
_NAMES = {"v": "vector", "x": "general"}

Register = tuple[str, int]
"""A register file and a number."""


_Renaming = Mapping[Register, int]
_Item = tuple[int, int, _Renaming]
"""A copy, a place in the body, and the new numbers of the registers of that copy."""


def unrolled(loop: Loop, times: int) -> Loop:
    """The loop with its body written so many times in a row.

    Raises ValueError for fewer than one, and for a loop that ends by what it loads.
    """
    _require_copies(loop, times)
    places = range(len(loop.body))
    return _variant(loop, times, [(copy, place, {}) for copy in range(times) for place in places])


def interleaved(loop: Loop, copies: int) -> Loop:
    """So many copies of the body with registers of their own, one instruction of each in turn.

    What the body only reads is shared; everything it writes is renamed, accumulators and pointers too, so that the
    copies are independent: what they accumulate is still to be added up after the loop, which is not counted.
    Registers that the body does not name count as free.  Raises ValueError where they do not suffice, where the
    copies would need flags or a stack pointer of their own, and for a loop that ends by what it loads.
    """
    _require_copies(loop, copies)
    for instruction in _copied(loop) if copies > 1 else ():
        text = instruction.text
        files = {place.file for place in (*instruction.places_read, *instruction.places_written)}
        if instruction.is_branch:
            raise ValueError(f"{text!r} branches in the middle of the loop: it cannot be interleaved")
        if "nzcv" in files:
            raise ValueError(f"{text!r} needs the flags, of which there is one set: it cannot be interleaved")
        if Place("sp") in instruction.places_written:
            raise ValueError(f"{text!r} moves the stack pointer: it cannot be interleaved")
    renamings = _renamings(loop, copies)
    places = range(len(loop.body))
    return _variant(loop, copies, [(copy, place, new) for place in places for copy, new in enumerate(renamings)])


def is_data(place: Place, access: Instruction) -> bool:
    """Whether a register is what an access to memory moves, rather than part of its address."""
    return place.file == "v" or re.search(rf"\b[wx]{place.index}\b", access.text.partition("[")[0]) is not None


def _require_copies(loop: Loop, copies: int) -> None:
    if copies < 1:
        raise ValueError(f"a body is there once or more, not {copies} times")
    if copies > 1 and (load := _decided_by(loop)):
        last = loop.body[-1].instruction.text
        raise ValueError(f"{last!r} goes by what {load.text!r} loads: each iteration needs its own")


def _decided_by(loop: Loop) -> Instruction | None:
    """The load of the body, at an address that moves, that the closing branch goes by."""
    last, seen = len(loop.body) - 1, set[tuple[int, Place]]()
    closing = loop.body[last].instruction
    pending = [(last, place) for place in closing.places_read] if closing.is_branch else []
    while pending:
        reader, place = one = pending.pop()
        order = (*reversed(range(reader)), *reversed(range(reader, last)))
        writer = next((at for at in order if place in loop.body[at].instruction.places_written), None)
        if one in seen or writer is None or place.file == "pc":
            continue
        seen.add(one)
        instruction = loop.body[writer].instruction
        if not loop.body[writer].loads or not is_data(place, instruction):
            pending += [(writer, source) for source in instruction.places_read]
        elif any(loop.strides[writer]):
            return instruction
    return None


def _variant(loop: Loop, copies: int, items: Iterable[_Item]) -> Loop:
    """The loop of these items, without the control of all copies but the last."""
    control, iterations = _control(loop.body), [loop.iteration(copy) for copy in range(copies)]
    kept = [item for item in items if item[0] == copies - 1 or item[1] not in control]
    body = []
    for copy, place, renaming in kept:
        one = iterations[copy][place]
        registers = tuple(renaming.get(register, register[1]) for register in _registers(one.instruction))
        if registers != one.instruction.registers:
            one = one._replace(instruction=Instruction(one.instruction.pattern, registers))
        body.append(one)
    return Loop(tuple(body), tuple(tuple(copies * stride for stride in loop.strides[place]) for _, place, _ in kept))


def _registers(instruction: Instruction) -> list[Register]:
    """Its registers in the order of the text; one that nothing is read of has no file."""
    slots = slots_of(instruction.pattern)
    files = {**slots.reads, **slots.writes}
    return [(files.get(slot, ""), number) for slot, number in enumerate(instruction.registers)]


def _control(body: Sequence[Executed]) -> frozenset[int]:
    """The places of the closing branch and of what only it needs: a counter, a comparison."""
    last = len(body) - 1
    found = {last} if body[last].instruction.is_branch else set[int]()
    readers: list[set[int]] = []
    for place, writer in enumerate(body):
        written = set(writer.instruction.places_written) - {Place("pc")}
        readers.append({k for k, one in enumerate(body) if written & set(one.instruction.places_read)} - {place})
    # Next to themselves, these are read by nobody but instructions of the control.
    others = {place for place in range(last) if readers[place] and not body[place].instruction.stores}
    while more := {place for place in others - found if readers[place] <= found}:
        found |= more
    return frozenset(found)


def _copied(loop: Loop) -> list[Instruction]:
    """What each copy does for itself."""
    control = _control(loop.body)
    return [one.instruction for place, one in enumerate(loop.body) if place not in control]


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
                file = group[0][0]
                needed = (copies - 1) * sum(len(other) for other in groups if other[0][0] == file)
                limits = " (some of them in a row, or below v16)" if needed <= spare[file] else ""
                raise ValueError(
                    f"{copies} copies need {needed} more {_NAMES[file]} registers{limits}, and {spare[file]} are free"
                )
            renaming.update(found)
            free -= {(file, found[file, number]) for file, number in group}
        renamings.append(renaming)
    return renamings


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
    copied = [(_registers(one), slots_of(one.pattern)) for one in _copied(loop)]
    groups = [{register} for register in {registers[slot] for registers, slots in copied for slot in slots.writes}]
    for registers, members in ((registers, members) for registers, slots in copied for members in slots.lists):
        listed = {registers[slot] for slot in members}
        joined = [group for group in groups if group & listed]
        if joined:
            groups = [group for group in groups if group not in joined] + [listed.union(*joined)]
    low = _low(loop)
    return sorted((sorted(group) for group in groups), key=lambda group: (-len(group), low.isdisjoint(group), group))


def _low(loop: Loop) -> frozenset[Register]:
    """The registers that some instruction can read below v16 only."""
    found = [(_registers(one.instruction), slots_of(one.instruction.pattern).low) for one in loop.body]
    return frozenset(registers[slot] for registers, slots in found for slot in slots)
