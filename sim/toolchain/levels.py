"""The optimisation levels that compilers have."""

from __future__ import annotations

from typing import Final

LEVELS: Final = ("O0", "O1", "O2", "O3", "Os", "Oz")
"""Of optimisation, as the compilers call them."""
