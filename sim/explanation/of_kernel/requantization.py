"""Which arguments of a kernel make its golden reference a known requantization, and which conventions that may be.

Arguments, and fields of structures, are given roles by name where the name says it ("multiplier", "shift",
"p.zero_point"), and by trying where it does not; what none of them is may be a constant of the code.  A role is
believed where a convention reproduces the golden reference on every lane of all input sets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.explanation.of_kernel.constants import constants_of
from sim.golden.fixed_point import INT32_MAX, INT32_MIN, wrap_int32
from sim.golden.registry.conventions import CONVENTIONS
from sim.kernels.kernel import Inputs, Kernel
from sim.kernels.signature import ByValue, Pointer, ScalarArgument, Signature, Struct, fields_of, flattened

Int64Array = npt.NDArray[np.int64]
Array = npt.NDArray[Any]
Rule = Callable[..., Array]

_SAMPLE: Final = 400
_FIRST: Final = 24
"""Lanes on which most readings of the arguments fail."""
_MOST_TRIED: Final = 4
"""Arguments that are tried in one role."""
_CONSTANTS: Final = 8
"""Constants of the code that are tried in one role."""
_SMALLEST_MULTIPLIER: Final = 1 << 15
_NAMED: Final = {
    "multiplier": re.compile(r"mult|scale|factor|^[mq]$"),
    "shift": re.compile(r"shift|exp|^[ens]$"),
    "zero point": re.compile(r"zero|offset|zp"),
    "bias": re.compile(r"bias"),
    "lower": re.compile(r"min|low|^lo$"),
    "upper": re.compile(r"max|up|^hi$"),
}
_LONG: Final = ("single_rounding_of_long", "single_rounding_of_long_narrowed")
"""Those that take accumulators of more than 32 bits."""


def _of_family(family: str) -> tuple[str, ...]:
    return tuple(name for name, one in CONVENTIONS.items() if one.family.name == family)


_MULTIPLIED: Final = _of_family("scaling")
_SHIFTED: Final = _of_family("right shift")
_IN_FLOAT: Final = ("product_xnnpack", "product_in_float")


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which argument is what; "" for none.

    `multiplier`, `shift` and `zero_point` may be numbers in text; `sign` is 1 where the shift counts to the left, -1
    where to the right.
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


@dataclass(frozen=True)
class RecognisedGolden:
    """A golden reference as a known one: `same` are the conventions that it may be, `others` those that it is not.

    All of them take the numbers that `roles` names.
    """

    roles: Roles
    same: tuple[str, ...]
    others: tuple[str, ...]


def requantized_output(kernel: Kernel) -> Pointer | None:
    """The one output of integers that a requantization has."""
    match kernel.signature.outputs:
        case [output] if output.dtype in ("int8", "uint8", "int16", "int32") and not kernel.signature.returns:
            return output
    return None


def requantization_of(
    elements: KernelLanes, golden: Int64Array, telling: Int64Array, most: int | None = None
) -> RecognisedGolden | None:
    """What a golden reference is, by its numbers for the lanes of all input sets; None where it is nothing known.

    The lanes `telling` are looked at first.  With `most`, so many conventions are tried for so many readings.
    """
    if not golden.size:
        return None
    spread = np.linspace(0, golden.size - 1, _SAMPLE).astype(np.int64)
    chosen = np.unique(np.concatenate([spread, telling[:_SAMPLE]]))
    first = _FirstLook(elements, golden, chosen[:: len(chosen) // _FIRST + 1])
    tried = 0
    for roles in _assignments(elements):
        names = _rules_of(elements, roles)
        tried += len(names)
        if most is not None and tried > most:
            return None
        able = [name for name in names if first.agrees(roles, name)]
        able = [name for name in able if elements.give(roles, name, golden, chosen)]
        same = tuple(name for name in able if elements.give(roles, name, golden))
        if same:
            others = tuple(name for name in names if name not in same)
            return RecognisedGolden(roles, same, others)
    return None


def why_unknown(elements: KernelLanes) -> str:
    """Why a golden reference is told as nothing known, although an argument is called as what scales a requantization;
    "" where none is.
    """
    scaling = [name for name in elements.parameters("iuf") if _is_called(name, "multiplier")]
    if not scaling:
        return ""
    if not elements.values:
        shape = "".join(f"[{extent}]" for extent in elements.output.shape)
        return f"no array of integers and no step is {elements.output.name}{shape}, so none is what {scaling[0]} scales"
    read = ", ".join([*elements.values, *elements.parameters("iuf")])
    return f"no way to read {read} as its numbers gives all lanes; `lanewise conventions` has what was tried"


def _is_called(name: str, role: str) -> bool:
    """Whether the name of an argument, or of a field, says that it has a role."""
    return bool(_NAMED[role].search(name.rpartition(".")[2].lower()))


class KernelLanes:
    """The arguments, those that are structures field by field, and golden steps of all vectors, as one number for each
    output lane.
    """

    def __init__(self, kernel: Kernel, output: Pointer, cases: Sequence[Inputs]) -> None:
        self.kernel, self.output, self._cases = kernel, output, cases
        self._found: dict[str, Array] = {}
        extents = {extent for pointer in kernel.signature.pointers for extent in (*pointer.shape, *pointer.strides)}
        self._arguments = {a.name: a for a in _operands(kernel.signature) if a.name not in extents}

    def joined(self, arrays: Sequence[Array]) -> Int64Array:
        """The lanes of all vectors, one after the other."""
        return np.concatenate([np.asarray(array).ravel() for array in arrays]).astype(np.int64)

    @cached_property
    def steps(self) -> Sequence[dict[str, Array]]:
        return [self.kernel.golden_steps(case) for case in self._cases]

    @cached_property
    def given(self) -> Sequence[Inputs]:
        return [_field_by_field(self.kernel.signature, self.kernel.arguments(case)) for case in self._cases]

    @cached_property
    def values(self) -> list[str]:
        """What may be an accumulator: integer arrays of the output's shape, arguments before steps."""
        arguments = [
            name
            for name, one in self._arguments.items()
            if isinstance(one, Pointer) and one.shape == self.output.shape and one.direction != "out"
        ]
        steps = [name for name in (self.steps[0] if self.steps else {}) if name not in self._arguments]
        return [name for name in (*arguments, *steps) if self._is_integer(name)]

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
            if is_number(name):
                self._found[name] = np.full(self._size, int(name))
            else:
                sources = self.given if name in self._arguments else self.steps
                lanes = [self._spread(name, case[name], at) for at, case in enumerate(sources)]
                self._found[name] = np.concatenate(lanes)
        return self._found[name]

    @cached_property
    def _shapes(self) -> list[tuple[int, ...]]:
        return [np.shape(self.kernel.golden(case)[self.output.name]) for case in self._cases]

    @cached_property
    def _size(self) -> int:
        return sum(int(np.prod(shape)) for shape in self._shapes)

    def _spread(self, name: str, given: Any, at: int) -> Array:
        shape, one = self._shapes[at], self._arguments.get(name)
        array = np.zeros((), np.int64) if given is None else np.asarray(given)
        per = one.shape[0] if isinstance(one, Pointer) and array.ndim == 1 else None
        if per == self.output.shape[0] != self.output.shape[-1]:  # one for each row
            array = array.reshape(-1, *(1 for _ in shape[1:]))
        return np.broadcast_to(array, shape).ravel()

    def _is_integer(self, name: str) -> bool:
        try:
            return self.of(name).dtype.kind in "iu"
        except (KeyError, ValueError):
            return False

    def is_long(self, name: str) -> bool:
        """Whether some number of it has more than 32 bits."""
        array = self.of(name)
        return bool(array.min() < INT32_MIN or array.max() > INT32_MAX)

    def give(self, roles: Roles, name: str, wanted: Int64Array, lanes: Int64Array | None = None) -> bool:
        """Whether a convention gives these numbers, for some lanes or all; one that refuses them does not."""
        taken = slice(None) if lanes is None else lanes
        try:
            return bool((self.made(roles, name, lanes) == wanted[taken]).all())
        except ValueError:
            return False

    def made(self, roles: Roles, name: str, lanes: Int64Array | None = None) -> Int64Array:
        """What a convention makes of some lanes, or of all.  ValueError for numbers that it refuses."""
        taken = slice(None) if lanes is None else lanes
        return requantized(roles, name, self.output.dtype, lambda argument: self.of(argument)[taken])


def _operands(signature: Signature) -> Iterator[Pointer | ByValue]:
    """The arguments, and in the place of a structure its fields and the arrays that they point to."""
    for argument in signature.arguments:
        if not isinstance(argument, Struct):
            yield argument
        elif argument.direction != "out":
            for _, field in argument.arrays:
                yield field if field.shape else ScalarArgument(field.name, field.dtype)
    yield from (pointer for pointer in signature.pointers if pointer not in signature.arguments)


def _field_by_field(signature: Signature, arguments: Inputs) -> Inputs:
    """Arguments by name, and the fields of structures by names such as "p.low"; None where the structure is null."""
    found = dict(arguments)
    for struct in (argument for argument in signature.arguments if isinstance(argument, Struct)):
        given = arguments.get(struct.name)
        if given is None:
            found |= dict.fromkeys(f"{struct.name}.{name}" for name, _ in struct.fields)
        elif isinstance(given, Mapping) or struct.shape:
            found |= flattened({struct.name: given})
        else:
            found |= {f"{struct.name}.{name}": value for name, value in fields_of(struct, given).items()}
    return found


class _FirstLook:
    """Some lanes, and what the conventions make of them up to the zero point: readings in turn differ in the rest."""

    def __init__(self, elements: KernelLanes, golden: Int64Array, lanes: Int64Array) -> None:
        self._numbers = cache(lambda argument: elements.of(argument)[lanes])
        self._dtype, self._wanted = elements.output.dtype, golden[lanes]
        self._scaled_by: tuple[object, ...] = ()
        self._scaled: dict[str, Int64Array | None] = {}

    def agrees(self, roles: Roles, name: str) -> bool:
        """Whether a convention gives the golden numbers; one that refuses them does not."""
        scaled_by = (roles.value, roles.bias, roles.multiplier, roles.shift, roles.sign)
        if scaled_by != self._scaled_by:
            self._scaled_by, self._scaled = scaled_by, {}
        if name not in self._scaled:
            self._scaled[name] = self._made(lambda: _scaled(roles, name, self._numbers))
        scaled = self._scaled[name]
        if scaled is None:
            return False
        made = self._made(lambda: _placed(scaled, roles, self._dtype, self._numbers))
        return made is not None and bool((made == self._wanted).all())

    @staticmethod
    def _made(make: Callable[[], Int64Array]) -> Int64Array | None:
        try:
            return make()
        except ValueError:
            return None


def requantized(roles: Roles, name: str, dtype: str, numbers_of: Callable[[str], Array]) -> Int64Array:
    """What a convention makes of lanes, by the numbers that an argument has for them.

    ValueError for numbers that it refuses.
    """
    return _placed(_scaled(roles, name, numbers_of), roles, dtype, numbers_of)


def _scaled(roles: Roles, name: str, numbers_of: Callable[[str], Array]) -> Int64Array:
    """As `requantized`, before the zero point is added."""

    def of(argument: str) -> Int64Array:
        return np.asarray(numbers_of(argument).astype(np.int64))

    values = of(roles.value) + of(roles.bias) if roles.bias else of(roles.value)
    if name not in _LONG:
        values = wrap_int32(values)
    function = CONVENTIONS[name].function
    if name in _IN_FLOAT:
        scaled = _by_scale(function, values, numbers_of(roles.multiplier))
    elif roles.multiplier:
        scaled = function(values, of(roles.multiplier), roles.sign * of(roles.shift))
    else:
        scaled = function(values, -roles.sign * of(roles.shift))
    return np.asarray(scaled.astype(np.int64))


def _placed(scaled: Int64Array, roles: Roles, dtype: str, numbers_of: Callable[[str], Array]) -> Int64Array:
    """Scaled numbers with their zero point, within what the output holds and their bounds."""
    placed = scaled
    if roles.zero_point:
        placed = wrap_int32(placed + numbers_of(roles.zero_point).astype(np.int64)).astype(np.int64)
    info = np.iinfo(dtype)
    limited = np.clip(placed, info.min, info.max)
    if roles.lower:
        lower, upper = (numbers_of(name).astype(np.int64) for name in (roles.lower, roles.upper))
        limited = np.minimum(np.maximum(limited, lower), upper)
    return np.asarray(limited, np.int64)


def is_number(name: str) -> bool:
    """Whether a role is filled by a number instead of an argument."""
    return name.lstrip("-").isdecimal()


def _assignments(elements: KernelLanes) -> Iterator[Roles]:
    """Ways to read the arguments, those that their names say first, constants of the code last."""
    integers, floats = elements.parameters("iu"), elements.parameters("f")
    named = {role: [name for name in integers if _is_called(name, role)] for role in _NAMED}
    free = [name for name in integers if not any(name in some for some in named.values())]
    by_role = {role: (some or free)[:_MOST_TRIED] for role, some in named.items()}
    biases = ["", *(named["bias"] or free)[:_MOST_TRIED]]
    bounds = [*product(named["lower"][:1], named["upper"][:1]), ("", "")]
    scales = [(name, "", 0) for name in floats[:_MOST_TRIED]]
    multiplied = [
        (m, s, sign) for m, s in product(by_role["multiplier"], by_role["shift"]) if m != s for sign in (-1, 1)
    ]
    counts = [("", str(count), -1) for count in range(1, 32)]
    shifted = [("", name, sign) for name in by_role["shift"] for sign in (-1, 1)]
    zeros = [*by_role["zero point"], ""]
    in_code = _Constants(constants_of(elements.kernel))
    multipliers, shifts = named["multiplier"] or in_code.multipliers, named["shift"] or in_code.shifts
    constant = [(m, s, sign) for m, s in product(multipliers, shifts) for sign in (-1, 1)]
    for scaled, placed in (
        *((one, zeros) for one in (multiplied, scales, shifted, counts)),
        (constant, [*zeros, *in_code.zero_points] if not named["zero point"] else zeros),
    ):
        for value, bias, (multiplier, shift, sign), zero, (lower, upper) in product(
            elements.values, biases, scaled, placed, bounds
        ):
            used = [n for n in (value, bias, multiplier, shift, zero, lower, upper) if n and not is_number(n)]
            if len(set(used)) == len(used):
                yield Roles(
                    value=value, bias=bias, multiplier=multiplier, shift=shift, sign=sign, zero_point=zero,
                    lower=lower, upper=upper,
                )  # fmt: skip


class _Constants:
    """What constants of the code may be, as text: multipliers, shifts, zero points."""

    def __init__(self, numbers: Sequence[int]) -> None:
        halves = {1 << bit for bit in range(64)}  # which rounding adds: a multiplier last
        large = [n for n in numbers if _SMALLEST_MULTIPLIER <= abs(n) <= INT32_MAX]
        large.sort(key=lambda number: number in halves)
        self.multipliers = [str(number) for number in large][:_CONSTANTS]
        sizes = [abs(number) for number in numbers]  # that of a product is 31 more
        counts = [count for size in sizes for count in (size, size - 31) if 0 <= count <= 31 and size <= 62]
        self.shifts = [str(count) for count in dict.fromkeys(counts)][: 2 * _CONSTANTS]
        signed = dict.fromkeys(sign * number for number in numbers for sign in (1, -1))
        self.zero_points = [str(number) for number in signed if number and -128 <= number <= 255][: 2 * _CONSTANTS]


def _rules_of(elements: KernelLanes, roles: Roles) -> Sequence[str]:
    if elements.is_long(roles.value):
        return _LONG if roles.shift and roles.multiplier else ()
    if not roles.shift:
        return _IN_FLOAT
    return _MULTIPLIED if roles.multiplier else _SHIFTED


def _by_scale(function: Rule, values: Array, scales: Array) -> Array:
    """A convention that takes one scale, on the values of each."""
    result = np.zeros(values.shape, np.int64)
    different, which = np.unique(scales.astype(np.float32), return_inverse=True)
    for at, scale in enumerate(different):
        result[which == at] = function(values[which == at], float(scale))
    return result
