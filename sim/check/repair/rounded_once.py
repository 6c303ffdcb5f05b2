"""A line of scalar code that rounds numbers before it adds them up and rounds again, and would round once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from isa.rows import TABLE
from sim.check.aim.mistakes import written
from sim.check.repair.alternative import STEP, Alternative
from sim.check.repair.code import ExecutedCode

_SHIFT: Final = re.compile(r"(?P<verb>asr|lsr) (?P<to>[wx]\d+), (?P<of>[wx]\d+), #(?P<by>\w+)")
_ADDED: Final = re.compile(r"(?P<before>(?:add|sub) .*[wx]\d+), (?:asr|lsr) #(?P<by>\w+)")
"""A sum of which one addend is shifted first."""
_HALF: Final = re.compile(r"add (?P<to>[wx]\d+), (?P<of>[wx]\d+), #(?P<number>\w+)")


def rounded_once(code: ExecutedCode, places: Collection[int]) -> Iterator[Sequence[Alternative]]:
    """For each line that shifts by one amount and then once more, the changes after which it shifts only then, further.

    What is half of a last place is added there alone: the halves before are left out.
    """
    by_line: dict[str, dict[int, str]] = {}
    for pc in sorted(places):
        by_line.setdefault(code.line(pc), {})[pc] = code.instructions[pc].text
    for texts in by_line.values():
        match [*_shifts(texts).items()]:
            case [*first, last] if len({by for _, by in first}) == 1:
                yield [
                    Alternative(pc, STEP, code.instructions[pc], TABLE.instruction(*text.split(" ", 1)), f"as {text}")
                    for pc, text in _once(texts, dict(first), *last).items()
                ]


def _shifts(texts: Mapping[int, str]) -> dict[int, int]:
    """By address how far numbers are shifted to the right by immediates."""
    found = {pc: _SHIFT.fullmatch(text) or _ADDED.fullmatch(text) for pc, text in texts.items()}
    return {pc: int(match["by"], 0) for pc, match in found.items() if match}


def _once(texts: Mapping[int, str], first: Mapping[int, int], last: int, by: int) -> dict[int, str]:
    """The instructions that are others where all is shifted by the last instruction."""
    (early,) = set(first.values())
    changed = {}
    file = texts[last].split()[1][0]  # w or x: sums in the other are addresses
    halves = {pc: m for pc, text in texts.items() if (m := _HALF.fullmatch(text)) and pc < last and m["to"][0] == file}
    final = max((pc for pc, match in halves.items() if int(match["number"], 0) == 1 << by - 1), default=None)
    for pc, match in halves.items():
        if pc == final:
            changed[pc] = f"add {match['to']}, {match['of']}, #{written(1 << early + by - 1)}"
        elif int(match["number"], 0) == 1 << early - 1:
            changed[pc] = f"mov {match['to']}, {match['of']}"
    for pc in first:
        if shift := _SHIFT.fullmatch(texts[pc]):
            changed[pc] = f"mov {shift['to']}, {shift['of']}"
        elif added := _ADDED.fullmatch(texts[pc]):
            changed[pc] = added["before"]
    shifted = texts[last].rpartition("#")[0]
    return {**changed, last: f"{shifted}#{written(early + by)}"}
