"""Changes that a programmer would try on a loop body or a straight line, made to the executed instructions.

Each yields what it did, in words, what must hold for it ("" where results stay the same), and the changed code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, permutations
from typing import Final, NamedTuple

from isa.acle.register_slots import slots_of
from isa.instruction import Instruction
from isa.lane import Place
from isa.rows import TABLE
from isa.table import UnknownInstruction
from sim.timing.analysis.edits.code import (
    CodeEdit,
    CodeStep,
    TriedCode,
    code_of,
    places_of,
    readers_of,
    writer_of,
    written_by,
)
from sim.timing.loops.loop import Loop
from sim.timing.loops.variants import HANDED_OUT, is_data
from sim.timing.model.stream import Executed

_LOAD: Final = re.compile(r"ldr ([qdsxw])(\d+), \[(x\d+)(?:, #(\w+))?\](?:, #(-?\w+))?")
_SIZES: Final = {"q": 16, "d": 8, "s": 4, "x": 8, "w": 4}
_PAIRED: Final = 64
"""What the offset of a pair is below, in registers; that of a load is not negative."""
_AHEAD: Final = 32
"""Instructions after a load among which the other one of a pair is looked for."""
_FUSED: Final = {
    ("mul", "add"): "mla", ("mul", "sub"): "mls", ("fmul", "fadd"): "fmla", ("fmul", "fsub"): "fmls",
    **{(f"{sign}mull{half}", "add"): f"{sign}mlal{half}" for sign in "su" for half in ("", "2")},
    **{(f"{sign}shr", "add"): f"{sign}sra" for sign in ("s", "u", "sr", "ur")},
    **{(f"{sign}abd", "add"): f"{sign}aba" for sign in "su"},
}  # fmt: skip
"""An instruction and what adds its result to a register: the instruction that does both."""
_ACCUMULATES: Final = re.compile(r"[su]?ml[as]l?2?|fml[as]l?2?|(us|su|s|u)dot|[su]abal?2?|[su]r?sra|[su]adalp|[su]mmla")


def pairs_of_loads(code: TriedCode) -> Iterator[CodeEdit]:
    """All loads from neighbouring places, or behind each other by post-index, that one LDP can do; once, if any."""
    made: list[str] = []
    place = 0
    while place < len(code.steps):
        joined = _joined(code, place)
        if joined is not None:
            other, step = joined
            made.append(f"{code.steps[place].text} and {code.steps[other].text} as {step.text}")
            steps = list(code.steps)
            steps[place] = step
            del steps[other]
            code = replace(code, steps=tuple(steps))
        place += 1
    if made:
        yield CodeEdit("; ".join(made), "", code)


def fused(code: TriedCode) -> Iterator[CodeEdit]:
    """All products, shifts and differences that are only added, as the instructions that do both; once, if any."""
    made: list[tuple[str, str]] = []
    every = code
    place = 0
    while place < len(every.steps):
        found = _fusion(every, place)
        if found is None:
            place += 1
            continue
        other, one = found
        what = f"{every.steps[place].text} and {every.steps[other].text} as {one.text}"
        rounds = one.form.mnemonic.startswith("f")
        made.append((what, "if the products need not be rounded before they are added" if rounds else ""))
        every = every.with_instruction(other, one).without(place)
    if made:
        conditions = dict.fromkeys(condition for _, condition in made if condition)
        yield CodeEdit("; ".join(what for what, _ in made), "; ".join(conditions), every)


def loads_left_out(code: TriedCode, iterations: int) -> Iterator[CodeEdit]:
    """Each load of a loop left out: moved before it where it loads the same each time, else as if not needed.

    The loop is left after so many iterations.
    """
    if not code.repeats:
        return
    stores = [access for step in code.steps for access in _accesses(step)[len(step.executed.loads) :]]
    for place, step in enumerate(code.steps):
        one, instruction = step.executed, step.executed.instruction
        if not one.loads or one.stores or any(p in instruction.places_read for p in instruction.places_written):
            continue  # what moves its base, or keeps lanes of its register, is more than a load
        registers = ", ".join(f"{p.file}{p.index}" for p in instruction.places_written)
        loads = _accesses(step)
        apart = not any(_overlap(load, store, iterations) for load in loads for store in stores)
        if not any(step.strides) and apart and not _moved(code, place):
            yield CodeEdit(f"{step.text} moved before the loop: it loads the same each time", "", code.without(place))
        else:
            yield CodeEdit(f"{step.text} left out", f"if {registers} held it already", code.without(place))


def sums_apart(code: TriedCode) -> Iterator[CodeEdit]:
    """Every second accumulation into a register goes to a free one."""
    free = _free(code)
    for place in dict.fromkeys(p for step in code.steps for p in step.executed.instruction.places_written):
        named = [at for at, step in enumerate(code.steps) if place in places_of(step)]
        sums = [at for at in named if _accumulates(code.steps[at].executed.instruction, place)]
        if len(sums) < 2 or sums != named or not (spare := free.get(place.file)):
            continue
        changed = code
        for at in sums[1::2]:
            old = changed.steps[at].executed.instruction
            changed = changed.with_instruction(at, Instruction(old.pattern, (spare[0], *old.registers[1:])))
        name = f"v{place.index}"
        what = f"every second of {len(sums)} sums in {name} goes to v{spare[0]}"
        rounds = any(code.steps[at].executed.instruction.form.mnemonic.startswith("f") for at in sums)
        rounding = ", and sums may be rounded in another order" if rounds else ""
        yield CodeEdit(what, f"if both are added up in the end{rounding}", changed)


def waits_left_out(code: TriedCode, place: int) -> Iterator[CodeEdit]:
    """The instruction there, with each register that it reads of another, and does not write, never written instead."""
    instruction, free = code.steps[place].executed.instruction, _free(code)
    slots = slots_of(instruction.pattern)
    listed = {slot for members in slots.lists for slot in members}
    read: dict[tuple[str, int], list[int]] = {}
    for slot, file in slots.reads.items():
        read.setdefault((file, instruction.registers[slot]), []).append(slot)
    for (file, number), own in read.items():
        writer = writer_of(code, place, Place(file, number))
        fixed = any(slot in slots.writes or slot in slots.low or slot in listed for slot in own)
        if writer is None or fixed or not free.get(file):
            continue
        registers = [free[file][0] if slot in own else old for slot, old in enumerate(instruction.registers)]
        by = code.steps[writer].text
        what = f"{instruction.text} does not wait for {file}{number} of {by}"
        changed = Instruction(instruction.pattern, tuple(registers))
        yield CodeEdit(what, "if it did not depend on that", code.with_instruction(place, changed))


def carried(loop: Loop) -> list[str]:
    """The registers, pointers and counters left out, in which an iteration finds what the one before it made."""
    code, found = code_of(loop), dict[str, None]()
    for at, step in enumerate(code.steps):
        for place in step.executed.instruction.places_read:
            if place.file not in ("v", "x") or (writer := writer_of(code, at, place)) is None or writer < at:
                continue
            makers = [one.executed.instruction for one in code.steps if place in written_by(one)]
            if place.file == "v" or not all(_counts(one, place) for one in makers):
                found[f"{place.file}{place.index}"] = None
    return list(found)


def meet(loop: Loop, copies: int, iterations: int) -> bool:
    """Whether one of so many iterations stores where another one, of those at once with it, loads or stores."""
    steps, groups = code_of(loop).steps, -(-iterations // copies)
    stored = [access for step in steps for access in _accesses(step)[len(step.executed.loads) :]]
    touched = [access for step in steps for access in _accesses(step)]
    return any(
        _overlap(store.of_copy(one, copies), access.of_copy(other, copies), groups)
        for one, other in permutations(range(copies), 2)
        for store in stored
        for access in touched
    )


class _Access(NamedTuple):
    """An access to memory, and by how many bytes it moves from one iteration to the next."""

    address: int
    size: int
    stride: int

    def of_copy(self, copy: int, copies: int) -> _Access:
        """That of one of so many iterations at once."""
        return _Access(self.address + copy * self.stride, self.size, copies * self.stride)


def _accesses(step: CodeStep) -> list[_Access]:
    """Its loads, then its stores, of a loop."""
    spans = (*step.executed.loads, *step.executed.stores)
    return [_Access(*span, stride) for span, stride in zip(spans, step.strides, strict=True)]


def _overlap(one: _Access, other: _Access, iterations: int) -> bool:
    """Whether both touch a byte in one of so many iterations."""
    apart, step, lowest, highest = other.address - one.address, other.stride - one.stride, -other.size, one.size
    if step < 0:
        apart, step, lowest, highest = -apart, -step, -highest, -lowest
    first = max((lowest - apart) // step + 1, 0) if step else 0  # the first in which it is not too far below
    return first < iterations and lowest < apart + first * step < highest


def _counts(instruction: Instruction, place: Place) -> bool:
    """Whether it adds to a register, or moves it on as the base of an access."""
    if "[" in instruction.text:
        return not is_data(place, instruction)
    return instruction.form.mnemonic in ("add", "sub", "adds", "subs")


def _joined(code: TriedCode, place: int) -> tuple[int, CodeStep] | None:
    """The place of the load that LDP does together with the one there, and that LDP."""
    first = _LOAD.fullmatch(code.steps[place].text)
    if first is None or _overwrites(first):
        return None
    letter, base, size = first[1], first[3], _SIZES[first[1]]
    for other, step in islice(enumerate(code.steps), place + 1, place + 1 + _AHEAD):
        second = _LOAD.fullmatch(step.text)
        if second and (second[1], second[3]) == (letter, base) and second[2] != first[2]:
            between = [one.executed for one in code.steps[place + 1 : other]]
            if not _swaps(between, step.executed.instruction):
                return None
            made = _pair(first, second, size, between)
            if made is not None:
                return _loaded_together(code.steps[place], step, made, size, other)
        if step.executed.stores or Place("x", int(base[1:])) in written_by(step):
            return None
    return None


def _overwrites(load: re.Match[str]) -> bool:
    """Whether it loads its own base."""
    return load[1] in "xw" and load[2] == load[3][1:]


def _pair(first: re.Match[str], second: re.Match[str], size: int, between: Sequence[Executed]) -> str | None:
    """The operands of the LDP, if there is one."""
    letter, base = first[1], first[3]
    offsets = [int(one[4] or "0", 0) for one in (first, second)]
    steps = [int(one[5], 0) if one[5] else None for one in (first, second)]
    numbers = [int(one[2]) for one in (first, second)]
    if steps == [size, size] and not any(_named(base, one) for one in between):
        return f"{letter}{numbers[0]}, {letter}{numbers[1]}, [{base}], #{2 * size}"
    if steps != [None, None] or abs(offsets[0] - offsets[1]) != size or min(offsets) % size:
        return None
    if min(offsets) // size >= _PAIRED or _overwrites(second):
        return None
    low, high = numbers if offsets[0] < offsets[1] else numbers[::-1]
    return f"{letter}{low}, {letter}{high}, [{base}, #{min(offsets)}]"


def _loaded_together(
    first: CodeStep, second: CodeStep, operands: str, size: int, other: int
) -> tuple[int, CodeStep] | None:
    ((one, _),), ((two, _),) = first.executed.loads, second.executed.loads
    if first.strides != second.strides or abs(one - two) != size:
        return None
    executed = first.executed._replace(
        instruction=TABLE.instruction("ldp", operands), loads=((min(one, two), 2 * size),)
    )
    return other, CodeStep(executed, first.strides)


def _named(base: str, one: Executed) -> bool:
    return any(f"{p.file}{p.index}" == base for p in (*one.instruction.places_read, *one.instruction.places_written))


def _swaps(between: Sequence[Executed], load: Instruction) -> bool:
    """Whether a load may go before all of these, none of which stores or writes its base."""
    touched = {p for one in between for p in (*one.instruction.places_read, *one.instruction.places_written)}
    own = {p for p in load.places_written if p not in load.places_read}
    return not own & touched


def _fusion(code: TriedCode, place: int) -> tuple[int, Instruction] | None:
    """The place of the addition that takes the result there, which nothing else reads, and what does both."""
    maker = code.steps[place].executed.instruction
    made = {*maker.places_written}
    if {one.file for one in made} != {"v"} or len(made) > 1 or made & {*maker.places_read}:
        return None
    reader, *more = readers_of(code, place) or [place]
    if more or reader <= place:
        return None
    adder = code.steps[reader].executed.instruction
    name = _FUSED.get((maker.form.mnemonic, adder.form.mnemonic))
    if name is None or any({*maker.places_read} & written_by(step) for step in code.steps[place:reader]):
        return None
    result, _, factors = maker.text.partition(" ")[2].partition(", ")
    total, *addends = adder.text.partition(" ")[2].split(", ")
    others = [one for one in addends if one != result]
    in_turn = adder.form.mnemonic.endswith("add") or addends[-1:] == [result]
    if others != [total] or len(addends) != 2 or not in_turn:
        return None
    try:
        return reader, TABLE.instruction(name, f"{total}, {factors}")
    except UnknownInstruction:
        return None


def _accumulates(instruction: Instruction, place: Place) -> bool:
    """Whether it only adds to that register, its first."""
    slots = slots_of(instruction.pattern)
    others = [number for slot, number in enumerate(instruction.registers) if slot and slots.reads.get(slot) == "v"]
    return bool(_ACCUMULATES.fullmatch(instruction.form.mnemonic)) and (
        instruction.registers[0] == place.index and place.index not in others and place.file == "v"
    )


def _moved(code: TriedCode, place: int) -> bool:
    """Whether what the instruction there reads is written in the loop, or what it writes by another too."""
    own = code.steps[place].executed.instruction
    others = {p for at, step in enumerate(code.steps) if at != place for p in written_by(step)}
    return bool(others & {*own.places_read, *own.places_written})


def _free(code: TriedCode) -> dict[str, list[int]]:
    """The registers that the code does not name."""
    used = {place for step in code.steps for place in places_of(step)}
    return {
        file: [number for number in numbers if Place(file, number) not in used] for file, numbers in HANDED_OUT.items()
    }
