"""A call looked at instruction by instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.lazy import lazy_exports

if TYPE_CHECKING:
    from sim.debug.stepping import LARGEST_TABLE, step_through

__all__ = ["LARGEST_TABLE", "step_through"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(
        __name__, {"LARGEST_TABLE": "sim.debug.stepping", "step_through": "sim.debug.stepping"}
    )
