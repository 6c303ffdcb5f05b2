"""How long something takes on named cores, in one call: cycles, nanoseconds and GOPS, beside measured cycles."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from isa.errors import LanewiseError
from isa.processors import PROCESSORS
from sim.call.needs import lacking, needs_of
from sim.call.single import ArgumentError
from sim.cycles.cores import REAL_CORES, cores_of
from sim.cycles.input import Timed, TimedCall, kernel_calls
from sim.cycles.limits import LIMIT
from sim.cycles.options import TimingRequest, UsageError, find_timed
from sim.cycles.result import TimedResult, time_on
from sim.cycles.work import Work, work_of
from sim.kernels.kernel import Kernel
from sim.timing.analysis.report import Json
from sim.timing.model.core import Core
from sim.toolchain.levels import level_flags

_COLUMNS: Final = ("timed", "core", "cycles")
Argument = str | int | float | np.generic | npt.NDArray[Any] | Sequence[Any]
"""Of a function: the text of it, a number, or an array."""
Measured = Mapping[tuple[str, str], float]
"""Cycles that were measured, by what was timed (such as "kernel.c -O2") and by core."""


class MeasuredError(LanewiseError):
    """A file of measured cycles that cannot be read; the message is one sentence."""


@dataclass(frozen=True, kw_only=True)
class EstimateRow:
    """One call or loop on one core.

    `per_unit` are cycles for each unit of `work` (None: there is none); nanoseconds and `gops`, 10^9 operations a
    second, are those at `megahertz` (None: nobody gave it).  `measured` are cycles, None where none were.  `lacks` are
    the extensions that the code needs and the core has not, so that it does not run there; "" where it does.
    """

    result: TimedResult
    work: Work
    megahertz: Fraction | None
    measured: float | None
    lacks: str = ""

    def __repr__(self) -> str:
        """One line: what a cell of a notebook shows of it."""
        return f"<{self.result.title} on {self.result.report.core}: {self.result.cycles:,} cycles>"

    @property
    def range(self) -> tuple[int, int] | None:
        """The cycles that may be measured, by the errors on unseen kernels (`sim.cycles.error_range`), or None."""
        known = self.result.error_range
        return known.cycles(self.result.cycles) if known else None

    @property
    def per_unit(self) -> float | None:
        """Cycles for each byte, product or output, as `work.unit` says."""
        return self.result.cycles / self.work.units if self.work.units else None

    @property
    def nanoseconds(self) -> float | None:
        """Of the whole call or loop."""
        return float(1000 * self.result.cycles / self.megahertz) if self.megahertz else None

    @property
    def gops(self) -> float | None:
        """Products and their additions, in 10^9 a second; None without a clock, or where nothing is multiplied."""
        taken = self.nanoseconds
        return self.work.operations / taken if taken and self.work.operations else None

    @property
    def residual(self) -> float | None:
        """How much longer the estimate is than what was measured, as a share of the latter: -0.1 is 10 % short."""
        return self.result.cycles / self.measured - 1 if self.measured else None

    def as_json(self) -> Json:
        """The figures, for machines."""
        return {
            "timed": self.result.title,
            "core": self.result.report.core,
            "cycles": self.result.cycles,
            "range": list(self.range) if self.range else None,
            "unit": self.work.unit,
            "units": self.work.units,
            "cycles_per_unit": self.per_unit,
            "nanoseconds": self.nanoseconds,
            "gops": self.gops,
            "measured": self.measured,
            "residual": self.residual,
            "stalls": dict(self.result.report.stalls),
        }


@dataclass(frozen=True, repr=False)
class CyclesEstimate:
    """What was timed, a row for each call or loop on each core; printed, and in a notebook, a table.

    `sim.plots` draws `stalls` (`plot_stalls`) and `cycles` (`plot_comparison`).
    """

    title: str
    rows: tuple[EstimateRow, ...]

    def row(self, core: str, timed: str | None = None) -> EstimateRow:
        """That of a core: of what is named, or of what was timed first.  Raises KeyError."""
        for one in self.rows:
            if one.result.report.core == core and timed in (None, one.result.title):
                return one
        raise KeyError(f"{timed or self.title} on {core}")

    @property
    def stalls(self) -> dict[str, dict[str, int]]:
        """Of what was timed first, the cycles by core and reason."""
        first = [row for row in self.rows if row.result.title == self.rows[0].result.title]
        return {row.result.report.core: dict(row.result.report.stalls) for row in first}

    @property
    def cycles(self) -> dict[str, dict[str, float]]:
        """By core and by what was timed; beside it what was measured, where it was."""
        found: dict[str, dict[str, float]] = {}
        for row in self.rows:
            of_core = found.setdefault(row.result.report.core, {})
            of_core[row.result.title] = row.result.cycles
            if row.measured is not None:
                of_core[f"{row.result.title}, measured"] = row.measured
        return found

    @property
    def residual_by_reason(self) -> dict[str, float]:
        """Estimated less measured cycles, by the reasons of the estimated ones, shared out as these are.

        Of the rows that were measured: above 0 where the estimates are too long.  It says where to look first: which
        reason comes with the error, not that it causes it.
        """
        found: dict[str, float] = {}
        for row in self.rows:
            if row.measured is None:
                continue
            stalls = row.result.report.stalls
            excess = row.result.cycles - row.measured
            for reason, cycles in stalls.items():
                found[reason] = found.get(reason, 0) + excess * cycles / sum(stalls.values())
        return dict(sorted(found.items(), key=lambda one: -abs(one[1])))

    def as_json(self) -> Json:
        """Everything, for machines."""
        rows = [row.as_json() for row in self.rows]
        return {"title": self.title, "rows": rows, "residual_by_reason": self.residual_by_reason}

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Headings and cells, as text; columns in which nothing is known are left out."""
        rows = [
            (
                row.result.title,
                row.result.report.core,
                f"{row.result.cycles:,}" + (f" if it had {row.lacks}" if row.lacks else ""),
                f"{row.range[0]:,}..{row.range[1]:,}" if row.range else "unknown",
                "" if row.per_unit is None else f"{row.per_unit:.3g} per {row.work.unit}",
                "" if row.nanoseconds is None else f"{row.nanoseconds:,.0f}",
                "" if row.gops is None else f"{row.gops:.3g}",
                "" if row.measured is None else f"{row.measured:,.10g}",
                "" if row.residual is None else f"{100 * row.residual:+.1f} %",
            )
            for row in self.rows
        ]
        heads = ("timed", "core", "cycles", "range", "each", "ns", "GOPS", "measured", "residual")
        kept = [at for at in range(len(heads)) if at < 4 or any(row[at] for row in rows)]
        return tuple(heads[at] for at in kept), [tuple(row[at] for at in kept) for row in rows]

    def __repr__(self) -> str:
        heads, rows = self.table()
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in (heads, *rows))
        return "\n".join([self.title, *lines])

    def _repr_html_(self) -> str:
        heads, rows = self.table()
        cells = "".join(f"<th>{escape(head)}</th>" for head in heads)
        lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<p><b>{escape(self.title)}</b></p><table><tr>{cells}</tr>{lines}</table>"


def estimate(
    what: Kernel | str | Path,
    symbol: str | None = None,
    arguments: Sequence[Argument] = (),
    *,
    cores: str | Core | Sequence[str | Core] = REAL_CORES,
    levels: Sequence[str] = ("O2",),
    flags: Sequence[str] = (),
    length: int | None = None,
    seed: int | None = None,
    count: int | None = None,
    megahertz: float | None = None,
    measured: Path | str | Measured | None = None,
) -> CyclesEstimate:
    """How long a kernel, a function of a file, a loop in assembly or a captured call takes on these cores.

    `what` is a kernel, its name or file, or another file that `lanewise cycles` takes, with the function and its
    arguments where it needs them: texts as there, numbers, or arrays of numbers.  `length` and `seed` are of a kernel's
    call, `count` iterations of a loop; `levels` are "O0" to "Oz".
    Nanoseconds and GOPS are those at `megahertz`, else at the clock of the core file, if it has one.  `measured` are
    cycles, or the path of a CSV file with columns timed, core, cycles.  All cycles are with hot caches.  Raises
    UsageError for what does not go together, ArgumentError, ValueError for other levels, CoreError, MeasuredError, and
    what compiling and calling raise.
    """
    beside = measured if isinstance(measured, Mapping) else read_measured(Path(measured)) if measured else {}
    chosen, compiled_at = cores_of(cores), level_flags(levels)
    if isinstance(what, Kernel):
        others = {"symbol": symbol is not None, "arguments": len(arguments) > 0, "count": count is not None}
        if given := [name for name, is_given in others.items() if is_given]:
            raise UsageError(f"{given[0]} is for a function or a loop, and {what.title} is a kernel")
        title, timed = (
            what.title,
            list[Timed](kernel_calls(what, compiled_at, flags, length, 1 if seed is None else seed, LIMIT)),
        )
    else:
        wanted = TimingRequest(
            what=str(what), symbol=symbol, arguments=tuple(map(_text_of, arguments)), levels=compiled_at,
            flags=tuple(flags), limit=LIMIT, length=length, seed=seed, count=count,
        )  # fmt: skip
        try:
            group = find_timed(wanted)
        except (UsageError, ArgumentError) as error:
            keywords = [name for name, given in (("symbol", symbol), ("arguments", arguments)) if not given]
            missing = f": give {' and '.join(f'{name}=' for name in keywords)}" if keywords else ""
            raise type(error)(f"{error}{missing}") from None
        title, timed = group.title, list(group.timed)
    results = [[time_on(one, core) for core in chosen] for one in timed]
    return estimate_of(title, timed, results, megahertz, beside)


def _text_of(argument: Argument) -> str:
    """An argument as `lanewise run` takes it."""
    if isinstance(argument, str):
        return argument
    numbers = np.asarray(argument)
    return json.dumps(numbers.tolist()) if numbers.ndim else str(numbers.item())


def estimate_of(
    title: str,
    timed: Sequence[Timed],
    results: Sequence[Sequence[TimedResult]],
    megahertz: float | None,
    measured: Measured,
    elements: int | None = None,
) -> CyclesEstimate:
    """The estimate of what was timed already: for each call or loop its results, one for each core.

    Somebody may say how many `elements` a call, or an iteration, works on.
    """
    rows = []
    for one, of_cores in zip(timed, results, strict=True):
        if isinstance(one, TimedCall):
            work = work_of(one.stream, one.elements)
        else:
            work = Work(*(one.count * amount for amount in work_of(one.loop.body, one.elements)))
        if elements is not None:
            work = work._replace(elements=one.elements if isinstance(one, TimedCall) else one.count * one.elements)
        needs = needs_of(one.code, one.image)
        for result in of_cores:
            clock = result.schedule.core.clock
            own = clock.megahertz if clock else None
            rows.append(
                EstimateRow(
                    result=result,
                    work=work,
                    megahertz=own if megahertz is None else Fraction(megahertz),
                    measured=measured.get((one.title, result.report.core)),
                    lacks=", ".join(
                        lack.need.feature
                        for lack in lacking(needs, [name for name in (result.report.core,) if name in PROCESSORS])
                    ),
                )
            )
    return CyclesEstimate(title, tuple(rows))


def read_measured(path: Path) -> dict[tuple[str, str], float]:
    """Measured cycles of a CSV file with columns timed, core, cycles.  Raises MeasuredError."""
    found = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if missing := [name for name in _COLUMNS if name not in (reader.fieldnames or ())]:
                raise MeasuredError(f"{path} has no column {missing[0]!r}; its columns are {', '.join(_COLUMNS)}")
            for number, line in enumerate(reader, 2):
                cycles = _cycles(line["cycles"])
                if cycles is None:
                    raise MeasuredError(f"{path}:{number}: {line['cycles']!r} is not a number of cycles above 0")
                found[line["timed"], line["core"]] = cycles
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise MeasuredError(f"{path} cannot be read: {reason}") from None
    if not found:
        raise MeasuredError(f"{path} has no measured cycles")
    return found


def _cycles(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 < number < float("inf") else None
