"""`lanewise rtl cover`: branches and expressions of the hardware that its benches execute."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from isa.errors import MISMATCH
from rtl_models.code_coverage.points import Counts
from rtl_models.code_coverage.run import counts_of, problems, report
from rtl_models.cores.names import CORES
from rtl_models.operators import OPERATORS
from rtl_models.tools.sources import module_names
from rtl_models.units import UNITS
from sim.terminal.output import fail, print_progress, print_text
from sim.view.sentences import counted


def cover(
    names: Annotated[list[str] | None, typer.Argument(help="Lanes, units, cores; default: all.")] = None,
) -> None:
    """Count the branches and expressions of the modules that their benches execute.

    What is not executed must stand, with its reason, in rtl_models/code_coverage/gaps.toml, and nothing else may.
    Exit code 1 where it is otherwise or a bench fails.
    """
    possible = [*OPERATORS, *UNITS, *CORES]
    if unknown := [name for name in names or () if name not in possible]:
        fail(f"there is no {', '.join(unknown)}; give some of {', '.join(possible)}")
    started, wanted = time.monotonic(), names or possible
    counts = sum((counts_of(name) for name in wanted), Counts())
    wrong = problems(counts, module_names() if set(wanted) == set(possible) else [])
    last = f"{sum(n > 0 for n in counts.values())} of {counted(len(counts), 'point')} executed"
    print_text("\n".join([*report(counts), *wrong, last]))
    print_progress(f"{time.monotonic() - started:.0f} s")
    raise typer.Exit(MISMATCH if wrong else 0)
