"""Frames as the files that `bulk_traffic.sv` reads, and the numbers in the one that it writes."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtl_models.benches.frame import Frame
from rtl_models.bulk.harness import MOST_BEATS, MOST_COMMANDS, port_bytes
from rtl_models.register_map import REGISTERS, writes
from rtl_models.unit_values import Results
from rtl_models.units import Port, Unit
from sim.golden.fixed_point import Int64Array

OPERANDS, COMMANDS, RESULTS = "operands", "commands", "results"
"""The files' names."""
UNKNOWN: Final = 1 << 40
"""Stands for a number with unknown bits, which only Icarus has; longer than any result."""
_WRITE, _BEATS = 1, 2
_CHANNELS: Final = next(register.address for register in REGISTERS if register.name == "CHANNELS")
_Octets = NDArray[np.uint8]
Command = tuple[int, int, int]


def parts(frames: Iterable[Frame], most_beats: int = MOST_BEATS) -> Iterator[list[Frame]]:
    """Frames together for as long as they fit into the memories and have no more beats than told."""
    part: list[Frame] = []
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

    def image(self, part: Sequence[Frame]) -> bytes:
        """Those of some frames, as a file."""
        commands = [command for frame in part for command in self._of(frame)]
        return b"".join(struct.pack(">HHI", *command) for command in [*commands, (0, 0, 0)])

    def _of(self, frame: Frame) -> Iterator[Command]:
        for address, data in writes(frame.settings):
            if self._written.get(address) != data or address == _CHANNELS:  # writing CHANNELS starts a row
                self._written[address] = data
                yield _WRITE, address, data
        yield _BEATS, 0, frame.beats


def operand_image(unit: Unit, part: Sequence[Frame]) -> bytes:
    """The operands of all beats, as a file: the highest byte of a word first."""
    numbers = [(port, np.concatenate([frame.operands[port.name] for frame in part])) for port in unit.operands]
    octets = [_octets(column).reshape(*column.shape, 8)[:, :, : port.bits // 8] for port, column in numbers]
    words = np.hstack([group.reshape(len(group), -1) for group in octets])
    return words[:, ::-1].tobytes()


def _octets(numbers: Int64Array) -> _Octets:
    return np.ascontiguousarray(numbers, "<i8").view(np.uint8)


def results_in(file: Path, unit: Unit, lanes: int) -> Results:
    """By port the numbers in the file of results, int64 [beats, numbers in a beat]; none where there is no file."""
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
    ends = np.cumsum(list(sizes.values()))
    return {
        port.name: _numbers(port, octets[:, end - sizes[port] : end], lanes)
        for port, end in zip(sizes, ends, strict=True)
    }


def _numbers(port: Port, octets: _Octets, lanes: int) -> Int64Array:
    if port.bits < 8:
        return np.unpackbits(octets, axis=1, count=port.count(lanes), bitorder="little").astype(np.int64)
    kind = f"<{'i' if port.signed else 'u'}{port.bits // 8}"
    return np.ascontiguousarray(octets).view(kind).astype(np.int64)
