"""`lanewise rtl cover`: branches and expressions of the hardware that its benches execute."""

from __future__ import annotations

import time
from functools import partial
from typing import Annotated

import typer

from isa.errors import MISMATCH, MISSING
from rtl_models.code_coverage.gaps import never_executed
from rtl_models.code_coverage.points import added
from rtl_models.code_coverage.run import counts_of, modules_of_these_alone, own_counts, problems, report
from rtl_models.command.options import AdapterFile, Modules, OwnHardware, chosen_hardware
from rtl_models.cores.names import CORES
from rtl_models.operators import OPERATORS
from rtl_models.units import UNITS
from sim.terminal.output import fail, print_progress, print_text
from sim.view.sentences import counted


def cover(
    names: Annotated[list[str] | None, typer.Argument(help="Lanes, units, cores; default: all.")] = None,
    modules: Modules = None,
    adapter: AdapterFile = None,
) -> None:
    """Count the branches and expressions of the modules that their benches execute.

    What is not executed must stand, with its reason, in rtl_models/code_coverage/gaps.toml, and nothing else may; of
    parts that others need too this is asked with all of those.  Exit code 1 where it is otherwise or a bench fails, 3
    where the modules have no branch and no expression, so that nothing is counted.
    With --modules or --adapter they are those of your own files, and what is not executed is told.
    """
    own, started = chosen_hardware(modules, adapter, strict=False), time.monotonic()
    possible = _possible(own)
    if unknown := [name for name in names or () if name not in possible]:
        fail(f"there is no {', '.join(unknown)}; give some of {', '.join(possible)}")
    wanted, each = names or possible, []
    count = partial(own_counts, folder=own.before[0], adapter=own.adapter) if own.before else counts_of
    for number, name in enumerate(wanted, 1):
        begun = time.monotonic()
        each.append(count(name))
        print_progress(f"{name}: {time.monotonic() - begun:.0f} s, {number} of {len(wanted)}")
    counts = added(each)
    wrong = [] if own.before else problems(counts, modules_of_these_alone(wanted))
    told = never_executed(counts) if own.before else wrong
    last = f"{sum(n > 0 for n in counts.values())} of {counted(len(counts), 'point')} executed"
    if not counts:
        last = "there is no branch and no expression: nothing was counted"
    print_text("\n".join([*report(counts), *told, last]))
    print_progress(f"{time.monotonic() - started:.0f} s")
    raise typer.Exit(MISMATCH if wrong else 0 if counts else MISSING)


def _possible(own: OwnHardware) -> list[str]:
    """What has a bench; of a user's modules, what they stand for."""
    if own.adapter is not None:
        return [own.adapter.unit.name]
    known = [*OPERATORS, *UNITS, *CORES]
    if not own.before:
        return known
    there = [name for name in known if (own.before[0] / f"{name}.sv").is_file()]
    if not there:
        fail(f"{own.before[0]} has parts of units alone, whose benches are those of whole units: {', '.join(known)}")
    return there
