"""What of an input set a search may change: its arrays and numbers, each within the numbers that it may be.

Those are the declared domain of an argument.  Where none is declared, they are what the kernel's own input sets show:
whether others between these are inputs of the kernel as well, only its author knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from sim.kernels.domain import Domain, Domains, domain_of, number_types
from sim.kernels.extent import value_of
from sim.kernels.input_tree import Where, leaves, with_leaf
from sim.kernels.kernel import Inputs, Kernel
from sim.kernels.signature import extents

MOST_NUMBERS: Final = 1 << 62
"""Integers beyond that are not searched where only the numbers themselves tell their type."""
Array = np.ndarray[Any, Any]


class Variable(NamedTuple):
    """An array or number of an input set, with its axes: names of scalars, or numbers."""

    where: Where
    dtype: np.dtype[Any]
    axes: tuple[int | str, ...]
    domain: Domain

    @property
    def name(self) -> str:
        """As domains name it, such as "bounds.low"."""
        return _name(self.where)

    def of(self, inputs: Inputs) -> Array:
        """Its numbers in an input set, one of them as an array of one."""
        return np.atleast_1d(np.asarray(leaves(inputs)[self.where], self.dtype))

    def put(self, inputs: Inputs, numbers: Array) -> dict[str, Any]:
        """The input set with other numbers.  Raises what a dataclass raises that refuses them."""
        if not self.axes:
            return with_leaf(inputs, self.where, numbers.item())
        numbers.flags.writeable = False
        return with_leaf(inputs, self.where, numbers)


def variables_of(kernel: Kernel, inputs: Inputs, domains: Domains) -> list[Variable]:
    """The arrays and numbers of an input set that are no extents or strides: arguments, or what these are made of."""
    signature = kernel.signature
    sizes = signature.sizes
    types = dict(number_types(signature)) if kernel.takes_inputs else {}
    order = {argument.name: at for at, argument in enumerate((*signature.pointers, *signature.by_value))}
    found = []
    for where, leaf in leaves(inputs).items():
        name, of_leaf, domain = _name(where), np.asarray(leaf), domain_of(domains, _name(where))
        if name not in sizes and of_leaf.size and (name in types if types else _is_searched(of_leaf.dtype, domain)):
            found.append(Variable(where, types.get(name, of_leaf.dtype), _axes(kernel, inputs, where, of_leaf), domain))
    return sorted(found, key=lambda variable: order.get(str(variable.where[0]), len(order)))


def shown_domains(kernel: Kernel, cases: Iterable[Inputs]) -> Domains:
    """From the least to the greatest finite number that input sets have of what has no declared domain, by name."""
    seen: dict[str, tuple[Any, Any]] = {}
    for where, leaf in (found for inputs in cases for found in leaves(inputs).items()):
        numbers = np.asarray(leaf).ravel()
        numbers = numbers[np.isfinite(numbers)]
        if numbers.size and _name(where) not in kernel.domain:
            low, high = numbers.min().item(), numbers.max().item()
            least, most = seen.get(_name(where), (low, high))
            seen[_name(where)] = min(low, least), max(high, most)
    return {name: Domain(low, high) for name, (low, high) in seen.items()}


def same_in_all(kernel: Kernel, cases: Sequence[Inputs]) -> list[str]:
    """The arguments that are the same in all input sets, in words: numbers that may be others, and arrays.

    A number that its declared domain holds there is left out, and so are arrays of which another one varies: one that
    never does may be a table.
    """
    if not cases:
        return []
    first, *others = (leaves(kernel.arguments(inputs)) for inputs in cases)
    same = dict(first)
    for other in others:
        for where in [where for where in same if where not in other or not _is_same(same[where], other[where])]:
            del same[where]
    numbers = [
        f"{_name(where)} = {leaf}"
        for where, leaf in same.items()
        if not isinstance(leaf, np.ndarray) and not _is_held(kernel.domain.get(_name(where)), leaf)
    ]
    arrays = [where for where, leaf in first.items() if isinstance(leaf, np.ndarray)]
    return numbers + [f"the same {_name(where)}" for where in arrays if all(each in same for each in arrays)]


def _is_same(one: Any, other: Any) -> bool:
    first, second = np.asarray(one), np.asarray(other)
    return first.shape == second.shape and first.tobytes() == second.tobytes()


def _is_held(domain: Domain | None, number: Any) -> bool:
    """Whether a domain has this number only."""
    return domain is not None and set(domain.bounds(np.asarray(number).dtype)) == {number}


def undeclared_changes(kernel: Kernel, before: Inputs, after: Inputs) -> list[str] | None:
    """The arguments without a declared domain in which the calls of two input sets differ.

    None where one leaves its domain, and where an extent or a stride is another.  Where all that differs between the
    input sets themselves has a declared domain, the arguments that are made of it count as declared.
    """
    changed = _changes(kernel.domain, kernel.arguments(before), kernel.arguments(after))
    if changed is None or not kernel.signature.sizes.isdisjoint(changed):
        return None
    undeclared = [name for name in changed if name not in kernel.domain]
    if kernel.takes_inputs:
        return undeclared
    arguments = dict(number_types(kernel.signature))
    of_inputs = {name: domain for name, domain in kernel.domain.items() if name not in arguments}
    made_of = _changes(of_inputs, before, after)
    if made_of is None:
        return None
    return undeclared if any(name not in kernel.domain for name in made_of) else []


def _changes(domains: Domains, before: Inputs, after: Inputs) -> list[str] | None:
    """The names of what differs; None where a number is not in its declared domain."""
    first, second = (_numbers(numbers) for numbers in (before, after))
    changed = []
    for name, numbers in second.items():
        domain = domains.get(name)
        if domain is not None and not all(domain.holds(number) for number in np.unique(numbers).tolist()):
            return None
        if name not in first or not np.array_equal(numbers, first[name], equal_nan=numbers.dtype.kind == "f"):
            changed.append(name)
    return changed


def _numbers(arguments: Inputs) -> Mapping[str, Array]:
    return {_name(where): np.asarray(leaf) for where, leaf in leaves(arguments).items()}


def _name(where: Where) -> str:
    return ".".join(map(str, where))


def _is_searched(dtype: np.dtype[Any], domain: Domain) -> bool:
    """Whether a search can go through the numbers of what is no argument, which has no other type than theirs."""
    if dtype.kind == "f":
        return True
    ends = domain.bounds(dtype)
    return dtype.kind in "iu" and all(isinstance(end, int) and abs(end) <= MOST_NUMBERS for end in ends)


def _axes(kernel: Kernel, inputs: Inputs, where: Where, leaf: Array) -> tuple[int | str, ...]:
    """The extents of an array as the signature names them.

    What arguments are made of is no argument, so there an extent has the name of an output's that is as large.
    """
    arguments = kernel.arguments(inputs)
    for pointer in kernel.signature.pointers:
        if where == (pointer.name,) and extents(pointer, arguments) == leaf.shape:
            return pointer.shape
    shape: tuple[int, ...] = leaf.shape
    if kernel.takes_inputs:
        return shape
    axes = (axis for pointer in kernel.signature.outputs for axis in pointer.shape if isinstance(axis, str))
    named = {value_of(axis, arguments): axis for axis in axes}
    return tuple(named.get(extent, extent) for extent in shape)
