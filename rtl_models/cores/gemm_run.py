"""Run the bench of `gemm_core` in a simulator, from outside."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from rtl_models.cores.gemm import GemmCore
from rtl_models.cores.gemm_harness import TOP, design
from rtl_models.cores.names import CORES
from rtl_models.outcome import NEVER_ENDS, BenchOutcome
from rtl_models.register_map import CHANNELS
from rtl_models.session import Session
from rtl_models.tools.build_cache import built
from rtl_models.tools.environment import SimulatorName
from rtl_models.tools.linter import warnings_of
from rtl_models.tools.own_modules import modules_option
from rtl_models.tools.protocol import CORE_VARIABLE, COVERPOINTS, LAYERS_VARIABLE, REPORT

(NAME,) = CORES
LAYERS: Final = 12
"""With random shapes, under each pattern of stalls."""
BENCH: Final = "rtl_models.benches.gemm_core_bench"


def core_title(core: GemmCore) -> str:
    """Such as "gemm_core, 4 lanes, deep, 12 channels", these where they are not as many as by default."""
    channels = "" if core.channels == CHANNELS else f", {core.channels} channels"
    return f"{NAME}, {core.columns} lanes, {core.profile}{channels}"


def variables(core: GemmCore, layers: int = LAYERS) -> dict[str, str]:
    """What its bench reads."""
    return {CORE_VARIABLE: json.dumps(asdict(core)), LAYERS_VARIABLE: str(layers)}


def run_gemm_core(
    core: GemmCore,
    seed: int = 1,
    simulator: SimulatorName = "verilator",
    before: Sequence[Path] = (),
    *,
    layers: int = LAYERS,
    scenarios: str = ".*",
) -> BenchOutcome:
    """Build the core and run the scenarios whose names match the pattern, `layers` of random shapes in each.

    Modules in the folders `before` go before those of the package.  Raises BuildError, and SimulationUnavailable where
    the environment lacks something.
    """
    made_of = design(core, *before)
    session = Session(NAME, TOP, seed, built(made_of, simulator), variables(core, layers))
    tests = session.run(BENCH, scenarios)
    failed = [name for name, said in tests.items() if said]
    waves = session.show(BENCH, re.escape(failed[0])) if failed and NEVER_ENDS not in failed else None
    tables = {} if core.channels == CHANNELS else {"channels": str(core.channels)}
    options = {"lanes": str(core.columns), "profile": core.profile, **tables, **modules_option(before)}
    return session.outcome(BenchOutcome(
        name=NAME, options=options, simulator=simulator, seed=seed, tests=tests, figures=session.read(REPORT),
        waves=waves, coverpoints=session.read(COVERPOINTS), warnings=warnings_of(made_of, simulator),
    ))  # fmt: skip
