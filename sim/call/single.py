"""One call of one function, with its name and its arguments given as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from isa.errors import LanewiseError
from sim.kernels.prototype import Prototype, parse_prototype
from sim.kernels.signature import Argument, Direction, Pointer, ScalarArgument, Signature, Struct
from sim.toolchain.function_types import function_signature
from sim.toolchain.image import Image
from sim.toolchain.objects import open_image

LARGEST_COUNT = 1 << 24
"""Elements of an array that is made here."""


class ArgumentError(LanewiseError):
    """A text that is no value of its argument; the message is one sentence."""


def open_function(
    file: Path, symbol: str, flags: Sequence[str], beside: Sequence[Path] = (), constructors: bool = False
) -> tuple[str, Image, Prototype]:
    """A function of a source, object or library by its name, or by its prototype: its name, image and prototype.

    What lies `beside` is linked with it; `constructors` are run first where that is asked.  Raises
    PrototypeError, and what `open_image` and `function_signature` raise.
    """
    if "(" in symbol:
        prototype = parse_prototype(symbol)
        image = open_image(file, prototype.name, *flags, beside=beside, constructors=constructors)
        return prototype.name, image, prototype
    image = open_image(file, symbol, *flags, beside=beside, constructors=constructors)
    return symbol, image, Prototype(symbol, function_signature(image, symbol))


def read_arguments(signature: Signature, texts: Sequence[str]) -> tuple[Signature, dict[str, Any]]:
    """The values of all arguments in order, and the signature with the shapes of the arrays that they give.

    A number is 7, 0x10 or 1.5; an array `1,2,3`, `zeros:16` or `@values.npy`; `null` a null pointer; a vector or a
    structure its numbers with commas.  Raises ArgumentError.
    """
    wanted = len(signature.arguments)
    if len(texts) != wanted:
        names = ", ".join(argument.name for argument in signature.arguments) or "none"
        raise ArgumentError(f"the function takes {wanted} argument{'s' * (wanted != 1)} ({names}), not {len(texts)}")
    shaped, values = list[Argument](), dict[str, Any]()
    for argument, text in zip(signature.arguments, texts, strict=True):
        try:
            if isinstance(argument, Pointer):
                value: Any = None if text == "null" else _array(argument.dtype, text)
            elif isinstance(argument, ScalarArgument):
                value = _numbers(argument.dtype, text, 1)[0]
            elif isinstance(argument, Struct):
                value = _fields(argument, text)
            else:
                value = _numbers(argument.dtype, text, argument.lanes)
        except (ValueError, OverflowError) as error:
            raise ArgumentError(f"{text!r} is no value of the argument {argument.name!r}: {error}") from None
        values[argument.name] = value
        if isinstance(argument, Pointer):  # one that may be changed goes both ways
            shape = () if value is None else value.shape
            direction: Direction = "in" if argument.direction == "in" else "inout"
            argument = replace(argument, shape=shape, strides=(), direction=direction, nullable=True)
        shaped.append(argument)
    return Signature(tuple(shaped), signature.returns), values


def _array(dtype: str, text: str) -> np.ndarray[Any, Any]:
    if text.startswith("@"):
        path = Path(text[1:])
        try:
            array = np.load(path, allow_pickle=False)
        except (OSError, EOFError) as error:
            raise ValueError(f"{path} cannot be read as .npy ({getattr(error, 'strerror', None) or error})") from None
        if not isinstance(array, np.ndarray) or array.dtype != np.dtype(dtype):
            raise ValueError(f"{path} must hold an array of {dtype}, not {getattr(array, 'dtype', 'several arrays')}")
        return np.ascontiguousarray(array)
    if text.startswith("zeros:"):
        count = int(text.removeprefix("zeros:"), 0)
        if not 0 <= count <= LARGEST_COUNT:
            raise ValueError(f"zeros: takes 0 to {LARGEST_COUNT} elements")
        return np.zeros(count, dtype)
    return _numbers(dtype, text)


def _numbers(dtype: str, text: str, count: int | None = None) -> np.ndarray[Any, Any]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if count is not None and len(parts) != count:
        raise ValueError(f"give {count} numbers, with commas")
    is_float = np.dtype(dtype).kind == "f"
    return np.array([float(part) if is_float else int(part, 0) for part in parts], dtype)


def _fields(struct: Struct, text: str) -> dict[str, Any]:
    types = {name: np.dtype(dtype) for name, dtype in struct.fields}
    parts, at = text.split(","), 0
    wanted = sum(int(np.prod(dtype.shape, dtype=np.int64)) for dtype in types.values())
    if len(parts) != wanted:
        raise ValueError(f"give {wanted} numbers, with commas: its fields in order")
    values = dict[str, Any]()
    for name, dtype in types.items():
        count = int(np.prod(dtype.shape, dtype=np.int64))
        values[name] = _numbers(dtype.base.name, ",".join(parts[at : at + count])).reshape(dtype.shape)
        at += count
    return values
