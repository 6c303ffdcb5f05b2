"""A number that stands in several places, and that is another one in all of them: a constant that is used twice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from struct import iter_unpack
from typing import Final

from isa.instruction import Instruction
from isa.lane import S32, select
from isa.rows import TABLE
from isa.table import UnknownInstruction
from sim.check.aim.mistakes import written
from sim.check.repair.alternative import NEAR, Alternative, Beside, replaced
from sim.check.repair.callers import WORD_BYTES
from sim.check.repair.code import ExecutedCode
from sim.check.repair.steps import Change, with_body, with_results
from sim.check.repair.trials import RepairTrials

_LAST: Final = re.compile(r"(?P<name>\w+) (?P<operands>.*, )#(?P<number>-?(?:0x)?[0-9a-f]+)")
"""What ends in a number."""
_PART: Final = re.compile(r"movk w\d+, #(?P<bits>\w+)(?:, lsl #(?P<by>\w+))?")
_WIDE: Final = {32: "<i", 16: "<h"}
"""Bits of the elements of a constant, of which small numbers are not told from parts of others."""


def other_numbers(code: ExecutedCode, trials: RepairTrials) -> Iterator[Sequence[Alternative]]:
    """For each number in several places the changes after which it is one more, or one less, on lines that need it.

    Where it is negative, it is one less, or one more.  Only what makes every lane right.
    """
    places: dict[int, dict[int, int]] = {}
    for pc in sorted(code.instructions):
        for number in _numbers_at(code, pc):
            places.setdefault(abs(number), {})[pc] = number
    several = [number for number, at in places.items() if number and len(at) > 1]
    for number in sorted(several, reverse=True):  # parts of others last
        at = places[number]
        for by in (1, -1):
            changes = [change for pc in at if (change := _moved(code, pc, at[pc], by)) is not None]
            if trials.are_right_with(replaced(changes)):
                yield [*_needed(code, trials, changes)]


def _numbers_at(code: ExecutedCode, pc: int) -> set[int]:
    """The numbers that an instruction has, as signed ones: those of a constant of the program, or its last operand."""
    instruction = code.instructions[pc]
    if (data := code.literal(pc)) is not None:
        return {number for bits in _WIDE for number in _elements(data, bits)}
    if instruction.is_branch or "sp" in instruction.text or "adr" in instruction.form.mnemonic:
        return set()
    if part := _PART.fullmatch(instruction.text):
        before = _numbers_at(code, pc - WORD_BYTES) if pc - WORD_BYTES in code.instructions else ()
        shift = int(part["by"] or "0", 0)
        return {S32.wrapped(n & ~(0xFFFF << shift) | int(part["bits"], 0) << shift) for n in before}
    match = _LAST.fullmatch(instruction.text)
    return {int(match["number"], 0)} if match else set()


def _moved(code: ExecutedCode, pc: int, number: int, by: int) -> Alternative | None:
    """The instruction with a number that is so much further from 0; None where it cannot have it."""
    instruction, moved = code.instructions[pc], number + (by if number > 0 else -by)
    changed: Instruction | None = None
    if (data := code.literal(pc)) is not None:
        bits = next(bits for bits in _WIDE if number in _elements(data, bits))
        changed = with_body(instruction, with_results(instruction.form, _another(number, moved), bits))
    elif _PART.fullmatch(instruction.text):
        changed = with_body(instruction, with_results(instruction.form, _another(number, moved)))
    elif match := _LAST.fullmatch(instruction.text):
        with suppress(UnknownInstruction, ValueError):  # no instruction has that number
            changed = TABLE.instruction(match["name"], f"{match['operands']}#{written(moved)}")
    says = f"with {moved} for {number}"
    return None if changed is None else Alternative(pc, NEAR, instruction, changed, says, Beside(is_repeated=True))


def _needed(code: ExecutedCode, trials: RepairTrials, changes: Sequence[Alternative]) -> Sequence[Alternative]:
    """The changes without those of lines that are right without them."""
    for line in {code.line(change.pc): None for change in changes}:
        fewer = [change for change in changes if code.line(change.pc) != line]
        if trials.are_right_with(replaced(fewer)):
            changes = fewer
    return changes


def _elements(data: bytes, bits: int) -> list[int]:
    return [number for (number,) in iter_unpack(_WIDE[bits], data)]


@cache
def _another(number: int, other: int) -> Change:
    """One number where there is another, whatever its place."""
    return lambda lane, element, at: select(lane.equals(number), other, lane)
