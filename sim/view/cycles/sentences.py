"""Sentences that the terminal and the page share."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sim.timing.analysis.error_range import NONE, ErrorRange, error_range, range_of
from sim.timing.analysis.report import UnmodelledRow
from sim.timing.model.core import Core
from sim.view.sentences import counted


def unmodelled(row: UnmodelledRow) -> str:
    """What is assumed of a class without sourced figures, without a full stop."""
    verb = "is" if row.executed == 1 else "are"
    what = f"{counted(row.executed, 'instruction')} of the class {row.timing_class!r} {verb} {row.status}"
    return f"{what}; assumed: {row.assumed}"


def range_in_words(found: ErrorRange) -> str:
    """Such as "-8 to +19 %"."""
    return f"{_signed(found.low)} to {_signed(found.high)} %"


def unseen_in_words(core: Core) -> Iterator[str]:
    """The errors on kernels out of sight: how these were split, all, and each family; or that there are none."""
    of = error_range(core)
    if of is None:
        yield NONE
        return
    yield f"{range_in_words(of)} on {counted(of.rows, 'measurement')}, split {core.about.split}"
    for one in core.about.unseen:
        if found := range_of([one]):
            note = f"; {one.note}" if one.note else ""
            absolute = f"{counted(one.rows, 'measurement')}, mean absolute error {float(one.mean_absolute):g} %"
            yield f"{one.project}, {one.family}: {range_in_words(found)} on {absolute}{note}"


def _signed(share: Fraction) -> str:
    percent = round(100 * share)
    return f"{percent:+}" if percent else "0"
