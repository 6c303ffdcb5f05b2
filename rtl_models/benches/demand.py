"""What decides a bench: it fails by an exception that no setting of Python leaves out, as -O does an assert."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_SHOWN: Final = 8


def demand(holds: bool, message: str) -> None:
    """Raise AssertionError, which cocotb tells as a failure, where something does not hold."""
    if not holds:
        raise AssertionError(message)


def demand_met(unmet: Sequence[str], where: str = "") -> None:
    """Raise AssertionError where coverpoints were never met; it names the first few."""
    more = f"; and {len(unmet) - _SHOWN} more" if len(unmet) > _SHOWN else ""
    demand(not unmet, f"never met{where}: {'; '.join(unmet[:_SHOWN])}{more}")
