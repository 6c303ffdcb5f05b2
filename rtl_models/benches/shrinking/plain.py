"""Settings and operands as plain as can be, in whose place a failing frame's own may fail as well.

Plain are the settings after a reset, and multipliers that negate: a number then passes a rescaling without rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Final

import numpy as np

from isa.lane import Int
from rtl_models.benches.coverage.stimulus import edges
from rtl_models.benches.coverage.unit_stimulus import NEGATES
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.register_map import REGISTERS
from rtl_models.units import Unit, UnitPort
from sim.golden.fixed_point import Int64Array

Settings = dict[str, int]
HALVES: Final = 1 << 30
"""A multiplier: the half of a number, which shows how it is rounded."""
SMALL: Final = 300
"""Up to here every number is tried: a byte is reached, and what lies beside its bounds."""
_COUNTED: Final = 100
_RESET: Final = {name: value for register in REGISTERS for name, value in register.decoded(register.reset).items()}
_REGISTER: Final = {field.setting: register.name for register in REGISTERS for field in register.fields}


def plain_setting(name: str) -> int:
    """Of a setting or of a number in the tables, such as "multiplier[3]"."""
    return NEGATES if _kind(name).endswith("multiplier") else _RESET.get(_kind(name), 0)


def groups(settings: Iterable[str]) -> list[list[str]]:
    """The names of settings that are made plain together: those of one register, those of one field of the tables."""
    ordered = sorted(settings, key=_group)
    return [list(names) for _, names in groupby(ordered, _group)]


def plain_sets(settings: Mapping[str, int]) -> list[Settings]:
    """All plain; then all but one kind of setting: that as little otherwise as can be, then a group as it is given."""
    plain = {name: plain_setting(name) for name in settings}
    kinds = dict.fromkeys(map(_kind, settings))
    others = [
        {n: HALVES if kind.endswith("multiplier") else value + 1 for n, value in plain.items() if _kind(n) == kind}
        for kind in kinds
    ]
    given = [{name: settings[name] for name in names} for names in groups(settings)]
    sets = [plain | changed for changed in ({}, *others, *given)]
    return [one for number, one in enumerate(sets) if one not in sets[:number]]


def plain_frame(unit: Unit, lanes: int, settings: Settings, failing: UnitFrame) -> UnitFrame:
    """Every port's plain numbers, the other ports being 0; then those of all ports; then the failing operands."""
    rows = {}
    for port in unit.operands:  # each number once; the last beat is filled up with the first ones
        numbers, count = plain_numbers(port), port.count(lanes)
        rows[port.name] = np.resize(np.array(numbers, np.int64), (-(-len(numbers) // count), count))
    parts: list[Mapping[str, Int64Array]] = []
    for shown in dict.fromkeys([*(frozenset({name}) for name in rows), frozenset(rows)]):
        beats = max(len(rows[name]) for name in shown)  # what needs fewer is repeated
        parts.append({name: np.resize(own, (beats, own.shape[1])) * (name in shown) for name, own in rows.items()})
    parts.append(failing.operands)
    return UnitFrame(settings, {name: np.concatenate([part[name] for part in parts]) for name in rows})


def counting(unit: Unit, frame: UnitFrame) -> UnitFrame:
    """Plain settings, and operands that differ: -1, -2 and so on where there are negative ones, as they are negated."""
    settings = {name: plain_setting(name) for name in frame.settings}
    operands = {}
    for port in unit.operands:
        shape = frame.operands[port.name].shape
        numbers = 1 + np.arange(np.prod(shape), dtype=np.int64) % min(_COUNTED, Int(port.bits, port.signed).high)
        operands[port.name] = (-numbers if port.signed else numbers).reshape(shape)
    return UnitFrame(settings, operands)


def plain_numbers(port: UnitPort) -> list[int]:
    """All small numbers and the edges of its type, the smallest first."""
    kind = Int(port.bits, port.signed)
    small = range(max(-SMALL, kind.low), min(SMALL, kind.high) + 1)
    return sorted({*small, *edges(kind)}, key=lambda number: (abs(number), number < 0))


def _kind(name: str) -> str:
    return name.partition("[")[0]


def _group(name: str) -> str:
    return _kind(name) if "[" in name else _REGISTER[name] + " register"
