"""Faults of the second set held out that no input of their domain shows, each with a proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def _the_lowest_bit_carries_nothing() -> bool:
    """Rounded off by 10 bits, by the residues of which there are."""
    return all((number >> 1 << 1) + 512 >> 10 == number + 512 >> 10 for number in range(1 << 11))


CANNOT_SHOW: Mapping[str, Callable[[], bool]] = {"normalize_s16 wide: shift": _the_lowest_bit_carries_nothing}
"""By title of the kernel."""
