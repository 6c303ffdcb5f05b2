"""Mistakes that the compiled code could have: one instruction in the place of another that is easily mixed up with it.

Each is what a slip in the source becomes: a rounding left out, a saturation left out, the other sign, a shift by one
more, a constant one off, the wrong lane of a by-element operand, a bound that is not applied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import Final, NamedTuple

from isa.evaluate.python import bind
from isa.instruction import Instruction
from isa.lane import Int, Lane, Load, Place, Write, walk
from isa.rows import TABLE
from isa.table import UnknownInstruction
from sim.check.aim.read_later import ALL, Bits
from sim.machine.registers import RegisterStorage
from sim.symbolic.following.lookout import Goal

_ALIKE: Final = """
    round    sqrdmulh sqdmulh   srshl sshl   urshl ushl   sqrshl sqshl   uqrshl uqshl   srshr sshr   urshr ushr
    round    srsra ssra   ursra usra   rshrn% shrn%   sqrshrn% sqshrn%   sqrshrun% sqshrun%   uqrshrn% uqshrn%
    round    raddhn% addhn%   rsubhn% subhn%   srhadd shadd   urhadd uhadd   fcvtns fcvtas   fcvtnu fcvtau
    round    fcvtns fcvtzs   fcvtas fcvtzs   frintn frinta   frintn frintz
    saturate sqadd add   uqadd add   sqsub sub   uqsub sub   sqxtn% xtn%   uqxtn% xtn%   sqxtun% xtn%   sqneg neg
    saturate sqabs abs   sqrshrn% rshrn%   sqshrn% shrn%   sqrshrun% rshrn%   sqshrun% shrn%   uqrshrn% rshrn%
    saturate uqshrn% shrn%   sqshl sshl   uqshl ushl   sqrshl srshl   uqrshl urshl
    sign     sqadd uqadd   sqsub uqsub   sqxtn% uqxtn%   sqxtun% sqxtn%   sqxtun% uqxtn%   smull% umull%
    sign     smlal% umlal%   smlsl% umlsl%   sshll% ushll%   saddl% uaddl%   ssubl% usubl%   saddw% uaddw%
    sign     ssubw% usubw%   sabdl% uabdl%   sabd uabd   saba uaba   sshr ushr   srshr urshr   ssra usra   shadd uhadd
    sign     srhadd urhadd   smax umax   smin umin   smaxp umaxp   sminp uminp   cmgt cmhi   cmge cmhs   sdot udot
    sign     sadalp uadalp   saddlp uaddlp   saddlv uaddlv   sqrshrn% uqrshrn%   sqshrn% uqshrn%   smulh umulh
    sign     asr lsr   sxtb uxtb   sxth uxth   sbfx ubfx   ldrsb ldrb   ldrsh ldrh   smaddl umaddl   scvtf ucvtf
"""
"""Pairs of mnemonics, each for the other; a % is empty and 2."""


def _pairs() -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for line in _ALIKE.strip().splitlines():
        kind, *names = line.split()
        for one, other in zip(names[::2], names[1::2], strict=True):
            for ending in ("", "2") if "%" in one else ("",):
                first, second = one.replace("%", ending), other.replace("%", ending)
                found.setdefault(first, []).append((kind, second))
                if kind != "saturate":  # one that does not saturate is rarely meant to
                    found.setdefault(second, []).append((kind, first))
    return found


_OTHERS: Final = _pairs()


def alike(mnemonic: str) -> Iterator[str]:
    """The mnemonics that one is easily mixed up with, those that saturate where it does not among them."""
    yield from (other for _, other in _OTHERS.get(mnemonic, ()))
    yield from (name for name, others in _OTHERS.items() if any(other == mnemonic for _, other in others))


_BOUNDS: Final = ("smax", "smin", "umax", "umin")
_SHIFTS: Final = re.compile(r"[su]?q?r?sh[lr]u?n?2?|[su]r?sra|asr|lsr|lsl")
_CONDITIONS: Final = {"lt": "lo", "le": "ls", "gt": "hi", "ge": "hs"}
_IMMEDIATE: Final = re.compile(r"(.*#)(-?(?:0x)?[0-9a-f]+)")


class Mistake(NamedTuple):
    """An instruction at an address with another in its place; `kind` says which mistake that is."""

    pc: int
    kind: str
    original: Instruction
    instruction: Instruction


def differing(mistake: Mistake, counting: Bits | None = None) -> Goal | None:
    """Where the two instructions leave different numbers in registers; None where they leave them in other places.

    With `counting`, only where they differ in these bits.
    """
    lanes = list[Lane]()
    for one, other in zip_longest(_left(mistake.original), _left(mistake.instruction)):
        if (
            one is None
            or other is None
            or (one.place, one.bits, len(one.lanes)) != (other.place, other.bits, len(other.lanes))
        ):
            return None
        bits = Int(one.bits, signed=False)  # of one they may be a number with a sign, of the other without
        count = ALL
        if counting is not None and isinstance(one.place, Place) and one.place != Place("pc"):
            count = counting.get(one.place, 0)
        for n, (a, b) in enumerate(zip(one.lanes, other.lanes, strict=True)):
            kept = count >> one.bits * n & bits.high
            one_number, other_number = (
                bits.wrap(lane) & kept if kept < bits.high else bits.wrap(lane) for lane in (a, b)
            )
            lanes.append(one_number.equals(other_number).equals(0))
    return Goal(mistake.pc, tuple(lanes))


def _left(instruction: Instruction) -> list[Write]:
    """What an instruction writes, without QC and the exceptions of floating point, which are no outputs."""
    return [write for write in instruction.writes if write.place != Place("fpsr")]


Unlike = Callable[[Sequence[int]], bool]


def places_of(mistake: Mistake) -> tuple[Place, ...]:
    """The registers that say what the two instructions leave, the modes of floating point among them, sorted."""
    both = (mistake.original, mistake.instruction)
    return tuple(sorted({place for one in both for place in one.places_read}, key=str))


def unlike(mistake: Mistake, places: Sequence[Place]) -> Unlike | None:
    """Whether the two instructions leave anything different where these places hold some numbers, QC included.

    `places_of` are among the places.  A call in which they never do is the same call with either.  None where they
    write other places, or reach memory: then only a run tells.
    """
    both = (mistake.original, mistake.instruction)
    written = {place for place in both[0].places_written if place.file != "zr"}
    if written != {place for place in both[1].places_written if place.file != "zr"} or any(
        one.is_branch
        or one.stores
        or Place("pc") in one.places_read
        or any(isinstance(node, Load) for node in walk(one.lanes))
        for one in both
    ):
        return None
    left, registers = (*sorted(written, key=str), Place("fpsr")), RegisterStorage()
    runs = [bind(one, registers, _no_load, _no_store, mistake.pc) for one in both]

    def is_unlike(values: Sequence[int]) -> bool:
        found = []
        for run in runs:
            registers.write(Place("fpsr"), 0)  # so that what sets a flag is seen to
            for place, value in zip(places, values, strict=True):
                registers.write(place, value)
            run()
            found.append([registers.read(place) for place in left])
        return found[0] != found[1]

    return is_unlike


def _no_load(address: int, size: int) -> bytes:
    raise AssertionError(f"{size} bytes are loaded at {address:#x}")


def _no_store(address: int, data: bytes) -> None:
    raise AssertionError(f"{len(data)} bytes are stored at {address:#x}")


def mistakes_of(pc: int, instruction: Instruction) -> Iterator[Mistake]:
    """The mistakes that an instruction could be; none for what moves, loads, stores and branches."""
    mnemonic, _, operands = instruction.text.partition(" ")
    for kind, name, text in _texts(mnemonic, operands):
        with suppress(UnknownInstruction):  # such as a shift by more than there are bits, or no such form
            yield Mistake(pc, kind, instruction, TABLE.instruction(name, text))


def _texts(mnemonic: str, operands: str) -> Iterator[tuple[str, str, str]]:
    """The kinds, mnemonics and operands of what could stand there instead."""
    for kind, other in _OTHERS.get(mnemonic, ()):
        yield kind, other, operands
    immediate = _IMMEDIATE.fullmatch(operands)
    if immediate and (_SHIFTS.fullmatch(mnemonic) or _is_number(mnemonic, operands)):
        for changed in (int(immediate[2], 0) + 1, int(immediate[2], 0) - 1):
            kind = "shift" if _SHIFTS.fullmatch(mnemonic) else "constant"
            yield kind, mnemonic, immediate[1] + written(changed)
    index = re.fullmatch(r"(v.*, v\d+\.[bhs]\[)(\d)(\])", operands)
    if index and mnemonic not in ("mov", "dup", "ins", "umov", "smov"):
        yield "lane", mnemonic, f"{index[1]}{int(index[2]) ^ 1}{index[3]}"
    parts = operands.split(", ")
    if mnemonic in _BOUNDS and "." in operands:
        size = "16b" if parts[0].partition(".")[2] in ("16b", "8h", "4s") else "8b"
        target, *sources = (f"{part.partition('.')[0]}.{size}" for part in parts)
        yield from (("bound", "mov", f"{target}, {source}") for source in sources)
    if mnemonic == "csel":
        yield from (("bound", "mov", f"{parts[0]}, {source}") for source in parts[1:3])
        if parts[3] in _CONDITIONS:
            yield "sign", mnemonic, ", ".join((*parts[:3], _CONDITIONS[parts[3]]))


def written(number: int) -> str:
    """As the disassembler writes an immediate."""
    return str(number) if -10 < number < 10 else f"{number:#x}"


def _is_number(mnemonic: str, operands: str) -> bool:
    """Whether the immediate is a number to compute with, and none of an address or a count of elements."""
    return mnemonic in ("movi", "mvni") or (mnemonic in ("mov", "movk", "add", "sub") and operands.startswith("w"))
