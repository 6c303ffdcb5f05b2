"""`lanewise rtl exhaust`: every pair of operands of a lane."""

from __future__ import annotations

import time
from typing import Annotated, Final

import typer

from isa.errors import MISMATCH, MISSING
from rtl_models.command.options import Modules, NotTaken, chosen_modules, refuse_own_hardware
from rtl_models.exhaustive.run import can_be_exhausted, compare_every_pair
from rtl_models.operators import OPERATORS
from rtl_models.tools.environment import LONGEST, NeverEnds
from sim.terminal.output import fail, print_progress, print_text
from sim.toolchain.shell import typed

_WIDTH: Final = 16
"""The widest that seconds are enough for."""


def exhaust(
    names: Annotated[list[str] | None, typer.Argument(help="Lanes with two operands.")] = None,
    all_lanes: Annotated[bool, typer.Option("--all", help="Every lane that can be exhausted.")] = False,
    timeout: Annotated[float, typer.Option(min=0.01, max=86_400, help="Seconds for the pairs of a lane.")] = LONGEST,
    modules: Modules = None,
    adapter: NotTaken = None,
) -> None:
    """Compare all 2^32 pairs of 16-bit operands of a lane with its expression in the isa semantics.

    Exit code 1 where a pair differs, 3 where none does and a simulator did not end in time.
    """
    refuse_own_hardware("exhaust", "an adapter is of a streaming unit, not of a lane", adapter)
    before = chosen_modules(modules)
    again = f" {typed(['--modules', str(before[0])])}" if before else ""
    possible = [name for name, operator in OPERATORS.items() if can_be_exhausted(operator, _WIDTH)]
    if all_lanes == bool(names):
        fail(f"give --all or some of {', '.join(possible)}")
    if unknown := [name for name in names or () if name not in possible]:
        fail(f"{', '.join(unknown)} cannot be exhausted; give --all or some of {', '.join(possible)}")
    agreeing, differing, wanted = 0, 0, names or possible
    for name in wanted:
        begun = time.monotonic()
        try:
            exhausted = compare_every_pair(OPERATORS[name], _WIDTH, before, timeout)
        except NeverEnds as stopped:
            print_text(f"{name}, {_WIDTH} bits: without a verdict: {stopped}; --timeout gives it more")
            continue
        wrong, said = exhausted.disagreement, "all agree"
        if wrong is not None:
            said = f"{wrong.operands} give {wrong.given}, expected {wrong.expected}"
            said += f"; again: lanewise rtl exhaust {name}{again}"
        agreeing += wrong is None
        differing += wrong is not None
        print_text(f"{name}, {_WIDTH} bits: {exhausted.pairs:,} pairs compared, {said}")
        print_progress(f"{name}: {time.monotonic() - begun:.0f} s")
    print_text(f"{agreeing} of {len(wanted)} agree")
    raise typer.Exit(MISMATCH if differing else 0 if agreeing == len(wanted) else MISSING)
