"""The domain of a function's arguments, and input sets drawn from it: corners first, then seeded random ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, islice
from math import inf, isinf, prod
from numbers import Real
from typing import Any, Final

import numpy as np

from sim.kernels.c_types import limits_of_bits
from sim.kernels.extent import names_in, value_of
from sim.kernels.signature import (
    FunctionArgument,
    Pointer,
    ScalarArgument,
    Signature,
    Struct,
    extents,
    is_given,
    nested,
)

LENGTHS: Final = range(49)
"""Every tail length behind none, one and two steps of sixteen lanes, and the next whole step."""
ROWS: Final = (1, 2, 0, 3, 5)
"""What the extents of axes outside of others go through."""
EXTREME_LENGTH: Final = 23
"""A step of sixteen lanes, and a tail with a step of four."""
VARIANTS: Final = 32
"""Corners that are tried of one length, until one is accepted."""
LARGEST_ELEMENT: Final = 16
"""Fixed inner extents of up to so many numbers are taken for one element, as the channels of a pixel."""
APART: Final = (0, 3, -1, 5, -7)
"""By how much the second of several lengths is more than the first, and the third more than the second: every tail of
each is met, and a kernel that takes one for another is found."""
MOST_APART: Final = 50
LARGEST_RANDOM_LENGTH: Final = 64
LONGEST: Final = 2000
"""Elements of a row of long random input sets at most."""
LARGEST: Final = 32_768
"""Elements of all arrays that a long input set gives, at most."""
SPREAD: Final = 1000.0
"""Floats without bounds are drawn from -1000..1000."""
NEAR_ZERO: Final = 100
Number = int | float
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Domain:
    """The numbers that an argument, or each element of an array, may be.

    Either all of `low`..`high`, both included (None: as far as the dtype goes, for floats -1000..1000), or `choices`
    only, where they are given.  `corners` are numbers that every check should try besides the bounds, 0, 1 and -1;
    of a float they may lie outside the bounds (inf, NaN).  Raises ValueError where low > high or one of them is not
    finite, and for what is no number: an argument that follows from others has no domain, it is computed
    (`Kernel.arguments`).
    """

    low: Number | None = None
    high: Number | None = None
    corners: tuple[Number, ...] = ()
    choices: tuple[Number, ...] = ()

    def __post_init__(self) -> None:
        for number in (self.low, self.high, *self.corners, *self.choices):
            if not isinstance(number, Real | None):
                raise ValueError(f"a Domain has numbers, not {number!r:.60}{_computed('width', number)}")
        for bound in (self.low, self.high):
            if bound is not None and not -inf < bound < inf:
                advice = "give finite numbers or None, and what is not finite as corners"
                raise ValueError(f"a bound of a Domain is {bound}: {advice}")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"the domain {self.low}..{self.high} is empty: give low <= high")

    def bounds(self, dtype: np.dtype[Any]) -> tuple[Number, Number]:
        """The smallest and the largest number, corners apart."""
        if self.choices:
            return min(self.choices), max(self.choices)
        low, high = _limits(dtype)
        return (low if self.low is None else self.low), (high if self.high is None else self.high)

    def holds(self, number: Number) -> bool:
        """Whether it is one of them."""
        if self.choices:
            return number in self.choices
        above, below = self.low is None or number >= self.low, self.high is None or number <= self.high
        return (above and below) or number in self.corners

    def edges(self, dtype: np.dtype[Any]) -> Array:
        """The corner numbers of that dtype, each once."""
        low, high = self.bounds(dtype)
        usual = (0, 1, -1, low, high, low + 1, high - 1, *((0.5, -0.5) if dtype.kind == "f" else ()))
        numbers = self.choices or (*self.corners, *(number for number in usual if low <= number <= high))
        return np.array(list(dict.fromkeys(numbers)), dtype)

    def draw(self, dtype: np.dtype[Any], shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Random numbers: corners, small ones and any, a third each."""
        edges = rng.choice(self.edges(dtype), shape)
        if self.choices:
            return edges
        low, high = self.bounds(dtype)
        nearest = min(max(low, 0), high)
        small = _uniform(dtype, max(low, nearest - NEAR_ZERO), min(high, nearest + NEAR_ZERO), shape, rng)
        return np.choose(rng.integers(0, 3, shape), (edges, small, _uniform(dtype, low, high, shape, rng))).astype(
            dtype
        )


Domains = Mapping[str, Domain]
Pick = Callable[[str, np.dtype[Any], tuple[int, ...]], Array]
"""Numbers of an argument, by its name, dtype and shape."""


def check_domains(types: Mapping[str, np.dtype[Any]], domains: Domains, has_others: bool = False) -> None:
    """Raises ValueError where a domain holds numbers that the dtype of its argument does not.

    `types` are those of the arguments by name, of fields of structures as in "bounds.low".  A domain of another name
    is refused too, but where the kernel `has_others`.
    """
    for name, domain in domains.items():
        if not isinstance(domain, Domain):  # what a type checker says, to those who have none
            advice = f"give a Domain, such as Domain(0, 255){_computed(name, domain)}"
            raise ValueError(f"the domain of {name!r} is {domain!r:.60}: {advice}")
        if name not in types and not has_others:
            raise ValueError(f"there is a domain of {name!r}, which is no argument: they are {', '.join(types)}")
        if name not in types:
            continue
        numbers = (*domain.choices, *domain.corners, domain.low, domain.high)
        if types[name].kind == "f":
            limits = np.finfo(types[name])
            past = int(limits.max) + (1 << limits.maxexp - limits.nmant - 2)  # what rounds to infinity
            if far := [n for n in numbers if isinstance(n, Real) and past <= abs(n) < inf]:
                what = (
                    f"has {far[0]!r:.60}, which is no {types[name]}: give numbers in {limits.min:.8g}..{limits.max:.8g}"
                )
                raise ValueError(f"the domain of {name!r} {what}")
            continue
        low, high = _limits(types[name])
        if wrong := [n for n in numbers if n is not None and not (isinstance(n, int) and low <= n <= high)]:
            what = f"has {wrong[0]}, which is no {types[name]}"
            raise ValueError(f"the domain of {name!r} {what}: give integers in {low}..{high}")


def _computed(name: str, given: object) -> str:
    """What to write for an argument that follows from others, given as a function or as a text, "n + 2"."""
    if not isinstance(given, str) and not callable(given):
        return ""
    try:
        names = names_in(given) if isinstance(given, str) else frozenset[str]()
    except ValueError:
        names = frozenset()
    made = 'inputs["n"] + 2'
    if names and not any("." in each for each in names):
        made = re.sub(r"[A-Za-z_]\w*", lambda found: f'inputs["{found[0]}"]', str(given)).replace("/", "//")
    return f"; what follows from others is computed, Kernel(arguments=lambda inputs: {{**inputs, {name!r}: {made}}})"


def _any_set(inputs: Mapping[str, Any]) -> bool:
    return True


def corner_sets(
    signature: Signature, domains: Domains, accepts: Callable[[Mapping[str, Any]], bool] = _any_set
) -> Iterator[dict[str, Any]]:
    """Every length in turn, then one length with each argument going through its corners, then at its extremes.

    Where one is not accepted, another with the next corners comes in its place, if one of some is.
    """
    types = dict(number_types(signature))
    longest = max((len(domain_of(domains, name).edges(dtype)) for name, dtype in types.items()), default=0)
    for number, length in enumerate((*LENGTHS, *[LENGTHS[-1]] * longest)):
        variants = (
            input_set(
                signature,
                domains,
                _at_corners(domains, other),
                length,
                ROWS[other % len(ROWS)],
                nulls=other % 3 == 2,
                apart=other % len(APART),
            )
            for other in range(number, number + VARIANTS)
        )
        yield from islice(filter(accepts, variants), 1)
    yield from filter(accepts, extreme_sets(signature, domains, EXTREME_LENGTH, ROWS[1]))


def extreme_sets(signature: Signature, domains: Domains, length: int, rows: int) -> Iterator[dict[str, Any]]:
    """Each argument, of arrays all elements, at its lowest or its highest number: every two in all four ways.

    The lowest is bit 0 of the numbers that tell arguments apart, or its complement, so that two of them are once
    alike and once apart; all at one end come first.
    """
    names = [name for name, _ in number_types(signature)]
    for bit in range(-1, max(len(names) - 1, 0).bit_length()):
        for flipped in (False, True):
            highest = {name: flipped != (bit >= 0 and bool(number >> bit & 1)) for number, name in enumerate(names)}
            yield input_set(signature, domains, _at_extremes(domains, highest), length, rows, nulls=False)


def sample_set(signature: Signature, domains: Domains, rng: np.random.Generator) -> dict[str, Any]:
    """A random input set."""
    length, rows = int(rng.integers(0, LARGEST_RANDOM_LENGTH + 1)), int(rng.choice(ROWS))
    return _random_set(signature, domains, rng, length, rows)


def long_sample_set(signature: Signature, domains: Domains, rng: np.random.Generator) -> dict[str, Any]:
    """A random input set with a long row, or with shorter ones where all arrays together would be too large."""
    drawn = int(rng.integers(LARGEST_RANDOM_LENGTH, LONGEST + 1)), int(rng.choice([rows for rows in ROWS if rows]))
    length, rows, _ = fitting(signature, domains, *drawn, LARGEST)
    return _random_set(signature, domains, rng, length, rows)


def _random_set(
    signature: Signature, domains: Domains, rng: np.random.Generator, length: int, rows: int
) -> dict[str, Any]:
    apart = int(rng.integers(0, MOST_APART)) if has_several_sizes(signature) else 0
    return input_set(signature, domains, at_random(domains, rng), length, rows, rng.random() < 0.25, apart)


def fitting(signature: Signature, domains: Domains, length: int, rows: int, most: int) -> tuple[int, int, int]:
    """The length and number of rows, halved until an input set gives at most so many elements; how many it gives."""
    while True:
        arguments = _sizes(signature, domains, length, rows)
        given = filter(is_given, signature.in_memory)
        elements = sum(prod(extents(one, arguments)) * max(1, one.type.itemsize // 8) for one in given)
        if elements <= most or max(length, rows) <= 1:
            return length, rows, elements
        length, rows = (length // 2, rows) if length >= rows else (length, rows // 2)


def at_random(domains: Domains, rng: np.random.Generator) -> Pick:
    """Numbers as `Domain.draw` gives them."""

    def pick(name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        return domain_of(domains, name).draw(dtype, shape, rng)

    return pick


def at_some_extremes(domains: Domains, rng: np.random.Generator) -> Pick:
    """A quarter of the arguments each, by lot: at the lowest number, at the highest, at multiples of a power of two.

    The others are random.  A product is a tie only where its factors have enough factors of two.
    """
    usual = at_random(domains, rng)

    def pick(name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        bounds, way = domain_of(domains, name).bounds(dtype), int(rng.integers(0, 4))
        if way < 2:
            return np.full(shape, bounds[way], dtype)
        if way == 2 or dtype.kind not in "iu" or domain_of(domains, name).choices:
            return usual(name, dtype, shape)
        low, high = (int(bound) for bound in bounds)
        exponents = [n for n in range(8 * dtype.itemsize) if -(-low >> n) <= high >> n]
        exponent = int(rng.choice(exponents))
        multiples = _uniform(dtype, -(-low >> exponent), high >> exponent, shape, rng)
        return np.asarray(multiples << dtype.type(exponent))

    return pick


def _at_corners(domains: Domains, number: int) -> Pick:
    """Corner numbers; each argument begins at another one, and with the next `number` at the next."""
    first = count(number)

    def pick(name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        edges = domain_of(domains, name).edges(dtype)
        return np.resize(np.roll(edges, -next(first)), shape).astype(dtype)

    return pick


def _at_extremes(domains: Domains, highest: Mapping[str, bool]) -> Pick:
    """The highest number of the arguments that are to have it, the lowest of the others."""

    def pick(name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        return np.full(shape, domain_of(domains, name).bounds(dtype)[highest[name]], dtype)

    return pick


def input_set(
    signature: Signature, domains: Domains, pick: Pick, length: int, rows: int, nulls: bool, apart: int = 0
) -> dict[str, Any]:
    """One input set with the numbers that `pick` gives; with `nulls`, every pointer that may be null is.

    Its rows have that length and there are so many of them, or as near as the domains allow.  Of several lengths, and
    of several numbers of rows, the first has it; the others are as far `apart` as that number says, alike for 0.
    """
    arguments = _sizes(signature, domains, length, rows, apart)
    for argument in signature.by_value:
        if isinstance(argument, FunctionArgument):
            at = int(pick(argument.name, np.dtype("uint8"), ()))
            arguments[argument.name] = argument.functions[at]
        elif isinstance(argument, Struct):
            if nulls and argument.nullable:
                arguments[argument.name] = None
            elif is_given(argument):
                arguments[argument.name] = _structure(argument, arguments, pick)
        elif argument.name not in arguments:
            values = pick(argument.name, argument.type.base, argument.type.shape)
            arguments[argument.name] = values.item() if isinstance(argument, ScalarArgument) else _read_only(values)
    for pointer in signature.pointers:
        if nulls and pointer.nullable:
            arguments[pointer.name] = None
        elif is_given(pointer):
            values = pick(pointer.name, pointer.type, extents(pointer, arguments))
            arguments[pointer.name] = _read_only(values)
            if pointer.shared:
                count = len(values)
                among = pick(pointer.rows, np.dtype("uint32"), (count,)) % max(count + bool(pointer.may_be), 1)
                arguments[pointer.rows] = _read_only(among.astype("uint32"))
        elif pointer.may_be and pick(pointer.name, np.dtype("uint8"), ()):
            arguments[pointer.name] = pointer.may_be
    return {name: value for name, value in arguments.items() if "." not in name or isinstance(value, np.ndarray | None)}


def _structure(struct: Struct, arguments: Mapping[str, Any], pick: Pick) -> dict[str, Any]:
    """Its fields, or those of as many structures as there are; sizes are among the arguments, by their whole names."""
    outer, fields = extents(struct, arguments), dict[str, Any]()
    for name, dtype in struct.fields:
        whole, of_field = f"{struct.name}.{name}", np.dtype(dtype)
        values = pick(whole, of_field.base, (*outer, *of_field.shape))
        fields[name] = arguments.get(whole, values.item()) if not values.shape else _read_only(values)
    return nested(fields)


def _read_only(array: Array) -> Array:
    """The array, which a golden reference that computes in place must not change: the kernel is given the same."""
    array.flags.writeable = False
    return array


def row_lengths(signature: Signature) -> dict[str, bool]:
    """The scalars that shapes name, and whether each is the length of rows rather than a number of them.

    Kernels go in vectors along the innermost axis, or along the one outside of small fixed extents.
    """
    found = dict[str, bool]()
    for pointer in signature.in_memory:
        for axis, extent in enumerate(pointer.shape):
            inner = [size for size in pointer.shape[axis + 1 :] if isinstance(size, int)]
            is_length = len(inner) == len(pointer.shape) - axis - 1 and prod(inner) <= LARGEST_ELEMENT
            for name in sorted(names_in(extent)):
                found.setdefault(name, is_length)
    return found


def has_several_sizes(signature: Signature) -> bool:
    """Whether there are several lengths of rows, or several numbers of rows: one may be taken for another."""
    of_rows = list(row_lengths(signature).values())
    return max(of_rows.count(True), of_rows.count(False)) > 1


def _sizes(signature: Signature, domains: Domains, length: int, rows: int, apart: int = 0) -> dict[str, Any]:
    """The scalars that shapes and strides name: lengths of rows, numbers of rows, then distances that suffice.

    What each distance has more than that is another digit of the length, to base three: of two arrays with equal rows
    the distances are alike in one call of three.
    """
    types, sizes = dict(number_types(signature)), dict[str, Any]()
    before = {True: count(), False: count()}
    for name, is_length in row_lengths(signature).items():
        number = next(before[is_length])
        if is_length:
            wanted = abs(length + number * APART[apart % len(APART)] * (1 + apart // len(APART)))
        else:
            wanted = ROWS[(ROWS.index(rows) + 3 * number * apart) % len(ROWS)] if rows in ROWS else rows
        sizes[name] = _nearest(domain_of(domains, name), types[name], wanted)
    more = dict[str, int]()
    for pointer in signature.pointers:
        shape = [value_of(extent, sizes) for extent in pointer.shape]
        for axis, stride in enumerate(pointer.strides):
            for name in sorted(names_in(stride)):
                if name == stride or name not in sizes:
                    more.setdefault(name, length // 3 ** len(more) % 3)
                    least = max(int(np.prod(shape[axis + 1 :])) + more[name], sizes.get(name, 0))
                    sizes[name] = _nearest(domain_of(domains, name), types[name], least)
    return sizes


def _nearest(domain: Domain, dtype: np.dtype[Any], wanted: int) -> int:
    """The number of the domain nearest to the wanted one."""
    if domain.choices:
        return int(min(domain.choices, key=lambda choice: abs(choice - wanted)))
    low, high = domain.bounds(dtype)
    return int(min(max(wanted, low), high))


def number_types(signature: Signature) -> Iterator[tuple[str, np.dtype[Any]]]:
    """What numbers each argument is made of, by its name; of a structure each field."""
    pointed = [pointer for pointer in signature.pointers if pointer not in signature.arguments]
    for argument in (*signature.arguments, *pointed):
        if isinstance(argument, Struct):
            if is_given(argument):
                yield from ((f"{argument.name}.{name}", np.dtype(dtype).base) for name, dtype in argument.fields)
        elif isinstance(argument, FunctionArgument) or (isinstance(argument, Pointer) and argument.is_choice):
            yield argument.name, np.dtype("uint8")  # which one it is
        elif not isinstance(argument, Pointer) or is_given(argument):
            yield argument.name, argument.type.base
            if isinstance(argument, Pointer) and argument.shared:
                yield argument.rows, np.dtype("uint32")


def own_domains(signature: Signature) -> Domains:
    """What a signature itself says of its arguments: the numbers of an enumeration, of a field of bits; which function,
    which array.
    """
    found = dict[str, Domain]()
    for argument in (*signature.arguments, *signature.pointers):
        if isinstance(argument, Struct) and is_given(argument):
            for field in argument.placed_fields:
                if field.bits is not None:
                    found[f"{argument.name}.{field.name}"] = Domain(*limits_of_bits(field.dtype, field.bits[1]))
        if isinstance(argument, ScalarArgument) and argument.choices:
            found[argument.name] = Domain(choices=argument.choices)
        elif isinstance(argument, FunctionArgument):
            found[argument.name] = Domain(choices=tuple(range(len(argument.functions))))
        elif isinstance(argument, Pointer) and argument.is_choice:
            found[argument.name] = Domain(choices=(0, 1))
    return found


def domain_of(domains: Domains, name: str) -> Domain:
    """The domain of an argument, all of its dtype where none is given."""
    return domains.get(name, Domain())


def _limits(dtype: np.dtype[Any]) -> tuple[Number, Number]:
    if dtype.kind == "f":
        return -SPREAD, SPREAD
    if dtype.kind == "b":
        return 0, 1
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _uniform(
    dtype: np.dtype[Any], low: Number, high: Number, shape: tuple[int, ...], rng: np.random.Generator
) -> Array:
    if dtype.kind == "f":
        if isinf(float(high) - float(low)):
            return (2 * rng.uniform(low / 2, high / 2, shape)).astype(dtype)
        return rng.uniform(low, high, shape).astype(dtype)
    wide = np.uint64 if high > np.iinfo(np.int64).max else np.int64
    return rng.integers(int(low), int(high), shape, wide, endpoint=True).astype(dtype)
