"""Results shown to people, on a terminal and in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.lazy import lazy_exports

if TYPE_CHECKING:
    from sim.view.cycles.report import show_results
    from sim.view.lane_table import LaneTable
    from sim.view.report import show_report
    from sim.view.rounding.conventions import show_conventions, show_separated

__all__ = [
    "LaneTable",
    "show_conventions",
    "show_report",
    "show_results",
    "show_separated",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "LaneTable": "sim.view.lane_table",
            "show_conventions": "sim.view.rounding.conventions",
            "show_report": "sim.view.report",
            "show_results": "sim.view.cycles.report",
            "show_separated": "sim.view.rounding.conventions",
        },
    )
