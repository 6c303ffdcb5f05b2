"""What several commands about hardware take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rtl_models.outcome import BenchOutcome
from rtl_models.tools.environment import SIMULATORS, SimulatorName
from rtl_models.tools.own_modules import NothingReplaced, own_modules
from sim.terminal.output import fail, print_progress, require_one_of

Simulator = Annotated[str, typer.Option(help=f"One of {', '.join(SIMULATORS)}.")]
Modules = Annotated[
    Path | None, typer.Option(help="A folder with modules of your own, each in the place of the one of its name.")
]


def chosen_simulator(name: str) -> SimulatorName:
    """The simulator of that name; ends the command where there is none."""
    return require_one_of("--simulator", name, SIMULATORS)


def chosen_modules(folder: Path | None) -> list[Path]:
    """The folders whose modules go before those here; ends the command where one replaces nothing."""
    try:
        return [own_modules(folder)] if folder else []
    except NothingReplaced as nothing:
        fail(f"--modules: {nothing}")


def print_warnings(outcome: BenchOutcome, shown: set[str]) -> None:
    """Write to stderr what the linter says of a user's modules and is not shown yet, and note it as shown."""
    for warning in outcome.warnings:
        if warning not in shown:
            print_progress(f"warning: {warning}")
            shown.add(warning)
