"""What could stand in the place of an instruction, if that instruction were the fault.

The nearest come first: another instruction that is easily mixed up with it, or the number beside; then a step of the
arithmetic too few or too many, such as a rounding, a bound or a fix-up of negative ties, any instruction with the same
operands, and any round number; then a result that is one off, and one of which a further step was left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import combinations
from typing import Final

from isa.instruction import Instruction
from isa.lane import Place
from isa.operands import CONDITIONS
from isa.rows import TABLE
from isa.table import UnknownInstruction
from sim.check.aim.mistakes import alike, mistakes_of, written
from sim.check.repair.alternative import MISSING, NEAR, ONE_OFF, STEP, Alternative, Beside
from sim.check.repair.code import REGISTER, ExecutedCode, place_of
from sim.check.repair.steps import OtherStep, counts_beside, keeping, missing_steps, moved_results, steps_of, with_body

_CONFUSED: Final = (
    "zip1 zip2", "uzp1 uzp2", "trn1 trn2", "smin smax", "umin umax", "sminv smaxv", "uminv umaxv", "add sub",
    "adds subs", "sqadd sqsub", "uqadd uqsub", "mla mls", "smlal smlsl", "umlal umlsl", "cmgt cmge", "cmhi cmhs",
    "saddw ssubw", "saddl ssubl", "uaddw usubw", "uaddl usubl", "and orr", "bic and", "fadd fsub", "fmla fmls",
    "fmin fmax", "madd msub", "fcvtms fcvtns", "fcvtps fcvtns", "frintm frintn", "frintp frintn", "frintx frintz",
    "mvn neg", "shl sqshl",
)  # fmt: skip
"""Pairs of mnemonics that are mixed up, besides those of the mistakes; of the long ones also those that end in 2."""
_CONDITION: Final = {
    "lt": ("le", "lo", "ge"), "le": ("lt", "ls", "gt"), "gt": ("ge", "hi", "le"), "ge": ("gt", "hs", "lt"),
    "lo": ("ls", "lt", "hs"), "ls": ("lo", "le", "hi"), "hi": ("hs", "gt", "ls"), "hs": ("hi", "ge", "lo"),
    "eq": ("ne",), "ne": ("eq",), "mi": ("pl", "le"), "pl": ("mi", "gt"),
}  # fmt: skip
_LANE_INDEX: Final = re.compile(r"(.*v\d+\.[bhsd]\[)(\d+)(\].*)")
_COMPARED: Final = re.compile(r"((?:cmp|subs|adds|cmn|ccmp) .*#)(-?(?:0x)?[0-9a-f]+)")
_NUMBER: Final = re.compile(r"(?P<before>(?P<name>\w+) .*, #)(?P<number>-?(?:0x)?[0-9a-f]+)")
_ZERO: Final = re.compile(r"mov (?P<to>[wx]\d+), [wx]zr")
_KEEPS_ZERO: Final = re.compile(r"stu?r[bh]? [wx]zr, .*")
_SHIFTED: Final = re.compile(r"(?P<before>.*[wx]\d+, )(?P<kind>lsl|lsr|asr) #(?P<by>\w+)")
"""What computes with a register that it shifts first."""
_PART: Final = ("and", "lsr", "asr", "lsl")
"""What takes some bits of a number."""
_PAIR_FOLDED: Final = re.compile(r"(?P<name>add|[su]max|[su]min)p v(?P<to>\d+)\.2s, (?P<of>v\d+)\.2s, (?P=of)\.2s")
_HALF_FOLDED: Final = re.compile(
    r"(?P<before>(?:[su]?add|[su]max|[su]min)l?v [hsb]\d+, v\d+)\.(?P<count>[48])(?P<size>[hb])"
)
"""What folds half of a register."""
_SEVERAL: Final = re.compile(r"{[^}]*,[^}]*}")
"""Registers that follow each other."""
_FIRST_LANE: Final = re.compile(r"fmov (?P<to>[dswx]\d+), (?P<bits>[ds])(?P<of>\d+)")
"""What takes the first lane of a register."""
_PLAIN_SHAPE: Final = re.compile(r"(?:(?:\.\d+[bhsd]|[bhsdwx]|#)(?:,|$))+")
_RARE: Final = re.compile(
    r"aes\w*|sha[125]\w*|sm[34]\w*|crc\w*|rev\w*|pmul\w*|f?rec\w+|urec\w+|[fu]rsqrt\w+|pac\w+|aut\w+|[su]cvtf|s[lr]i|cl[sz]"
    r"|suqadd|usqadd|ror|or[n]|eon|adcs?|sbcs?|adds|subs|ands|bics|sqrdml[as]h"
)
"""What is hardly taken for another instruction."""


def alternatives_of(pc: int, instruction: Instruction) -> Iterator[Alternative]:
    """What could stand there instead, the nearest first; nothing for what only moves, and for addresses of a stack."""
    yield from _with_steps(pc, MISSING, instruction, missing_steps(instruction))
    if _KEEPS_ZERO.fullmatch(instruction.text):
        numbers = _round("mov", "w", 0)
        yield from _with_steps(pc, STEP, instruction, (keeping(instruction.form, number) for number in numbers))
    elif zero := _ZERO.fullmatch(instruction.text):
        for text in (f"mov {zero['to']}, #{written(number)}" for number in _round("mov", "w", 0)):
            with suppress(UnknownInstruction, ValueError):
                yield Alternative(pc, STEP, instruction, _named(text), f"as {text}", Beside(is_more=True))
    if "sp" in instruction.text or "x29" in instruction.text:
        return
    seen = {instruction.text}
    near = (*(m.instruction.text for m in mistakes_of(pc, instruction)), *_near(instruction))
    for rank, texts in ((NEAR, near), (STEP, _far(pc, instruction))):
        for text in texts:
            if text not in seen:
                seen.add(text)
                with suppress(UnknownInstruction, ValueError):  # no such form, or a number that it cannot have
                    other = _named(text)
                    assert other.writes is not None
                    yield Alternative(pc, rank, instruction, other, f"as {text}")
    yield from _with_steps(pc, NEAR, instruction, counts_beside(instruction))
    yield from _with_steps(pc, STEP, instruction, steps_of(instruction))
    yield from _with_steps(pc, ONE_OFF, instruction, moved_results(instruction))


def other_registers(code: ExecutedCode, pc: int) -> Iterator[Alternative]:
    """An instruction that takes what another register holds there, of those of its kind that the function has.

    Not for addresses of a stack; what an instruction adds to is its result as well, and stays, and so do registers that
    follow each other.
    """
    instruction = code.instructions[pc]
    text, taken = instruction.text, instruction.places_read
    if "sp" in text or "x29" in text:
        return
    several = _SEVERAL.search(text)
    within = range(*several.span()) if several else ()
    others = sorted(code.registers(pc), key=lambda place: (place.file, place.index))
    for at, register in enumerate(REGISTER.finditer(text)):
        place = place_of(register)
        if place in taken and (at or place not in instruction.places_written) and register.start() not in within:
            for other in others:
                if other.file == place.file and other != place and other != Place("x", 29):
                    instead = f"{text[: register.start()]}{register['letter']}{other.index}{text[register.end() :]}"
                    yield Alternative(pc, STEP, instruction, _named(instead), f"as {instead}")


def _with_steps(pc: int, rank: int, instruction: Instruction, steps: Iterable[OtherStep]) -> Iterator[Alternative]:
    for says, body, before, is_more in steps:
        yield Alternative(pc, rank, instruction, with_body(instruction, body), says, Beside(before, is_more))


def _named(text: str) -> Instruction:
    mnemonic, _, operands = text.partition(" ")
    return TABLE.instruction(mnemonic, operands)


def _near(instruction: Instruction) -> Iterator[str]:
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
        yield from (number[1] + written(int(number[2], 0) + by) for by in (1, -1))
    if shifted := _SHIFTED.fullmatch(instruction.text):
        kind, by = shifted["kind"], int(shifted["by"], 0)
        yield from (f"{shifted['before']}{other} #{written(by)}" for other in ("lsl", "lsr", "asr") if other != kind)
        yield from (f"{shifted['before']}{kind} #{written(other)}" for other in (by - 1, by + 1))
    last = operands.rpartition(", ")
    if last[2] in CONDITIONS:
        yield from (f"{mnemonic} {last[0]}, {other}" for other in _CONDITION.get(last[2], ()))
    if mnemonic.startswith("b."):
        yield from (f"b.{other} {operands}" for other in _CONDITION.get(mnemonic[2:], ()))
    parts = operands.split(", ")
    if len(parts) == 3 and all(re.fullmatch(r"[vwx]\d+(\.\w+)?", part) for part in parts):
        for one in parts[1:]:  # one of them twice
            yield f"{mnemonic} {parts[0]}, {one}, {one}"
    yield from _swapped(instruction, mnemonic, parts)
    if first := _FIRST_LANE.fullmatch(instruction.text):
        yield from (f"mov {first['to']}, v{first['of']}.{first['bits']}[{lane}]" for lane in range(1, 4))
    if signed := re.fullmatch(r"(ldu?r|mov) w(\d+), (.*)", instruction.text):  # of 32 bits, and of 64 with their sign
        verb = "sxtw" if signed[1] == "mov" else signed[1].replace("r", "rsw")
        yield f"{verb} x{signed[2]}, {signed[3]}"
    if cut := re.fullmatch(r"(ldursw|ldrsw|sxtw) x(\d+), (.*)", instruction.text):  # cut to 32 bits, and not
        verb = "mov" if cut[1] == "sxtw" else cut[1].replace("sw", "")
        yield f"{verb} x{cut[2]}, {cut[3].replace('w', 'x') if cut[1] == 'sxtw' else cut[3]}"
    if "cvt" in mnemonic and len(parts) == 3:
        yield f"{mnemonic} {parts[0]}, {parts[1]}"
    if folded := _PAIR_FOLDED.fullmatch(instruction.text):
        yield f"{folded['name']}v s{folded['to']}, {folded['of']}.4s"
    if folded := _HALF_FOLDED.fullmatch(instruction.text):
        yield f"{folded['before']}.{2 * int(folded['count'])}{folded['size']}"
    if mnemonic == "ld1r":  # one element for all lanes
        yield f"ld1 {operands}"


def _swapped(instruction: Instruction, mnemonic: str, parts: Sequence[str]) -> Iterator[str]:
    """Texts of two operands of one kind that change places, of those that are only read."""
    registers = [REGISTER.match(part) for part in parts]
    taken = [
        at
        for at, register in enumerate(registers)
        if register
        and (place := place_of(register)) in instruction.places_read
        and (at or place not in instruction.places_written)
    ]
    for one, other in combinations(taken, 2):
        swapped = [*parts]
        swapped[one], swapped[other] = parts[other], parts[one]
        yield f"{mnemonic} {', '.join(swapped)}"


def _far(pc: int, instruction: Instruction) -> Iterator[str]:
    """Texts of what does something else with the same operands, or the same with a round number."""
    mnemonic, _, operands = instruction.text.partition(" ")
    parts = operands.split(", ")
    if instruction.is_branch and (mnemonic.startswith("b.") or len(parts) > 1):
        yield from (f"b {parts[-1]}", f"b #{pc + 4:#x}")  # always, and never
    if _PLAIN_SHAPE.fullmatch(instruction.form.shape) and not instruction.is_branch:
        yield from (f"{other} {operands}" for other in _with_shape(instruction.form.shape, mnemonic.startswith("f")))
    if number := _NUMBER.fullmatch(instruction.text):
        yield from (
            number["before"] + written(other) for other in _round(number["name"], operands, int(number["number"], 0))
        )
    if shifted := _SHIFTED.fullmatch(instruction.text):
        yield from (f"{shifted['before']}{shifted['kind']} #{written(other)}" for other in range(1, 32))
    if mnemonic in _PART and len(parts) == 3 and parts[2].startswith("#"):
        for bits in range(1, 32):
            yield from (f"{other} {parts[0]}, {parts[1]}, #{written(bits)}" for other in ("lsr", "asr", "lsl"))
            yield f"and {parts[0]}, {parts[1]}, #{written((1 << bits) - 1)}"


@cache
def _with_shape(shape: str, floating: bool) -> Sequence[str]:
    """The mnemonics that there are with operands of that shape."""
    names = [name for name, other in TABLE.forms if other == shape and name.startswith("f") == floating]
    return [name for name in names if not _RARE.fullmatch(name)]


def _round(name: str, operands: str, number: int) -> Iterator[int]:
    """Other numbers that an instruction of that name may have been meant to have."""
    if (
        name in ("movi", "mvni")
        or (operands.startswith("x") and name == "mov")
        or (operands.startswith("w") and name in ("mov", "add", "sub", "cmp", "subs", "and", "orr", "eor"))
    ):
        yield from (-number, ~number, 2 * number, number // 2)
        for bits in range(32):
            yield from (1 << bits, (1 << bits) - 1, -1 << bits, number + (1 << bits), number - (1 << bits))
    elif "sh" in name or name in ("asr", "lsr", "lsl", "ext", "ssra", "usra"):
        yield from range(32)
