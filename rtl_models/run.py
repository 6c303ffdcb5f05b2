"""Run the bench of a combinational operator in a simulator, from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rtl_models.benches.protocol import GOALS, OPERATOR_VARIABLE, REPORT, WIDTHS_VARIABLE
from rtl_models.build_cache import Design, built
from rtl_models.environment import SimulatorName
from rtl_models.harness import TOP, control_file, harness
from rtl_models.operators import Operator
from rtl_models.outcome import Outcome
from rtl_models.own_modules import modules_option
from rtl_models.session import Session
from rtl_models.sources import LANES

SEED: Final = 1
"""Of runs that name none."""
_BENCH, _FAILING = "rtl_models.benches.operator_bench", "rtl_models.benches.failing_bench"


def design(operator: Operator, widths: tuple[int, ...], *before: Path) -> Design:
    """The lanes of an operator side by side; modules in the folders `before` go before those of the package."""
    texts = {f"{TOP}.sv": harness(operator, widths), "ports.vlt": control_file(operator, widths)}
    return Design(TOP, texts, (*before, LANES))


def variables(operator: Operator, widths: Sequence[int]) -> dict[str, str]:
    """What its benches read."""
    return {OPERATOR_VARIABLE: operator.name, WIDTHS_VARIABLE: ",".join(map(str, widths))}


def run(
    operator: Operator,
    widths: Sequence[int] = (),
    seed: int = SEED,
    simulator: SimulatorName = "verilator",
    before: Sequence[Path] = (),
) -> Outcome:
    """Build the operator in these widths, or all of its own, and run its bench.

    Modules in the folders `before` go before those of the package.  Raises BuildError, and SimulationUnavailable where
    the environment lacks something.
    """
    chosen = tuple(widths) or operator.widths
    told = variables(operator, chosen)
    options = {"widths": told[WIDTHS_VARIABLE], **modules_option(before)}
    session = Session(operator.name, TOP, seed, built(design(operator, chosen, *before), simulator), told)
    tests = session.run(_BENCH)
    smallest, waves = session.explained(_FAILING)
    return session.outcome(Outcome(
        operator.name, options, simulator, seed, tests, session.read(REPORT), smallest,
        _told(smallest), waves, session.read(GOALS),
    ))  # fmt: skip


def _told(case: Mapping[str, Any]) -> str:
    if "operands" not in case:
        return str(case.get("told", ""))
    operands = ", ".join(map(str, case["operands"]))
    given, expected = (f"{result}{' saturated' if flag else ''}" for result, flag in (case["given"], case["expected"]))
    return f"smallest case, {case['width']} bits: operands {operands} give {given}, expected {expected}"
