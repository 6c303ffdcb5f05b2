"""The integers that the code of a kernel holds: its golden reference, and its sources."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from inspect import unwrap
from itertools import islice
from types import CodeType, FunctionType
from typing import Any, Final

from sim.kernels.kernel import Kernel

_LITERAL: Final = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F]{1,16}|\d{1,19})[uUlL]*(?![\w.])")
_MOST: Final = 400
"""Integers of one kernel at most: a table of numbers is none of constants."""


def constants_of(kernel: Kernel) -> list[int]:
    """The integers in the golden reference and its steps, then those of the sources.

    Each once, in the order in which they are met.  What golden and steps call in the same module belongs to them.
    """
    seen: set[Any] = set()
    found = [number for function in (kernel.golden, kernel.steps) for number in _of_function(function, seen)]
    for source in kernel.sources:
        if source.suffix in (".c", ".cc", ".cpp", ".h", ".s", ".S"):
            text = source.read_text(encoding="utf-8", errors="replace")
            found += [int(literal[1], 0) for literal in islice(_LITERAL.finditer(text), _MOST) if _is_c(literal[1])]
    return list(dict.fromkeys(found))[:_MOST]


def _is_c(literal: str) -> bool:
    """Whether Python reads it as C does: octal numbers are left out."""
    return literal[:2] in ("0x", "0X") or literal == "0" or not literal.startswith("0")


def _of_function(function: Any, seen: set[Any]) -> Iterator[int]:
    if isinstance(function, partial):
        yield from _integers((*function.args, *function.keywords.values()))
        function = function.func
    function = unwrap(function)
    if not isinstance(function, FunctionType) or function in seen:
        return
    seen.add(function)
    names = function.__globals__
    yield from _integers(_of_code(function.__code__))
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell.cell_contents is not function]
    for value in (*cells, *(names[name] for name in _names(function.__code__) if name in names)):
        yield from _integers((value,))
        if (isinstance(value, FunctionType) and value.__module__ == function.__module__) or isinstance(value, partial):
            yield from _of_function(value, seen)


def _of_code(code: CodeType) -> Iterator[Any]:
    for constant in code.co_consts:
        yield from _of_code(constant) if isinstance(constant, CodeType) else (constant,)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _integers(values: Any) -> Iterator[int]:
    """Those among values, of numpy too, and in tuples."""
    for value in values:
        if isinstance(value, tuple):
            yield from _integers(value)
        elif not isinstance(value, bool) and hasattr(value, "__index__") and getattr(value, "ndim", 0) == 0:
            yield int(value)
