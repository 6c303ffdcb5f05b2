"""Equations evaluated on numbers: what a module does, from given registers and inputs, edge after edge.

It shares no step with the solver: a counter-example is one only if it is found again here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import NamedTuple, cast

from rtl_models.formal.equations.smt2 import Equations, Expression, UnreadableEquations, plain
from rtl_models.formal.equations.unrolling import WireBits


class Bits(NamedTuple):
    """A number without sign of so many bits; a truth value is one bit."""

    value: int
    width: int

    @property
    def signed(self) -> int:
        """The number with the highest bit as its sign."""
        return self.value - (self.value >> (self.width - 1) << self.width)


_WRAPPED: Mapping[str, Callable[[Bits, Bits], int]] = {
    "bvadd": lambda a, b: a.value + b.value,
    "bvsub": lambda a, b: a.value - b.value,
    "bvmul": lambda a, b: a.value * b.value,
    "bvand": lambda a, b: a.value & b.value,
    "bvor": lambda a, b: a.value | b.value,
    "bvxor": lambda a, b: a.value ^ b.value,
    "bvxnor": lambda a, b: ~(a.value ^ b.value),
    "bvshl": lambda a, b: a.value << min(b.value, a.width),
    "bvlshr": lambda a, b: a.value >> min(b.value, a.width),
    "bvashr": lambda a, b: a.signed >> min(b.value, a.width),
    "and": lambda a, b: a.value & b.value,
    "or": lambda a, b: a.value | b.value,
    "xor": lambda a, b: a.value ^ b.value,
}
"""Operators whose result is as wide as their first operand."""
_COMPARED: Mapping[str, Callable[[Bits, Bits], bool]] = {
    "bvslt": lambda a, b: a.signed < b.signed,
    "bvsle": lambda a, b: a.signed <= b.signed,
    "bvsgt": lambda a, b: a.signed > b.signed,
    "bvsge": lambda a, b: a.signed >= b.signed,
    "bvult": lambda a, b: a.value < b.value,
    "bvule": lambda a, b: a.value <= b.value,
    "bvugt": lambda a, b: a.value > b.value,
    "bvuge": lambda a, b: a.value >= b.value,
    "=": lambda a, b: a.value == b.value,
    "distinct": lambda a, b: a.value != b.value,
}


class Replay:
    """The signals of a module; `given` has by edge the bits of the state that are known: inputs later, at first all.

    What is given of an edge may be added until a signal is asked after it.
    """

    def __init__(self, equations: Equations, given: Mapping[int, int]) -> None:
        self._equations, self._given = equations, given
        self._states: list[_State] = []

    def value(self, signal: WireBits) -> int:
        """The number on a signal, without sign.  Raises NoSuchSignal, UnreadableEquations."""
        while len(self._states) <= signal.edge:
            state = self._given.get(len(self._states), 0)
            for following, places in self._equations.registers if self._states else ():
                state = placed(state, places, self._states[-1].number(following).value)
            self._states.append(_State(self._equations, state))
        whole = self._states[signal.edge].number(self._equations.wire(signal.wire))
        bits = whole.width if signal.bits is None else signal.bits
        return _cut(whole, signal.lsb, bits).value


def placed(state: int, places: Iterable[int], value: int) -> int:
    """The state with the bits of a number in these places, the lowest first."""
    for k, place in enumerate(places):
        state = state & ~(1 << place) | (value >> k & 1) << place
    return state


def _cut(number: Bits, lsb: int, bits: int) -> Bits:
    return Bits(number.value >> lsb & (1 << bits) - 1, bits)


class _State:
    """The functions of one state, each evaluated once."""

    def __init__(self, equations: Equations, state: int) -> None:
        self._equations = equations
        self._state = Bits(state, equations.state_bits)
        self._known: dict[str, Bits] = {}

    def number(self, expression: Expression) -> Bits:
        if isinstance(expression, str):
            if expression in ("true", "false"):
                return Bits(int(expression == "true"), 1)
            return Bits(int(expression[2:], 2), len(expression) - 2)
        head, *args = expression
        if isinstance(head, list):
            high, low = int(cast(str, head[2])), int(cast(str, head[3]))
            return _cut(self._state if args == ["state"] else self.number(args[0]), low, high - low + 1)
        if args == ["state"]:
            name = plain(head)
            if name not in self._known:
                self._known[name] = self.number(self._equations.functions[name])
            return self._known[name]
        if head == "ite":
            return self.number(args[1] if self.number(args[0]).value else args[2])
        return applied(head, [self.number(arg) for arg in args])


def applied(operator: str, args: list[Bits]) -> Bits:
    """An operator of SMT-LIB on numbers.  Raises UnreadableEquations."""
    first = args[0]
    if operator in ("bvnot", "bvneg", "not"):
        return _cut(Bits(-first.value - (operator != "bvneg"), first.width), 0, first.width)
    if operator == "concat":
        return reduce(lambda a, b: Bits(a.value << b.width | b.value, a.width + b.width), args)
    if operator in _COMPARED:
        return Bits(int(_COMPARED[operator](*args)), 1)
    if operator not in _WRAPPED:
        raise UnreadableEquations(f"the equations use {operator}, which has no number")
    return reduce(lambda a, b: _cut(Bits(_WRAPPED[operator](a, b), a.width), 0, a.width), args)
