"""Stages put together: what a register is of a beat's inputs so many edges before."""

from __future__ import annotations

from collections.abc import Iterable

from isa.errors import LanewiseError
from isa.lane import Int, Lane, head
from rtl_models.formal.claims import Signals, Value, signal_of
from rtl_models.formal.units.registers import RegisterUpdate


class Uneven(LanewiseError):
    """Numbers of different beats meet, or a stage is not what a lemma speaks of: the model does not compose."""


class Composed:
    """Numbers as functions of the inputs of the beat that they belong to.

    A register is replaced by what it becomes, in terms of the registers an edge before, down to the ports.  All the
    numbers that meet in a stage must be as many edges old.
    """

    def __init__(self, registers: Iterable[RegisterUpdate], ports: Signals) -> None:
        self._registers = {register.name: register for register in registers}
        self._ports = ports
        self._known: dict[str, tuple[Lane, int | None]] = {}

    def of(self, value: Value) -> tuple[Lane, int | None]:
        """The number, and the edges between the ports and it; None where it is of no input.  Raises Uneven."""
        ages: set[int] = set()

        def read(wire: str, kind: Int, lsb: int | None = None) -> Lane:
            lane, age = self._signal(wire, kind, lsb)
            ages.update(() if age is None else (age,))
            return lane

        lane = value(read)
        if len(ages) > 1:
            raise Uneven(f"numbers of {', '.join(map(str, sorted(ages)))} edges before meet")
        return lane, next(iter(ages), None)

    def _signal(self, wire: str, kind: Int, lsb: int | None) -> tuple[Lane, int | None]:
        name = str(signal_of(wire, kind, lsb))
        if name not in self._registers:
            return self._ports(wire, kind, lsb), 0
        if name not in self._known:
            register = self._registers[name]
            lane, age = self.of(register.following)
            lane = register.kind.wrap(lane)
            if register.shown is not None:
                operands = [self.of(operand)[0] for operand in register.shown.operands]
                if not same(lane, register.kind.wrap(register.shown.left(*operands))):
                    raise Uneven(f"{name} is not of the form of the lemma {register.shown.lemma}")
                lane = register.kind.wrap(register.shown.right(*operands))
            self._known[name] = lane, None if age is None else age + 1
        return self._known[name]


def same(a: Lane, b: Lane) -> bool:
    """Whether two expressions are the same one, node by node."""
    return _Comparison().equal(a, b)


class _Comparison:
    """Compares pairs of nodes, each once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Lane, Lane], bool] = {}

    def equal(self, a: Lane, b: Lane) -> bool:
        if a is b:
            return True
        if (a, b) not in self._known:
            alike = (head(a), a.low, a.high, len(a.args)) == (head(b), b.low, b.high, len(b.args))
            self._known[a, b] = alike and all(self.equal(x, y) for x, y in zip(a.args, b.args, strict=True))
        return self._known[a, b]
