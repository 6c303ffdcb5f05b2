"""Input sets as trees: arrays, numbers, tuples, mappings and dataclasses, each of any depth.

What else they hold stays as it is.  Nothing is changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

import numpy as np

from sim.kernels.kernel import Inputs

Where = tuple[str | int, ...]
"""Where a part stands: names of fields, then indices."""
NUMBERS: Final = (bool, int, float, np.bool_, np.integer, np.floating)


def rebuilt(value: Any, part: Callable[[str | int, Any], Any]) -> Any:
    """A mapping, dataclass or tuple with each of its parts made anew; anything else itself.

    Raises what a dataclass raises that refuses its new fields.
    """
    if isinstance(value, Mapping):
        return {key: part(key, item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if field.init]
        return replace(value, **{name: part(name, getattr(value, name)) for name in names})
    if isinstance(value, tuple):
        items = [part(at, item) for at, item in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def leaves(inputs: Inputs) -> dict[Where, Any]:
    """The arrays and numbers of an input set by their places, in order."""
    found: dict[Where, Any] = {}

    def note(where: Where, value: Any) -> Any:
        if isinstance(value, (np.ndarray, *NUMBERS)):
            found[where] = value
            return value
        return rebuilt(value, lambda key, part: note((*where, key), part))

    for name, value in inputs.items():
        note((name,), value)
    return found


def with_leaf(inputs: Inputs, where: Where, leaf: Any) -> dict[str, Any]:
    """The input set with another array or number at a place.  Raises what a dataclass raises that refuses it."""

    def changed(value: Any, rest: Where) -> Any:
        if not rest:
            return leaf
        return rebuilt(value, lambda key, part: changed(part, rest[1:]) if key == rest[0] else part)

    return {name: changed(value, where[1:]) if name == where[0] else value for name, value in inputs.items()}
