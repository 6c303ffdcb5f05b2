"""What could stand in the place of an instruction, if that instruction were the fault.

The nearest come first: another instruction that is easily mixed up with it, or another number in it; then a step of the
arithmetic too few or too many, such as a rounding, a bound or a fix-up of negative ties; then a result that is one off.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from isa.instruction import Form, Instruction, Pattern
from isa.lane import S8, S16, U8, U16, Int, Lane, Place, Write, constant, maximum, minimum, select
from isa.operands import CONDITIONS, General, Immediate, Operand, Scalar, Vector
from isa.parse import parse
from isa.rows import TABLE
from isa.semantics.elementwise import Body, Writes
from isa.table import UnknownInstruction
from sim.check.aim.mistakes import alike, mistakes_of

Change = Callable[[Lane, Int, Lane], Lane]
"""What becomes of a lane of that type in front of a shift by so much."""
NEAR, STEP, ONE_OFF = range(3)
"""How near an alternative is to what stands there."""
LEFT_OUT: Final = "left out"
_CONFUSED: Final = (
    "zip1 zip2", "uzp1 uzp2", "trn1 trn2", "smin smax", "umin umax", "sminv smaxv", "uminv umaxv", "add sub",
    "adds subs", "sqadd sqsub", "uqadd uqsub", "mla mls", "smlal smlsl", "umlal umlsl", "cmgt cmge", "cmhi cmhs",
    "saddw ssubw", "saddl ssubl", "uaddw usubw", "uaddl usubl", "and orr", "bic and", "fadd fsub", "fmla fmls",
    "fmin fmax", "madd msub", "fcvtms fcvtns", "fcvtps fcvtns", "frintm frintn", "frintp frintn", "frintx frintz",
)  # fmt: skip
"""Pairs of mnemonics that are mixed up, besides those of the mistakes; of the long ones also those that end in 2."""
_CONDITION: Final = {
    "lt": ("le", "lo", "ge"), "le": ("lt", "ls", "gt"), "gt": ("ge", "hi", "le"), "ge": ("gt", "hs", "lt"),
    "lo": ("ls", "lt", "hs"), "ls": ("lo", "le", "hi"), "hi": ("hs", "gt", "ls"), "hs": ("hi", "ge", "lo"),
    "eq": ("ne",), "ne": ("eq",), "mi": ("pl", "le"), "pl": ("mi", "gt"),
}  # fmt: skip
_MOVES: Final = re.compile(r"(?:ldu?r|ldp|fmov|adrp?)\w*")
"""What takes no part in the arithmetic."""
_RIGHT_SHIFTS: Final = re.compile(r"s(?:q?r?shl|r?shr|q?r?shrun?2?|q?r?shrn2?|r?sra)|rshrn2?|shrn2?")
_LANE_INDEX: Final = re.compile(r"(.*v\d+\.[bhsd]\[)(\d+)(\].*)")
_COMPARED: Final = re.compile(r"((?:cmp|subs|adds|cmn|ccmp) .*#)(-?(?:0x)?[0-9a-f]+)")


@dataclass(frozen=True)
class Alternative:
    """An instruction at an address with another in its place; `rank` says how near, `says` what it is, in words.

    `before` is the register that holds another number before the instruction, which then is as it was: what made that
    number may be at fault as well.
    """

    pc: int
    rank: int
    original: Instruction
    instruction: Instruction
    says: str
    before: Place | None = None

    def __str__(self) -> str:
        return f"{self.original.text} {self.says}"


def alternatives_of(pc: int, instruction: Instruction) -> Iterator[Alternative]:
    """What could stand there instead, the nearest first; nothing for what only moves, and for addresses of a stack."""
    if " sp" in instruction.text or "x29" in instruction.text:
        return
    seen = {instruction.text}
    for text in (m.instruction.text for m in mistakes_of(pc, instruction)):
        if text not in seen:
            seen.add(text)
            yield Alternative(pc, NEAR, instruction, _named(text), f"as {text}")
    for text in _others(instruction):
        if text not in seen:
            seen.add(text)
            with suppress(UnknownInstruction):
                yield Alternative(pc, NEAR, instruction, _named(text), f"as {text}")
    operands = parse(instruction.pattern.operand_text, instruction.registers)
    for says, body in _steps(instruction, operands):
        operand = operands[0 if instruction.stores else 1]
        register = operand.place if isinstance(operand, (Vector, Scalar, General)) else None
        before = register if says.startswith("after") else None
        yield Alternative(pc, STEP, instruction, _with_body(instruction, body), says, before)
    if _computes(instruction, operands):
        for by, says in ((1, "and 1 added"), (-1, "and 1 taken away")):
            yield Alternative(pc, ONE_OFF, instruction, _with_body(instruction, _moved(instruction.form, by)), says)


def _named(text: str) -> Instruction:
    mnemonic, _, operands = text.partition(" ")
    return TABLE.instruction(mnemonic, operands)


def _others(instruction: Instruction) -> Iterator[str]:
    """Texts of what is easily mixed up with an instruction, besides its mistakes."""
    mnemonic, _, operands = instruction.text.partition(" ")
    base, ending = (mnemonic[:-1], "2") if mnemonic.endswith("2") else (mnemonic, "")
    for pair in _CONFUSED:
        if mnemonic in pair.split():
            yield from (f"{other} {operands}" for other in pair.split() if other != mnemonic)
        elif base in pair.split():
            yield from (f"{other}{ending} {operands}" for other in pair.split() if other != base)
    yield from (f"{other} {operands}" for other in alike(mnemonic))
    if index := _LANE_INDEX.fullmatch(operands):
        yield from (f"{mnemonic} {index[1]}{n}{index[3]}" for n in range(8) if n != int(index[2]))
    if number := _COMPARED.fullmatch(instruction.text):
        for changed in (int(number[2], 0) + 1, int(number[2], 0) - 1):
            yield number[1] + (str(changed) if -10 < changed < 10 else f"{changed:#x}")
    last = operands.rpartition(", ")
    if last[2] in CONDITIONS:
        yield from (f"{mnemonic} {last[0]}, {other}" for other in _CONDITION.get(last[2], ()))
    if mnemonic.startswith("b."):
        yield from (f"b.{other} {operands}" for other in _CONDITION.get(mnemonic[2:], ()))
    parts = operands.split(", ")
    if len(parts) == 3 and all(re.fullmatch(r"[vwx]\d+(\.\w+)?", part) for part in parts):
        yield f"{mnemonic} {parts[0]}, {parts[2]}, {parts[1]}"


def _with_body(instruction: Instruction, body: Body) -> Instruction:
    pattern, form = instruction.pattern, instruction.form
    changed = Form(form.mnemonic, form.shape, body, form.features)
    return Instruction(
        Pattern(changed, pattern.text, pattern.operand_text, pattern.register_count), instruction.registers
    )


class _Changed:
    """An operand of which the lanes are changed before they are used."""

    def __init__(self, operand: Any, change: Change, operands: Any) -> None:
        self._operand, self._change, self._operands = operand, change, operands

    def __getattr__(self, name: str) -> Any:
        return getattr(self._operand, name)

    def lanes(self, signed: bool, count: int = 1) -> list[Lane]:
        element = Int(self._operand.bits, signed)
        lanes = self._operand.lanes(signed, count)
        counts = _counts(self._operands, len(lanes), element.bits)
        return [self._change(lane, element, by) for lane, by in zip(lanes, counts, strict=True)]

    @property
    def value(self) -> Lane:
        element = Int(self._operand.bits, True)
        (by,) = _counts(self._operands, 1, element.bits)
        return Int(element.bits, False).wrap(self._change(element.wrap(self._operand.value), element, by))


def _moved(form: Form, by: int) -> Body:
    def body(*operands: Any) -> Writes:
        return tuple(
            Write(w.place, w.bits, [Int(w.bits, False).wrap(lane + by) for lane in w.lanes]) if _is_data(w) else w
            for w in form.body(*operands)
        )

    return body


def _is_data(write: Write) -> bool:
    return getattr(write.place, "file", "") in ("v", "x")


def _computes(instruction: Instruction, operands: tuple[Operand, ...]) -> bool:
    if instruction.is_branch or instruction.stores or not operands:
        return False
    return isinstance(operands[0], (Vector, Scalar, General)) and not _MOVES.fullmatch(instruction.form.mnemonic)


def _steps(instruction: Instruction, operands: tuple[Operand, ...]) -> Iterator[tuple[str, Body]]:
    """A step of the arithmetic too few or too many at an instruction with these operands."""
    form, texts = instruction.form, instruction.text.partition(" ")[2].split(", ")
    name = form.mnemonic
    if _RIGHT_SHIFTS.fullmatch(name) and len(operands) == 3:
        yield "after a fix-up of negative numbers (ties away from zero)", _on(form, 1, _less_if_negative)
    if name in ("asr", "lsr") and len(operands) == 3:
        yield "after half of the last place is added (rounded)", _on(form, 1, _add_half)
        yield "after half of the last place is taken away (not rounded)", _on(form, 1, _take_half)
        yield "after a fix-up of negative numbers (ties away from zero)", _on(form, 1, _less_below_half)
        yield "after a fix-up of negative numbers (toward zero)", _on(form, 1, _toward_zero)
    if name in ("strb", "strh", "sturb", "sturh"):
        for element in (S8, U8) if name.endswith("b") else (S16, U16):
            yield f"after it is bounded to {element}", _on(form, 0, _bounded(element))
    if not form.shape.startswith(("[", "cond")) and len(operands) in (3, 4) and not _MOVES.fullmatch(name):
        for at, operand in enumerate(operands[1:], 1):
            if type(operand) is type(operands[0]) and operand.shape == operands[0].shape:
                yield f"{LEFT_OUT}, only {texts[at]} kept", _left_out(at)


def _left_out(at: int) -> Body:
    def body(*operands: Any) -> Writes:
        target, source = operands[0], operands[at]
        value = source.value if isinstance(target, General) else source.lanes(False, target.count)
        written: Writes = target.write(value)
        return written

    return body


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


def _toward_zero(lane: Lane, element: Int, by: Lane) -> Lane:
    return lane + select(lane < 0, (constant(1) << by) - 1, 0)


def _bounded(to: Int) -> Change:
    return lambda lane, element, by: minimum(maximum(lane, to.low), to.high)
