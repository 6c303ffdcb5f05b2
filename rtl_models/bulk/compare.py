"""The numbers of many beats against the goldens, and the first that differs in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rtl_models.benches.driving.frame import Difference, UnitFrame, difference
from rtl_models.unit_values import Results
from rtl_models.units import Unit


def expected(unit: Unit, part: Sequence[UnitFrame], lanes: int) -> Results:
    """What all beats of the frames must give."""
    each = [unit.expected(frame.settings, frame.operands, lanes) for frame in part]
    return {port.name: np.concatenate([results[port.name] for results in each]) for port in unit.results}


def compared_numbers(unit: Unit, due: Results) -> int:
    """How many numbers must be as expected."""
    return sum(int(port.defined(due[port.name]).sum()) for port in unit.results)


def first_wrong(unit: Unit, given: Results, due: Results) -> Difference | None:
    """The first number, by beat, that is not as expected, of the beats that came."""
    came = min(len(numbers) for numbers in (*given.values(), *due.values()))
    cut = ({port: numbers[:came] for port, numbers in results.items()} for results in (given, due))
    return difference(unit, *cut)


def place_of(part: Sequence[UnitFrame], beat: int) -> tuple[int, int]:
    """The frame of a beat of the part, and the beat in that frame."""
    ends = np.cumsum([frame.beats for frame in part])
    number = int(np.searchsorted(ends, beat, side="right"))
    return number, beat - int(ends[number]) + part[number].beats


def told(unit: Unit, part: Sequence[UnitFrame], wrong: Difference) -> str:
    """The difference with what the beat had as operands and settings."""
    number, beat = place_of(part, wrong.beat)
    frame = part[number]
    operands = []
    for port, rows in frame.operands.items():  # the number of the lane, or all of a beat where they are not by lane
        row = rows[beat]
        operands.append(f"{port} {row[wrong.number] if wrong.number < len(row) else ' '.join(map(str, row))}")
    settings = ", ".join(f"{name} {value}" for name, value in frame.settings.items())
    here = replace(wrong, beat=beat).read_with(unit, frame.settings)
    return f"frame {number}: {here}; operands {', '.join(operands)}; settings {settings}"
