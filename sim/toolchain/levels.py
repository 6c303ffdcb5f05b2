"""The optimisation levels that compilers have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

LEVELS: Final = ("O0", "O1", "O2", "O3", "Os", "Oz")
"""Of optimisation, as the compilers call them."""


def require_levels(levels: Sequence[str]) -> None:
    """Raises ValueError for what is none of them, and for one text where several belong."""
    if isinstance(levels, str):
        raise ValueError(f"levels takes some of {', '.join(LEVELS)} as a tuple, such as ({levels!r},)")
    if unknown := [level for level in levels if level not in LEVELS]:
        raise ValueError(f"levels takes some of {', '.join(LEVELS)}, not {unknown[0]!r}")


def level_flags(levels: Sequence[str]) -> tuple[str, ...]:
    """The compiler's flags for levels, such as "-O2", which may be given for "O2".  Raises ValueError for others."""
    names = levels if isinstance(levels, str) else [str(level).removeprefix("-") for level in levels]
    require_levels(names)
    return tuple(f"-{name}" for name in names)
