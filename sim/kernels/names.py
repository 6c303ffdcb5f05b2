"""The names of the built-in kernels, one folder each, and of their modes."""

from __future__ import annotations

from pathlib import Path
from pkgutil import iter_modules
from typing import NoReturn, TypeVar

Mode = TypeVar("Mode")


class Modes(dict[str, Mode]):
    """What each mode of a kernel is.  `ValueError` for a name that is none of them lists those that are.

    >>> Modes(plain=1, fused=2)["fast"]
    Traceback (most recent call last):
    ValueError: unknown mode 'fast': give one of plain, fused
    """

    def __missing__(self, name: str) -> NoReturn:
        raise ValueError(f"unknown mode {name!r}: give one of {', '.join(self)}")


def kernel_names() -> tuple[str, ...]:
    """The names of the built-in kernels, sorted."""
    folder = Path(__file__).parent
    return tuple(sorted(module.name for module in iter_modules([str(folder)]) if module.ispkg))
