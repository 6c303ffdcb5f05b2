"""What a line could have taken instead of what it takes: another variable, the element beside, one variable more.

At -O0 a variable is a slot of the stack, and what a line takes of it is loaded there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from itertools import combinations, product
from typing import Any, Final

from isa.instruction import Form
from isa.lane import U64, Int, Lane, Load, Memory, Place, Write, load, maximum, minimum, read, rebuilt, select
from isa.operands import General, Scalar, Vector
from isa.semantics.elementwise import Body, Writes
from sim.check.repair.alternative import MISSING, NEAR, NOTHING, STEP, Alternative, Beside
from sim.check.repair.code import Access, ExecutedCode
from sim.check.repair.steps import ELEMENTS, Change, computes, low_bits, operands_of, with_body, with_results

BESIDE: Final = (1, 2, 4, 8, 16)
"""Bytes from an element to the next, or from one register's worth to the next."""
PARTS: Final = (1, 2, 3)
"""Parts of a variable of several that lie between two of them, and the loads, besides one, of what is all of one."""
SIZES: Final = (1, 2, 4, 8)
"""Bytes of the elements that a variable may count."""
Reach = Callable[[Lane], Lane]
"""The address that is reached instead of one."""
_BITS: Final = {"w": 32, "x": 64, "b": 8, "h": 16, "s": 32, "d": 64, "q": 128}
_ELEMENT: Final = re.compile(r"(?P<kind>ldu?r\w* [bhsdqwx])\d+, \[x(?P<base>\d+)(?:, #(?P<offset>-?\w+))?\]")
"""A load by a pointer."""
_PLUS_NUMBER: Final = re.compile(r"(?:add|sub) (?P<letter>[wx])\d+, [wx]\d+, #\w+")
_BIT_BY_BIT: Final[dict[str, Callable[[Lane, Lane, Int], Lane]]] = {
    "ORed with": lambda a, b, element: a | b,
    "ANDed with": lambda a, b, element: a & b,
    "XORed with": lambda a, b, element: a ^ b,
}
_WITH: Final[dict[str, Callable[[Lane, Lane, Int], Lane]]] = {
    "plus": lambda a, b, element: a + b,
    "minus": lambda a, b, element: a - b,
    "at least": lambda a, b, element: maximum(a, b),
    "at most": lambda a, b, element: minimum(a, b),
    "less by 1 with a negative sign of": lambda a, b, element: a - (b < 0),
    "more by 1 with a negative sign of": lambda a, b, element: a + (b < 0),
    "with the sign of": lambda a, b, element: select(b < 0, -a, a),
    **_BIT_BY_BIT,
}
"""A result and a variable, as signed numbers of their type."""
_WITH_LANES: Final[dict[str, Callable[[Lane, Lane, Int], Lane]]] = {
    **{says: _WITH[says] for says in ("plus", "minus", "at least", "at most")},
    "unsigned at least": lambda a, b, element: maximum(low_bits(a, element.bits), low_bits(b, element.bits)),
    "unsigned at most": lambda a, b, element: minimum(low_bits(a, element.bits), low_bits(b, element.bits)),
    **_BIT_BY_BIT,
}


def other_values(code: ExecutedCode, pc: int) -> Iterator[Alternative]:
    """An instruction that takes another variable, or has one for its result, or reaches the element beside.

    Of what loads a constant of the program, one that is another number in one element.
    """
    instruction, access = code.instructions[pc], code.accesses.get(pc)
    variables = code.variables.get(code.start(pc), {})
    form = instruction.form
    if access is not None:
        for slot, made in variables.items() if access.is_load and access.slot in variables else ():
            if slot != access.slot and _is_variable(code, pc, slot):
                changed = with_body(instruction, _reaching(form, _instead(slot)))
                yield Alternative(pc, STEP, instruction, changed, f"with {code.kept(made)}")
        if access.is_load and access.part:
            yield from _in_its_place(code, pc)
        for slot, made in variables.items() if not access.is_load and access.slot in variables else ():
            kept = code.accesses[made]
            says = f"of {code.kept(made)}"
            if slot != access.slot and (kept.part, kept.letter) == (access.part, access.letter):
                yield Alternative(pc, STEP, instruction, with_body(instruction, _storing(form, slot)), says)
            for signed in (
                (True, False) if kept.part and (access.part, access.letter, kept.letter) == ("", "w", "w") else ()
            ):
                changed = with_body(instruction, _storing_number(form, _address(slot), Int(_BITS[kept.part], signed)))
                yield Alternative(pc, STEP, instruction, changed, says)
        if not access.is_load and access.slot in variables:
            yield from _first_elements(code, pc)
    elif code.is_literal(pc):
        (loaded,) = instruction.writes
        for bits in ELEMENTS:
            for at, by in product(range(loaded.bits // bits), (1, -1)):
                changed = with_body(instruction, with_results(form, _beside_it(at, by), bits))
                says = f"with 1 {'added to' if by > 0 else 'taken from'} element {at} of {bits} bits"
                yield Alternative(pc, NEAR, instruction, changed, says)
    elif "[x" in instruction.text:
        if not instruction.stores:
            yield from _in_its_place(code, pc)
            for slot, made in variables.items():
                kept = code.accesses[made]
                for size in SIZES if kept.letter in "wx" and not kept.part else ():
                    changed = with_body(instruction, _reaching(form, _further(slot, _BITS[kept.letter], size)))
                    yield Alternative(pc, STEP, instruction, changed, f"further by {code.kept(made)}")
        yield from (_at_another_address(code, pc, sign * by) for by in BESIDE for sign in (1, -1))
    elif computes(instruction):
        yield from _in_its_place(code, pc)
        yield from _for_its_number(code, pc)


def parts_beside(code: ExecutedCode, places: Sequence[int]) -> Iterator[Sequence[Alternative]]:
    """Loads from the stack of what lies beside what they load: another part of an array of vectors, another array, or
    another lane than the first.

    One alone, unless that is another variable, or as many loads of a line as lie behind each other, all by as far as
    they are long.
    """
    kept: dict[int, set[int]] = {}
    by_line: dict[tuple[str, str, str], dict[int, int]] = {}
    for pc, access in code.accesses.items():
        if not access.is_load:
            kept.setdefault(code.start(pc), set()).update(range(access.slot, access.slot + _size(access)))
        elif pc in places:
            by_line.setdefault((code.line(pc), access.part, access.letter), {}).setdefault(access.slot, pc)
    for pc, access in code.accesses.items():
        made = next(code.sources(pc, access.register), None) if access.register is not None else None
        whole = code.accesses.get(made.pc) if made is not None and not access.is_load else None
        if made is not None and whole is not None and whole.is_load and code.line(made.pc) == code.line(pc):
            ups = range(_size(access), _size(whole), _size(access))
            yield from ([_at_another_address(code, made.pc, by)] for by in ups)
    for loads in by_line.values():
        for slot, first in loads.items():
            size = _size(code.accesses[first])
            for count in (1, *(1 + more for more in PARTS)):
                some = [loads.get(slot + at * size) for at in range(count)]
                if any(pc is None for pc in some):
                    break
                for by in (sign * parts * count * size for parts in PARTS for sign in (1, -1)):
                    if count == 1 and _is_variable(code, first, slot + by):
                        continue
                    if kept.get(code.start(first), set()).issuperset(range(slot + by, slot + by + count * size)):
                        yield [_at_another_address(code, pc, by) for pc in some if pc is not None]


def _is_variable(code: ExecutedCode, load: int, slot: int) -> bool:
    """Whether a slot is that of a variable as wide as the one that is loaded."""
    made, access = code.variables.get(code.start(load), {}).get(slot), code.accesses[load]
    kept = code.accesses[made] if made is not None else None
    return kept is not None and (kept.part, kept.letter) == (access.part.lstrip("s"), access.letter)


def swapped_loads(code: ExecutedCode, places: Sequence[int]) -> Iterator[Sequence[Alternative]]:
    """Two loads of one line, each of what the other one loads: of two variables, or by one pointer."""
    by_line: dict[tuple[str, str, str], list[tuple[int, int]]] = {}
    for pc in places:
        access, element = code.accesses.get(pc), _ELEMENT.fullmatch(code.instructions[pc].text)
        if access is not None and access.is_load:
            by_line.setdefault((code.line(pc), access.part + access.letter, "stack"), []).append((pc, access.slot))
        elif element is not None:
            sources = (source.pc for source in code.sources(pc, Place("x", int(element["base"]))))
            if (pointer := next((at for at in sources if at in code.accesses), None)) is not None:
                key = code.line(pc), element["kind"], f"{code.accesses[pointer].slot}"
                by_line.setdefault(key, []).append((pc, int(element["offset"] or "0", 0)))
    for loads in by_line.values():
        for (one, at), (other, beside) in combinations(loads, 2):
            if at != beside:
                yield [_at_another_address(code, one, beside - at), _at_another_address(code, other, at - beside)]


def _at_another_address(code: ExecutedCode, pc: int, by: int) -> Alternative:
    instruction = code.instructions[pc]
    changed = with_body(instruction, _reaching(instruction.form, _beside(by)))
    return Alternative(pc, STEP, instruction, changed, f"{abs(by)} bytes {'up' if by > 0 else 'down'}")


def _size(access: Access) -> int:
    """Bytes that a load or store of the stack reaches."""
    return _BITS[access.part.lstrip("s") or access.letter] // 8


def _first_elements(code: ExecutedCode, pc: int) -> Iterator[Alternative]:
    """A constant that a variable begins with: the first element of an array instead."""
    instruction, access = code.instructions[pc], code.accesses[pc]
    made = next(code.sources(pc, access.register), None) if access.register is not None else None
    if access.letter != "w" or (access.register is not None and made is None):
        return
    if made is not None and code.instructions[made.pc].places_read:
        return
    kept_bits = 8 * _size(access)
    for slot, pointer in code.variables.get(code.start(pc), {}).items():
        if code.accesses[pointer].letter == "x":
            for bits, signed in product((8, 16, 32), (True, False)):
                if bits < kept_bits or (bits == kept_bits and signed):
                    first = _loaded(_address(slot), _BITS["x"])
                    changed = with_body(instruction, _storing_number(instruction.form, first, Int(bits, signed)))
                    says = f"of the first element where {code.kept(pointer)} points"
                    yield Alternative(pc, STEP, instruction, changed, says)


def _in_its_place(code: ExecutedCode, pc: int) -> Iterator[Alternative]:
    """A variable as the result of an instruction."""
    instruction, target = code.instructions[pc], operands_of(code.instructions[pc])[0]
    if isinstance(target, (Vector, Scalar, General)):
        bits = target.bits if isinstance(target, General) else target.count * target.bits
        for slot, made in code.variables.get(code.start(pc), {}).items():
            kept = code.accesses[made]
            is_alike = (kept.letter in "wx") == isinstance(target, General) and not kept.part
            if is_alike and _BITS.get(kept.letter) == bits:
                changed = with_body(instruction, _taken(slot, bits))
                yield Alternative(pc, STEP, instruction, changed, f"with {code.kept(made)} in its place")


def _for_its_number(code: ExecutedCode, pc: int) -> Iterator[Alternative]:
    """A variable that is added or taken away, and not a number."""
    instruction = code.instructions[pc]
    if (match := _PLUS_NUMBER.fullmatch(instruction.text)) is not None:
        for slot, made in code.variables.get(code.start(pc), {}).items():
            kept = code.accesses[made]
            if kept.letter == match["letter"] and not kept.part:
                changed = with_body(instruction, _moved_by(instruction.form.mnemonic, slot, _BITS[kept.letter]))
                yield Alternative(pc, STEP, instruction, changed, f"with {code.kept(made)} for its number")


def left_out_variables(code: ExecutedCode, pc: int, reached: Collection[int]) -> Iterator[Alternative]:
    """An instruction of integers of which a variable was left out: to be added, taken away, or a bound.

    First come variables that no reached instruction takes, or that the own line takes: those are the likeliest.  Of
    them what is done bit by bit comes last.
    """
    instruction, access = code.instructions[pc], code.accesses.get(pc)
    variables = code.variables.get(code.start(pc), {})
    if instruction.form.mnemonic.startswith("f") or ("sp" in instruction.text and access is None):
        return
    if not computes(instruction) if access is None else not access.is_load or access.slot not in variables:
        return
    target = operands_of(instruction)[0]
    if not isinstance(target, (Vector, Scalar)) and not (isinstance(target, General) and target.bits == 32):
        return
    takers: dict[int, set[str]] = {}
    for at in reached:
        if (taken := code.accesses.get(at)) is not None and taken.is_load and code.start(at) == code.start(pc):
            takers.setdefault(taken.slot, set()).add(code.line(at))
    ways = [(slot, says) for slot in variables for says in (_WITH if isinstance(target, General) else _WITH_LANES)]

    def unlikely(way: tuple[int, str]) -> tuple[bool, bool]:
        slot, says = way
        return slot in takers and code.line(pc) not in takers[slot], says in _BIT_BY_BIT

    for slot, says in sorted(ways, key=unlikely):
        made = variables[slot]
        kept = code.accesses[made]
        is_one = kept.letter == "w"
        of_one = Int(8 * _size(kept), code.is_signed(pc, slot)) if is_one else None
        if is_one or (isinstance(target, (Vector, Scalar)) and _BITS.get(kept.letter) == target.count * target.bits):
            combined = _with(says, slot, of_one)
            for bits in (0,) if access is None or isinstance(target, General) else ELEMENTS:
                changed = with_body(instruction, with_results(instruction.form, combined, bits))
                beside = Beside(target.place, is_more=True) if says in ("plus", "minus") else NOTHING
                yield Alternative(pc, MISSING, instruction, changed, f"{says} {code.kept(made)}", beside)


def _address(slot: int) -> Lane:
    return U64.wrap(read(Place("sp")) + slot)


def _loaded(address: Lane, bits: int) -> Lane:
    """A number of so many bits."""
    return load(address, bits // 8)


@cache
def _beside(by: int) -> Reach:
    return lambda address: U64.wrap(address + by)


@cache
def _instead(slot: int) -> Reach:
    return lambda address: _address(slot)


@cache
def _further(slot: int, bits: int, size: int) -> Reach:
    return lambda address: U64.wrap(address + _loaded(_address(slot), bits) * size)


@cache
def _beside_it(number: int, by: int) -> Change:
    """One lane that is another number."""
    return lambda lane, element, at: lane + by * (at.value == number)


@cache
def _reaching(form: Form, moved: Reach) -> Body:
    """Reads and writes at another address."""

    def body(*operands: Any) -> Writes:
        return tuple(
            Write(Memory(moved(w.place.address), w.place.size), w.bits, w.lanes)
            if isinstance(w.place, Memory)
            else Write(
                w.place, w.bits, [with_loads(lane, lambda one: load(moved(one.address), one.size)) for lane in w.lanes]
            )
            for w in form.body(*operands)
        )

    return body


@cache
def holding(form: Form, number: int) -> Body:
    """Loads that number, whatever there is."""

    def body(*operands: Any) -> Writes:
        return tuple(
            Write(
                w.place,
                w.bits,
                [with_loads(lane, lambda one: low_bits(number, 8 * one.size)) for lane in w.lanes],
            )
            for w in form.body(*operands)
        )

    return body


def with_loads(lane: Lane, instead: Callable[[Load], Lane]) -> Lane:
    """An expression with another one for each load in it."""
    if isinstance(lane, Load):
        return instead(lane)
    return rebuilt(lane, [with_loads(arg, instead) for arg in lane.args])


@cache
def _storing(form: Form, slot: int) -> Body:
    """Stores the value of a variable."""

    def body(*operands: Any) -> Writes:
        (write,) = form.body(*operands)
        assert isinstance(write.place, Memory)
        element = Int(write.bits, False)
        return (
            Write(write.place, write.bits, element.lanes(load(_address(slot), write.place.size), len(write.lanes))),
        )

    return body


@cache
def _storing_number(form: Form, address: Lane, element: Int) -> Body:
    """Stores the number of that type that lies at an address."""

    def body(*operands: Any) -> Writes:
        (write,) = form.body(*operands)
        number = element.wrap(_loaded(address, element.bits))
        return (Write(write.place, write.bits, [low_bits(number, write.bits)]),)

    return body


@cache
def _moved_by(name: str, slot: int, bits: int) -> Body:
    """A register with the value of a variable added or taken away."""

    def body(*operands: Any) -> Writes:
        target, source = operands[0], operands[1]
        variable = _loaded(_address(slot), bits)
        written: Writes = target.write(source.value + variable if name == "add" else source.value - variable)
        return written

    return body


@cache
def _taken(slot: int, bits: int) -> Body:
    """The value of a variable as the result."""

    def body(*operands: Any) -> Writes:
        target, whole = operands[0], _loaded(_address(slot), bits)
        value = whole if isinstance(target, General) else target.element(False).lanes(whole, target.count)
        written: Writes = target.write(value)
        return written

    return body


@cache
def _with(says: str, slot: int, of_one: Int | None) -> Change:
    """A lane combined with one number for all, of which the type is given, or else with its own of a register."""

    def change(lane: Lane, element: Int, at: Lane) -> Lane:
        assert at.value is not None
        if of_one is None:
            other = element.wrap(_loaded(_address(slot + at.value * element.bits // 8), element.bits))
        else:
            other = element.wrap(of_one.wrap(_loaded(_address(slot), of_one.bits)))
        return {**_WITH, **_WITH_LANES}[says](lane, other, element)

    return change
