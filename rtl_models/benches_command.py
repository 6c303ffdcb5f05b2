"""`lanewise rtl test`: the benches of operators and units, one after the other."""

# ruff: noqa: PT028  (`test` is a command, no test of pytest)

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import filter as matching
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Final, NamedTuple, TypeVar

import typer

from rtl_models.bench_junit import junit
from rtl_models.build_cache import BuildError
from rtl_models.environment import SIMULATORS, SimulationUnavailable, SimulatorName
from rtl_models.operators import OPERATORS
from rtl_models.outcome import Outcome
from rtl_models.own_modules import NothingReplaced, own_modules
from rtl_models.run import SEED, run
from rtl_models.unit_run import PROFILES, Built, run_unit
from rtl_models.units import LANE_COUNTS, UNITS
from rtl_models.writable import require_writable
from sim.terminal import INTERRUPTED, MISMATCH, MISSING, USAGE, fail, print_json, print_progress, print_text, write_file
from sim.view.cycles_sentences import counted

_Choice = TypeVar("_Choice", int, str)
_WIDTHS: Final = (8, 16, 32, 64)


class Job(NamedTuple):
    """A run that is due."""

    title: str
    run: Callable[[int, SimulatorName, Sequence[Path]], Outcome]


def test(
    names: Annotated[list[str] | None, typer.Argument(help="Operators and units, or globs; default: all.")] = None,
    widths: Annotated[str | None, typer.Option(help="Of the operators, such as 8,16; default: all of each.")] = None,
    lanes: Annotated[str | None, typer.Option(help="Of the units, such as 4,8; default: all.")] = None,
    profile: Annotated[str | None, typer.Option(help="Of the units, shallow or deep; default: both.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is random.")] = SEED,
    simulator: Annotated[str, typer.Option(help=f"One of {', '.join(SIMULATORS)}.")] = "verilator",
    modules: Annotated[
        Path | None, typer.Option(help="A folder with modules of your own, each in the place of the one of its name.")
    ] = None,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write the outcomes as JUnit XML too.")] = None,
    goals: Annotated[Path | None, typer.Option(help="Write how often each goal of each run was met, as JSON.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcomes as JSON.")] = False,
) -> None:
    """Simulate operators against the isa semantics, and units against the golden references.

    A unit runs behind its configuration registers, under every pattern of stalls, with goals of functional coverage.
    With --modules they are the golden model of your own hardware: its modules need the ports and latencies of these.
    A failure shows the shrunk case, a waveform, the seed, and the command that gives it again.
    """
    if simulator not in SIMULATORS:
        fail(f"--simulator takes one of {', '.join(SIMULATORS)}, not {simulator!r}", USAGE)
    require_writable("--junit", junit_file)
    require_writable("--goals", goals)
    jobs, before = jobs_of(names or [], widths, lanes, profile), _before(modules)
    outcomes: list[Outcome] = []
    interrupted = _interrupted(_outcomes(jobs, seed, simulator, before), outcomes)
    if junit_file is not None:
        write_file(junit_file, junit(outcomes))
    if goals is not None:
        hits = {outcome.title: dict(outcome.goals) for outcome in outcomes}
        write_file(goals, json.dumps(hits, indent=1).encode())
    if as_json:
        print_json([outcome.as_json() for outcome in outcomes])
    elif outcomes:
        print_text("\n".join(outcome.told() for outcome in outcomes))
    if interrupted:
        fail(f"interrupted after {len(outcomes)} of {counted(len(jobs), 'run')}", INTERRUPTED)
    raise typer.Exit(0 if all(outcome.passed for outcome in outcomes) else MISMATCH)


def jobs_of(names: Sequence[str], widths: str | None, lanes: str | None, profile: str | None) -> list[Job]:
    """The runs of some names, or of all; what is not possible ends the command."""
    chosen = list(dict.fromkeys(found for name in names or ["*"] for found in _named(name)))
    if not set(chosen) & set(OPERATORS):
        _refuse({"--widths": widths}, "operator")
    if not set(chosen) & set(UNITS):
        _refuse({"--lanes": lanes, "--profile": profile}, "unit")
    some_widths = () if widths is None else _chosen("widths", widths, _WIDTHS)
    parameters = list(product(_chosen("lanes", lanes, LANE_COUNTS), _chosen("profile", profile, PROFILES)))
    operators = [_operator_job(name, some_widths) for name in chosen if name in OPERATORS]
    units = [Built(UNITS[name], *each) for name in chosen if name in UNITS for each in parameters]
    return [*operators, *(Job(built.title, partial(run_unit, built)) for built in units)]


def _named(name: str) -> list[str]:
    """The operators and units that a name or a glob means."""
    found = matching([*OPERATORS, *UNITS], name)
    if not found:
        fail(f"there is no operator or unit {name!r}: see lanewise rtl list", USAGE)
    return found


def _refuse(options: Mapping[str, str | None], kind: str) -> None:
    """End the command where one of the options is given, all of them for a kind of module that is not tested."""
    for option, given in options.items():
        if given is not None:
            fail(f"{option} is for {kind}s, and no {kind} is named", USAGE)


def _before(modules: Path | None) -> list[Path]:
    """The folders whose modules go before those here."""
    try:
        return [own_modules(modules)] if modules else []
    except NothingReplaced as nothing:
        fail(f"--modules: {nothing}", USAGE)


def _operator_job(name: str, widths: Sequence[int]) -> Job:
    operator = OPERATORS[name]
    if missing := [width for width in widths if width not in operator.widths]:
        fail(f"{name} has the widths {', '.join(map(str, operator.widths))}, not {missing[0]}", USAGE)
    return Job(name, partial(run, operator, widths))


def _chosen(option: str, text: str | None, possible: Sequence[_Choice]) -> Sequence[_Choice]:
    """Those that a list names, each once, or all where there is none."""
    if text is None:
        return possible
    by_text = {str(choice): choice for choice in possible}
    given = [part.strip() for part in text.split(",")]
    if unknown := [part for part in given if part not in by_text]:
        fail(f"--{option} takes some of {','.join(by_text)}, not {unknown[0]!r}", USAGE)
    return [by_text[part] for part in dict.fromkeys(given)]


def _interrupted(outcomes: Iterator[Outcome], finished: list[Outcome]) -> bool:
    """Collect outcomes until there are no more, or the user wants none."""
    try:
        for outcome in outcomes:
            finished.append(outcome)
            print_progress(f"{outcome.title}: {'agrees' if outcome.passed else 'fails'}")
    except KeyboardInterrupt:
        return True
    return False


def _outcomes(jobs: Sequence[Job], seed: int, simulator: SimulatorName, before: Sequence[Path]) -> Iterator[Outcome]:
    """Of each run; what cannot run ends the command."""
    for job in jobs:
        try:
            yield job.run(seed, simulator, before)
        except BuildError as error:
            fail(str(error), USAGE)
        except SimulationUnavailable as error:
            fail(str(error), MISSING)
