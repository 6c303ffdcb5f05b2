"""How much a check compares."""

from __future__ import annotations

from operator import index
from typing import Any

SHORT_LANES = 2_000
"""Random output lanes of input sets that are short, of every length; what is wanted beyond comes from long ones."""
USUAL_LANES, USUAL_SETS = 50_000, 300
"""Of a check that is told no number: random output lanes; where input sets have few each, no more sets than that beyond
the short ones, for the time goes by calls."""


def require_amounts(**amounts: Any) -> None:
    """Raises ValueError, which names it, for what is no whole number of 0 or more."""
    for name, amount in amounts.items():
        try:
            is_amount = not isinstance(amount, bool) and index(amount) >= 0
        except TypeError:
            is_amount = False
        if not is_amount:
            raise ValueError(f"{name} takes a whole number of 0 or more, not {amount!r:.60}")
