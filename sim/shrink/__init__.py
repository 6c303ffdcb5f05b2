"""Failing inputs made short and simple, as long as they still fail in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.lazy import lazy_exports

if TYPE_CHECKING:
    from sim.shrink.failing import Shrunk, shrink

__all__ = [
    "Shrunk",
    "shrink",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "Shrunk": "sim.shrink.failing",
            "shrink": "sim.shrink.failing",
        },
    )
