"""The names of the built-in kernels: one folder each."""

from __future__ import annotations

from pathlib import Path
from pkgutil import iter_modules


def kernel_names() -> tuple[str, ...]:
    """The names of the built-in kernels, sorted."""
    folder = Path(__file__).parent
    return tuple(sorted(module.name for module in iter_modules([str(folder)]) if module.ispkg))
