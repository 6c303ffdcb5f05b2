"""Numpy arrays, numpy scalars and Python integers whose numbers are lanes: what a golden reference is run on as it is.

A `SymbolicArray` says that it is an `numpy.ndarray` of its dtype, or a scalar of that type, but holds no numbers: what
numpy would do in C cannot happen unseen, it asks for them and is refused.  Dtypes are numpy's own: promotion is asked
of the numpy that is installed, and every result is wrapped in its dtype.  What may be used is in docs/proving.md, and
anything else is refused with its line.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy import array, asarray, ones  # under names of our own: numpy's are others while a reference is traced

from isa.lane import Lane, constant, pick
from sim.symbolic.numbers.elementwise import (
    COMPARISONS,
    ELEMENTWISE,
    FALSE,
    FOLDS,
    DType,
    cast,
    chosen,
    element_type,
    less,
    nonzero,
    settled,
)
from sim.symbolic.numbers.floats import FLOATING, bits_of, converted, format_of, is_floating
from sim.symbolic.numbers.integers import (
    FUNCTIONS,
    UFUNC_METHODS,
    SymbolicInt,
    UnknownNumbers,
    has_symbolic,
    is_symbolic,
)
from sim.symbolic.numbers.tracing import decided, refuse
from sim.symbolic.numbers.value_by_value import cut_value_by_value, value_by_value

Elements = npt.NDArray[np.object_]
_LONGEST_TABLE = 1 << 16


def boxed(value: Any) -> Elements:
    """An array of objects as it is, one object as an array without axes."""
    if isinstance(value, np.ndarray):
        return value
    box: Elements = np.empty((), object)
    box[()] = value
    return box


def each(function: Callable[..., Lane], *operands: Elements) -> Elements:
    """The function of every set of elements, broadcast as numpy does."""
    return boxed(np.frompyfunc(function, len(operands), 1)(*operands))


def _operators(name: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """An operator of two arrays, the same with its operands exchanged, and in place."""
    ufunc = getattr(np, name)

    def forward(self: SymbolicArray, other: Any) -> Any:
        return ufunc(self, other)

    def reflected(self: SymbolicArray, other: Any) -> Any:
        return ufunc(other, self)

    def in_place(self: SymbolicArray, other: Any) -> Any:
        return ufunc(self, other) if self.scalar else ufunc(self, other, out=self)

    return forward, reflected, in_place


class SymbolicArray(UnknownNumbers):
    """An array of integers, booleans, or the bits of float32 or float64; a `scalar` has no axes.

    `elements` are lanes within its dtype.
    """

    __slots__ = ("dtype", "elements", "scalar")

    def __init__(self, elements: Elements, dtype: DType, scalar: bool = False) -> None:
        self.elements, self.dtype, self.scalar = elements, dtype, scalar

    @property  # type: ignore[misc]
    def __class__(self) -> type[Any]:  # what isinstance asks
        return self.dtype.type if self.scalar else np.ndarray

    def _lanes(self) -> Iterable[Lane]:
        lanes: list[Lane] = self.elements.ravel().tolist()
        return lanes

    __add__, __radd__, __iadd__ = _operators("add")
    __sub__, __rsub__, __isub__ = _operators("subtract")
    __mul__, __rmul__, __imul__ = _operators("multiply")
    __truediv__, __rtruediv__, __itruediv__ = _operators("true_divide")
    __floordiv__, __rfloordiv__, __ifloordiv__ = _operators("floor_divide")
    __mod__, __rmod__, __imod__ = _operators("remainder")
    __lshift__, __rlshift__, __ilshift__ = _operators("left_shift")
    __rshift__, __rrshift__, __irshift__ = _operators("right_shift")
    __and__, __rand__, __iand__ = _operators("bitwise_and")
    __or__, __ror__, __ior__ = _operators("bitwise_or")
    __xor__, __rxor__, __ixor__ = _operators("bitwise_xor")
    __matmul__, __rmatmul__, _ = _operators("matmul")
    __lt__, __gt__, __le__, __ge__, __eq__, __ne__ = (
        _operators(name)[0] for name in ("less", "greater", "less_equal", "greater_equal", "equal", "not_equal")
    )

    def __pow__(self, exponent: Any) -> Any:
        if type(exponent) is not int or not 1 <= exponent <= 4:
            refuse("a power other than 1 to 4 of what is not known is not among what can be traced")
        if is_floating(self.dtype) and exponent > (2 if self.ndim else 1):  # numpy asks C's pow, not for products
            refuse(f"a power of {self.dtype} is not among what can be traced, but for the square of an array")
        power = self
        for _ in range(exponent - 1):
            power = power * self
        return power

    def __neg__(self) -> Any:
        return np.negative(self)

    def __pos__(self) -> Any:
        return np.positive(self)

    def __invert__(self) -> Any:
        return np.invert(self)

    def __abs__(self) -> Any:
        return np.absolute(self)

    def __bool__(self) -> bool:
        if self.elements.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous")
        return decided(nonzero(self._integers().item()))

    def _integers(self) -> Elements:
        """The elements of an array of integers; the bits of a floating-point number are none."""
        if is_floating(self.dtype):
            refuse("a float of Python's that is not known is not among what can be traced")
        return self.elements

    def __len__(self) -> int:
        if self.elements.ndim == 0:
            raise TypeError("len() of unsized object")
        return len(self.elements)

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if has_symbolic(key):
            return looked_up(self, key)
        found = self.elements[key]
        return SymbolicArray(boxed(found), self.dtype, scalar=isinstance(found, Lane))

    def __setitem__(self, key: Any, value: Any) -> None:
        if has_symbolic(key):
            refuse("where to write is not known")
        if isinstance(value, SymbolicArray):
            self.elements[key] = value.astype(self.dtype).elements
            return
        lanes = stored(value, self.dtype)
        self.elements[key] = lanes.elements if lanes.shape else lanes.elements.item()

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of its axes."""
        return self.elements.shape

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return self.elements.ndim

    @property
    def size(self) -> int:
        """How many elements it has."""
        return self.elements.size

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def T(self) -> SymbolicArray:  # numpy's name
        """The axes in the reverse order."""
        return SymbolicArray(self.elements.T, self.dtype, self.scalar)

    def astype(
        self, dtype: Any, order: str = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:
        """A new array of another dtype, every number wrapped in it."""
        to = np.dtype(dtype)
        if to.kind not in "iub" and not is_floating(to):
            refuse(f"a number that is not known as {to} is not among what can be traced")
        if not np.can_cast(self.dtype, to, casting):
            raise TypeError(f"Cannot cast array data from {self.dtype!r} to {to!r} according to the rule {casting!r}")
        if not copy and to == self.dtype:
            return self
        return SymbolicArray(each(lambda lane: _converted(lane, self.dtype, to), self.elements), to, self.scalar)

    def view(self, dtype: Any) -> Any:
        """The same bits as integers of another type; as of a copy, numpy's may not be written through."""
        to = np.dtype(dtype)
        if to.kind not in "iu" or self.dtype.kind not in "iu":
            refuse(f"a view of {self.dtype} as {to} is not among what can be traced")
        parts = self.elements
        if to.itemsize < self.itemsize:
            split = [each(lambda lane, k=k: element_type(to).field(lane, k), parts) for k in _bits_of(self.dtype, to)]
            parts = np.stack(split, axis=-1).reshape(*self.shape[:-1], self.shape[-1] * self.itemsize // to.itemsize)
        elif to.itemsize > self.itemsize:
            unsigned = np.dtype(f"u{self.itemsize}")
            groups = parts.reshape(*self.shape[:-1], -1, to.itemsize // self.itemsize)
            parts = np.full(groups.shape[:-1], FALSE, object)
            for number, lsb in enumerate(_bits_of(to, self.dtype)):
                low = each(lambda lane: cast(lane, unsigned), groups[..., number])
                parts = each(lambda a, b, lsb=lsb: settled(a + settled(b << constant(lsb))), parts, low)
        seen = each(lambda lane: cast(lane, to), parts)
        seen.flags.writeable = False
        return SymbolicArray(seen, to, self.scalar)

    def copy(self, order: str = "C") -> SymbolicArray:
        """A new array of the same numbers."""
        return SymbolicArray(boxed(self.elements.copy()), self.dtype, self.scalar)

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> SymbolicArray:
        return self.copy()

    def item(self, *index: Any) -> SymbolicInt:
        """An element as an integer of Python's."""
        return SymbolicInt(self._integers().item(*index))

    def tolist(self) -> Any:
        """All elements as integers of Python's, in lists of lists."""
        return boxed(np.frompyfunc(SymbolicInt, 1, 1)(self._integers())).tolist()

    def fill(self, value: Any) -> None:
        """Put one number everywhere."""
        self[...] = value

    def reshape(self, *shape: Any, order: Any = "C") -> Any:
        """The same elements, in the same order, in another shape."""
        return SymbolicArray(self.elements.reshape(*shape, order=order), self.dtype)

    def ravel(self, order: Any = "C") -> Any:
        """All elements on one axis."""
        return SymbolicArray(self.elements.ravel(order), self.dtype)

    def flatten(self, order: Any = "C") -> Any:
        """All elements on one axis, of a new array."""
        return SymbolicArray(self.elements.flatten(order), self.dtype)

    def transpose(self, *axes: Any) -> Any:
        """The axes in another order."""
        return SymbolicArray(self.elements.transpose(*axes), self.dtype)

    def swapaxes(self, one: int, other: int) -> Any:
        """Two axes exchanged."""
        return SymbolicArray(self.elements.swapaxes(one, other), self.dtype)

    def squeeze(self, axis: Any = None) -> Any:
        """Axes of one element left out."""
        return SymbolicArray(boxed(self.elements.squeeze(axis)), self.dtype)

    def take(self, indices: Any, axis: Any = None) -> Any:
        """The elements of these indices."""
        return np.take(self, indices, axis)

    def repeat(self, repeats: Any, axis: Any = None) -> Any:
        """Each element several times."""
        return np.repeat(self, repeats, axis)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The sum along axes."""
        return reduced(np.add, self, axis, dtype, out, keepdims)

    def prod(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The product along axes."""
        return reduced(np.multiply, self, axis, dtype, out, keepdims)

    def min(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The least number along axes."""
        return reduced(np.minimum, self, axis, None, out, keepdims)

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The greatest number along axes."""
        return reduced(np.maximum, self, axis, None, out, keepdims)

    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Whether some number along axes is not 0."""
        return reduced(np.logical_or, self, axis, None, out, keepdims)

    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Whether all numbers along axes are not 0."""
        return reduced(np.logical_and, self, axis, None, out, keepdims)

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Any:
        """Each number limited to a range."""
        return np.clip(self, min, max, out)

    def dot(self, other: Any) -> Any:
        """The matrix product."""
        return np.dot(self, other)


def _converted(lane: Lane, of: DType, to: DType) -> Lane:
    found = converted(lane, of, to)
    return cut_value_by_value(lane, of, to) if found is None else found


def _bits_of(wide: DType, narrow: DType) -> range:
    """The lowest bits of the narrow numbers that a wide one has."""
    return range(0, 8 * wide.itemsize, 8 * narrow.itemsize)


def array_of(value: Any) -> SymbolicArray:
    """Any numbers as an array of lanes, in the dtype that numpy gives them."""
    if type(value) is SymbolicArray:
        return value
    if type(value) is SymbolicInt:
        lane = value.lane
        dtype = asarray([lane.low, lane.high]).dtype  # int64, and uint64 for what only that holds
        if dtype.kind not in "iu":
            refuse(f"an integer of {lane.low}..{lane.high} fits no dtype", [lane])
        return SymbolicArray(boxed(lane), dtype)
    if type(value) in (list, tuple) and has_symbolic(value):
        return stacked([array_of(part) for part in value])
    known = asarray(value)
    if known.dtype.kind not in "iub" and not is_floating(known.dtype):
        refuse(f"numbers of {known.dtype} meet numbers that are not known")
    bits = known.view(f"u{known.dtype.itemsize}") if known.dtype.kind == "f" else known
    return SymbolicArray(each(lambda number: constant(int(number)), bits.astype(object)), known.dtype)


def stacked(parts: Sequence[SymbolicArray]) -> SymbolicArray:
    """Arrays of one shape along a new first axis, in the dtype that holds all of them."""
    if len({part.shape for part in parts}) > 1:
        raise ValueError("setting an array element with a sequence. The requested array has an inhomogeneous shape")
    dtype = np.result_type(*(part.dtype for part in parts))
    whole: Elements = np.empty((len(parts), *parts[0].shape), object)
    for at, part in enumerate(parts):
        whole[at] = part.astype(dtype).elements if part.shape else part.astype(dtype).elements.item()
    return SymbolicArray(whole, dtype)


def stored(value: Any, dtype: DType) -> SymbolicArray:
    """What numpy stores of Python's integers, lists of them or arrays in an array of the dtype.

    Raises OverflowError as numpy does for a number of Python's that it does not hold.
    """
    if dtype.kind not in "iub" and not is_floating(dtype):
        refuse(f"a number that is not known as {dtype} is not among what can be traced")
    if type(value) is SymbolicInt:
        return SymbolicArray(boxed(fitting(value.lane, dtype)), dtype)
    if type(value) in (list, tuple) and has_symbolic(value):
        return stacked([stored(part, dtype) for part in value])
    return array_of(value).astype(dtype) if is_symbolic(value) else array_of(array(value, dtype))


def fitting(lane: Lane, dtype: DType) -> Lane:
    """An integer of Python's, known to be one of the dtype: numpy does not wrap those."""
    if dtype.kind == "b":
        return nonzero(lane)
    if dtype.kind == "f":
        if lane.value is not None:
            return constant(bits_of(lane.value, dtype))
        if lane.magnitude_bits > format_of(dtype).fraction_bits:
            refuse(f"an integer of Python's that may be any of {lane.low}..{lane.high} meets {dtype}")
        return _converted(lane, asarray([lane.low, lane.high]).dtype, dtype)
    if not element_type(dtype).holds(lane):
        if lane.value is not None:
            raise OverflowError(f"Python integer {lane.value} out of bounds for {dtype}")
        refuse(
            f"an integer of Python's that may be any of {lane.low}..{lane.high} meets {dtype}, which may not hold it"
        )
    return lane


def looked_up(table: SymbolicArray, key: Any) -> SymbolicArray:
    """The elements of a table of one axis at indices that are not known."""
    if not is_symbolic(key) or table.ndim != 1 or table.size > _LONGEST_TABLE:
        refuse("an index that is not known is traced in tables of one axis only")
    index = array_of(key)
    if index.dtype.kind == "b":
        refuse("a mask that is not known decides how many elements there are")

    def found(at: Lane) -> Lane:
        if at.low < -table.size or at.high >= table.size:
            refuse(f"an index that may be any of {at.low}..{at.high} goes into a table of {table.size}")
        rows: list[Lane] = table.elements.tolist()
        place = at if at.low >= 0 else chosen(less(at, FALSE), settled(at + len(rows)), at)
        return rows[place.value] if place.value is not None else pick(place, rows, FALSE)

    return SymbolicArray(each(found, index.elements), table.dtype, scalar=index.ndim == 0)


def _weak(value: Any) -> bool:
    """Whether it is a number of Python's, which takes the dtype of what it meets (NEP 50)."""
    return type(value) in (SymbolicInt, int, float)


def applied(
    ufunc: np.ufunc, *inputs: Any, out: Any = None, dtype: Any = None, casting: Any = "same_kind", **options: Any
) -> Any:
    """What a ufunc makes of arrays and integers, some of them not known."""
    if options:
        refuse(f"np.{ufunc.__name__} with {', '.join(options)} is not among what can be traced")
    if ufunc is np.matmul:
        return FUNCTIONS[np.matmul](*inputs)
    if ufunc.nout != 1 or ufunc.signature is not None:
        refuse(f"np.{ufunc.__name__} is not among what can be traced")
    target = out[0] if isinstance(out, tuple) else out
    if target is not None and type(target) is not SymbolicArray:
        refuse("the array that the result goes to holds known numbers: make it by np.zeros or np.empty")
    arrays = [value if _weak(value) else array_of(value) for value in inputs]
    kinds: list[Any] = [value.dtype if not _weak(value) else float if type(value) is float else int for value in arrays]
    to = target.dtype if target is not None else None
    asked: dict[str, Any] = {} if dtype is None else {"signature": (*[None] * ufunc.nin, np.dtype(dtype))}
    loop = ufunc.resolve_dtypes((*kinds, to), casting=casting, **asked)
    exact = ufunc in COMPARISONS and all(kind.kind in "iub" for kind in loop[:-1])
    operands = []
    for value, kind in zip(arrays, loop, strict=False):
        if kind.kind not in "iub" and not is_floating(kind):
            refuse(f"np.{ufunc.__name__} computes this in {kind}, which is not among what can be traced")
        if type(value) is SymbolicArray:
            operands.append(value.elements if exact else value.astype(kind).elements)
        elif type(value) is float:
            operands.append(boxed(constant(bits_of(value, kind))))
        else:
            lane: Lane = value.lane if type(value) is SymbolicInt else constant(int(value))
            operands.append(boxed(lane if exact else fitting(lane, kind)))
    result, floating = loop[-1], is_floating(loop[0])
    if ufunc not in (FLOATING if floating else ELEMENTWISE):
        elements = each(lambda *lanes: value_by_value(ufunc, lanes, loop), *operands)
    elif floating:
        format, function = format_of(loop[0]), FLOATING[ufunc]
        elements = each(lambda *lanes: function(format, *lanes), *operands)
    else:
        bits, function = element_type(loop[0]).bits, ELEMENTWISE[ufunc]
        elements = each(lambda *lanes: cast(function(bits, *lanes), result), *operands)
    if target is None:
        return SymbolicArray(elements, result, scalar=elements.ndim == 0)
    target.elements[...] = each(lambda lane: _converted(lane, result, target.dtype), elements)
    return target


def reduced(
    ufunc: np.ufunc,
    values: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    **options: Any,
) -> Any:
    """What a ufunc folds an array to, along one axis, several or (None) all; dtype and shape are numpy's."""
    if options or out is not None or ufunc not in FOLDS:
        given = "".join(f", {name}" for name in (*options, *(["out"] if out is not None else [])))
        refuse(f"np.{ufunc.__name__}.reduce{given} is not among what can be traced")
    source = array_of(values)
    alike = ufunc.reduce(ones(source.shape, source.dtype), axis=axis, dtype=dtype, keepdims=keepdims)
    if alike.dtype.kind not in "iub":
        refuse(f"np.{ufunc.__name__}.reduce computes this in {alike.dtype}: only integers are traced")
    along = range(source.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = [operator.index(number) % source.ndim for number in along]
    rest = [number for number in range(source.ndim) if number not in axes]
    ordered = source.elements.transpose(*axes, *rest)
    rows = ordered.reshape(
        -1 if ordered.size else int(np.prod(ordered.shape[: len(axes)])), *ordered.shape[len(axes) :]
    )
    fold, first = FOLDS[ufunc]
    logical = ufunc in (np.logical_and, np.logical_or)
    lanes = [each(lambda lane: lane if logical else cast(lane, alike.dtype), boxed(row)) for row in rows]
    if first is None:
        total, lanes = lanes[0], lanes[1:]
    else:
        total = each(lambda _: constant(first), np.empty(rows.shape[1:], object))
    for row in lanes:
        total = each(lambda a, b: fold(a, b), total, row)
        if ufunc is np.multiply:
            total = each(lambda lane: cast(lane, alike.dtype), total)
    elements = each(lambda lane: cast(lane, alike.dtype), total).reshape(alike.shape)
    return SymbolicArray(boxed(elements), alike.dtype, scalar=not alike.shape)


UFUNC_METHODS.update({"__call__": applied, "reduce": reduced})
