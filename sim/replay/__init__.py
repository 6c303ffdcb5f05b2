"""Captured calls run again: `replay_calls`.  `sim.check.capture_kernel` writes such calls of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.lazy import lazy_exports

if TYPE_CHECKING:
    from sim.call.captured import CaptureError
    from sim.replay.many import ReplayError, replay_calls
    from sim.replay.report import ReplayReport
    from sim.replay.run import Replayed

__all__ = ["CaptureError", "ReplayError", "ReplayReport", "Replayed", "replay_calls"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "CaptureError": "sim.call.captured",
            "ReplayError": "sim.replay.many",
            "ReplayReport": "sim.replay.report",
            "Replayed": "sim.replay.run",
            "replay_calls": "sim.replay.many",
        },
    )
