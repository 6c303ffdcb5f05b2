"""A streaming unit as registers and what these become, and what the unit computes of a beat, as one expression."""

from __future__ import annotations

from dataclasses import dataclass

from isa.lane import S32, U8, Int, Lane
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import ReadSignal, Value, on
from rtl_models.formal.equations.written import Subject
from rtl_models.formal.units.registers import RegisterUpdate
from rtl_models.latencies import PROFILES, depths, latency, profile_of, profile_parameter


@dataclass(frozen=True)
class OutputBits:
    """Some bits of an output port: the number on them, made of registers, and what it is of the beat's inputs.

    `given` is what must hold of these inputs.
    """

    port: str
    kind: Int
    lsb: int
    value: Value
    meaning: Value
    given: Value


@dataclass(frozen=True)
class Pipeline:
    """A unit at parameters: all of its registers but those of the handshake, and its results.

    `handshake` is the name of its `valid_pipeline`.
    """

    subject: Subject
    registers: tuple[RegisterUpdate, ...]
    results: tuple[OutputBits, ...]
    handshake: str = "u_valid_pipeline"

    @property
    def latency(self) -> int:
        """The register stages."""
        return latency(self.subject.module, profile_at(self.subject))


def profile_at(subject: Subject) -> str:
    """The profile of a unit at parameters."""
    given = dict(subject.parameters)
    return str(given["Depth"]) if "Depth" in given else PROFILES[given["Deep"]]


def at_level(module: str, level: int) -> tuple[str, int]:
    """The parameter of a unit, or of a part, for that one of its depths; 0 is the least of them."""
    return profile_parameter(module, profile_of(module, depths(module)[level]))


def subject(unit: str, lanes: int, level: int, **others: int) -> Subject:
    """A unit at parameters."""
    return Subject(unit, (("Lanes", lanes), at_level(unit, level), *others.items()))


def depth_of(part: str, level: int) -> int:
    """The stages of a part of one lane, such as "rescale"; beyond its last level it stays as it is."""
    return depths(part)[: level + 1][-1]


def requantized(value: Lane, multiplier: Lane, count: Lane) -> Lane:
    """SQRDMULH, then a division with ties away."""
    return a.divided(a.sqrdmulh(value, multiplier), count)


def in_order(low: Value, high: Value, is_signed: Value) -> Value:
    """That bounds, which are bytes, are those of a legal configuration."""

    def legal(read: ReadSignal) -> Lane:
        return (a.read_byte(low(read), is_signed(read)) > a.read_byte(high(read), is_signed(read))).equals(0)

    return legal


def clamped(value: Value, is_signed: Value) -> Value:
    """An offset and bounds from the ports of the unit."""
    offset, low, high = on("offset_i", S32), on("minimum_i", U8), on("maximum_i", U8)
    return lambda r: a.clamped_byte(a.added(value(r), offset(r)), low(r), high(r), is_signed(r))
