"""Branches and expressions of the hardware that its benches execute, as Verilator counts them."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from isa.errors import MISMATCH, LanewiseError
from rtl_models import harness, run, unit_harness
from rtl_models.adapters import Adapter
from rtl_models.code_coverage.gaps import GAPS, dead, read_gaps, unexplained
from rtl_models.code_coverage.points import KINDS, Counts, added, points_in
from rtl_models.cores import gemm_harness
from rtl_models.cores.gemm import GemmCore
from rtl_models.cores.gemm_harness import design
from rtl_models.cores.gemm_run import BENCH, NAME, variables
from rtl_models.cores.names import CORES
from rtl_models.formal.units.tables import MOST_IN_LUTS
from rtl_models.latencies import PROFILES
from rtl_models.operators import OPERATORS
from rtl_models.outcome import NEVER_ENDS
from rtl_models.session import Session
from rtl_models.tools.build_cache import COUNTS, TopModule, built
from rtl_models.tools.environment import NeverEnds
from rtl_models.tools.sources import module_names, sources_of
from rtl_models.unit_run import Built
from rtl_models.units import LANE_COUNTS, UNITS, Unit
from sim.toolchain.shell import typed

_OPERATORS, _UNITS = "rtl_models.benches.operator_bench", "rtl_models.benches.unit_scenarios"


class BenchFails(LanewiseError):
    """A bench says that the hardware is wrong: what it covers means nothing."""

    exit_code = MISMATCH


class _Run(NamedTuple):
    """What is built, and the bench that it is run by."""

    top: str
    design: TopModule
    variables: dict[str, str]
    bench: str


def counts_of(name: str, *before: Path) -> Counts:
    """How often the benches of an operator, a unit or a core execute each point of the modules.

    Modules in the folders `before` go before those of the package.  Raises BenchFails, BuildError, NeverEnds, and
    SimulationUnavailable where the environment lacks something.
    """
    return added(_counted(name, made, made.design.folders) for made in _runs(name, before))


def own_counts(name: str, folder: Path, adapter: Adapter | None = None) -> Counts:
    """How often the benches of what a user's modules stand for execute each point of those, which lie in the folder.

    Raises as `counts_of`.
    """
    if adapter is not None:
        runs = [_of_unit(Built(adapter.unit, min(adapter.lane_counts), strict=False, adapter=adapter), folder)]
    else:
        runs = _runs(name, [folder], strict=False)
    own = ("--adapter", str(adapter.file)) if adapter else ("--modules", str(folder))
    return added(_counted(name, made, [folder], own) for made in runs)


def _runs(name: str, before: Sequence[Path], strict: bool = True) -> list[_Run]:
    """In both profiles, with all that can be built."""
    if name in OPERATORS:
        operator = OPERATORS[name]
        told = run.variables(operator, operator.widths)
        return [_Run(harness.TOP, run.design(operator, operator.widths, *before), told, _OPERATORS)]
    if name == NAME:
        cores = [GemmCore(deep=deep) for deep in (False, True)]
        return [_Run(gemm_harness.TOP, design(core, *before), variables(core), BENCH) for core in cores]
    return [_of_unit(replace(unit, strict=strict), *before) for unit in runs_of(UNITS[name])]


def _of_unit(unit: Built, *before: Path) -> _Run:
    return _Run(unit_harness.TOP, unit.design(*before), unit.variables, _UNITS)


def runs_of(unit: Unit) -> list[Built]:
    """Every branch comes into being: in both profiles, with the most chunks a beat, with tables in block RAM."""
    runs = [Built(unit, LANE_COUNTS[0], profile) for profile in PROFILES]
    if any(port.per == "chunk" for port in unit.results):
        runs.append(Built(unit, LANE_COUNTS[-1], PROFILES[0]))
    if unit.tables:
        runs.append(Built(unit, LANE_COUNTS[0], PROFILES[0], (MOST_IN_LUTS + 1) * LANE_COUNTS[0]))
    return runs


def _counted(name: str, made: _Run, folders: Sequence[Path], own: Sequence[str] = ()) -> Counts:
    """Of the modules in these folders; `own` are the words that name a user's."""
    session = Session(name, made.top, run.SEED, built(made.design, purpose="coverage"), made.variables)
    tests = session.run(made.bench)
    if NEVER_ENDS in tests:
        raise NeverEnds(f"the bench of {name}: {tests[NEVER_ENDS]}")
    failed = [f"{test}: {said}" for test, said in tests.items() if said]
    if failed:
        again = typed(["lanewise", "rtl", "test", name, *own])
        raise BenchFails(f"the bench of {name} fails: {'; '.join(failed)}; again: {again}")
    counts = points_in((session.folder / COUNTS).read_text(), folders)
    shutil.rmtree(session.folder)
    return counts


def report(counts: Counts) -> list[str]:
    """A line for each module that has points: how many of each kind were executed."""
    lines = []
    for module in sorted({point.module for point in counts}):
        times = {kind: [n for p, n in counts.items() if (p.module, p.kind) == (module, kind)] for kind in KINDS}
        shares = (f"{kind} {sum(n > 0 for n in each)}/{len(each)}" for kind, each in times.items())
        lines.append(f"{module}: {', '.join(shares)}")
    return lines


def modules_of_these_alone(names: Collection[str]) -> list[str]:
    """The modules that no other operator, unit or core needs: what these execute of them is all that is executed."""
    others = [top for top in (*OPERATORS, *UNITS, *CORES) if top not in names]
    shared = {Path(file).stem for top in others for file in sources_of(top)}
    return [module for module in module_names() if module not in shared]


def problems(counts: Counts, modules: Collection[str]) -> list[str]:
    """What the table of gaps lacks of these modules, and what it has too much of them."""
    gaps, here = read_gaps(GAPS), Counts({point: n for point, n in counts.items() if point.module in modules})
    return [*unexplained(here, gaps), *dead(here, gaps, modules)]
