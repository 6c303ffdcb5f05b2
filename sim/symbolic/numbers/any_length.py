"""Arrays of one axis whose length is not known, by one element of any index: what happens to it happens to each.

Only what treats all elements alike may be done with them, and sums.  Everything else, an index, a part, what takes
another number of elements, is refused with its line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy import clip, copy, dot, empty, matmul, ones, shape, where  # numpy's own while a reference is traced, too
from numpy import sum as numpy_sum

from isa.lane import Lane, Place, Read
from sim.symbolic.numbers.arrays import SymbolicArray, applied, array_of
from sim.symbolic.numbers.elementwise import DType, element_type
from sim.symbolic.numbers.integers import FUNCTIONS, SymbolicInt, UnknownNumbers
from sim.symbolic.numbers.tracing import refuse
from sim.symbolic.simplify import simplified

TOTAL = "total"
"""The register file of leaves for sums of all elements of an array."""
EXTREME = "extreme"
"""That for the least and the greatest of all elements, of which nothing is known but the range."""


class Total(NamedTuple):
    """A sum over all indices: the number that is added for an index, and the dtype in which the sum wraps."""

    element: Lane
    dtype: DType


class AnyLength:
    """What the arrays of one run have in common: their length, and the sums that were made of them, by their leaves."""

    def __init__(self, length: Lane) -> None:
        self.length = SymbolicInt(length)
        self.totals: dict[Lane, Total] = {}
        self._extremes = count()

    def extreme(self, element: Lane, dtype: DType) -> SymbolicArray:
        """A number of the range of the elements."""
        return _scalar(Read(Place(EXTREME, next(self._extremes)), element.low, element.high), dtype)

    def total(self, element: Lane, dtype: DType) -> SymbolicArray:
        """The sum over all indices, a number of a dtype."""
        kind, element = element_type(dtype), simplified(element)
        for leaf, known in self.totals.items():
            if known == Total(element, dtype):
                return _scalar(leaf, dtype)
        leaf = simplified(Read(Place(TOTAL, len(self.totals)), kind.low, kind.high))
        self.totals[leaf] = Total(element, dtype)
        return _scalar(leaf, dtype)


def _scalar(lane: Lane, dtype: DType) -> SymbolicArray:
    box = empty((), object)
    box[()] = lane
    return SymbolicArray(box, dtype, scalar=True)


def _operators(name: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    ufunc = getattr(np, name)
    return lambda self, other: ufunc(self, other), lambda self, other: ufunc(other, self)


class AnyLengthArray(UnknownNumbers):
    """An array of integers or booleans; `lane` is its element of the one index that is looked at."""

    __slots__ = ("_dtype", "among", "lane")

    def __init__(self, lane: Lane, dtype: DType, among: AnyLength) -> None:
        self.lane, self._dtype, self.among = lane, dtype, among

    @property  # type: ignore[misc]
    def __class__(self) -> type[Any]:  # what isinstance asks
        return np.ndarray

    def _lanes(self) -> Iterable[Lane]:
        return (self.lane,)

    __add__, __radd__ = _operators("add")
    __sub__, __rsub__ = _operators("subtract")
    __mul__, __rmul__ = _operators("multiply")
    __floordiv__, __rfloordiv__ = _operators("floor_divide")
    __mod__, __rmod__ = _operators("remainder")
    __lshift__, __rlshift__ = _operators("left_shift")
    __rshift__, __rrshift__ = _operators("right_shift")
    __and__, __rand__ = _operators("bitwise_and")
    __or__, __ror__ = _operators("bitwise_or")
    __xor__, __rxor__ = _operators("bitwise_xor")
    __matmul__, __rmatmul__ = _operators("matmul")
    __lt__, __gt__, __le__, __ge__, __eq__, __ne__ = (
        _operators(name)[0] for name in ("less", "greater", "less_equal", "greater_equal", "equal", "not_equal")
    )

    def _not_alike(self, *_: Any) -> NoReturn:
        refuse("elements of an array of any length are not looked at, or changed in place, one by one or all")

    # Python would take `a = a + b` for `a += b`, which leaves another name of the same array what it was, and raise for
    # the others what a reference may catch.
    __iadd__ = __isub__ = __imul__ = __ifloordiv__ = __imod__ = __ilshift__ = __irshift__ = _not_alike
    __iand__ = __ior__ = __ixor__ = __imatmul__ = __itruediv__ = __ipow__ = _not_alike
    __getitem__ = __setitem__ = __delitem__ = __iter__ = __reversed__ = _not_alike

    def __pow__(self, exponent: Any) -> Any:
        return self._like(_one(self) ** exponent)

    def __truediv__(self, other: Any) -> NoReturn:
        refuse("a division of an array of any length that makes floats is not among what can be traced")

    __rtruediv__ = __truediv__

    def __neg__(self) -> Any:
        return np.negative(self)

    def __pos__(self) -> Any:
        return np.positive(self)

    def __invert__(self) -> Any:
        return np.invert(self)

    def __abs__(self) -> Any:
        return np.absolute(self)

    @property
    def dtype(self) -> DType:
        """The type of its elements."""
        return self._dtype

    @property
    def shape(self) -> tuple[Any]:
        """Its extent, which is not known."""
        return (self.among.length,)

    @property
    def ndim(self) -> int:
        """One axis."""
        return 1

    @property
    def size(self) -> Any:
        """How many elements it has, which is not known."""
        return self.among.length

    def __len__(self) -> int:
        refuse("the length of an array is not known here")

    def copy(self, order: str = "C") -> AnyLengthArray:
        """A new array of the same numbers."""
        return AnyLengthArray(self.lane, self.dtype, self.among)

    def astype(
        self, dtype: Any, order: str = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:
        """A new array of another dtype, every number wrapped in it."""
        return self._like(_one(self).astype(dtype, order, casting, subok, copy))

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Any:
        """Each number limited to a range."""
        return np.clip(self, min, max, out=out)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The sum of all elements."""
        return _summed(np.add, self, axis, dtype, out, keepdims)

    def min(self) -> Any:
        """The least element.  Raises ValueError for an array of no elements, as numpy does."""
        if not self.among.length:
            raise ValueError("an array of no elements has no least and no greatest one")
        return self.among.extreme(self.lane, self.dtype)

    max = min

    def dot(self, other: Any) -> Any:
        """The sum of products."""
        return _product(self, other)

    def _like(self, made: Any) -> AnyLengthArray:
        """The array of which one element is what was made of one."""
        if type(made) is not SymbolicArray or made.shape != (1,):
            refuse("an array of any length would become one of another length")
        (lane,) = made.elements.tolist()
        return AnyLengthArray(lane, made.dtype, self.among)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "reduce" and ufunc is np.add:
            return _summed(ufunc, *inputs, **options)
        if ufunc is np.matmul and method == "__call__":
            return _product(*inputs, **options)
        if method != "__call__":
            refuse(f"np.{ufunc.__name__}.{method} of an array of any length is not among what can be traced")
        return _each(self, lambda *args, **given: applied(ufunc, *args, **given), inputs, options)

    def __array_function__(
        self, function: Callable[..., Any], types: object, args: Any, options: dict[str, Any]
    ) -> Any:
        if function is numpy_sum:
            return _summed(np.add, *args, **options)
        if function in (dot, matmul):
            return _product(*args, **options)
        if function is shape:
            return self.shape
        if function not in (where, clip, copy):
            refuse(f"np.{function.__name__} of an array of any length is not among what can be traced")
        return _each(self, FUNCTIONS[function], args, options)


def _one(array: AnyLengthArray) -> SymbolicArray:
    """The element as an array of one."""
    box = empty(1, object)
    box[0] = array.lane
    return SymbolicArray(box, array.dtype)


def _each(among: AnyLengthArray, function: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> Any:
    """What a function that treats all elements alike makes; what else it takes has no axes."""

    def passed(value: Any) -> Any:
        if type(value) is AnyLengthArray:
            return _one(value)
        if value is not None and not isinstance(value, type | np.dtype | str) and array_of(value).ndim:
            refuse("an array of any length meets one of a known length")
        return value

    if any(out is not None for out in (options.get("out"), *args[3:])):  # the fourth that np.clip takes
        refuse("an array of any length as `out` is not among what can be traced")
    return among._like(function(*map(passed, args), **{name: passed(value) for name, value in options.items()}))


def _summed(
    ufunc: np.ufunc,
    array: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    **rest: Any,
) -> Any:
    if rest or out is not None or keepdims or axis not in (None, 0, -1) or type(array) is not AnyLengthArray:
        refuse("a sum of an array of any length takes nothing but its dtype")
    like = ufunc.reduce(ones(1, array.dtype), dtype=dtype).dtype
    if like.kind not in "iu":
        refuse(f"a sum in {like} is not among what can be traced")
    return array.among.total(array.astype(like).lane, like)


def _product(one: Any, other: Any, **options: Any) -> Any:
    """The sum of products, each in the dtype of the result, in which it wraps."""
    if options or type(one) is not AnyLengthArray or type(other) is not AnyLengthArray:
        refuse("a product of an array of any length takes two of them")
    like = np.result_type(one.dtype, other.dtype)
    return _summed(np.add, one.astype(like) * other.astype(like), dtype=like)
