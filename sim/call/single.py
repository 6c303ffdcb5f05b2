"""One call of one function, with its name and its arguments given as text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from isa.errors import LanewiseError
from sim.kernels.prototype import Prototype, parse_prototype
from sim.kernels.signature import (
    Argument,
    Direction,
    FunctionArgument,
    Pointer,
    ScalarArgument,
    Signature,
    Struct,
    extents,
    fields_of,
    flattened,
    nested,
)
from sim.numpy_files import UnreadableArray, read_npy
from sim.toolchain.dwarf.function_types import function_signature
from sim.toolchain.image import Image, ImageError
from sim.toolchain.objects import open_image

LARGEST_COUNT = 0x100_0000
"""Elements of an array that is made here."""
LONGEST_TOLD = 60
"""Characters of a text that a sentence repeats."""


class ArgumentError(LanewiseError):
    """A text that is no value of its argument; the message is one sentence."""


def open_function(
    file: Path,
    symbol: str,
    flags: Sequence[str],
    beside: Sequence[Path] = (),
    constructors: bool = False,
    other: Path | None = None,
) -> tuple[str, Image, Prototype]:
    """A function of a source, object or library by its name, or by its prototype: its name, image and prototype.

    What lies `beside` is linked with it; `constructors` are run first where that is asked.  Where the file does not
    say how the function is called, an `other` version of it may.  Raises PrototypeError, and what `open_image` and
    `function_signature` raise.
    """
    if "(" in symbol:
        prototype = parse_prototype(symbol, with_arrays=True)
        image = open_image(file, prototype.name, *flags, beside=beside, constructors=constructors)
        return prototype.name, image, prototype
    image = open_image(file, symbol, *flags, beside=beside, constructors=constructors)
    try:
        return symbol, image, Prototype(symbol, function_signature(image, symbol))
    except ImageError:
        with suppress(ImageError):
            if other is not None:
                return symbol, image, Prototype(symbol, function_signature(open_image(other, symbol, *flags), symbol))
        raise


def read_arguments(signature: Signature, texts: Sequence[str]) -> tuple[Signature, dict[str, Any]]:
    """The values of all arguments in order, and the signature with the shapes of the arrays that they give.

    A number is 7, 0x10 or 1.5; an array `1,2,3`, `zeros:16` or `@values.npy`; `null` a null pointer; a vector or a
    structure its numbers with commas; a pointer to a function its name.  Arrays, vectors and structures may be JSON
    too, or `@values.json`: `[[1, 2], [3, 4]]`, `{"zero": 3, "bounds": [0, 255]}`.  Raises ArgumentError.
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
                argument = _shaped(argument, value)
            elif isinstance(argument, ScalarArgument):
                (value,) = _numbers(argument.dtype, text, 1)
            elif isinstance(argument, Struct):
                argument, value, arrays = _structure(argument, text)
                values |= arrays
            elif isinstance(argument, FunctionArgument):
                value = None if text == "null" else text
                argument = replace(argument, functions=(value,))
            else:
                count = argument.lanes * argument.count
                lanes = _array(argument.dtype, text) if text[:1] in "[@" else _numbers(argument.dtype, text, count)
                value = np.reshape(lanes, argument.type.shape)
        except (ValueError, TypeError, ArithmeticError) as error:
            told = repr(text) if len(text) <= LONGEST_TOLD else f"{text[:LONGEST_TOLD]!r}..."
            raise ArgumentError(f"{told} is no value of the argument {argument.name!r}: {error}") from None
        values[argument.name] = value
        shaped.append(argument)
    return Signature(tuple(shaped), signature.returns, signature.returned), values


def written_arguments(signature: Signature, arguments: Mapping[str, Any]) -> list[str] | None:
    """The texts that `read_arguments` reads as these values, one for each argument in order.

    None where one has no such text: an array with gaps between its rows, a table, a function, pointers in a structure.
    """
    texts = []
    for argument in signature.arguments:
        value = arguments.get(argument.name)
        if isinstance(argument, Pointer):
            if argument.strides or argument.indirect or argument.may_be:
                return None
            if argument.direction == "out":
                texts.append(f"zeros:{prod(extents(argument, arguments))}")
                continue
        elif isinstance(argument, FunctionArgument) or (isinstance(argument, Struct) and argument.pointers):
            return None
        if isinstance(value, Mapping):
            fields = {name: np.asarray(field).tolist() for name, field in flattened({argument.name: value}).items()}
            of_struct = {name.removeprefix(f"{argument.name}."): field for name, field in fields.items()}
            texts.append(json.dumps(nested(of_struct)))
        elif value is None:
            texts.append("null")
        else:
            numbers = np.asarray(value).ravel().tolist()
            texts.append(",".join(repr(int(n) if isinstance(n, bool) else n) for n in numbers) or "zeros:0")
    return texts


def _shaped(pointer: Pointer, value: np.ndarray[Any, Any] | None) -> Pointer:
    """The pointer with the extents of its array; one that may be changed goes both ways."""
    shape = (0,) * (1 + pointer.indirect) if value is None else value.shape
    direction: Direction = "in" if pointer.direction == "in" else "inout"
    if len(shape) < 1 + pointer.indirect:
        raise ValueError("it is a table of pointers: give JSON, a list of lists")
    return replace(pointer, shape=shape, strides=(), direction=direction, nullable=True, may_be="", shared=False)


def _structure(struct: Struct, text: str) -> tuple[Struct, dict[str, Any] | None, dict[str, Any]]:
    """A structure, or a list of them by pointer, with their shape; its fields; and the arrays that fields point to."""
    if struct.by_pointer:  # one that may be changed goes both ways
        direction: Direction = "in" if struct.direction == "in" else "inout"
        struct = replace(struct, direction=direction, nullable=True, shape=())
    if text == "null" and struct.by_pointer:
        return struct, None, {}
    if text[:1] not in ("{", "[", "@"):
        return struct, _fields(struct, text), {}
    value, types = _json(text), {name: np.dtype(dtype) for name, dtype in struct.fields}
    if isinstance(value, list) and struct.by_pointer and all(isinstance(one, dict) for one in value):
        each = [fields_of(struct, one) for one in value]
        columns = {name: array_of(of.base.name, [one[name] for one in each]) for name, of in types.items()}
        return replace(struct, shape=(len(value),)), nested(columns), {}
    if not isinstance(value, dict):
        raise ValueError(f"give its fields as JSON: {', '.join(types)}")
    fields, arrays = flattened(value), dict[str, Any]()
    pointers = list[tuple[int, Pointer | None]]()
    for offset, pointer in struct.pointers:
        if pointer is not None:
            given = fields.pop(pointer.name.removeprefix(f"{struct.name}."), None)
            arrays[pointer.name] = None if given is None else array_of(pointer.dtype, given)
            pointer = _shaped(pointer, arrays[pointer.name])
        pointers.append((offset, pointer))
    made = {name: array_of(types[name].base.name, one) if name in types else one for name, one in fields.items()}
    return replace(struct, pointers=tuple(pointers)), nested(fields_of(struct, nested(made))), arrays


def _json(text: str) -> Any:
    """What a text or, behind @, a file says."""
    if text.startswith("@"):
        path = Path(text[1:])
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise ValueError(f"{path} cannot be read ({error.strerror})") from None
        except UnicodeDecodeError:
            raise ValueError(f"{path} is not text in UTF-8") from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is no JSON ({error})") from None


def array_of(dtype: str, value: Any) -> np.ndarray[Any, Any]:
    """The array of that dtype that lists of JSON, or a number, are.  Raises ValueError, TypeError, ArithmeticError."""
    kinds, noun = ((int, bool, float), "numbers") if np.dtype(dtype).kind == "f" else ((int, bool), "integers")
    numbers = np.array(value, object).ravel()
    if not all(type(number) in kinds for number in numbers):
        raise ValueError(f"it must be {noun} for {dtype}, in lists of one length")
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        outside = [number for number in numbers if not info.min <= number <= info.max]
        if outside:
            raise ValueError(f"{outside[0]} is outside of {dtype}, which holds {info.min}..{info.max}")
    try:
        with np.errstate(over="raise"):
            return np.array(value, dtype)
    except FloatingPointError:
        raise ValueError(f"it has a number beyond {dtype}") from None


def _array(dtype: str, text: str) -> np.ndarray[Any, Any]:
    if text.startswith("[") or (text.startswith("@") and text.endswith(".json")):
        return array_of(dtype, _json(text))
    if text.startswith("@"):
        path = Path(text[1:])
        try:
            array = read_npy(path)
        except UnreadableArray as reason:
            raise ValueError(f"{path} cannot be read as .npy: {reason}") from None
        if array.dtype != np.dtype(dtype):
            raise ValueError(f"{path} must hold an array of {dtype}, not {array.dtype}")
        return np.ascontiguousarray(array)
    if text.startswith("zeros:"):
        with suppress(ValueError):
            count = int(text.removeprefix("zeros:"), 0)
            if count <= LARGEST_COUNT:
                return np.zeros(count, dtype)  # which refuses a negative one
        raise ValueError(f"zeros: takes 0 to {LARGEST_COUNT} elements")
    return _numbers(dtype, text)


def _numbers(dtype: str, text: str, count: int | None = None) -> np.ndarray[Any, Any]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if count is not None and len(parts) != count:
        raise ValueError(f"give {count} numbers, with commas")
    is_float = np.dtype(dtype).kind == "f"
    try:
        numbers = [float(part) if is_float else int(part, 0) for part in parts]
    except ValueError:
        raise ValueError("give numbers, with commas; of an array also zeros:COUNT, @FILE.npy or JSON") from None
    return array_of(dtype, numbers)


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
