"""`python -m rtl_models.synthesis.document` writes the figures of all designs into SYNTHESIS.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rtl_models.synthesis.designs import PROFILES, designs
from rtl_models.synthesis.figures import Figures, figures_of, tools
from rtl_models.synthesis.nextpnr import PART
from rtl_models.synthesis.report import megahertz
from rtl_models.units import LANE_COUNTS
from sim.terminal.output import print_progress
from sim.toolchain.kept import write_whole
from sim.toolchain.tools import cache_directory

DOCUMENT: Final = Path(__file__).parents[1] / "SYNTHESIS.md"
_BEGIN, _END = "<!-- figures -->\n", "<!-- end of figures -->\n"
_CLOCK: Final = 200
_COLUMNS: Final = (
    "design", "profile", "lanes", "latency", "cells", "MULT18X18D", "flip-flops", "DP16KD", "Fmax, MHz", "M elements/s",
)  # fmt: skip


def with_figures(document: str, figures: Sequence[Figures]) -> str:
    """The document with these figures in the place of those that it has."""
    before, _, rest = document.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    lines: list[tuple[str, ...]] = [_COLUMNS, ("---",) * 3 + ("---:",) * 7]
    for one in figures:
        design, speed = one.design, one.elements_per_second
        known = (f"`{design.name}`", design.profile or "", str(design.lanes), str(design.latency or ""))
        size = (f"{number:,}" for number in one.size)
        lines.append((*known, *size, megahertz(one), f"{speed / 1e6:,.0f}" if speed else "does not fit"))
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    made_by = f"{tools()}; {PART}; {_CLOCK} MHz asked for, seed 1.\n\n"
    return f"{before}{_BEGIN}{made_by}{table}{_END}{after}"


def _all() -> list[Figures]:
    found = []
    for design in designs([], LANE_COUNTS, PROFILES):
        found.append(figures_of(design, _CLOCK, [1], cache_directory()))
        print_progress(f"{design.title}: {megahertz(found[-1])} MHz")
    return found


if __name__ == "__main__":
    write_whole(DOCUMENT, with_figures(DOCUMENT.read_text(), _all()).encode())
