"""Frames as the files that `bulk_traffic.sv` reads, and the numbers in the one that it writes."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from rtl_models.benches.driving.frame import UNKNOWN, UnitFrame
from rtl_models.benches.driving.written import new_writes
from rtl_models.bulk.harness import MOST_BEATS, MOST_COMMANDS, port_bytes
from rtl_models.unit_values import Results
from rtl_models.units import Unit

OPERANDS, COMMANDS, RESULTS = "operands", "commands", "results"
"""The files' names."""
_WRITE, _BEATS = 1, 2
Command = tuple[int, int, int]


def parts(frames: Iterable[UnitFrame], most_beats: int = MOST_BEATS) -> Iterator[list[UnitFrame]]:
    """Frames together for as long as they fit into the memories and have no more beats than told."""
    part: list[UnitFrame] = []
    beats = commands = 0
    for frame in frames:
        beats, commands = beats + frame.beats, commands + len(frame.settings) + 1  # no setting takes two writes
        if part and (beats > most_beats or commands >= MOST_COMMANDS):
            yield part
            part, beats, commands = [], frame.beats, len(frame.settings) + 1
        part.append(frame)
    yield part


class Commands:
    """The commands of frames in succession: a register is written where it changes."""

    def __init__(self) -> None:
        self._written: dict[int, int] = {}

    def image(self, part: Sequence[UnitFrame]) -> bytes:
        """Those of some frames, as a file."""
        commands: list[Command] = []
        for frame in part:
            commands += [(_WRITE, *write) for write in new_writes(frame.settings, self._written)]
            commands.append((_BEATS, 0, frame.beats))
        return b"".join(struct.pack(">HHI", *command) for command in [*commands, (0, 0, 0)])


def operand_image(unit: Unit, part: Sequence[UnitFrame]) -> bytes:
    """The operands of all beats, as a file: the highest byte of a word first."""
    groups = []
    for port in unit.operands:
        numbers = np.concatenate([frame.operands[port.name] for frame in part])
        octets = np.ascontiguousarray(numbers, "<i8").view(np.uint8).reshape(*numbers.shape, 8)
        bits = np.unpackbits(octets, axis=2, count=port.bits, bitorder="little").reshape(len(numbers), -1)
        groups.append(np.packbits(bits, axis=1, bitorder="little"))
    return np.hstack(groups)[:, ::-1].tobytes()


def results_in(file: Path, unit: Unit, lanes: int) -> Results:
    """By port the numbers in the file of results, int64 [beats, numbers in a beat]; none where there is no file.

    `UNKNOWN` stands for one with unknown bits, which only Icarus has.
    """
    text = file.read_text() if file.exists() else ""
    digits = "".join(line for line in text.splitlines() if not line.startswith("//")).lower()
    known = _words(digits.translate(_FILLED), unit, lanes)
    if not {"x", "z"} & set(digits):
        return known
    doubtful = _words(digits.translate(_MASKED), unit, lanes)
    return {port: np.where(doubtful[port] != 0, UNKNOWN, numbers) for port, numbers in known.items()}


_FILLED: Final = str.maketrans("xz", "00")
_MASKED: Final = str.maketrans("0123456789abcdefxz", "0000000000000000ff")


def _words(digits: str, unit: Unit, lanes: int) -> Results:
    sizes = {port: port_bytes(port, lanes) for port in unit.results}
    octets = np.frombuffer(bytes.fromhex(digits), np.uint8).reshape(-1, sum(sizes.values()))[:, ::-1]
    numbers = {}
    for port, end in zip(sizes, np.cumsum(list(sizes.values())), strict=True):
        own = octets[:, end - sizes[port] : end]
        if port.bits < 8:
            values = np.unpackbits(own, axis=1, count=port.count(lanes), bitorder="little")
        else:
            values = np.ascontiguousarray(own).view(f"<{'i' if port.signed else 'u'}{port.bits // 8}")
        numbers[port.name] = values.astype(np.int64)
    return numbers
