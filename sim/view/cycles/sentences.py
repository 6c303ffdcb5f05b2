"""Sentences that the terminal and the page share."""

from __future__ import annotations

from sim.timing.analysis.report import UnmodelledRow
from sim.view.sentences import counted


def unmodelled(row: UnmodelledRow) -> str:
    """What is assumed of a class without sourced figures, without a full stop."""
    verb = "is" if row.executed == 1 else "are"
    what = f"{counted(row.executed, 'instruction')} of the class {row.timing_class!r} {verb} {row.status}"
    return f"{what}; assumed: {row.assumed}"
