"""What decides a bench: it fails by an exception that no setting of Python leaves out, as -O does an assert."""

from __future__ import annotations


def demand(holds: bool, message: str) -> None:
    """Raise AssertionError, which cocotb tells as a failure, where something does not hold."""
    if not holds:
        raise AssertionError(message)
