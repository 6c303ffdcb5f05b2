"""A call looked at instruction by instruction: a session stands on any of them, goes back, and says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.lazy import lazy_exports

if TYPE_CHECKING:
    from sim.debug.calls import (
        DebugError,
        DebuggedCall,
        Trouble,
        debug_captured,
        debug_failing,
        debug_function,
        debug_kernel,
        debug_other_build,
    )
    from sim.debug.difference import SessionDifference
    from sim.debug.session import Emulated, Session
    from sim.debug.spots import Spot, SpotError
    from sim.debug.stepping import LARGEST_TABLE, step_through
    from sim.debug.timeline import Execution
    from sim.debug.way import LaneWay, WhyStep

__all__ = [
    "LARGEST_TABLE",
    "DebugError",
    "DebuggedCall",
    "Emulated",
    "Execution",
    "LaneWay",
    "Session",
    "SessionDifference",
    "Spot",
    "SpotError",
    "Trouble",
    "WhyStep",
    "debug_captured",
    "debug_failing",
    "debug_function",
    "debug_kernel",
    "debug_other_build",
    "step_through",
]

if not TYPE_CHECKING:
    _CALLS = ("DebugError", "DebuggedCall", "Trouble", "debug_captured", "debug_failing", "debug_function")
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            **dict.fromkeys((*_CALLS, "debug_kernel", "debug_other_build"), "sim.debug.calls"),
            **dict.fromkeys(("Emulated", "Session"), "sim.debug.session"),
            **dict.fromkeys(("LARGEST_TABLE", "step_through"), "sim.debug.stepping"),
            **dict.fromkeys(("LaneWay", "WhyStep"), "sim.debug.way"),
            **dict.fromkeys(("Spot", "SpotError"), "sim.debug.spots"),
            "Execution": "sim.debug.timeline",
            "SessionDifference": "sim.debug.difference",
        },
    )
