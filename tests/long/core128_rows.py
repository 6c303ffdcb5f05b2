"""Every row of `core128` proved: what its SystemVerilog computes is what the instructions of its words say.

PYTHONPATH=tests .venv/bin/python -m long.core128_rows [rows of a unit] [seconds a row]
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Final

from rtl_models.cores.core128.rows import all_rows
from rtl_models.cores.core128.units import UNITS, numbered
from rtl_models.formal.core_rows import RowClaims, decided_row, design_of_rows
from rtl_models.formal.equations.smt2 import UnreadableEquations
from rtl_models.formal.equations.written import derive_equations
from sim.terminal.script import at_least_one, parser_of, run_by_hand
from sim.toolchain.tools import cache_directory

AT_ONCE: Final = 10
"""Rows in a module that yosys reads."""
VARIANTS: Final = 3
"""Words of a row whose instruction is compared with its expressions."""


def main() -> int:
    """The exit code: 1 where a row is wrong; one that is not decided in time is told."""
    parser = parser_of(__doc__)
    parser.add_argument("rows", nargs="?", type=at_least_one, default=10_000, help="of a unit, at most")
    parser.add_argument("seconds", nargs="?", type=at_least_one, default=60, help="for a row")
    given = parser.parse_args()
    most, seconds = given.rows, given.seconds
    rng, outcomes, wrong = Random(1), Counter[str](), 0
    for unit in UNITS.values():
        rows = numbered(all_rows(), unit.name)
        rows = rng.sample(rows, min(most, len(rows)))
        for first in range(0, len(rows), AT_ONCE):
            part = rows[first : first + AT_ONCE]
            equations = derive_equations(design_of_rows(unit, part), cache_directory())
            for number, row in part:
                indices = rng.sample(row.indices, min(VARIANTS, len(row.indices)))
                try:
                    finding = decided_row(RowClaims(unit, number, row), indices, equations, seconds)
                    outcome, said = finding.outcome, f"{finding.reason} {dict(finding.values) or ''}"
                except UnreadableEquations as error:
                    outcome, said = "unknown", str(error)
                outcomes[outcome] += 1
                wrong += outcome == "counter-example"
                if outcome != "proved":
                    print(f"{unit.name} row {number}, {row.form}: {outcome} {said}", flush=True)
        print(f"{unit.name}: {len(rows)} rows; in all {dict(outcomes)}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    run_by_hand(main)
