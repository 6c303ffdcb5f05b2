"""A module whose inputs are symbols: what is on its wires, and what its registers become."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, cast

from rtl_models.formal.equations.smt2 import Equations, Expression, plain
from rtl_models.formal.equations.support import support_in
from rtl_models.formal.schedules.symbols import (
    Name,
    Word,
    chosen,
    cut,
    forgotten,
    joined,
    number,
    operated,
    symbol,
    value_of,
)

Registers = tuple[Word, ...]
"""What is in each register, in the order of `Equations.registers`."""


class _Run(NamedTuple):
    """Bits of the state that are bits of one register, or of one input port by its name."""

    source: int | str
    low: int
    width: int


class SymbolicModule:
    """The equations of a module, asked again and again: each expression is read once, as a function of a moment."""

    def __init__(self, equations: Equations) -> None:
        self._equations = equations
        self._asked: dict[str, _Asked] = {}
        self.following = [self._read(following) for following, _ in equations.registers]

    @property
    def inputs(self) -> Mapping[str, int]:
        """The bits of each input port."""
        return self._equations.inputs

    def unknown(self) -> Registers:
        """Registers of which nothing is known."""
        widths = (len(places) for _, places in self._equations.registers)
        return tuple(symbol(forgotten(register), width) for register, width in enumerate(widths))

    def register_name(self, register: int) -> str:
        """What the sources call it, or a wire that is made of it."""
        _, places = self._equations.registers[register]
        vectors = support_in(self._equations.text).vectors
        return next((one.shown for one in vectors if one.bits[0] <= places[0] <= one.bits[-1]), "a register")

    def told(self, name: Name) -> str:
        """What a symbol stands for, in words."""
        port, beat = name
        if beat is not None:
            return f"{port} of another beat"
        registers = (f"what {self.register_name(k)} held" for k in range(len(self.following)) if name == forgotten(k))
        return next(registers, f"{port} while valid_i is 0" if port in self.inputs else "what nothing drives")

    def moment(self, registers: Registers, inputs: Mapping[str, Word]) -> SymbolicMoment:
        """Its wires, with these in the registers and on the input ports."""
        return SymbolicMoment(self, registers, inputs)

    def wire(self, name: str) -> _Asked:
        """Raises NoSuchSignal, UnreadableEquations."""
        return self._read(self._equations.wire(name))

    def function(self, name: str) -> _Asked:
        """One of the equations' functions of the state."""
        if name not in self._asked:
            self._asked[name] = self._read(self._equations.functions[name])
        return self._asked[name]

    def _read(self, expression: Expression) -> _Asked:
        if isinstance(expression, str):
            word = _constant(expression)
            return lambda _: word
        head, *args = expression
        if isinstance(head, list):
            high, low = int(cast(str, head[2])), int(cast(str, head[3]))
            if args == ["state"]:
                runs = self._runs(high, low)
                return lambda moment: moment.state(runs)
            whole, width = self._read(args[0]), high - low + 1
            return lambda moment: cut(whole(moment), low, width)
        if args == ["state"]:
            name = plain(head)
            return lambda moment: moment.function(name)
        if head == "ite":
            condition, one, other = map(self._read, args)
            return lambda moment: _chosen(moment, condition, one, other)
        parts = [self._read(arg) for arg in (reversed(_parts(expression)) if head == "concat" else args)]
        if head == "concat":
            return lambda moment: joined(part(moment) for part in parts)
        return lambda moment: operated(head, [part(moment) for part in parts])

    def _runs(self, high: int, low: int) -> list[_Run]:
        """What some bits of the state are, the lowest first."""
        found: list[_Run] = []
        for bit in range(low, high + 1):
            source, place = self._sources[bit]
            last = found[-1] if found else None
            if last is not None and last.source == source and last.low + last.width == place:
                found[-1] = last._replace(width=last.width + 1)
            else:
                found.append(_Run(source, place, 1))
        return found

    @cached_property
    def _sources(self) -> dict[int, tuple[int | str, int]]:
        """By bit of the state the register or the port, and which of its bits; what is neither is driven by nothing."""
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


class SymbolicMoment:
    """The wires at one moment, each evaluated once, and only where it matters."""

    def __init__(self, module: SymbolicModule, registers: Registers, inputs: Mapping[str, Word]) -> None:
        self._module, self._registers, self._inputs = module, registers, inputs
        self._known: dict[str, Word] = {}

    def wire(self, name: str) -> Word:
        """Raises NoSuchSignal, UnreadableEquations."""
        return self._module.wire(name)(self)

    def following(self) -> Registers:
        """What the registers become.  Raises UnreadableEquations."""
        return tuple(following(self) for following in self._module.following)

    def function(self, name: str) -> Word:
        """What one of the equations' functions of the state is."""
        if name not in self._known:
            self._known[name] = self._module.function(name)(self)
        return self._known[name]

    def state(self, runs: Sequence[_Run]) -> Word:
        """Bits of registers and of input ports, side by side."""
        return joined(
            cut(self._registers[source] if isinstance(source, int) else self._port(source), start, width)
            for source, start, width in runs
        )

    def _port(self, name: str) -> Word:
        return self._inputs.get(name) or symbol((name, None), self._module.inputs.get(name, 1))


_Asked = Callable[[SymbolicMoment], Word]


def _chosen(moment: SymbolicMoment, condition: _Asked, one: _Asked, other: _Asked) -> Word:
    decides = condition(moment)
    known = value_of(decides)
    if known is not None:
        return (one if known else other)(moment)
    return chosen(decides, one(moment), other(moment))


def _constant(text: str) -> Word:
    if text in ("true", "false"):
        return number(int(text == "true"), 1)
    return number(int(text[2:], 2), len(text) - 2)


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
