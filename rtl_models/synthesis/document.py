"""`python -m rtl_models.synthesis.document` makes the rows of SYNTHESIS.md anew that are older than their sources.

With `--mark` it makes none, and marks them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rtl_models.latencies import PROFILES
from rtl_models.synthesis.designs import Design, designs
from rtl_models.synthesis.digest import digest_of
from rtl_models.synthesis.figures import Figures, figures_of, tools
from rtl_models.synthesis.nextpnr import PART
from rtl_models.synthesis.report import megahertz
from rtl_models.units import LANE_COUNTS, UNITS
from sim.terminal.output import print_progress
from sim.terminal.script import parser_of, run_by_hand
from sim.toolchain.kept import write_whole
from sim.toolchain.tools import cache_directory

DOCUMENT: Final = Path(__file__).parents[1] / "SYNTHESIS.md"
OLDER: Final = "older"
"""In the place of the digest of a row that is of other sources, or of other tools."""
_BEGIN, _END = "<!-- figures -->\n", "<!-- end of figures -->\n"
_CLOCK: Final = 200
_COLUMNS: Final = (
    "design", "profile", "lanes", "latency", "cells", "MULT18X18D", "flip-flops", "DP16KD", "Fmax, MHz", "M elements/s",
    "sources",
)  # fmt: skip
_Row = tuple[str, ...]


def with_figures(document: str, figures: Sequence[Figures] = ()) -> str:
    """The document with these figures in the place of those of the same designs, and older rows marked as such."""
    before, _, rest = document.partition(_BEGIN)
    table, _, after = rest.partition(_END)
    made_by = f"{tools()}; {PART}; {_CLOCK} MHz asked for, seed 1."
    made, kept = {_key(one.design): _row(one) for one in figures}, rows_of(document)
    lines: list[_Row] = [_COLUMNS, ("---",) * 3 + ("---:",) * 7 + ("---",)]
    for design in table_designs():
        row = made.get(_key(design)) or kept.get(_key(design))
        if row is not None:
            is_todays = row[-1] == digest_of(design) and (_key(design) in made or table.startswith(made_by))
            lines.append((*row[: len(_COLUMNS) - 1], row[-1] if is_todays else OLDER))
    text = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    return f"{before}{_BEGIN}{made_by}\n\n{text}{_END}{after}"


def table_designs() -> list[Design]:
    """Those of the table, in its order: of one unit at one number of lanes all depths, which show what a stage buys."""
    shallow, *others = designs([], LANE_COUNTS, PROFILES)
    return [shallow, *designs([shallow.name], [shallow.lanes], UNITS[shallow.name].profiles[1:-1]), *others]


def rows_of(document: str) -> dict[_Row, _Row]:
    """The cells of each row, by design, profile and lanes."""
    table = document.partition(_BEGIN)[2].partition(_END)[0]
    rows = (
        tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in table.splitlines() if line.startswith("| `")
    )
    return {row[:3]: row for row in rows}


def _key(design: Design) -> _Row:
    return f"`{design.name}`", design.profile or "", str(design.lanes)


def _row(one: Figures) -> _Row:
    design, speed = one.design, one.elements_per_second
    size = (f"{number:,}" for number in one.size)
    reached = f"{speed / 1e6:,.0f}" if speed else "does not fit"
    return *_key(design), str(design.latency or ""), *size, megahertz(one), reached, digest_of(design)


def _write(figures: Sequence[Figures] = ()) -> None:
    write_whole(DOCUMENT, with_figures(DOCUMENT.read_text(), figures).encode())


def _make() -> None:
    """Row by row, so that what is finished is kept; the narrow ones first, which take less time."""
    rows = rows_of(DOCUMENT.read_text())
    older = [design for design in table_designs() if rows.get(_key(design), (OLDER,))[-1] == OLDER]
    for number, design in enumerate(sorted(older, key=lambda design: design.lanes), 1):
        found = figures_of(design, _CLOCK, [1], cache_directory())
        _write([found])
        print_progress(f"{number}/{len(older)} {design.title}: {megahertz(found)} MHz")


def main() -> None:
    """Mark the older rows, and make them anew."""
    parser = parser_of(__doc__)
    parser.add_argument("--mark", action="store_true", help="make no rows, and mark the older ones")
    marks_only = parser.parse_args().mark
    _write()
    if not marks_only:
        _make()


if __name__ == "__main__":
    run_by_hand(main)
