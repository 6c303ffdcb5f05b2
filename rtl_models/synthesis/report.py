"""What a run of synthesis has found: as a table on the terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rtl_models.synthesis.designs import Design
from rtl_models.synthesis.figures import Figures
from rtl_models.synthesis.nextpnr import PART
from sim.toolchain.shell import typed


@dataclass(frozen=True)
class SynthesisReport:
    """The designs that were finished, of those that were asked for, and how they were made.

    `asked` are the words that asked for them; `clock` is what nextpnr was to reach, in MHz.
    """

    figures: Sequence[Figures]
    asked: Sequence[str]
    tools: str
    clock: int
    seeds: Sequence[int]
    interrupted: bool = False

    def command(self, *asked: str) -> str:
        """What makes figures again of the same tools."""
        how = ("--seeds", str(len(self.seeds)), "--clock", str(self.clock))
        return typed(["lanewise", "rtl", "synth", *asked, *how])

    def as_json(self) -> dict[str, object]:
        """For machines; frequencies are MHz."""
        return {
            "tools": self.tools,
            "part": PART,
            "clock_mhz": self.clock,
            "seeds": list(self.seeds),
            "interrupted": self.interrupted,
            "reproduce": self.command(*self.asked),
            "designs": [self._design(figures) for figures in self.figures],
        }

    def _design(self, figures: Figures) -> dict[str, object]:
        design, slowest = figures.design, figures.placed[0] if figures.placed else None
        return {
            "design": design.name,
            "profile": design.profile,
            "lanes": design.lanes,
            "latency": design.latency,
            **figures.size._asdict(),
            "fmax_mhz": figures.megahertz,
            "fmax_mhz_of_seeds": [placed.megahertz for placed in figures.placed],
            "elements_per_cycle": design.lanes,
            "elements_per_second": figures.elements_per_second,
            "slowest_path": [slowest.slowest_from, slowest.slowest_to] if slowest else None,
            "refusal": figures.refusal,
            "reproduce": self.command(*asked_for(design)),
        }


def asked_for(design: Design) -> list[str]:
    """The words that ask for one design."""
    own: list[str] = []
    if design.adapter:
        own = ["--adapter", str(design.adapter.file)]
    elif design.folder:
        own = ["--modules", str(design.folder)]
    profile = ("--profile", design.profile) if design.profile else ()
    return [design.name, "--lanes", str(design.lanes), *profile, *own]


def show(report: SynthesisReport, console: Console) -> None:
    """The table, what it is made with, and what nextpnr refuses."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("design", overflow="fold")
    for name in _COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for one in report.figures:
        latency, speed = one.design.latency, one.elements_per_second
        sizes = (f"{number:,}" for number in (one.design.lanes, *one.size))
        rate = f"{speed / 1e6:,.0f}" if speed else "-"
        table.add_row(one.design.module, str(latency or ""), *sizes, megahertz(one), rate)
    console.print(table)
    seeds = f"{'seeds 1 to' if len(report.seeds) > 1 else 'seed'} {report.seeds[-1]}"
    own = any(one.design.folder for one in report.figures)
    measured = "if it takes one" if own else "as the benches measure it"
    notes = [
        *(f"{one.design.title}: nextpnr refuses it: {one.refusal}" for one in report.figures if one.refusal),
        *(_slowest(one) for one in report.figures if own and one.placed),
        *(["INTERRUPTED: what was finished is kept"] if report.interrupted else []),
        f"{report.tools}; {PART}; {report.clock} MHz asked for, {seeds}",
        f"M/s: million elements a second, a beat of so many lanes in every cycle, {measured}",
        f"reproduce: {report.command(*report.asked)}",
    ]
    for line in notes:
        console.print(escape(line), highlight=False, soft_wrap=True)


def _slowest(figures: Figures) -> str:
    slowest = figures.placed[0]
    return f"{figures.design.title}: the slowest way leads from {slowest.slowest_from} to {slowest.slowest_to}"


_COLUMNS: Final = ("latency", "lanes", "cells", "18x18", "FF", "RAM", "MHz", "M/s")


def megahertz(figures: Figures) -> str:
    """The median of the seeds, and their range where they differ: "92.1 (90.5..94.0)"."""
    if figures.megahertz is None:
        return "-"
    low, high = figures.placed[0].megahertz, figures.placed[-1].megahertz
    return f"{figures.megahertz:.1f}" + (f" ({low:.1f}..{high:.1f})" if low < high else "")
