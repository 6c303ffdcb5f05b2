"""Run the bench of a combinational operator in a simulator, from outside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rtl_models.harness import TOP, control_file, harness
from rtl_models.operators import Operator
from rtl_models.outcome import BenchOutcome
from rtl_models.session import Session
from rtl_models.tools.build_cache import TopModule, built
from rtl_models.tools.environment import SimulatorName
from rtl_models.tools.linter import warnings_of
from rtl_models.tools.own_modules import modules_option
from rtl_models.tools.protocol import COVERPOINTS, OPERATOR_VARIABLE, REPORT, WIDTHS_VARIABLE
from rtl_models.tools.sources import LANES

SEED: Final = 1
"""Of runs that name none."""
_BENCH, _FAILING = "rtl_models.benches.operator_bench", "rtl_models.benches.failing_bench"


def design(operator: Operator, widths: tuple[int, ...], *before: Path) -> TopModule:
    """The lanes of an operator side by side; modules in the folders `before` go before those of the package."""
    texts = {f"{TOP}.sv": harness(operator, widths), "ports.vlt": control_file(operator, widths)}
    return TopModule(TOP, texts, (*before, LANES))


def variables(operator: Operator, widths: Sequence[int]) -> dict[str, str]:
    """What its benches read."""
    return {OPERATOR_VARIABLE: operator.name, WIDTHS_VARIABLE: ",".join(map(str, widths))}


def run(
    operator: Operator,
    widths: Sequence[int] = (),
    seed: int = SEED,
    simulator: SimulatorName = "verilator",
    before: Sequence[Path] = (),
) -> BenchOutcome:
    """Build the operator in these widths, or all of its own, and run its bench.

    Modules in the folders `before` go before those of the package.  Raises BuildError, and SimulationUnavailable where
    the environment lacks something.
    """
    chosen = tuple(widths) or operator.widths
    told = variables(operator, chosen)
    options = {"widths": told[WIDTHS_VARIABLE], **modules_option(before)}
    made_of = design(operator, chosen, *before)
    session = Session(operator.name, TOP, seed, built(made_of, simulator), told)
    tests = session.run(_BENCH)
    case, waves = session.explained(_FAILING)
    smallest_told = str(case.get("told", ""))
    if "operands" in case:
        operands = ", ".join(map(str, case["operands"]))
        gave, due = (f"{result}{' saturated' if flag else ''}" for result, flag in (case["given"], case["expected"]))
        smallest_told = f"smallest case, {case['width']} bits: operands {operands} give {gave}, expected {due}"
    return session.outcome(BenchOutcome(
        name=operator.name, options=options, simulator=simulator, seed=seed, tests=tests, figures=session.read(REPORT),
        smallest=case, smallest_told=smallest_told, waves=waves, coverpoints=session.read(COVERPOINTS),
        warnings=warnings_of(made_of, simulator),
    ))  # fmt: skip
