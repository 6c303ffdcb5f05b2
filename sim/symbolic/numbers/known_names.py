"""The names of numpy and Python that make numbers, so that they make lanes of lanes while a golden reference is traced.

`np.asarray`, `np.zeros`, `np.int32` and their kin ask in C for numbers, which lanes have none of.  While a reference is
traced these names of the module numpy, and `int` in the reference's own modules, stand for functions that pass lanes
on and do with anything else what they always do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import count
from types import FunctionType
from typing import Any, Final

import numpy as np

from isa.lane import Lane, Place, Read
from sim.symbolic.numbers import functions  # noqa: F401  # it enters numpy's functions
from sim.symbolic.numbers.any_length import AnyLengthArray
from sim.symbolic.numbers.arrays import (
    SymbolicArray,
    array_of,
    boxed,
    each,
    stored,
)
from sim.symbolic.numbers.elementwise import element_type
from sim.symbolic.numbers.floats import BY_FORMULA
from sim.symbolic.numbers.integers import FUNCTIONS, SymbolicInt, has_symbolic
from sim.symbolic.numbers.tracing import refuse

_TYPES: Final = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool_", "intp", "uintp", "float32",
    "float64",
)  # fmt: skip
_REFERENCES: Final = ("sim.golden", "sim.kernels")
"""The packages whose modules are references, besides the module that a reference is of."""
UNINITIALISED: Final = "uninitialised"
"""The file of the leaves for elements of `np.empty`, which may be anything."""
_numbers = count()


@contextmanager
def lanes_passed_on(references: dict[str, Any]) -> Iterator[None]:
    """Let numpy's names, and `int` and `len` of the modules of references, take lanes.

    `references` are globals of one more module, whose arrays unknown numbers may index.
    """
    modules = [vars(module) for name, module in list(sys.modules.items()) if name.startswith(_REFERENCES)]
    kept = {name: getattr(np, name) for name in (*_TYPES, *_MAKERS)}
    builtins = {"int": _PythonInt, "len": _length}
    changed = [(names, name) for names in [*modules, references] for name in builtins if name not in names]
    formulas = {
        real: partial(_by_formula, real, formula)
        for (module, _, function), formula in ((name.rpartition("."), made) for name, made in BY_FORMULA.items())
        if (real := vars(sys.modules[module])[function] if module in sys.modules else None) is not None
    }
    replaced: list[tuple[dict[str, Any], str, Any, Any]] = [
        (names, name, value, formulas[value]) for names in [*modules, references] for name, value in names.items()
        if type(value) is FunctionType and value in formulas
    ] + [
        (references, name, value, value.view(_Table)) for name, value in references.items()
        if type(value) is np.ndarray and value.dtype.kind in "iub"
    ]  # fmt: skip
    try:
        for names, name, _, value in replaced:
            names[name] = value
        for name in _TYPES:
            setattr(np, name, _integer_type(kept[name]))
        for name, maker in _MAKERS.items():
            setattr(np, name, partial(maker, kept[name]))
        for names, name in changed:
            names[name] = builtins[name]
        yield
    finally:
        for names, name, value, _ in replaced:
            names[name] = value
        for name, value in kept.items():
            setattr(np, name, value)
        for names, name in changed:
            names.pop(name, None)


class _Table(np.ndarray[Any, Any]):
    """An array of known numbers, in which what unknown numbers index is looked up."""

    def __getitem__(self, index: Any) -> Any:
        return array_of(self.view(np.ndarray))[index] if has_symbolic(index) else super().__getitem__(index)


class _StandsFor(type):
    """The type of what stands for a type: an object is of it if it is of that type."""

    real: type[Any]

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.real)

    def __subclasscheck__(cls, other: type[Any]) -> bool:
        return issubclass(other, cls.real)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.real

    def __hash__(cls) -> int:
        return hash(cls.real)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.real, name)


class _PythonInt(metaclass=_StandsFor):
    real = int

    def __new__(cls, value: Any = 0, *base: Any) -> Any:
        if type(value) is SymbolicArray:
            return value.item()
        return value if type(value) is SymbolicInt else int(value, *base)


def _length(value: Any) -> Any:
    return value.among.length if type(value) is AnyLengthArray else len(value)


def _integer_type(real: type[Any]) -> type[Any]:
    dtype = np.dtype(real)

    class Integer(metaclass=_StandsFor):
        def __new__(cls, value: Any = 0) -> Any:
            if not has_symbolic(value):
                return real(value)
            array = value.astype(dtype) if type(value) is SymbolicArray else stored(value, dtype)
            return SymbolicArray(array.elements, dtype, scalar=not array.shape)

    Integer.real, Integer.dtype = real, dtype  # type: ignore[attr-defined]
    return Integer


def _by_formula(real: Callable[..., Any], formula: Callable[..., Lane], *operands: Any) -> Any:
    """What a conversion of the golden references makes of unknown numbers, by the formula that it documents."""
    if not has_symbolic(operands):
        return real(*operands)
    arrays = [array_of(operand) for operand in operands]
    if any(array.dtype.kind == "f" and array.dtype.itemsize != 4 for array in arrays):
        raise TypeError("give float32, nothing is cast silently")
    elements = each(formula, *(array.astype(np.dtype("f4")).elements for array in arrays))
    is_sum = real.__name__ == "fused_multiply_add"
    return SymbolicArray(elements, np.dtype("f4" if is_sum else "i4"), scalar=elements.ndim == 0)


def _array(real: Callable[..., Any], value: Any, dtype: Any = None, *rest: Any, **options: Any) -> Any:
    if not has_symbolic(value):
        return real(value, dtype, *rest, **options)
    if strange := sorted(options.keys() - {"copy", "order", "subok"}):
        refuse(f"np.{real.__name__} with {', '.join(strange)} is not among what can be traced")
    copies = options.get("copy", True)
    if type(value) is AnyLengthArray:
        to = value.dtype if dtype is None else np.dtype(dtype)
        return value.astype(to) if copies or to != value.dtype else value
    if type(value) is SymbolicArray:
        to = value.dtype if dtype is None else np.dtype(dtype)
        whole = value.astype(to, copy=bool(copies) or to != value.dtype)
        return SymbolicArray(whole.elements, whole.dtype)
    return array_of(value) if dtype is None else stored(value, np.dtype(dtype))


def _same_array(real: Callable[..., Any], value: Any, dtype: Any = None, *rest: Any, **options: Any) -> Any:
    return _array(real, value, dtype, *rest, **({"copy": False} | options if has_symbolic(value) else options))


def _contiguous_array(real: Callable[..., Any], value: Any, dtype: Any = None, **options: Any) -> Any:
    made = _same_array(real, value, dtype, **options)
    return made if made.ndim else made.reshape(1)


def _made(real: Callable[..., Any], *args: Any, **options: Any) -> Any:
    if has_symbolic(args) or has_symbolic(list(options.values())):
        refuse("how large an array is must be known")
    array = real(*args, **options)
    return array_of(array) if array.dtype.kind in "iub" else array


def _empty(real: Callable[..., Any], *args: Any, **options: Any) -> Any:
    array = real(*args, **options)
    if array.dtype.kind not in "iub":
        return array
    kind = element_type(array.dtype)
    unknown = np.frompyfunc(lambda _: Read(Place(UNINITIALISED, next(_numbers)), kind.low, kind.high), 1, 1)
    return SymbolicArray(boxed(unknown(np.zeros(array.shape))), array.dtype)


def _full(real: Callable[..., Any], shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    if not has_symbolic(fill_value):
        return _made(real, shape, fill_value, dtype, **options)
    lanes = array_of(fill_value) if dtype is None else stored(fill_value, np.dtype(dtype))
    return SymbolicArray(each(lambda lane: lane, np.broadcast_to(lanes.elements, shape)), lanes.dtype)


def _by_function(real: Callable[..., Any], *args: Any, **options: Any) -> Any:
    values = [*args, *options.values()]
    if any(type(value) is AnyLengthArray for value in values):
        return real(*args, **options)  # which asks the array
    return FUNCTIONS[real](*args, **options) if has_symbolic(values) else real(*args, **options)


_MAKERS: Final[Mapping[str, Callable[..., Any]]] = {
    "array": _array,
    "asarray": _same_array,
    "asanyarray": _same_array,
    "ascontiguousarray": _contiguous_array,
    "zeros": _made,
    "ones": _made,
    "empty": _empty,
    "full": _full,
    "where": _by_function,
    "clip": _by_function,
    "sum": _by_function,
    "stack": _by_function,
    "concatenate": _by_function,
    "take": _by_function,
}
