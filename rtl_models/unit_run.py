"""Run the bench of a streaming unit in a simulator, from outside."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rtl_models.adapters import Adapter
from rtl_models.latencies import in_words
from rtl_models.outcome import NEVER_ENDS, BenchOutcome
from rtl_models.register_map import CHANNELS
from rtl_models.session import Session
from rtl_models.tools.build_cache import TopModule, built
from rtl_models.tools.environment import SimulatorName
from rtl_models.tools.linter import warnings_of
from rtl_models.tools.own_modules import modules_option
from rtl_models.tools.protocol import (
    BUILT_IN_VARIABLE,
    CHANNELS_VARIABLE,
    COVERPOINTS,
    LANES_VARIABLE,
    PROFILE_VARIABLE,
    REPORT,
    RULES_VARIABLE,
    SEEN,
    STREAM,
    STREAM_ASYNCHRONOUS,
    STRICT,
    UNIT_VARIABLE,
)
from rtl_models.tools.sources import LANES
from rtl_models.unit_harness import TOP, control_file, harness
from rtl_models.unit_values import read_bytes
from rtl_models.units import Unit
from sim.explanation.answer import explain
from sim.view.sentences import counted

_SCENARIOS, _FAILING = "rtl_models.benches.unit_scenarios", "rtl_models.benches.failing_unit_bench"


@dataclass(frozen=True)
class Built:
    """A unit with its parameters: 4, 8 or 16 `lanes`, and the profile of its pipeline: one of `unit.profiles`.

    `channels` are those of the registers, and of a unit's tables if it has any: then a multiple of the lanes.
    `strict`: each of its cycles must be as the package has it; else it need keep to the rules of AXI-Stream only, as
    the module of an `adapter` does.
    """

    unit: Unit
    lanes: int = 4
    profile: str = "shallow"
    channels: int = CHANNELS
    strict: bool = True
    adapter: Adapter | None = None

    def design(self, *before: Path) -> TopModule:
        """The unit behind its configuration registers; modules in the folders `before` go before the package's."""
        text = harness(self.unit, self.lanes, self.profile, self.channels, self.adapter)
        return TopModule(TOP, {f"{TOP}.sv": text, "ports.vlt": control_file(self.unit, self.lanes)}, (*before, LANES))

    @property
    def title(self) -> str:
        """Such as "quantize_down, 4 lanes, deep", or "quantize_down, 4 lanes, 7 stages"."""
        if self.adapter is not None:
            return f"{self.unit.name} by {self.adapter.module}, {counted(self.lanes, 'lane')}"
        tables = "" if self.channels == CHANNELS else f", {self.channels} channels"
        return f"{self.unit.name}, {self.lanes} lanes, {in_words(self.profile)}{tables}"

    def in_its_words(self, text: str) -> str:
        """What a bench tells, with the ports of the module of an adapter."""
        return self.adapter.in_its_words(text) if self.adapter else text

    @property
    def folder(self) -> Path | None:
        """Where its module is found without being told."""
        return self.adapter.file.parent if self.adapter else None

    @property
    def options(self) -> dict[str, str]:
        """Those of `lanewise rtl test`."""
        if self.adapter is not None:
            return {"lanes": str(self.lanes), "adapter": str(self.adapter.file)}
        tables = {} if self.channels == CHANNELS else {"channels": str(self.channels)}
        return {"lanes": str(self.lanes), "profile": self.profile, **tables}

    @property
    def variables(self) -> dict[str, str]:
        """What its benches read."""
        asynchronous = self.adapter is not None and self.adapter.asynchronous
        return {
            UNIT_VARIABLE: self.unit.name,
            LANES_VARIABLE: str(self.lanes),
            PROFILE_VARIABLE: self.profile,
            CHANNELS_VARIABLE: str(self.channels),
            BUILT_IN_VARIABLE: json.dumps(dict(self.adapter.built_in) if self.adapter else {}),
            RULES_VARIABLE: STRICT if self.strict else STREAM_ASYNCHRONOUS if asynchronous else STREAM,
        }

    def flags(self, before: Sequence[Path]) -> tuple[str, ...]:
        """Options without a value, of a run with modules in the folders `before`."""
        return ("strict",) if before and self.strict else ()


def _convention(seen: Mapping[str, Any]) -> str:
    """Which conventions give all that was seen of a frame that is wrong; "" where none does, or nothing was seen."""
    if not seen:
        return ""
    settings = seen["settings"]
    octets = np.array(seen["results"], np.int64).astype(np.uint8).ravel()
    low, high = (int(read_bytes(settings[name], settings)) for name in ("minimum", "maximum"))
    found = explain(
        octets.view(np.int8) if settings["signed"] else octets,
        accumulators=np.array(seen["accumulators"], np.int64).ravel(),
        multiplier=settings["multiplier"],
        shift=settings["shift"],
        zero_point=settings["offset"],
        minimum=low,
        maximum=high,
    )
    names = ", ".join(match.name for match in found.matches)
    seen_all = f"all {octets.size:,} results of no_stalls"
    return f"{seen_all} are those of {names}, of which lanewise conventions tells" if names else ""


def run_unit(
    built_as: Built,
    seed: int = 1,
    simulator: SimulatorName = "verilator",
    before: Sequence[Path] = (),
    scenarios: str = ".*",
) -> BenchOutcome:
    """Build the unit and run the scenarios whose names match the pattern.

    Modules in the folders `before` go before those of the package.  Raises BuildError, and SimulationUnavailable where
    the environment lacks something.
    """
    design = built_as.design(*before)
    session = Session(built_as.unit.name, TOP, seed, built(design, simulator), built_as.variables)
    tests = session.run(_SCENARIOS, scenarios)
    failed = [name for name, said in tests.items() if said]
    smallest: Mapping[str, Any] = {}
    waves: Path | None = None
    if failed and NEVER_ENDS not in failed:
        smallest, waves = session.explained(_FAILING)
        if "frames" not in smallest:  # no frames fail by themselves: the scenario is shown
            waves = session.show(_SCENARIOS, re.escape(failed[0]))
    options = {**built_as.options, **modules_option(before, built_as.folder)}
    return session.outcome(BenchOutcome(
        name=built_as.unit.name, options=options, flags=built_as.flags(before), simulator=simulator, seed=seed,
        tests={test: built_as.in_its_words(said) for test, said in tests.items()}, figures=session.read(REPORT),
        smallest=smallest, smallest_told=built_as.in_its_words(smallest.get("told", "")),
        convention=_convention(session.read(SEEN)), waves=waves, coverpoints=session.read(COVERPOINTS),
        warnings=warnings_of(design, simulator),
    ))  # fmt: skip
