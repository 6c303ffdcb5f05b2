"""Input sets as Python text that makes them again, and as bytes for a database."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from math import isfinite
from typing import Any, Final, NamedTuple

import numpy as np

from sim.kernels.kernel import Inputs

_LONG: Final = 600
"""Letters of an expression from which on its array may be made by statements."""


class PythonLiteral(NamedTuple):
    """A Python expression, and the import statements that it needs."""

    text: str
    imports: tuple[str, ...]


def literal(value: Any) -> PythonLiteral:
    """The expression that makes an input set, or a part of one, again."""
    imports: dict[str, None] = {}
    return PythonLiteral(_text(value, imports), tuple(sorted(imports)))


def statement(name: str, value: Any) -> str:
    """What makes a value again under a name: of a long array that is one number nearly everywhere that number, and the
    others by their places.
    """
    expression = literal(value).text
    whole = f"{name} = {expression}"
    if len(whole) <= _LONG or not expression.startswith("np.array("):
        return whole
    numbers = {place: _number(number.item()) for place, number in np.ndenumerate(value)}
    ((common, _),) = Counter(numbers.values()).most_common(1)
    shape = value.size if value.ndim == 1 else value.shape
    made = [f'{name} = np.full({shape}, {common}, "{value.dtype}")']
    for place, number in numbers.items():
        if number != common:
            made.append(f"{name}[{', '.join(map(str, place))}] = {number}")
    return min(whole, "; ".join(made), key=len)


def is_literal(value: Any) -> bool:
    """Whether its expression makes it again: not where its dataclasses cannot be imported, as those of a kernel file,
    nor where it holds other things than numbers, arrays, text, None, tuples, mappings and dataclasses.
    """
    if isinstance(value, Mapping):
        return all(map(is_literal, value.values()))
    if (parts := _parts(value)) is not None:
        module = sys.modules.get(type(value).__module__)
        return getattr(module, type(value).__name__, None) is type(value) and is_literal(parts)
    if isinstance(value, tuple):
        return all(map(is_literal, value))
    return value is None or isinstance(value, bool | int | float | str | np.ndarray | np.generic)


def _text(value: Any, imports: dict[str, None]) -> str:
    if isinstance(value, np.ndarray | np.generic):
        imports["import numpy as np"] = None
        return _array(value) if isinstance(value, np.ndarray) else f"np.{value.dtype}({_number(value.item())})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_number(key)}: {_text(item, imports)}" for key, item in value.items()) + "}"
    if (parts := _parts(value)) is not None:
        name = type(value).__name__
        imports[f"from {type(value).__module__} import {name}"] = None
        return f"{name}({', '.join(f'{part}={_text(item, imports)}' for part, item in parts.items())})"
    if isinstance(value, tuple):
        return "(" + "".join(f"{_text(item, imports)}, " for item in value).strip() + ")"
    return _number(value)


def _parts(value: Any) -> dict[str, Any] | None:
    """The fields of a dataclass or a named tuple."""
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    return dict(value._asdict()) if hasattr(value, "_fields") else None


def _number(value: Any) -> str:
    """A number, a text or None."""
    if isinstance(value, str):
        return json.dumps(value)
    return f'float("{value}")' if isinstance(value, float) and not isfinite(value) else repr(value)


def _array(array: np.ndarray[Any, Any]) -> str:
    """An array; one of other NaN than the usual by its bits."""
    if array.size == 0:
        return f'np.zeros({array.shape}, "{array.dtype}")'
    usual = np.where(np.isnan(array), np.array(np.nan, array.dtype), array) if array.dtype.kind == "f" else array
    if usual.tobytes() != array.tobytes():
        return f'{_array(array.view(f"u{array.itemsize}"))}.view("{array.dtype}")'
    return f'np.array({_nested(array.tolist())}, "{array.dtype}")'


def _nested(items: Any) -> str:
    return f"[{', '.join(_nested(item) for item in items)}]" if isinstance(items, list) else _number(items)


def as_bytes(inputs: Inputs) -> bytes:
    """An input set as JSON.  Raises TypeError for what it cannot hold."""
    return json.dumps({name: _plain(value) for name, value in inputs.items()}).encode()


def from_bytes(data: bytes, like: Inputs) -> Inputs:
    """The input set of `as_bytes`, its dataclasses of the types that they have in `like`.

    Raises ValueError, TypeError or KeyError where the bytes are none.
    """
    plain = json.loads(data)
    if not isinstance(plain, dict) or plain.keys() != like.keys():
        raise ValueError(f"these are no inputs {', '.join(like)}")
    return {name: _value(plain[name], like[name]) for name in like}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        kind = "array" if isinstance(value, np.ndarray) else "number"
        return {kind: value.tobytes().hex(), "dtype": str(value.dtype), "shape": value.shape}
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return {"tuple": [_plain(item) for item in value]}
    parts = value if isinstance(value, Mapping) else _parts(value)
    return value if parts is None else {"parts": {name: _plain(part) for name, part in parts.items()}}


def _value(plain: Any, like: Any) -> Any:
    if not isinstance(plain, dict):
        return plain
    if "tuple" in plain:
        return tuple(_value(item, None) for item in plain["tuple"])
    if "parts" in plain:
        known = like if isinstance(like, Mapping) else _parts(like) or {}
        values = {name: _value(part, known.get(name)) for name, part in plain["parts"].items()}
        if is_dataclass(like) and not isinstance(like, type):
            return replace(like, **values)
        return type(like)(**values) if hasattr(like, "_fields") else values
    is_array = "array" in plain
    data, dtype = bytes.fromhex(plain["array" if is_array else "number"]), np.dtype(plain["dtype"])
    if dtype.kind not in "iufb":
        raise ValueError(f"{plain['dtype']} is no type of numbers")
    array = np.frombuffer(data, dtype).reshape(plain["shape"]).copy()
    return array if is_array else array[()]
