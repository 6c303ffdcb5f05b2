"""How far an estimate may be off, by measured kernels that were out of sight when rules were chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Final

from sim.timing.analysis.report import Json
from sim.timing.model.core import Core, Unseen
from sim.timing.model.operation import operations_on
from sim.timing.model.stream import Executed
from sim.timing.native.array_stream import array_stream

NONE: Final = "no measurements of unseen kernels"


@dataclass(frozen=True)
class ErrorRange:
    """Errors, (estimate - measured) / measured, from `low` (0 or less) to `high` (0 or more), of so many `rows`.

    A family's go from its mean error less the mean absolute error to the mean error and as much more, and no farther
    than the largest; those of several are the means of theirs, each row counted once.  Where no mean was kept it is
    taken as 0.  It is no bound: kernels of other kinds may be farther off.
    """

    low: Fraction
    high: Fraction
    rows: int

    def cycles(self, estimate: int) -> tuple[int, int]:
        """What is measured where the estimate is that: at least, at most, rounded to whole cycles."""
        return round(estimate / (1 + self.high)), round(estimate / (1 + self.low))


def range_of(families: Sequence[Unseen]) -> ErrorRange | None:
    """That of these kernels; None of none."""
    rows = sum(one.rows for one in families)
    if not rows:
        return None
    ends = [(_ends(one), one.rows) for one in families]
    low, high = (sum((of[k] * count for of, count in ends), Fraction(0)) / rows for k in (0, 1))
    return ErrorRange(low, high, rows)


def error_range(core: Core) -> ErrorRange | None:
    """That of a core; None where no kernel was kept out of sight, or the core was changed."""
    return range_of(core.about.unseen)


def _ends(one: Unseen) -> tuple[Fraction, Fraction]:
    mean = one.mean or 0
    most = abs(one.largest) if one.largest is not None else mean + one.mean_absolute
    low, high = max(mean - one.mean_absolute, -most), min(mean + one.mean_absolute, most)
    return min(low, 0) / Fraction(100), max(high, 0) / Fraction(100)


def bases(stream: Sequence[Executed], core: Core) -> dict[str, int]:
    """How many executed instructions have figures that were measured, are a model's, inferred or assumed."""
    arrays, operations = array_stream(stream), operations_on(core)
    found: Counter[str] = Counter()
    for (_, instruction), times in zip(arrays.sites, arrays.executions.tolist(), strict=True):
        found[operations[instruction].timing.basis] += times
    return dict(found.most_common())


def error_as_json(core: Core) -> Json:
    """For machines: errors in percent, of all and by family, and how the kernels were split; else the reason."""
    of = error_range(core)
    if of is None:
        return {"percent": None, "reason": NONE, "rows": 0, "families": [], "split": ""}
    families = [
        {**asdict(one), "mean_absolute": float(one.mean_absolute), "percent": _percents(found)}
        for one in core.about.unseen
        if (found := range_of([one]))
    ]
    return {"percent": _percents(of), "rows": of.rows, "families": families, "split": core.about.split}


def _percents(of: ErrorRange) -> list[float]:
    return [float(100 * of.low), float(100 * of.high)]
