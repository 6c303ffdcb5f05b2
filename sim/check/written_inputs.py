"""Input sets as JSON: arrays and tuples are lists, structures their fields by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from itertools import chain, islice
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np

from sim.call.single import array_of
from sim.kernels.input_tree import NUMBERS, Where, leaves, rebuilt
from sim.kernels.inputs import is_valid
from sim.kernels.kernel import Inputs, Kernel, KernelError
from sim.kernels.signature import extents

_EXAMPLES: Final = 200
"""Input sets of the kernel that one is read after: which pointers are null in one differs from the next."""
_WIDEST: Final = {bool: "bool", int: "object", float: "float64"}


class InputsError(KernelError):
    """What is no input set of a kernel; the message is one sentence."""


def plain(value: Any) -> Any:
    """An input as JSON has it; what is neither array, number, mapping, tuple nor dataclass as text."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value) if field.init}
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value if value is None or isinstance(value, int | float | str) else str(value)


def written_inputs(kernel: Kernel, inputs: Inputs) -> str | None:
    """The JSON that `read_inputs` reads as these; None where it would read others: JSON knows no dtype, and no shape of
    what is empty, where input sets of a kernel differ in these.
    """
    text = json.dumps(plain(inputs))
    try:
        return text if _bits(read_inputs(kernel, text)) == _bits(inputs) else None
    except InputsError:
        return None


def read_inputs(kernel: Kernel, text: str) -> Inputs:
    """The input set that JSON, or behind @ the name of a file of it, says.  Raises InputsError where it is none."""
    data = _json(text)
    if not isinstance(data, dict):
        raise InputsError(f"an input set of {kernel.title} is a JSON object of its inputs by name, not {text!r:.40}")
    reason, rng = "", np.random.default_rng(1)
    examples = chain(kernel.corners(), (kernel.sample(rng) for _ in range(_EXAMPLES)))
    for example in islice(examples, _EXAMPLES):
        try:
            inputs = _sized(kernel, _like(example, data, ""))
        except ValueError as error:
            reason = reason or str(error)
            continue
        if not is_valid(kernel, inputs):
            raise InputsError(f"{kernel.title} is not called with these inputs: they are not in its domain")
        return inputs
    raise InputsError(f"these are no inputs of {kernel.title}: {reason}")


def _json(text: str) -> Any:
    try:
        return json.loads(Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text)
    except (OSError, UnicodeDecodeError) as error:
        raise InputsError(f"{text[1:]} cannot be read ({getattr(error, 'strerror', None) or error})") from None
    except (ValueError, RecursionError) as error:
        raise InputsError(f"inputs are given as JSON, and {text!r:.40} is none ({error})") from None


def _like(example: Any, data: Any, name: str) -> Any:
    """The data as a value of the example's kind.  Raises ValueError for data of another kind."""
    if isinstance(example, (np.ndarray, *NUMBERS)) and data is not None:
        dtype = example.dtype.name if isinstance(example, np.ndarray | np.generic) else _WIDEST[type(example)]
        try:
            array = array_of(dtype, data)
        except (ValueError, TypeError, ArithmeticError) as error:
            raise ValueError(f"{name} is {data!r:.40}, and {error}") from None
        if array.ndim != np.ndim(example) and array.size:
            raise ValueError(f"{name} is {data!r:.40}, of {array.ndim} and not {np.ndim(example)} dimensions")
        missing = (0,) * (np.ndim(example) - array.ndim)
        return array.reshape(array.shape + missing) if isinstance(example, np.ndarray) else type(example)(array[()])
    wanted = plain(example)
    if isinstance(wanted, dict) and isinstance(data, dict):
        if wanted.keys() != data.keys():
            raise ValueError(f"{f'{name} has' if name else 'they are'} {', '.join(wanted)}, not {', '.join(data)}")
        return rebuilt(example, lambda key, part: _like(part, data[str(key)], f"{name}.{key}" if name else str(key)))
    if isinstance(example, tuple) and example and isinstance(data, list):
        several = example if hasattr(example, "_fields") else (example * len(data))[: len(data)]
        if len(several) == len(data):
            return rebuilt(several, lambda at, part: _like(part, data[int(at)], f"{name}[{at}]"))
    if data != wanted:
        raise ValueError(f"{name} is {data!r:.40}, not such as {wanted!r:.40}")
    return example


def _bits(inputs: Inputs) -> dict[Where, tuple[str, tuple[int, ...], bytes]]:
    """Every array and number by its place, to the bit."""
    arrays = {where: np.asarray(leaf) for where, leaf in leaves(inputs).items()}
    return {where: (array.dtype.str, array.shape, array.tobytes()) for where, array in arrays.items()}


def _sized(kernel: Kernel, inputs: dict[str, Any]) -> Inputs:
    """The inputs with their arrays in the extents of the signature.  Raises ValueError for an array of another size."""
    sized = dict(inputs)
    for pointer in kernel.signature.pointers if kernel.takes_inputs else ():
        array = inputs.get(pointer.name)
        if isinstance(array, np.ndarray):
            shape = extents(pointer, inputs)
            if array.size != prod(shape):
                raise ValueError(f"{pointer.name} has {array.size} elements, not {' x '.join(map(str, shape))}")
            sized[pointer.name] = array.reshape(shape)
    return sized
