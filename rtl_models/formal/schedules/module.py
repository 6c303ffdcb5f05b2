"""A module whose inputs are symbols: what is on its wires, and what its registers become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, cast

from rtl_models.formal.equations.smt2 import Equations, Expression, plain
from rtl_models.formal.schedules.symbols import Word, chosen, cut, joined, number, operated, symbol, value_of

Registers = tuple[Word, ...]
"""What is in each register, in the order of `Equations.registers`."""


class _Run(NamedTuple):
    """Bits of the state that are bits of one register, or of one input port by its name."""

    source: int | str
    low: int
    width: int


class SymbolicModule:
    """The equations of a module, asked again and again."""

    def __init__(self, equations: Equations) -> None:
        self._equations = equations
        self._runs: dict[tuple[int, int], list[_Run]] = {}

    @property
    def inputs(self) -> Mapping[str, int]:
        """The bits of each input port."""
        return self._equations.inputs

    @property
    def outputs(self) -> Mapping[str, int]:
        """The bits of each output port."""
        return self._equations.outputs

    def unknown(self) -> Registers:
        """Registers of which nothing is known."""
        widths = (len(places) for _, places in self._equations.registers)
        return tuple(symbol((f"register {number}", None), width) for number, width in enumerate(widths))

    def moment(self, registers: Registers, inputs: Mapping[str, Word]) -> Moment:
        """Its wires, with these in the registers and on the input ports."""
        return Moment(self, self._equations, registers, inputs)

    def runs(self, high: int, low: int) -> Sequence[_Run]:
        """What some bits of the state are, the lowest first."""
        if (high, low) not in self._runs:
            found: list[_Run] = []
            for bit in range(low, high + 1):
                source, place = self._sources[bit]
                last = found[-1] if found else None
                if last is not None and last.source == source and last.low + last.width == place:
                    found[-1] = last._replace(width=last.width + 1)
                else:
                    found.append(_Run(source, place, 1))
            self._runs[high, low] = found
        return self._runs[high, low]

    @cached_property
    def _sources(self) -> dict[int, tuple[int | str, int]]:
        """By bit of the state the register or the port, and which of its bits."""
        found: dict[int, tuple[int | str, int]] = {}
        for bit in range(self._equations.state_bits):
            found[bit] = f"undriven {bit}", 0
        for name in self._equations.inputs:
            for place, bit in enumerate(self._equations.bits_of(self._equations.wire(name)) or []):
                found[bit] = name, place
        for register, (_, places) in enumerate(self._equations.registers):
            for place, bit in enumerate(places):
                found[bit] = register, place
        return found


class Moment:
    """The wires at one moment, each evaluated once, and only where it matters."""

    def __init__(
        self, module: SymbolicModule, equations: Equations, registers: Registers, inputs: Mapping[str, Word]
    ) -> None:
        self._module, self._equations, self._registers, self._inputs = module, equations, registers, inputs
        self._known: dict[str, Word] = {}

    def wire(self, name: str) -> Word:
        """Raises NoSuchSignal, UnreadableEquations."""
        return self._word(self._equations.wire(name))

    def following(self) -> Registers:
        """What the registers become.  Raises UnreadableEquations."""
        return tuple(self._word(following) for following, _ in self._equations.registers)

    def _word(self, expression: Expression) -> Word:
        if isinstance(expression, str):
            if expression in ("true", "false"):
                return number(int(expression == "true"), 1)
            return number(int(expression[2:], 2), len(expression) - 2)
        head, *args = expression
        if isinstance(head, list):
            high, low = int(cast(str, head[2])), int(cast(str, head[3]))
            return self._state(high, low) if args == ["state"] else cut(self._word(args[0]), low, high - low + 1)
        if args == ["state"]:
            name = plain(head)
            if name not in self._known:
                self._known[name] = self._word(self._equations.functions[name])
            return self._known[name]
        if head == "ite":
            condition = self._word(args[0])
            known = value_of(condition)
            if known is not None:
                return self._word(args[1] if known else args[2])
            return chosen(condition, self._word(args[1]), self._word(args[2]))
        if head == "concat":
            return joined(self._word(part) for part in reversed(_parts(expression)))
        return operated(head, [self._word(arg) for arg in args])

    def _state(self, high: int, low: int) -> Word:
        return joined(
            cut(self._registers[source] if isinstance(source, int) else self._port(source), start, width)
            for source, start, width in self._module.runs(high, low)
        )

    def _port(self, name: str) -> Word:
        return self._inputs.get(name) or symbol((name, None), self._equations.inputs.get(name, 1))


def _parts(expression: Expression) -> list[Expression]:
    """What is put together, also by another `concat` inside: an extended sign is a long chain of them."""
    parts, waiting = list[Expression](), [expression]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list) and one[0] == "concat":
            waiting += reversed(one[1:])
        else:
            parts.append(one)
    return parts
