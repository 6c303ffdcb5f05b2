"""Unknown integers of Python's, and what they have in common with arrays of them: numpy asks, and nothing is a number.

What stands for numpy's functions and ufuncs is entered by `sim.symbolic.numbers.arrays` and `functions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NoReturn

import numpy as np

from isa.lane import LONGEST_SHIFT, Lane, constant
from sim.symbolic.numbers.elementwise import (
    both_bits,
    equal,
    floored_quotient,
    floored_rest,
    larger,
    less,
    negated,
    nonzero,
    settled,
)
from sim.symbolic.numbers.tracing import decided, refuse

FUNCTIONS: Final[dict[Callable[..., Any], Callable[..., Any]]] = {}
"""What stands for a function of numpy's that is called with our arrays."""
UFUNC_METHODS: Final[dict[str, Callable[..., Any]]] = {}
"""What stands for the methods of ufuncs, by name; a ufunc is called by `__call__`."""


def is_symbolic(value: Any) -> bool:
    """Whether it is one of ours, whatever it says that it is."""
    return issubclass(type(value), UnknownNumbers)


def has_symbolic(value: Any) -> bool:
    """Whether it is one of ours, or a list or tuple that has one."""
    return any(map(has_symbolic, value)) if type(value) in (list, tuple) else is_symbolic(value)


class UnknownNumbers:
    """What arrays and integers have in common: numpy's dispatch, and that they never become a number."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # a key of a dictionary would have to be known

    def _unknown(self, *_: Any, **__: Any) -> NoReturn:
        refuse("here a number that is not known would have to become one", self._lanes())

    def _lanes(self) -> Iterable[Lane]:
        """The numbers, where they can be named."""
        return ()

    __int__ = __index__ = __float__ = __complex__ = __array__ = __rpow__ = _unknown
    __divmod__ = __rdivmod__ = __round__ = __contains__ = _unknown

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python and numpy look for to see what an object is
            raise AttributeError(name)
        refuse(f"what is not known has no .{name} that can be traced")

    def __repr__(self) -> str:
        return "<not known>"

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method not in UFUNC_METHODS:
            refuse(f"np.{ufunc.__name__}.{method} is not among what can be traced")
        return UFUNC_METHODS[method](ufunc, *inputs, **options)

    def __array_function__(
        self, function: Callable[..., Any], types: object, args: Sequence[Any], options: dict[str, Any]
    ) -> Any:
        if function not in FUNCTIONS:
            refuse(f"np.{function.__name__} is not among what can be traced")
        return FUNCTIONS[function](*args, **options)


class SymbolicInt(UnknownNumbers):
    """An integer of Python's, exact, or a bool, which is 0 or 1."""

    __slots__ = ("lane",)

    def __init__(self, lane: Lane) -> None:
        self.lane = lane

    @property  # type: ignore[misc]
    def __class__(self) -> type[Any]:  # what isinstance asks
        return int

    def _lanes(self) -> Iterable[Lane]:
        return (self.lane,)

    def __bool__(self) -> bool:
        return decided(nonzero(self.lane))

    def _with(self, other: Any, function: Callable[[Lane, Lane], Lane], swapped: bool = False) -> Any:
        if type(other) is SymbolicInt:
            lane = other.lane
        elif isinstance(other, int) and not is_symbolic(other):
            lane = constant(int(other))
        elif isinstance(other, float):
            refuse("a float meets an integer that is not known")
        else:
            return NotImplemented
        return SymbolicInt(function(lane, self.lane) if swapped else function(self.lane, lane))

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: settled(a + b))

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: settled(a - b))

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: settled(a - b), swapped=True)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: settled(a * b))

    def __floordiv__(self, other: Any) -> Any:
        return self._with(other, _divisible(floored_quotient))

    def __rfloordiv__(self, other: Any) -> Any:
        return self._with(other, _divisible(floored_quotient), swapped=True)

    def __mod__(self, other: Any) -> Any:
        return self._with(other, _divisible(floored_rest))

    def __rmod__(self, other: Any) -> Any:
        return self._with(other, _divisible(floored_rest), swapped=True)

    def __lshift__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: settled(a << _count(b)))

    def __rlshift__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: settled(a << _count(b)), swapped=True)

    def __rshift__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: settled(a >> _count(b)))

    def __rrshift__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: settled(a >> _count(b)), swapped=True)

    def __and__(self, other: Any) -> Any:
        return self._with(other, both_bits)

    def __or__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: settled(a | b))

    def __xor__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: settled(a ^ b))

    __radd__, __rmul__, __rand__, __ror__, __rxor__ = __add__, __mul__, __and__, __or__, __xor__
    __truediv__ = __rtruediv__ = UnknownNumbers._unknown

    def __pow__(self, other: Any) -> Any:
        if type(other) is int and 0 <= other <= 4:
            return SymbolicInt(_power(self.lane, other))
        return refuse("a power other than 0 to 4 of what is not known is not among what can be traced")

    def __lt__(self, other: Any) -> Any:
        return self._with(other, less)

    def __gt__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: less(b, a))

    def __le__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: negated(less(b, a)))

    def __ge__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: negated(less(a, b)))

    def __eq__(self, other: object) -> Any:
        return self._with(other, equal)

    def __ne__(self, other: object) -> Any:
        return self._with(other, lambda a, b: negated(equal(a, b)))

    def __neg__(self) -> SymbolicInt:
        return SymbolicInt(settled(-self.lane))

    def __pos__(self) -> SymbolicInt:
        return self

    def __invert__(self) -> SymbolicInt:
        return SymbolicInt(settled(~self.lane))

    def __abs__(self) -> SymbolicInt:
        return SymbolicInt(self.lane if self.lane.low >= 0 else larger(self.lane, settled(-self.lane)))


def _divisible(function: Callable[[Lane, Lane], Lane]) -> Callable[[Lane, Lane], Lane]:
    def divided(a: Lane, b: Lane) -> Lane:
        if b.low <= 0 <= b.high:
            refuse("a divisor that is not known may be 0", [b])
        return function(a, b)

    return divided


def _count(lane: Lane) -> Lane:
    if lane.low < 0 or lane.high > LONGEST_SHIFT:
        refuse(
            f"a shift count that is not known may be any of {lane.low}..{lane.high}: it must stay in 0..{LONGEST_SHIFT}"
        )
    return lane


def _power(lane: Lane, exponent: int) -> Lane:
    result = constant(1)
    for _ in range(exponent):
        result = settled(result * lane)
    return result
