"""Frames: beats that share their settings; packed into words for the ports, and as JSON for another run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from isa.lane import Int
from rtl_models.benches.driving.lane_array import packed, unpacked
from rtl_models.benches.driving.testbench import Bits, Words
from rtl_models.unit_values import Results, read_bytes
from rtl_models.units import Unit, UnitPort
from sim.golden.fixed_point import Int64Array

UNKNOWN: Final = 1 << 40
"""Stands for a number of which a simulator knows that some bit has no value; no port is so wide."""
_UNKNOWN_BITS: Final = str.maketrans("01XZ", "0011")
_KNOWN_BITS: Final = str.maketrans("XZ", "00")


@dataclass(frozen=True)
class UnitFrame:
    """Settings by name, and by port the numbers of each beat, int64 [beats, numbers in a beat]."""

    settings: Mapping[str, int]
    operands: Mapping[str, Int64Array]

    @property
    def beats(self) -> int:
        """How many beats it has."""
        return len(next(iter(self.operands.values())))

    def cut(self, first: int, count: int) -> UnitFrame:
        """Some of its beats."""
        return UnitFrame(
            self.settings, {port: numbers[first : first + count] for port, numbers in self.operands.items()}
        )

    def as_json(self) -> dict[str, Any]:
        """For `frame_of_json`."""
        operands = {port: numbers.tolist() for port, numbers in self.operands.items()}
        return {"settings": dict(self.settings), "operands": operands}


def frame_of_json(value: Mapping[str, Any]) -> UnitFrame:
    """What `UnitFrame.as_json` made."""
    operands = {port: np.array(rows, np.int64) for port, rows in value["operands"].items()}
    return UnitFrame(value["settings"], operands)


def as_number(port: UnitPort, number: int, settings: Mapping[str, int]) -> int:
    """What a port's number is: a byte is one of -128..127 where the setting `signed` says so."""
    return (
        int(read_bytes(number, settings)) if (port.bits, port.signed) == (8, False) and "signed" in settings else number
    )


def words_of(unit: Unit, frame: UnitFrame, lanes: int) -> list[Words]:
    """The words on the operand ports, beat by beat."""
    columns = [packed(frame.operands[port.name].reshape(-1), port.bits, port.count(lanes)) for port in unit.operands]
    return list(zip(*columns, strict=True))


def numbers_of(unit: Unit, results: Sequence[Bits], lanes: int) -> Results:
    """By result port its numbers, int64 [beats, numbers in a beat]; `UNKNOWN` where a bit has no value."""
    numbers = {}
    for k, port in enumerate(unit.results):
        words, count = [bits[k] for bits in results], port.count(lanes)
        unknown = unpacked([int(word.translate(_UNKNOWN_BITS), 2) for word in words], Int(port.bits, False), count)
        known = unpacked([int(word.translate(_KNOWN_BITS), 2) for word in words], Int(port.bits, port.signed), count)
        numbers[port.name] = np.where(unknown == 0, known.astype(np.int64), UNKNOWN).reshape(len(words), count)
    return numbers


@dataclass(frozen=True)
class Difference:
    """The first number of a frame that is not as expected."""

    port: str
    beat: int
    number: int
    given: int
    expected: int

    def read_with(self, unit: Unit, settings: Mapping[str, int]) -> Difference:
        """The same, bytes being the numbers that the settings of its frame say."""
        port = next(port for port in unit.results if port.name == self.port)
        given = self.given if self.given == UNKNOWN else as_number(port, self.given, settings)
        return replace(self, given=given, expected=as_number(port, self.expected, settings))

    def __str__(self) -> str:
        given = "unknown" if self.given == UNKNOWN else str(self.given)
        return f"{self.port} of beat {self.beat}, number {self.number}: {given}, expected {self.expected}"


def difference(unit: Unit, given: Results, expected: Results) -> Difference | None:
    """The first, by beat, of what differs and is defined."""
    found = []
    for port in unit.results:
        came, due = given[port.name], expected[port.name]
        for beat, number in np.argwhere((came != due) & port.defined(due))[:1].tolist():
            found.append(Difference(port.name, beat, number, int(came[beat, number]), int(due[beat, number])))
    return min(found, key=lambda one: one.beat, default=None)
