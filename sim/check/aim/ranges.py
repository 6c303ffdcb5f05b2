"""What numbers the registers of a function can hold before each of its instructions, whatever its inputs are.

The function's code is followed along all its branches until nothing changes any more.  A register holds elements, each
between two bounds; an instruction's own expressions say what becomes of them.  Memory may hold anything.  Arguments
begin in their domains.  What is found is wider than what happens, never narrower.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, assert_never

import numpy as np

from isa.decode import decode
from isa.evaluate.batch.narrowing import grown
from isa.instruction import Instruction
from isa.lane import (
    Binary,
    Constant,
    Field,
    Floating,
    Int,
    Lane,
    Load,
    Operator,
    Pick,
    Place,
    Read,
    Saturate,
    constant,
    pick,
)
from isa.rows import TABLE
from isa.table import UnknownInstruction
from sim.kernels.domain import domain_of
from sim.kernels.kernel import Kernel
from sim.kernels.signature import ScalarArgument
from sim.toolchain.image import Image

VISITS: Final = 4
"""Comings to an instruction after which a register that still changes there may hold anything."""
TRACKED: Final = ("v", "x", "sp", "nzcv")
"""Register files whose content is followed; others change without an instruction that names them."""
MOST_CODE: Final = 20_000
"""Instructions of a function that are followed."""


class Elements(NamedTuple):
    """Elements of `bits` bits each, from bit 0 upwards, between bounds; the bits that they do not reach are zero."""

    bits: int
    bounds: tuple[tuple[int, int], ...]


Registers = Mapping[Place, Elements]
"""What is known of registers; one that is not there may hold anything."""


class Ranges:
    """What the registers of a function can hold before each of its instructions.

    Nothing is known where a branch goes to an address that is computed, or where an instruction cannot be read.
    """

    def __init__(self, image: Image, kernel: Kernel) -> None:
        self._code = image.code_of(kernel.symbol)
        self._entry = image.symbol(kernel.symbol).address
        self._instructions: dict[int, Instruction] = {}
        self._known: dict[tuple[int, tuple[Elements | None, ...]], Mapping[Place, Elements]] = {}
        self._before: dict[int, Registers] | None = {}
        visits: dict[int, int] = {}
        pending: list[tuple[int, Registers]] = [(self._entry, _arguments(kernel))]
        while pending:
            pc, registers = pending.pop()
            known, visits[pc] = self._before.get(pc), visits.get(pc, 0) + 1
            if known is not None:
                registers = _joined(known, registers, widening=visits[pc] > VISITS)
                if registers == known:
                    continue
            self._before[pc] = registers
            following = self._after(pc, registers)
            if following is None or len(self._before) > MOST_CODE:
                self._before = None
                return
            pending += following

    def before(self, pc: int) -> Registers:
        """What is known of registers before the instruction at an address."""
        return {} if self._before is None else self._before.get(pc, {})

    def _after(self, pc: int, registers: Registers) -> list[tuple[int, Registers]] | None:
        """Where it goes on after an instruction, with what registers; None where that cannot be said."""
        offset = pc - self._entry
        if not 0 <= offset <= len(self._code) - 4:
            return []  # a call's end, or another function, of which nothing is known
        if pc not in self._instructions:
            try:
                self._instructions[pc] = decode(self._code[offset : offset + 4], pc, TABLE)
            except UnknownInstruction:
                return None
        instruction = self._instructions[pc]
        if instruction.text == "ret":
            return []
        after, targets = dict(registers), [pc + 4]
        after.update(self._written(pc, instruction, registers))
        for write in instruction.writes:
            if write.place == Place("pc"):
                (lane,) = write.lanes
                numbers = [one.value for one in _chosen(narrowed(lane, {Place("pc"): Elements(64, ((pc, pc),))}))]
                if None in numbers:
                    return None
                targets = [number for number in numbers if number is not None]
        if instruction.is_call:  # what a call leaves is not known
            return [(target, {}) for target in (*targets, pc + 4)]
        return [(target, after) for target in targets]

    def _written(self, pc: int, instruction: Instruction, registers: Registers) -> Mapping[Place, Elements]:
        """What an instruction leaves in registers; worked out once for each of what it reads."""
        key = pc, tuple(registers.get(place) for place in instruction.places_read)
        if key not in self._known:
            here = {**registers, Place("pc"): Elements(64, ((pc, pc),))}
            found = {}
            for write in instruction.writes:
                if isinstance(write.place, Place) and write.place.file in TRACKED:
                    found[write.place] = Elements(
                        write.bits, tuple(_bounds(lane, write.bits, here) for lane in write.lanes)
                    )
            self._known[key] = found
        return self._known[key]


def _bounds(lane: Lane, bits: int, registers: Registers) -> tuple[int, int]:
    """Those of the number that a lane's bits stand for, with a sign where that says more."""
    made = narrowed(lane, registers)
    if (
        isinstance(lane, Field)
        and lane.element == Int(bits, signed=False)
        and made.high - made.low == lane.element.high
    ):
        signed = _signed(lane, bits)
        if signed is not None:
            made = narrowed(signed, registers)
    return made.low, made.high


def _signed(lane: Lane, bits: int) -> Lane | None:
    """The same low bits from operands with a sign; None where what is computed heeds the sign."""
    match lane:
        case Constant():
            return lane
        case Field(Read() as register, lsb, Int(size)) if size == bits:
            return Int(bits, signed=True).field(register, lsb)
        case Field(Field(Read() as register, at, Int(wide)), lsb, Int(size)) if size == bits and lsb + bits <= wide:
            return Int(bits, signed=True).field(register, at + lsb)
        case Field(operand, 0, Int(size)) if size == bits:
            inner = _signed(operand, bits)
            return None if inner is None else Int(bits, signed=True).wrap(inner)
        case Binary("add" | "subtract" | "multiply", a, b):
            one, other = _signed(a, bits), _signed(b, bits)
            return None if one is None or other is None else _computed(lane.operator, one, other)
        case Binary("shift_left", a, Constant() as count):
            one = _signed(a, bits)
            return None if one is None else one << count
        case Read() | Load() | Field() | Saturate() | Pick() | Binary() | Floating():
            return None
        case _:
            assert_never(lane)


def narrowed(lane: Lane, registers: Registers) -> Lane:
    """An expression over inputs with the ranges of what it reads from registers and memory, in the place of these."""
    made: dict[Lane, Lane] = {}

    def of(node: Lane) -> Lane:
        if node not in made:
            made[node] = _narrowed(node, registers, of)
        return made[node]

    return of(lane)


def _narrowed(node: Lane, registers: Registers, of: Callable[[Lane], Lane]) -> Lane:
    match node:
        case Constant():
            return node
        case Read(place):
            return _input(str(place), held(registers.get(place), 0, Int(place.bits, signed=False)))
        case Field(Read(place), lsb, element):
            return _input(f"{place}:{lsb}:{element}", held(registers.get(place), lsb, element))
        case Field(Field(Read() as register, at, Int(bits)), lsb, element) if lsb + element.bits <= bits:
            return of(element.field(register, at + lsb))
        case Field(operand, 0, element):
            return element.wrap(of(operand))
        case Field(operand, lsb, element):
            return element.field(of(operand), lsb)
        case Saturate(operand, element):
            return element.saturate(of(operand))
        case Pick(index, items, otherwise):
            chosen = of(index)
            if chosen.value is not None:
                return of(items[chosen.value] if 0 <= chosen.value < len(items) else otherwise)
            return pick(chosen, [of(item) for item in items], of(otherwise))
        case Binary(operator, a, b):
            return _computed(operator, of(a), of(b))
        case Load() | Floating():
            return _input(f"{type(node).__name__}{id(node)}", (node.low, node.high))
        case _:
            assert_never(node)


def _computed(operator: Operator, a: Lane, b: Lane) -> Lane:
    """The node with the range that its operands give it; a comparison that their ranges decide is its number."""
    is_less, is_more = a.high < b.low, a.low > b.high
    if operator == "less" and (is_less or a.low >= b.high):
        return constant(int(is_less))
    if operator == "equal" and (is_less or is_more or a.low == a.high == b.low == b.high):
        return constant(int(not is_less and not is_more))
    return grown(operator, a, b)


def _input(name: str, bounds: tuple[int, int]) -> Lane:
    low, high = bounds
    return constant(low) if low == high else Read(Place(name), low, high)


def held(elements: Elements | None, lsb: int, wanted: Int) -> tuple[int, int]:
    """The bounds of a part of a register."""
    whole = (wanted.low, wanted.high)
    if elements is None or lsb % elements.bits:
        return whole
    bits, bounds = elements
    parts = bounds[lsb // bits : -(-(lsb + wanted.bits) // bits)]
    if not parts:
        return 0, 0
    if wanted.bits < bits:
        return _as_type(parts[0], wanted)
    numbers = [low % (1 << bits) if low == high else None for low, high in parts]
    if None not in numbers:
        number = wanted.wrapped(sum(part << bits * at for at, part in enumerate(numbers) if part is not None))
        return number, number
    if any(numbers[1:]) or None in numbers[1:]:
        return whole
    if wanted.bits > bits:  # above the first element there are zeros
        return _as_type(_as_type(parts[0], Int(bits, signed=False)), wanted)
    return _as_type(parts[0], wanted)


def _as_type(bounds: tuple[int, int], wanted: Int) -> tuple[int, int]:
    """Numbers by their low bits as a type: where they wrap, any number of it."""
    low = wanted.wrapped(bounds[0])
    high = low + bounds[1] - bounds[0]
    return (low, high) if high <= wanted.high else (wanted.low, wanted.high)


def _chosen(lane: Lane) -> Sequence[Lane]:
    """What a lane may be: of a choice every one."""
    return (*lane.items, lane.otherwise) if isinstance(lane, Pick) else (lane,)


def _joined(one: Registers, other: Registers, widening: bool) -> Registers:
    """What holds of both; with `widening`, nothing of what is not equal in both."""
    both = {}
    for place, elements in one.items():
        against = other.get(place)
        if against == elements:
            both[place] = elements
        elif against is not None and not widening and against.bits == elements.bits:
            size = max(len(elements.bounds), len(against.bounds))
            first, second = (of + ((0, 0),) * (size - len(of)) for of in (elements.bounds, against.bounds))
            bounds = tuple((min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(first, second, strict=True))
            both[place] = Elements(elements.bits, bounds)
    return both


def _arguments(kernel: Kernel) -> Registers:
    """The registers that hold numbers of their domains when the function is called."""
    found: dict[Place, Elements] = {}
    if not kernel.is_drawn:
        return found
    passed = kernel.signature.passed()
    for argument in kernel.signature.by_value:
        if not isinstance(argument, ScalarArgument) or np.dtype(argument.type).kind not in "iub":
            continue
        (piece, *others) = passed[argument.name].pieces
        if isinstance(piece.location, Place) and not others:
            edges = domain_of(kernel.domain, argument.name).edges(np.dtype(argument.type)).tolist()
            bits = 8 * piece.size
            above = ((0, (1 << bits) - 1),) * (piece.location.bits // bits - 1)
            found[piece.location] = Elements(bits, ((int(min(edges)), int(max(edges))), *above))
    return found
