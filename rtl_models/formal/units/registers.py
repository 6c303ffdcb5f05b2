"""Registers, each with what it becomes; and claims that a module's registers are those."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from isa.lane import U1, Int, Lane, select
from rtl_models.formal.claims import Signals, Statement, Value, on, signal_of
from rtl_models.formal.theorem import Fault

READY: Value = on("ready_o", U1)
"""The output that is the enable of all stages of a pipeline."""


@dataclass(frozen=True)
class Rewritten:
    """That `left` is `right`, for all numbers, which a lemma of this name shows; here for these operands."""

    lemma: str
    left: Callable[..., Lane]
    right: Callable[..., Lane]
    operands: tuple[Value, ...]


@dataclass(frozen=True, kw_only=True)
class RegisterUpdate:
    """Some bits of a wire, and the number that they become with the next enabled edge.

    `fault` is a mistake with which the module would do otherwise.  `shown` is a simpler form of what the register is of
    numbers some edges back.
    """

    wire: str
    kind: Int
    following: Value
    fault: Fault
    lsb: int | None = None
    enable: Value = READY
    shown: Rewritten | None = None

    @property
    def value(self) -> Value:
        """The number that it holds."""
        return on(self.wire, self.kind, self.lsb)

    @property
    def name(self) -> str:
        """As a signal."""
        return str(signal_of(self.wire, self.kind, self.lsb))


def becomes(registers: Iterable[RegisterUpdate]) -> Callable[[Signals], Statement]:
    """Each register is what it becomes where it is enabled, and else what it was."""

    def specification(read: Signals) -> Statement:
        statement = {}
        for register in registers:
            later = register.value(read.after(1))
            following = register.kind.wrap(register.following(read))
            statement[register.name] = later, select(register.enable(read), following, register.value(read))
        return statement

    return specification


@dataclass(frozen=True)
class PipelinePiece:
    """Registers, and the numbers that leave them."""

    registers: tuple[RegisterUpdate, ...]
    results: tuple[Value, ...]


def all_registers(pieces: Iterable[PipelinePiece]) -> tuple[RegisterUpdate, ...]:
    """The registers of pieces."""
    return tuple(register for piece in pieces for register in piece.registers)


_FIRST = Fault("delay_line.sv", "{stages_q, data_i}", "{stages_q, ~data_i}")
_LATER = Fault("delay_line.sv", "{stages_q, data_i}", "{~stages_q, data_i}")


def delay_line(name: str, values: Sequence[tuple[Int, Value]], depth: int) -> PipelinePiece:
    """`delay_line.sv` with these numbers side by side, the last in the low bits; `name` stands before its signals."""
    sizes = [kind.bits for kind, _ in values]
    lsbs = [sum(sizes[k + 1 :]) for k in range(len(sizes))]
    width, wire = sum(sizes), f"{name}stages_q"
    faults = [_FIRST, *[_LATER] * (depth - 1)]
    columns = []
    for (kind, value), lsb in zip(values, lsbs, strict=True):
        places = [lsb + width * stage for stage in range(depth)]
        sources = [value, *(on(wire, kind, place) for place in places)]
        columns.append(
            [
                RegisterUpdate(wire=wire, kind=kind, following=s, fault=f, lsb=p)
                for s, f, p in zip(sources, faults, places, strict=False)
            ]
        )
    return PipelinePiece(tuple(r for column in columns for r in column), tuple(column[-1].value for column in columns))
