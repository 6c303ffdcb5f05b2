"""Run the bench of an operator in a simulator, from outside.

    python -m rtl_models.run sqrdmulh --widths 8,16 --seed 7

Exit codes: 0 all agree, 1 a mismatch or an unmet goal, 2 wrong usage or a design that cannot be built, 3 something is
missing from the environment.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from rtl_models.benches.protocol import FAILURE, OPERATOR_VARIABLE, REPORT, SMALLEST, WIDTHS_VARIABLE
from rtl_models.build_cache import BuildError, Design, Simulator, built
from rtl_models.environment import (
    SIMULATORS,
    SimulationUnavailable,
    SimulatorName,
    bench_variables,
    execute,
)
from rtl_models.harness import TOP, control_file, harness
from rtl_models.operators import OPERATORS, Operator
from rtl_models.sources import LANES

SEED: Final = 1
"""Of runs that name none."""
_BENCH, _FAILING = "rtl_models.benches.operator_bench", "rtl_models.benches.failing_bench"


@dataclass(frozen=True)
class Outcome:
    """What the tests of a bench said.

    `tests` has by name what a test said when it failed, "" where it passed; `smallest` the shrunk case of a mismatch,
    and `waves` the VCD file that shows it.
    """

    operator: str
    widths: tuple[int, ...]
    simulator: SimulatorName
    seed: int
    tests: Mapping[str, str]
    lanes_compared: int = 0
    goals_met: int = 0
    smallest: Mapping[str, Any] = field(default_factory=dict)
    waves: Path | None = None

    @property
    def passed(self) -> bool:
        """All tests did, of which there are some, and something was compared."""
        return bool(self.tests) and not any(self.tests.values()) and self.lanes_compared > 0

    @property
    def reproduce(self) -> str:
        """The command that gives the same again."""
        widths = ",".join(map(str, self.widths))
        settings = f"--widths {widths} --seed {self.seed} --simulator {self.simulator}"
        return f"python -m rtl_models.run {self.operator} {settings}"

    def told(self) -> str:
        """All of it as text."""
        agreed = f"{self.lanes_compared} lanes compared, {self.goals_met} coverage goals met"
        lines = [f"{self.operator} at {', '.join(map(str, self.widths))} bits in {self.simulator}: {agreed}"]
        lines += [f"{name}: {said}" for name, said in self.tests.items() if said]
        lines += [_told_case(self.smallest)] if self.smallest else []
        lines += [f"waveform: {self.waves}"] if self.waves else []
        return "\n".join([*lines, f"seed {self.seed}; again: {self.reproduce}"])


def _told_case(case: Mapping[str, Any]) -> str:
    operands = ", ".join(map(str, case["operands"]))
    given, expected = (f"{result}{' saturated' if flag else ''}" for result, flag in (case["given"], case["expected"]))
    return f"smallest case, {case['width']} bits: operands {operands} give {given}, expected {expected}"


def design(operator: Operator, widths: tuple[int, ...], *before: Path) -> Design:
    """The lanes of an operator side by side; modules in the folders `before` go before those of the package."""
    texts = {f"{TOP}.sv": harness(operator, widths), "ports.vlt": control_file(operator, widths)}
    return Design(TOP, texts, (*before, LANES))


def run(
    operator: Operator,
    widths: Sequence[int] = (),
    seed: int = SEED,
    simulator: SimulatorName = "verilator",
    before: Sequence[Path] = (),
) -> Outcome:
    """Build the operator in these widths, or all of its own, and run its bench.

    Raises BuildError, and SimulationUnavailable where the environment lacks something.
    """
    chosen = tuple(widths) or operator.widths
    session = _Session(operator, chosen, seed, simulator, built(design(operator, chosen, *before), simulator))
    outcome = session.outcome()
    if outcome.passed:
        shutil.rmtree(session.folder)
    return outcome


class _Session:
    """Runs of one simulator in a folder of their own, which stays where a test fails."""

    def __init__(
        self, operator: Operator, widths: tuple[int, ...], seed: int, name: SimulatorName, simulator: Simulator
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=f"lanewise-{operator.name}-"))
        self._operator, self._widths, self._seed, self._name = operator, widths, seed, name
        self._simulator = simulator

    def outcome(self) -> Outcome:
        """Run the bench, and where rows are wrong, shrink one and show it."""
        tests = self._run(_BENCH, ".*")
        report = _read(self.folder / REPORT)
        smallest, waves = self._explained() if (self.folder / FAILURE).exists() else ({}, None)
        lanes, goals = (int(report.get(name, 0)) for name in ("lanes_compared", "goals_met"))
        asked = (self._operator.name, self._widths, self._name, self._seed)
        return Outcome(*asked, tests, lanes, goals, smallest, waves)

    def _explained(self) -> tuple[Mapping[str, Any], Path | None]:
        self._run(_FAILING, "shrink")
        smallest, waves = _read(self.folder / SMALLEST), self.folder / "lanes.vcd"
        if smallest and self._simulator.tracing:
            self._run(_FAILING, "show", *self._simulator.tracing, str(waves))
        return smallest, waves if waves.exists() else None

    def _run(self, module: str, tests: str, *arguments: str) -> dict[str, str]:
        results = self.folder / f"{tests.strip('.*')}results.xml"
        given = {OPERATOR_VARIABLE: self._operator.name, WIDTHS_VARIABLE: ",".join(map(str, self._widths))}
        variables = bench_variables(TOP, module, self._seed, tests, results) | given
        done = execute([*self._simulator.command, *arguments], self.folder, **variables)
        if not results.exists():
            raise SimulationUnavailable(f"the simulator ended with status {done.status}:\n{done.output.strip()}")
        return {case.get("name", ""): _said(case) for case in ElementTree.parse(results).iter("testcase")}


def _read(file: Path) -> dict[str, Any]:
    """The JSON in a file; nothing where no test has written it."""
    content: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return content


def _said(case: ElementTree.Element) -> str:
    """What a test said when it failed; "" where it passed."""
    problems = [*case.iter("failure"), *case.iter("error")]
    return "; ".join(problem.get("message") or problem.text or "failed" for problem in problems)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m rtl_models.run", description="An operator against the semantics.")
    parser.add_argument("operator", choices=list(OPERATORS))
    parser.add_argument("--widths", default="", help="some of its widths, such as 8,16; all of them unless given")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--simulator", choices=SIMULATORS, default="verilator")
    given = parser.parse_args(arguments)
    operator = OPERATORS[given.operator]
    possible = {str(width): width for width in operator.widths}
    widths = [text for text in given.widths.split(",") if text]
    if unknown := [text for text in widths if text not in possible]:
        parser.error(f"{operator.name} has the widths {', '.join(possible)}, not {', '.join(unknown)}")
    return _exit_code(operator, [possible[text] for text in widths], given.seed, given.simulator)


def _exit_code(operator: Operator, widths: Sequence[int], seed: int, simulator: SimulatorName) -> int:
    try:
        outcome = run(operator, widths, seed, simulator)
    except (SimulationUnavailable, BuildError) as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, BuildError) else 3
    print(outcome.told())
    return 0 if outcome.passed else 1


if __name__ == "__main__":
    sys.exit(main())
