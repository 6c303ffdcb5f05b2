"""Numpy's functions on arrays of lanes: those that move elements, and those that compute with them.

What only moves elements is done by numpy itself, on the lanes as objects; dtype and shape are those that it gives for
numbers in their place.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
from numpy import arange, asarray, clip, pad, where, zeros  # numpy's own while a reference is traced, too

from isa.lane import Lane, constant
from sim.symbolic.numbers.arrays import (
    Elements,
    SymbolicArray,
    array_of,
    boxed,
    each,
    fitting,
    looked_up,
    reduced,
    stored,
)
from sim.symbolic.numbers.elementwise import cast, chosen, element_type, lane_of, larger, settled, smaller
from sim.symbolic.numbers.integers import FUNCTIONS, SymbolicInt, has_symbolic, is_symbolic
from sim.symbolic.numbers.tracing import refuse

MOVING: Final[tuple[Callable[..., Any], ...]] = (
    np.append, np.array_split, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_arrays, np.broadcast_to,
    np.column_stack, np.concatenate, np.copy, np.delete, np.diag, np.diagonal, np.dstack, np.empty_like,
    np.expand_dims, np.flip, np.fliplr, np.flipud, np.full_like, np.hsplit, np.hstack, np.insert, np.moveaxis,
    np.ones_like, np.ravel, np.repeat, np.reshape, np.resize, np.roll, np.rollaxis, np.rot90, np.split, np.squeeze,
    np.stack, np.swapaxes, np.tile, np.transpose, np.vsplit, np.vstack, np.zeros_like,
)  # fmt: skip
"""The functions that only move elements, or make arrays that are like others."""


def _moved(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    by_objects = {name: value for name, value in options.items() if name not in ("dtype", "casting", "subok")}
    integers = set[Lane]()
    _replaced([args, options], lambda value: integers.add(value.lane) if type(value) is SymbolicInt else None)
    try:
        likes = function(*_replaced(args, _zeros), **_replaced(options, _zeros))
        moved = function(*_replaced(args, _objects), **_replaced(by_objects, _objects))
    except (TypeError, ValueError, IndexError):
        if integers:  # one of which may say how far, how often or where
            refuse(f"np.{function.__name__} takes a number that is not known", integers)
        raise
    return _as_like(moved, likes, integers)


def _replaced(value: Any, part: Callable[[Any], Any]) -> Any:
    """The arguments with each array of ours replaced."""
    if type(value) in (list, tuple):
        return type(value)(_replaced(item, part) for item in value)
    if type(value) is dict:
        return {name: _replaced(item, part) for name, item in value.items()}
    return part(value) if is_symbolic(value) else value


def _zeros(value: Any) -> Any:
    return 0 if type(value) is SymbolicInt else zeros(value.shape, value.dtype)


def _objects(value: Any) -> Any:
    return value.lane if type(value) is SymbolicInt else value.elements


def _as_like(moved: Any, like: Any, integers: set[Lane]) -> Any:
    if isinstance(like, (list, tuple)):
        return type(like)(_as_like(one, other, integers) for one, other in zip(moved, like, strict=True))
    dtype = asarray(like).dtype
    if dtype.kind not in "iub":
        refuse(f"the result is {dtype}, which is moved by astype and np.where only")
    whole = boxed(moved)
    for lane in integers.intersection(whole.flat):
        fitting(lane, dtype)
    if all(isinstance(lane, Lane) and cast(lane, dtype) is lane for lane in whole.flat):
        return SymbolicArray(whole, dtype)  # a view stays one
    return SymbolicArray(each(lambda number: cast(lane_of(number), dtype), whole), dtype)


def _where(condition: Any, yes: Any = None, no: Any = None) -> SymbolicArray:
    if yes is None or no is None:
        refuse("np.where of what is not known, without two values, has no known number of elements")
    dtype = where(_zeros_of(condition), _zeros_of(yes), _zeros_of(no)).dtype
    values = [array_of(value).astype(dtype).elements for value in (yes, no)]
    tests = array_of(condition).astype(np.bool_).elements
    return SymbolicArray(each(chosen, tests, *values), dtype)


def _clip(
    array: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    **options: Any,
) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if options:
        refuse(f"np.clip with {', '.join(options)} is not among what can be traced")
    values = array_of(array)
    dtype = clip(_zeros(values), *(None if bound is None else _zeros_of(bound) for bound in (low, high))).dtype
    if dtype.kind not in "iub":
        refuse(f"the result is {dtype}: only integers are traced")
    elements = values.elements
    if low is not None:
        elements = _computed(dtype, larger, elements, _bound(low, dtype, is_low=True)).elements
    if high is not None:
        elements = _computed(dtype, smaller, elements, _bound(high, dtype, is_low=False)).elements
    result = SymbolicArray(elements, dtype, scalar=values.scalar)
    if out is not None:
        out[...] = result
        return out
    return result


def _bound(bound: Any, dtype: np.dtype[Any], is_low: bool) -> Elements:
    """A bound as it is; one of Python's may lie outside of the dtype where it bounds nothing then."""
    if type(bound) not in (SymbolicInt, int):
        return array_of(bound).elements
    lane: Lane = bound.lane if type(bound) is SymbolicInt else constant(bound)
    end = larger if is_low else smaller
    fitting(end(lane, constant(element_type(dtype).low if is_low else element_type(dtype).high)), dtype)
    return boxed(lane)


def _zeros_of(value: Any) -> Any:
    """Numbers of the dtype and shape in the place of what is not known; what is known as it is."""
    return _replaced(value, _zeros) if type(value) is not SymbolicArray else _zeros(value)


def _computed(dtype: np.dtype[Any], function: Callable[..., Lane], *operands: Elements) -> SymbolicArray:
    """The function of elements, in a dtype."""
    return SymbolicArray(each(lambda *lanes: cast(function(*lanes), dtype), *operands), dtype)


def _product(one: Any, other: Any) -> SymbolicArray:
    """The matrix product: each sum is exact, then wrapped, which is what wrapping at every step comes to."""
    left, right = array_of(one), array_of(other)
    like = np.matmul(_zeros(left), _zeros(right))
    if like.dtype.kind not in "iu":
        refuse(f"a matrix product in {like.dtype} is not among what can be traced")
    a, b = left.astype(like.dtype).elements, right.astype(like.dtype).elements
    rows = a[None, :] if a.ndim == 1 else a
    columns = b[:, None] if b.ndim == 1 else b
    products = each(lambda x, y: settled(x * y), rows[..., :, :, None], columns[..., None, :, :])
    total = each(lambda _: constant(0), np.empty(products.shape[:-2] + products.shape[-1:], object))
    for k in range(products.shape[-2]):
        total = each(lambda x, y: settled(x + y), total, products[..., k, :])
    elements = each(lambda lane: cast(lane, like.dtype), total)
    return SymbolicArray(boxed(elements.reshape(like.shape)), like.dtype, scalar=not like.shape)


def _dot(one: Any, other: Any) -> Any:
    left, right = array_of(one), array_of(other)
    if left.ndim == 0 or right.ndim == 0:
        return np.multiply(left, right)
    if right.ndim > 2:
        refuse("np.dot with more than two axes is not among what can be traced: use @")
    return _product(left, right)


def _taken(table: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    if has_symbolic(indices):
        if axis not in (None, 0, -1) or mode != "raise" or out is not None:
            refuse("np.take with indices that are not known takes nothing but these")
        return looked_up(array_of(table).ravel() if axis is None else array_of(table), indices)
    source = array_of(table)
    found: Any = source.elements.take(indices, axis=axis, mode=mode)  # type: ignore[call-overload]
    return SymbolicArray(boxed(found), source.dtype, scalar=isinstance(found, Lane))


def _accumulated(array: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> SymbolicArray:
    source = array_of(array)
    like = np.cumsum(_zeros(source), axis=axis, dtype=dtype)
    flat = source.ravel() if axis is None else source
    moved = np.moveaxis(flat.elements, 0 if axis is None else axis, 0).copy()
    for k in range(1, len(moved)):
        moved[k] = each(lambda a, b: settled(a + b), boxed(moved[k - 1]), boxed(moved[k]))[()]
    whole = np.moveaxis(moved, 0, 0 if axis is None else axis)
    return SymbolicArray(each(lambda lane: cast(lane, like.dtype), whole), like.dtype)


def _padded(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> SymbolicArray:
    """Elements are numbered, the numbers are padded, and what is no number of an element is the constant."""
    if mode not in ("constant", "edge", "reflect", "symmetric", "wrap") or options.keys() - {"constant_values"}:
        refuse("np.pad with what is no element and no constant, or with reflect_type, is not among what can be traced")
    source = array_of(array)
    widths: list[Lane] = array_of(pad_width).elements.ravel().tolist()
    if unknown := [lane for lane in widths if lane.value is None]:
        refuse("how far an array is padded is not known", unknown)
    fill = stored(options.get("constant_values", 0), source.dtype)
    if fill.size != 1:
        refuse("np.pad with several constants is not among what can be traced")
    numbers = arange(source.size).reshape(source.shape)
    extra = {"constant_values": -1} if mode == "constant" else {}
    places = array_of(pad(numbers, pad_width, mode=mode, **extra))  # made of np.empty's, all known now
    lane = fill.elements.item()
    flat: list[Lane] = source.elements.ravel().tolist()
    return SymbolicArray(each(lambda at: lane if at.low < 0 else flat[at.low], places.elements), source.dtype)


def _outer(one: Any, other: Any, out: Any = None) -> Any:
    return np.multiply(array_of(one).ravel()[:, None], array_of(other).ravel()[None, :])


FUNCTIONS.update({function: partial(_moved, function) for function in MOVING})
FUNCTIONS.update(
    {
        np.where: _where,
        np.clip: _clip,
        np.matmul: _product,
        np.dot: _dot,
        np.outer: _outer,
        np.take: _taken,
        np.cumsum: _accumulated,
        np.pad: _padded,
        np.sum: lambda a, axis=None, dtype=None, out=None, **o: reduced(np.add, a, axis, dtype, out, **o),
        np.prod: lambda a, axis=None, dtype=None, out=None, **o: reduced(np.multiply, a, axis, dtype, out, **o),
        np.min: lambda a, axis=None, out=None, **o: reduced(np.minimum, a, axis, None, out, **o),
        np.max: lambda a, axis=None, out=None, **o: reduced(np.maximum, a, axis, None, out, **o),
        np.any: lambda a, axis=None, out=None, **o: reduced(np.logical_or, a, axis, None, out, **o),
        np.all: lambda a, axis=None, out=None, **o: reduced(np.logical_and, a, axis, None, out, **o),
        np.shape: lambda a: a.shape,
        np.ndim: lambda a: a.ndim,
        np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
    }
)
