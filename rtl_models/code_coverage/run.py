"""Branches and expressions of the hardware that its benches execute, as Verilator counts them.

    python -m rtl_models.code_coverage                    every lane and unit
    python -m rtl_models.code_coverage sqrshl quantize_down

What is not executed must stand in `gaps.toml` with its reason, and nothing else may stand there.

Exit codes: 0 so it is, 1 it is not or a bench fails, 2 wrong usage or a design that cannot be built, 3 something is
missing from the environment, 130 interrupted.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from rtl_models import harness, run, unit_harness
from rtl_models.build_cache import COUNTS, Design, built
from rtl_models.code_coverage.gaps import GAPS, dead, read_gaps, unexplained
from rtl_models.code_coverage.points import KINDS, Counts, points_in
from rtl_models.exit_codes import exit_code
from rtl_models.operators import OPERATORS, Operator
from rtl_models.session import Session
from rtl_models.sources import module_names
from rtl_models.unit_run import PROFILES, Built
from rtl_models.units import LANE_COUNTS, UNITS, Unit
from sim.view.cycles_sentences import counted

_OPERATORS, _UNITS = "rtl_models.benches.operator_bench", "rtl_models.benches.unit_scenarios"
_SEED: Final = 1


class BenchFails(Exception):
    """A bench says that the hardware is wrong: what it covers means nothing."""


def counts_of(name: str, *before: Path) -> Counts:
    """How often the benches of an operator or a unit execute each point of the modules.

    Modules in the folders `before` go before those of the package.  Raises BenchFails, BuildError, and
    SimulationUnavailable where the environment lacks something.
    """
    if name in OPERATORS:
        return _of_operator(OPERATORS[name], before)
    return sum((_of_unit(Built(UNITS[name], *how), before) for how in _ways(UNITS[name])), Counts())


def _ways(unit: Unit) -> Iterator[tuple[int, str]]:
    """The parameters that bring every branch into being: both profiles, and the most chunks a beat."""
    yield from ((LANE_COUNTS[0], profile) for profile in PROFILES)
    if any(port.per == "chunk" for port in unit.results):
        yield LANE_COUNTS[-1], PROFILES[0]


def _of_operator(operator: Operator, before: Sequence[Path]) -> Counts:
    made, told = run.design(operator, operator.widths, *before), run.variables(operator, operator.widths)
    return _counted(operator.name, harness.TOP, made, told, _OPERATORS)


def _of_unit(unit: Built, before: Sequence[Path]) -> Counts:
    return _counted(unit.unit.name, unit_harness.TOP, unit.design(*before), unit.variables, _UNITS)


def _counted(name: str, top: str, design: Design, variables: dict[str, str], bench: str) -> Counts:
    session = Session(name, top, _SEED, built(design, purpose="coverage"), variables)
    failed = [f"{test}: {said}" for test, said in session.run(bench).items() if said]
    if failed:
        raise BenchFails(f"the bench of {name} fails: {'; '.join(failed)}; again: lanewise rtl test {name}")
    counts = points_in((session.folder / COUNTS).read_text(), design.folders)
    shutil.rmtree(session.folder)
    return counts


def report(counts: Counts) -> list[str]:
    """A line for each module that has points: how many of each kind were executed."""
    return [_line(module, counts) for module in sorted({point.module for point in counts})]


def _line(module: str, counts: Counts) -> str:
    times = {kind: [n for p, n in counts.items() if (p.module, p.kind) == (module, kind)] for kind in KINDS}
    return f"{module}: " + ", ".join(f"{kind} {sum(n > 0 for n in each)}/{len(each)}" for kind, each in times.items())


def problems(counts: Counts, modules: Sequence[str]) -> list[str]:
    """What the table of gaps lacks, and what it has too much of these modules."""
    gaps = read_gaps(GAPS)
    return [*unexplained(counts, gaps), *dead(counts, gaps, modules)]


def main(arguments: Sequence[str]) -> int:
    """The command; returns the exit code."""
    possible = [*OPERATORS, *UNITS]
    if unknown := [name for name in arguments if name not in possible]:
        print(f"there is no {', '.join(unknown)}; give some of {', '.join(possible)}", file=sys.stderr)
        return 2
    try:
        return exit_code(lambda: _told(list(arguments) or possible))
    except BenchFails as error:
        print(error, file=sys.stderr)
        return 1


def _told(names: Sequence[str]) -> int:
    """Print what was executed; where it is all of them, also which gaps are dead."""
    started, counts = time.monotonic(), sum((counts_of(name) for name in names), Counts())
    wrong = problems(counts, module_names() if set(names) == {*OPERATORS, *UNITS} else [])
    executed, there_are = sum(n > 0 for n in counts.values()), counted(len(counts), "point")
    seconds = time.monotonic() - started
    print("\n".join([*report(counts), *wrong, f"{executed} of {there_are} executed, {seconds:.0f} s"]))
    return 1 if wrong else 0
