"""What several commands about hardware take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import typer

from rtl_models.adapters import Adapter, read_adapter, require_fitting
from rtl_models.latencies import PROFILES, profile_named
from rtl_models.outcome import BenchOutcome
from rtl_models.tools.environment import SIMULATORS, SimulatorName
from rtl_models.tools.own_modules import NothingReplaced, own_modules
from rtl_models.units import LANE_COUNTS
from sim.terminal.output import fail, print_progress, require_one_of

Listed = TypeVar("Listed")
Simulator = Annotated[str, typer.Option(help=f"One of {', '.join(SIMULATORS)}.")]
Modules = Annotated[
    Path | None, typer.Option(help="A folder with modules of your own, each in the place of the one of its name.")
]

AdapterFile = Annotated[
    Path | None, typer.Option("--adapter", help="A TOML file that says how your module and its ports are called.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Demand the package's cycles of --modules: latency, ready, asynchronous reset.")
]


def chosen_simulator(name: str) -> SimulatorName:
    """The simulator of that name; ends the command where there is none."""
    return require_one_of("--simulator", name, SIMULATORS)


def chosen_from(option: str, text: str | None, possible: Sequence[Listed]) -> Sequence[Listed]:
    """Those that a list with commas names, each once, or all where there is none; ends the command for any other."""
    if text is None:
        return possible
    by_text = {str(choice): choice for choice in possible}
    given = [part.strip() for part in text.split(",")]
    if unknown := [part for part in given if part not in by_text]:
        fail(f"--{option} takes some of {','.join(by_text)}, not {unknown[0]!r}")
    return [by_text[part] for part in dict.fromkeys(given)]


def chosen_profiles(text: str | None) -> Sequence[str]:
    """Names of profiles and numbers of register stages of a list with commas, or both names where there is none.

    Ends the command for anything else; which numbers there are is a matter of each unit.
    """
    given = [part.strip() for part in text.split(",")] if text is not None else PROFILES
    for part in given:
        if part not in PROFILES and not (part.isascii() and part.isdigit()):
            fail(f"--profile takes some of {','.join(PROFILES)} and numbers of register stages, not {part!r}")
    return list(dict.fromkeys(given))


def profiles_of(module: str, given: Sequence[str]) -> list[str]:
    """The profiles of a unit that these words name, each once; ends the command for one that it has not."""
    try:
        return list(dict.fromkeys(profile_named(module, profile) for profile in given))
    except ValueError as error:
        fail(f"--profile: {error}")


def chosen_modules(folder: Path | None) -> list[Path]:
    """The folders whose modules go before those here; ends the command where one replaces nothing."""
    try:
        return [own_modules(folder)] if folder else []
    except NothingReplaced as nothing:
        fail(f"--modules: {nothing}")


NotTaken = Annotated[Path | None, typer.Option(hidden=True)]
"""An option of other commands, which one knows to say that it does not take it: `refuse_own_hardware`."""


class OwnHardware(NamedTuple):
    """What a user gave: folders whose modules go before the package's, an adapter, and by which rules they go."""

    before: Sequence[Path]
    adapter: Adapter | None
    strict: bool


def chosen_hardware(modules: Path | None, adapter: Path | None, strict: bool) -> OwnHardware:
    """The user's modules, or none; ends the command where the options do not go together.

    Every cycle of the package's own modules must be as the package has it.
    """
    if adapter is None:
        before = chosen_modules(modules)
        if strict and not before:
            fail("--strict is for modules of your own: give --modules; those of the package are always tested so")
        return OwnHardware(before, None, strict or not before)
    if strict:
        fail("--strict is for modules with the package's cycles and ports, which need no --adapter")
    if modules is not None and not modules.is_dir():
        fail(f"--modules: there is no folder {modules}")
    found, folder = read_adapter(adapter, modules), (modules or adapter.parent).absolute()
    require_fitting(found, folder)
    return OwnHardware([folder], found, False)


def lane_counts(own: OwnHardware) -> tuple[int, ...]:
    """The numbers of a beat that units can be built for, or the module of an adapter."""
    return own.adapter.lane_counts if own.adapter else LANE_COUNTS


def refuse_own_hardware(command: str, why: str, *given: Path | None) -> None:
    """End a command that takes no module of a user's own where one is given."""
    if any(one is not None for one in given):
        fail(f"lanewise rtl {command} does not take a module of yours: {why}; lanewise rtl test does")


def own_words(**given: Path | None) -> list[str]:
    """The words of a command that name a user's files, by option."""
    return [word for option, path in given.items() if path is not None for word in (f"--{option}", str(path))]


def print_warnings(outcome: BenchOutcome, shown: set[str]) -> None:
    """Write to stderr what the linter says of a user's modules and is not shown yet, and note it as shown."""
    for warning in outcome.warnings:
        if warning not in shown:
            print_progress(f"warning: {warning}")
            shown.add(warning)
