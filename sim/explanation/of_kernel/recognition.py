"""Recognise a requantization: which arguments of a kernel make its golden reference a known convention, and which
convention gives somebody's outputs from the same arguments.

Arguments are given roles by name where the name says it ("multiplier", "shift", "zero_point"), and by trying where it
does not.  A role is believed where a convention reproduces the golden reference on every lane of all vectors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden.factor_product import product_in_float, product_xnnpack
from sim.golden.fixed_point import INT32_MAX, INT32_MIN, wrap_int32
from sim.golden.registry.conventions import CONVENTIONS
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.signature import Pointer

Int64Array = npt.NDArray[np.int64]
Array = npt.NDArray[Any]
Rule = Callable[..., Array]

_SAMPLE: Final = 400
_LISTED: Final = 3
_FEWEST: Final = 3
"""Wrong lanes from which on a convention that gives just these is named."""
_MOST_TRIED: Final = 4
"""Arguments that are tried in one role."""
_NAMED: Final = {
    "multiplier": re.compile(r"mult|scale|factor|^[mq]$"),
    "shift": re.compile(r"shift|exp|^[ens]$"),
    "zero point": re.compile(r"zero|offset|zp"),
    "bias": re.compile(r"bias"),
    "lower": re.compile(r"min|low|^lo$"),
    "upper": re.compile(r"max|up|^hi$"),
}
_MULTIPLIED: Final = tuple(name for name, one in CONVENTIONS.items() if one.family.name == "scaling")
_SHIFTED: Final = tuple(name for name, one in CONVENTIONS.items() if one.family.name == "right shift")
_IN_FLOAT: Final = {"product_xnnpack": product_xnnpack, "product_in_float": product_in_float}


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which argument is what; "" for none.

    `shift` may be a number in text; `sign` is 1 where it counts to the left, -1 where to the right.
    """

    value: str
    bias: str
    multiplier: str
    shift: str
    sign: int
    zero_point: str
    lower: str
    upper: str

    def __str__(self) -> str:
        added = f" + {self.bias}" if self.bias else ""
        by = f" by {self.multiplier}" if self.multiplier else ""
        way = f", {'left' if self.sign > 0 else 'right'} shift {self.shift}" if self.shift else ""
        placed = f", then + {self.zero_point}" if self.zero_point else ""
        bounded = f", bounded by {self.lower} and {self.upper}" if self.lower else ""
        return f"{self.value}{added}{by}{way}{placed}{bounded}"


def recognised(kernel: Kernel, inputs: Sequence[Inputs], results: Sequence[Outputs]) -> list[str]:
    """Sentences: which convention the golden reference is, and which one the results are.

    `results` are the outputs for the first of `inputs`, and differ somewhere.  None where the kernel has more than one
    output, or where no assignment of its arguments makes a convention of its golden reference.
    """
    cases = list(inputs[: len(results)])
    outputs = [pointer for pointer in kernel.signature.outputs if isinstance(pointer, Pointer)]
    if len(outputs) != 1 or outputs[0].dtype not in ("int8", "uint8", "int16", "int32"):
        return []
    elements = _Elements(kernel, outputs[0], cases)
    golden = elements.joined([kernel.golden(case)[outputs[0].name] for case in cases])
    yours = elements.joined([result[outputs[0].name] for result in results])
    if not golden.size or (golden == yours).all():
        return []
    wrong = np.flatnonzero(golden != yours)
    chosen = np.unique(np.concatenate([np.linspace(0, golden.size - 1, _SAMPLE).astype(np.int64), wrong[:_SAMPLE]]))
    for roles in _assignments(elements):
        names = _rules_of(elements, roles)
        able = [n for n in names if _gives(elements, roles, n, golden, chosen)]
        same = [n for n in able if _gives(elements, roles, n, golden, None)]
        if same:
            return _told(elements, roles, same, names, yours, wrong)
    return []


def _told(
    elements: _Elements, roles: Roles, same: list[str], names: Sequence[str], yours: Int64Array, wrong: Int64Array
) -> list[str]:
    told = [f"the golden reference is {_listed(same)} of {roles}"]
    given = [name for name in names if name not in same and _gives(elements, roles, name, yours, None)]
    if given:
        rest = f", which these vectors do not tell from {_listed(given[1:])}" if given[1:] else ""
        users = CONVENTIONS[given[0]].users
        return [*told, f"your outputs are {given[0]} on all {yours.size:,} lanes{rest}; used by {users}"]
    part = [name for name in names if name not in same and _gives(elements, roles, name, yours, wrong)]
    if part and wrong.size >= _FEWEST:
        users = CONVENTIONS[part[0]].users
        return [*told, f"your {wrong.size:,} wrong lanes are {_listed(part)}, the others are right; used by {users}"]
    return [*told, f"your outputs are none of the other {len(names) - len(same)} conventions that take these numbers"]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{' or '.join(names[:_LISTED])}{more}"


class _Elements:
    """The arguments and golden steps of all vectors, as one number for each output lane."""

    def __init__(self, kernel: Kernel, output: Pointer, cases: Sequence[Inputs]) -> None:
        self.output = output
        self._kernel, self._cases = kernel, cases
        self._found: dict[str, Array] = {}
        extents = {extent for pointer in kernel.signature.pointers for extent in (*pointer.shape, *pointer.strides)}
        self._arguments = {a.name: a for a in kernel.signature.arguments if a.name not in extents}

    def joined(self, arrays: Sequence[Array]) -> Int64Array:
        """The lanes of all vectors, one after the other."""
        return np.concatenate([np.asarray(array).ravel() for array in arrays]).astype(np.int64)

    @cached_property
    def steps(self) -> Sequence[dict[str, Array]]:
        return [dict(self._kernel.steps(case)) for case in self._cases]

    @cached_property
    def given(self) -> Sequence[Inputs]:
        return [self._kernel.arguments(case) for case in self._cases]

    @cached_property
    def values(self) -> list[str]:
        """What may be an accumulator: integer arrays of the output's shape, in int32, arguments before steps."""
        arguments = [
            name
            for name, one in self._arguments.items()
            if isinstance(one, Pointer) and one.shape == self.output.shape and one.direction != "out"
        ]
        steps = [name for name in (self.steps[0] if self.steps else {}) if name not in self._arguments]
        return [name for name in (*arguments, *steps) if self._is_int32(name)]

    def parameters(self, kinds: str) -> list[str]:
        """Arguments that are one number, or one for each channel or row."""
        found = []
        for name, one in self._arguments.items():
            alone = not isinstance(one, Pointer) and np.dtype(one.type).shape == () and np.dtype(one.type).kind in kinds
            vector = isinstance(one, Pointer) and one.direction != "out" and len(one.shape) == 1
            if isinstance(one, Pointer) and vector:
                per = one.shape[0] in (1, self.output.shape[0], self.output.shape[-1])
                vector = per and np.dtype(one.dtype).kind in kinds and one.shape != self.output.shape
            if alone or vector:
                found.append(name)
        return found

    def of(self, name: str) -> Array:
        """The number of every lane; a null pointer is zeros.  KeyError for a step that a vector lacks."""
        if name not in self._found:
            if name.isdecimal():
                self._found[name] = np.full(self._size, int(name))
            else:
                sources = self.given if name in self._arguments else self.steps
                lanes = [self._spread(name, case[name], at) for at, case in enumerate(sources)]
                self._found[name] = np.concatenate(lanes)
        return self._found[name]

    @cached_property
    def _shapes(self) -> list[tuple[int, ...]]:
        return [np.shape(self._kernel.golden(case)[self.output.name]) for case in self._cases]

    @cached_property
    def _size(self) -> int:
        return sum(int(np.prod(shape)) for shape in self._shapes)

    def _spread(self, name: str, given: Any, at: int) -> Array:
        shape, one = self._shapes[at], self._arguments.get(name)
        array = np.zeros((), np.int64) if given is None else np.asarray(given)
        per = one.shape[0] if isinstance(one, Pointer) and array.ndim == 1 else None
        if len(shape) > 1 and per == self.output.shape[0] != self.output.shape[-1]:  # one for each row
            array = array.reshape(-1, *(1 for _ in shape[1:]))
        return np.broadcast_to(array, shape).ravel()

    def _is_int32(self, name: str) -> bool:
        try:
            array = self.of(name)
        except (KeyError, ValueError):
            return False
        return array.dtype.kind in "iu" and bool(array.min() >= INT32_MIN) and bool(array.max() <= INT32_MAX)


def _assignments(elements: _Elements) -> Iterator[Roles]:
    """Ways to read the arguments, those that their names say first."""
    integers, floats = elements.parameters("iu"), elements.parameters("f")
    named = {role: [name for name in integers if pattern.search(name.lower())] for role, pattern in _NAMED.items()}
    free = [name for name in integers if not any(name in some for some in named.values())]
    by_role = {role: (some or free)[:_MOST_TRIED] for role, some in named.items()}
    biases = ["", *(named["bias"] or free)[:_MOST_TRIED]]
    zeros = [*by_role["zero point"], ""]
    bounds = [*product(named["lower"][:1], named["upper"][:1]), ("", "")]
    scales = [(name, "", 0) for name in floats[:_MOST_TRIED]]
    multiplied = [
        (m, s, sign) for m, s in product(by_role["multiplier"], by_role["shift"]) if m != s for sign in (-1, 1)
    ]
    constants = [("", str(count), -1) for count in range(1, 32)]
    shifted = [("", name, sign) for name in by_role["shift"] for sign in (-1, 1)]
    for scaled in (multiplied, scales, shifted, constants):
        for value, bias, (multiplier, shift, sign), zero, (lower, upper) in product(
            elements.values, biases, scaled, zeros, bounds
        ):
            used = [name for name in (value, bias, multiplier, shift, zero, lower, upper) if name]
            if len(set(used)) == len(used):
                yield Roles(
                    value=value, bias=bias, multiplier=multiplier, shift=shift, sign=sign, zero_point=zero,
                    lower=lower, upper=upper,
                )  # fmt: skip


def _rules_of(elements: _Elements, roles: Roles) -> Sequence[str]:
    if not roles.shift:
        return tuple(_IN_FLOAT)
    return _MULTIPLIED if roles.multiplier else _SHIFTED


def _gives(elements: _Elements, roles: Roles, name: str, wanted: Int64Array, chosen: Int64Array | None) -> bool:
    """Whether a convention gives these numbers, for the chosen lanes or all; one that refuses them does not."""
    taken = slice(None) if chosen is None else chosen
    try:
        return bool((_made(elements, roles, name, taken) == wanted[taken]).all())
    except ValueError:
        return False


def _made(elements: _Elements, roles: Roles, name: str, taken: slice | Int64Array) -> Int64Array:
    wide = elements.of(roles.value)[taken].astype(np.int64)
    values = wrap_int32(wide + elements.of(roles.bias)[taken].astype(np.int64)) if roles.bias else wrap_int32(wide)
    if name in _IN_FLOAT:
        scaled = _by_scale(_IN_FLOAT[name], values, elements.of(roles.multiplier)[taken])
    else:
        shift = roles.sign * elements.of(roles.shift)[taken].astype(np.int64)
        function = CONVENTIONS[name].function
        scaled = (
            function(values, elements.of(roles.multiplier)[taken].astype(np.int64), shift)
            if roles.multiplier
            else function(values, -shift)
        )
    placed = scaled.astype(np.int64)
    if roles.zero_point:
        placed = wrap_int32(placed + elements.of(roles.zero_point)[taken].astype(np.int64)).astype(np.int64)
    info = np.iinfo(elements.output.dtype)
    limited = np.clip(placed, info.min, info.max)
    if roles.lower:
        limited = np.minimum(np.maximum(limited, elements.of(roles.lower)[taken]), elements.of(roles.upper)[taken])
    return np.asarray(limited, np.int64)


def _by_scale(function: Rule, values: Array, scales: Array) -> Array:
    """A convention that takes one scale, on the values of each."""
    result = np.zeros(values.shape, np.int64)
    different, which = np.unique(scales.astype(np.float32), return_inverse=True)
    for at, scale in enumerate(different):
        result[which == at] = function(values[which == at], float(scale))
    return result
