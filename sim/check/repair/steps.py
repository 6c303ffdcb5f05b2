"""Instructions that do a step of the arithmetic too few or too many, or of which the result is another number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any, Final, NamedTuple

from isa.instruction import Form, Instruction, Pattern
from isa.lane import S8, S16, S32, U8, U16, U32, Int, Lane, Place, Write, constant, divide, maximum, minimum, select
from isa.operands import General, Immediate, Operand, Scalar, Vector
from isa.parse import parse
from isa.semantics.elementwise import Body, Writes

Change = Callable[[Lane, Int, Lane], Lane]
"""What becomes of a lane of that type; with it how far a shift goes, or behind an instruction the lane's number."""
LEFT_OUT: Final = "left out"
ELEMENTS: Final = (8, 16, 32)
"""Bits that the numbers of a vector may have that is loaded."""
_OPERANDS: Final = re.compile(r", (?![^{]*})")
"""What is between operands, but not between the registers of a list."""
_MOVES: Final = re.compile(r"(?:ld|fmov|adr)\w*")
"""What takes no part in the arithmetic."""
_BY_REGISTER: Final = re.compile(r"[su]q?r?shl|[al]s[lr]")
_RIGHT_SHIFTS: Final = re.compile(r"s(?:q?r?shl|r?shr|q?r?shrun?2?|q?r?shrn2?|r?sra)|rshrn2?|shrn2?")


class OtherStep(NamedTuple):
    """A step of the arithmetic too few or too many, in words and as a body.

    With it the register that then holds another number before the instruction, where there is one, and whether that
    number is a constant more, or less.
    """

    says: str
    body: Body
    before: Place | None = None
    is_more: bool = False


def operands_of(instruction: Instruction) -> tuple[Operand, ...]:
    """The operands of an instruction, with its registers."""
    return parse(instruction.pattern.operand_text, instruction.registers)


def with_body(instruction: Instruction, body: Body) -> Instruction:
    """The instruction with the same operands that does something else."""
    return Instruction(_pattern_with(instruction.pattern, body), instruction.registers)


@cache
def _pattern_with(pattern: Pattern, body: Body) -> Pattern:
    """One for all that are alike: code is generated for each pattern."""
    form = Form(pattern.form.mnemonic, pattern.form.shape, body, pattern.form.features)
    return Pattern(form, pattern.text, pattern.operand_text, pattern.register_count)


def low_bits(lane: Lane | int, bits: int) -> Lane:
    """What is written of a lane into so many bits."""
    return Int(bits, False).wrap(lane)


def computes(instruction: Instruction) -> bool:
    """Whether an instruction makes a number, and does not only move one."""
    operands = operands_of(instruction)
    if instruction.is_branch or instruction.stores or not operands:
        return False
    return isinstance(operands[0], (Vector, Scalar, General)) and not _MOVES.fullmatch(instruction.form.mnemonic)


def steps_of(instruction: Instruction) -> Iterator[OtherStep]:
    """A step of the arithmetic too few or too many."""
    operands = operands_of(instruction)
    form, texts = instruction.form, _OPERANDS.split(instruction.text.partition(" ")[2])
    for says, at, change in _changes_before(instruction, operands):
        yield OtherStep(says, _on(form, at, change), _place(operands[at]), change in (_add_half, _take_half))
    name = form.mnemonic
    if name in ("sdiv", "udiv"):
        for says, rounded in (("rounded down", _down), ("rounded to nearest", _to_nearest)):
            yield OtherStep(says, _quotient(name, rounded), _place(operands[1]))
    if form.shape.startswith(("[", "cond")) or not computes(instruction) or name in ("mov", "movi"):
        return
    is_read = isinstance(operands[0], Vector) and operands[0].place in instruction.places_read
    for at, operand in enumerate(operands):
        if (at or is_read) and type(operand) is type(operands[0]) and operand.shape == operands[0].shape:
            yield OtherStep(f"{LEFT_OUT}, only {texts[at]} kept", _left_out(at))


def _place(operand: Operand) -> Place | None:
    return operand.place if isinstance(operand, (Vector, Scalar, General)) else None


@cache
def _quotient(name: str, rounded: Callable[[Lane, Lane], Lane]) -> Body:
    """A division of signed or unsigned numbers that rounds otherwise."""

    def body(d: General, n: General, m: General) -> Writes:
        element = Int(d.bits, name == "sdiv")
        return d.write(rounded(element.wrap(n.value), element.wrap(m.value)))

    return body


def _down(dividend: Lane, divisor: Lane) -> Lane:
    quotient = divide(dividend, divisor)
    rest = dividend - quotient * divisor
    return quotient - (((rest < 0) & (constant(0) < divisor)) | ((constant(0) < rest) & (divisor < 0)))


def _to_nearest(dividend: Lane, divisor: Lane) -> Lane:
    """Ties away from zero."""
    half = divide(maximum(divisor, -divisor), constant(2))
    return divide(dividend + select(dividend < 0, -half, half), divisor)


def _changes_before(instruction: Instruction, operands: tuple[Operand, ...]) -> Iterator[tuple[str, int, Change]]:
    """What could be done to an operand, by its number, before it is used."""
    name = instruction.form.mnemonic
    if _RIGHT_SHIFTS.fullmatch(name) and len(operands) == 3:
        yield "after a fix-up of negative numbers (ties away from zero)", 1, _less_if_negative
    if name in ("asr", "lsr") and len(operands) == 3:
        yield "after half of the last place is added (rounded)", 1, _add_half
        yield "after half of the last place is taken away (not rounded)", 1, _take_half
        yield "after a fix-up of negative numbers (ties away from zero)", 1, _less_below_half
        yield "after a fix-up of negative numbers (toward zero)", 1, _toward_zero


def counts_beside(instruction: Instruction) -> Iterator[OtherStep]:
    """A shift by a register that goes one further or less far."""
    operands = operands_of(instruction)
    if _BY_REGISTER.fullmatch(instruction.form.mnemonic) and len(operands) == 3 and (count := _place(operands[2])):
        yield OtherStep("with 1 added to its count", _on(instruction.form, 2, _one_more), count, is_more=True)
        yield OtherStep("with 1 taken from its count", _on(instruction.form, 2, _one_less), count, is_more=True)


def moved_results(instruction: Instruction) -> Iterator[OtherStep]:
    """A result that is one off."""
    if computes(instruction):
        for by, says in ((1, "and 1 added"), (-1, "and 1 taken away")):
            yield OtherStep(says, _moved(instruction.form, by))


def missing_steps(instruction: Instruction) -> Iterator[OtherStep]:
    """A step that was left out behind an instruction of integers, or in front of a store.

    Before a store it is another number, unless a variable is kept on the stack.
    """
    operands, name = operands_of(instruction), instruction.form.mnemonic
    if not operands or not isinstance(target := operands[0], (Vector, Scalar, General)):
        return
    if re.fullmatch(r"stu?r[bh]?", name):
        is_kept = "[sp" in instruction.text or "[x29" in instruction.text
        for says, change in _BEHIND.items():
            stored = _on(instruction.form, 0, _of_signed(change))
            yield OtherStep(f"after it is {says}", stored, None if is_kept else target.place)
    elif name in ("ldr", "ldur") and isinstance(target, Scalar) and target.bits in (64, 128):
        for bits, (says, change) in product(ELEMENTS, _BEHIND.items()):
            yield OtherStep(f"of {bits} bits {says}", with_results(instruction.form, change, bits))
    elif not name.startswith("f"):
        for says, change in _BEHIND.items():
            yield OtherStep(says, with_results(instruction.form, change))


def keeping(form: Form, number: int) -> OtherStep:
    """A store of a constant instead of 0."""
    return OtherStep(f"of {number}", _keeping(form, number), is_more=True)


@cache
def _keeping(form: Form, number: int) -> Body:
    def body(*operands: Any) -> Writes:
        (write,) = form.body(*operands)
        return (Write(write.place, write.bits, [low_bits(number, write.bits)]),)

    return body


def taking(instruction: Instruction, register: Place, number: int) -> Instruction:
    """The instruction as it is where a general register that it reads holds that number."""
    for at, operand in enumerate(operands_of(instruction)):
        if isinstance(operand, General) and operand.place == register:
            instruction = with_body(instruction, _on(instruction.form, at, _always(number)))
    return instruction


@cache
def _always(number: int) -> Change:
    return lambda lane, element, by: element.wrap(number)


@cache
def _left_out(at: int) -> Body:
    def body(*operands: Any) -> Writes:
        target, source = operands[0], operands[at]
        value = source.value if isinstance(target, General) else source.lanes(False, target.count)
        written: Writes = target.write(value)
        return written

    return body


@cache
def _moved(form: Form, by: int) -> Body:
    def body(*operands: Any) -> Writes:
        return tuple(
            Write(w.place, w.bits, [low_bits(lane + by, w.bits) for lane in w.lanes]) if _is_data(w) else w
            for w in form.body(*operands)
        )

    return body


@cache
def with_results(form: Form, change: Change, bits: int = 0) -> Body:
    """A body of which the results, as signed numbers of their element or of so many bits, are changed.

    A result that is narrower stays: a slot is loaded in parts too, by other registers than those that are changed.
    """

    def body(*operands: Any) -> Writes:
        writes = []
        for w in form.body(*operands):
            if _is_data(w) and bits <= w.bits:
                element = Int(bits or w.bits, True)
                whole = w.lanes if not bits else element.lanes(w.lanes[0], w.bits // bits)
                lanes = [change(element.wrap(lane), element, constant(at)) for at, lane in enumerate(whole)]
                size = bits or w.bits
                writes.append(Write(w.place, size, [low_bits(lane, element.bits) for lane in lanes]))
            else:
                writes.append(w)
        return tuple(writes)

    return body


def _is_data(write: Write) -> bool:
    return getattr(write.place, "file", "") in ("v", "x")


class _Changed:
    """An operand of which the lanes are changed before they are used."""

    def __init__(self, operand: Any, change: Change, operands: Any) -> None:
        self._operand, self._change, self._operands = operand, change, operands

    def __getattr__(self, name: str) -> Any:
        return getattr(self._operand, name)

    def lanes(self, signed: bool, *count: int) -> list[Lane]:
        element = Int(self._operand.bits, signed)
        lanes = self._operand.lanes(signed, *count)
        counts = _counts(self._operands, len(lanes), element.bits)
        return [self._change(lane, element, by) for lane, by in zip(lanes, counts, strict=True)]

    @property
    def value(self) -> Lane:
        element = Int(self._operand.bits, True)
        (by,) = _counts(self._operands, 1, element.bits)
        return low_bits(self._change(element.wrap(self._operand.value), element, by), element.bits)


@cache
def _on(form: Form, at: int, change: Change) -> Body:
    def body(*operands: Any) -> Writes:
        changed = list(operands)
        changed[at] = _Changed(operands[at], change, operands)
        return form.body(*changed)

    return body


def _counts(operands: Any, count: int, bits: int) -> list[Lane]:
    """How far each lane of a shift goes: an immediate, the low bits of a general register, a number in each lane."""
    last = operands[-1]
    if isinstance(last, Immediate):
        return [constant(last.number)] * count
    if isinstance(last, General):
        return [last.value & (bits - 1)] * count
    if isinstance(last, (Vector, Scalar)):
        return last.lanes(True, count)
    return [constant(1)] * count


@cache
def _of_signed(change: Change) -> Change:
    """The change of what a lane is as a signed number."""

    def changed(lane: Lane, element: Int, by: Lane) -> Lane:
        signed = Int(element.bits, True)
        return element.wrap(change(signed.wrap(lane), signed, by))

    return changed


def _half(by: Lane) -> Lane:
    return (constant(1) << by) >> 1


def _is_not_zero(lane: Lane) -> Lane:
    return lane.equals(0).equals(0)


def _less_if_negative(lane: Lane, element: Int, by: Lane) -> Lane:
    return lane - ((lane < 0) & _is_not_zero(by))


def _add_half(lane: Lane, element: Int, by: Lane) -> Lane:
    return lane + _half(by)


def _take_half(lane: Lane, element: Int, by: Lane) -> Lane:
    return lane - _half(by)


def _less_below_half(lane: Lane, element: Int, by: Lane) -> Lane:
    return lane - ((lane < _half(by)) & _is_not_zero(by))


def _one_more(lane: Lane, element: Int, by: Lane) -> Lane:
    return lane + 1


def _one_less(lane: Lane, element: Int, by: Lane) -> Lane:
    return lane - 1


def _toward_zero(lane: Lane, element: Int, by: Lane) -> Lane:
    return lane + select(lane < 0, (constant(1) << by) - 1, 0)


@cache
def _bounded(to: Int) -> Change:
    return lambda lane, element, by: minimum(maximum(lane, to.low), to.high)


@cache
def _part(to: Int) -> Change:
    return lambda lane, element, by: to.wrap(lane)


_BEHIND: Final[dict[str, Change]] = {
    "negated": lambda lane, element, by: -lane,
    "without its sign": lambda lane, element, by: maximum(lane, -lane),
    "inverted": lambda lane, element, by: ~lane,
    "doubled": lambda lane, element, by: lane << 1,
    "halved": lambda lane, element, by: lane >> 1,
    "halved and rounded": lambda lane, element, by: (lane + 1) >> 1,
    "less by 1 where it is negative": lambda lane, element, by: maximum(lane - (lane < 0), element.low),
    "less by 1 where it is above 0": lambda lane, element, by: lane - (constant(0) < lane),
    "0 instead": lambda lane, element, by: constant(0),
    "not below 0": lambda lane, element, by: maximum(lane, 0),
    "not above 0": lambda lane, element, by: minimum(lane, 0),
    **{f"bounded to {to}": _bounded(to) for to in (S8, U8, S16, U16, S32)},
    "bounded to -127 and 127": lambda lane, element, by: minimum(maximum(lane, -127), 127),
    **{f"cut to {to}": _part(to) for to in (S8, U8, S16, U16, S32, U32, Int(4, True), Int(4, False))},
}
SPOILT: Final[tuple[Change, ...]] = (
    _BEHIND["inverted"],
    _one_more,
    _one_less,
    lambda lane, element, by: lane + (1 << element.bits - 2),
)
"""Results by which it is seen whether an instruction matters: inverted, one more, one less, further by a quarter."""
