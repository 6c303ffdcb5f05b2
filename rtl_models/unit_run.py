"""Run the bench of a streaming unit in a simulator, from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rtl_models.benches.protocol import GOALS, LANES_VARIABLE, PROFILE_VARIABLE, REPORT, UNIT_VARIABLE
from rtl_models.build_cache import Design, built
from rtl_models.environment import SimulatorName
from rtl_models.outcome import Outcome
from rtl_models.own_modules import modules_option
from rtl_models.session import NEVER_ENDS, Session
from rtl_models.sources import LANES
from rtl_models.unit_harness import TOP, control_file, harness
from rtl_models.units import Unit

PROFILES: Final = ("shallow", "deep")
_SCENARIOS, _FAILING = "rtl_models.benches.unit_scenarios", "rtl_models.benches.failing_unit_bench"


@dataclass(frozen=True)
class Built:
    """A unit with its parameters."""

    unit: Unit
    lanes: int = 4
    profile: str = "shallow"

    def design(self, *before: Path) -> Design:
        """The unit behind its configuration registers; modules in the folders `before` go before the package's."""
        text = harness(self.unit, self.lanes, self.profile == "deep")
        return Design(TOP, {f"{TOP}.sv": text, "ports.vlt": control_file(self.unit, self.lanes)}, (*before, LANES))

    @property
    def title(self) -> str:
        """Such as "quantize_down, 4 lanes, deep"."""
        return f"{self.unit.name}, {self.lanes} lanes, {self.profile}"

    @property
    def options(self) -> dict[str, str]:
        """Those of `lanewise rtl test`."""
        return {"lanes": str(self.lanes), "profile": self.profile}

    @property
    def variables(self) -> dict[str, str]:
        """What its benches read."""
        names = (UNIT_VARIABLE, LANES_VARIABLE, PROFILE_VARIABLE)
        return dict(zip(names, (self.unit.name, *self.options.values()), strict=True))


def run_unit(
    built_as: Built,
    seed: int = 1,
    simulator: SimulatorName = "verilator",
    before: Sequence[Path] = (),
    scenarios: str = ".*",
) -> Outcome:
    """Build the unit and run the scenarios whose names match the pattern.

    Modules in the folders `before` go before those of the package.  Raises BuildError, and SimulationUnavailable where
    the environment lacks something.
    """
    made = built(built_as.design(*before), simulator)
    session = Session(built_as.unit.name, TOP, seed, made, built_as.variables)
    tests = session.run(_SCENARIOS, scenarios)
    failed = [name for name, said in tests.items() if said]
    smallest, waves = _explained(session, failed) if failed else ({}, None)
    options = {**built_as.options, **modules_option(before)}
    return session.outcome(Outcome(
        built_as.unit.name, options, simulator, seed, tests, session.read(REPORT), smallest, smallest.get("told", ""),
        waves, session.read(GOALS),
    ))  # fmt: skip


def _explained(session: Session, failed: Sequence[str]) -> tuple[Mapping[str, Any], Path | None]:
    """The failing frames shrunk, and shown; else, as where no frames fail by themselves, the scenario shown."""
    if NEVER_ENDS in failed:
        return {}, None
    smallest, waves = session.explained(_FAILING)
    if "frames" in smallest:
        return smallest, waves
    return smallest, session.show(_SCENARIOS, failed[0].replace("[", r"\[").replace("]", r"\]"))
