"""Volume: a unit under random stalls against the goldens, beats and results in memories of the simulator."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rtl_models.bulk.harness import BEATS_VARIABLE, BULK_FAILURE, TOP, design
from rtl_models.latencies import PROFILES
from rtl_models.outcome import BenchOutcome
from rtl_models.session import Session
from rtl_models.tools.build_cache import built
from rtl_models.tools.environment import SimulatorName
from rtl_models.tools.linter import warnings_of
from rtl_models.tools.own_modules import modules_option
from rtl_models.tools.protocol import FAILURE, REPORT, SMALLEST
from rtl_models.unit_harness import TOP as UNIT_TOP
from rtl_models.unit_run import Built
from rtl_models.units import LANE_COUNTS, UNITS

BEATS: Final = 1_000_000
"""Of every unit."""
OTHERS: Final = 100_000
"""Of a unit with other Lanes or in another profile, where all are run."""
_BENCH, _FAILING = "rtl_models.bulk.bench", "rtl_models.bulk.failing_bench"
_SHRINKING: Final = "rtl_models.benches.failing_unit_bench"


class BulkOutcome(BenchOutcome):
    """The outcome of a run of many beats."""

    COMMAND = "lanewise rtl bulk"


@dataclass(frozen=True)
class Volume:
    """So many beats of a unit, made from a seed."""

    unit: Built
    beats: int = BEATS
    seed: int = 1

    @property
    def options(self) -> dict[str, str]:
        """Those of the command."""
        return {"beats": str(self.beats), **self.unit.options}

    @property
    def variables(self) -> dict[str, str]:
        """What the bench reads."""
        return {BEATS_VARIABLE: str(self.beats), **self.unit.variables}


def run_volume(volume: Volume, simulator: SimulatorName = "verilator", before: Sequence[Path] = ()) -> BenchOutcome:
    """Build and run; modules in the folders `before` go before those of the package.

    Raises BuildError, and SimulationUnavailable where the environment lacks something.
    """
    name, made_of = volume.unit.unit.name, design(volume.unit, *before)
    session = Session(name, TOP, volume.seed, built(made_of, simulator, "bulk"), volume.variables)
    tests = session.run(_BENCH)
    smallest, waves = _shrunk(volume, session, simulator, before)
    if not smallest and (session.folder / BULK_FAILURE).exists():  # the whole frames that fail, without the others
        waves = session.show(_FAILING, "show")
        smallest = session.read(SMALLEST)
    outcome = BulkOutcome(
        name=name,
        options={**volume.options, **modules_option(before, volume.unit.folder)},
        flags=volume.unit.flags(before),
        simulator=simulator,
        seed=volume.seed,
        tests={test: volume.unit.in_its_words(said) for test, said in tests.items()},
        figures=session.read(REPORT),
        smallest=smallest,
        smallest_told=volume.unit.in_its_words(smallest.get("told", "")),
        waves=waves,
        warnings=warnings_of(made_of, simulator),
    )
    return session.outcome(outcome)


def _shrunk(
    volume: Volume, session: Session, simulator: SimulatorName, before: Sequence[Path]
) -> tuple[Mapping[str, Any], Path | None]:
    """Few beats that differ, shrunk and shown by the bench of units; nothing where they do not fail there."""
    failure = session.folder / FAILURE
    if not failure.exists():
        return {}, None
    made = built(volume.unit.design(*before), simulator)
    slow = Session(volume.unit.unit.name, UNIT_TOP, volume.seed, made, volume.unit.variables)
    failure.rename(slow.folder / FAILURE)
    smallest, waves = slow.explained(_SHRINKING)
    if "frames" not in smallest:
        shutil.rmtree(slow.folder)
        return {}, None
    return smallest, waves


def all_volumes(seed: int, strict: bool = True) -> list[Volume]:
    """A million beats of every unit with four lanes, shallow; fewer of other lanes, deep, and at depths between."""
    return [
        Volume(
            Built(unit, lanes, profile, strict=strict), BEATS if (lanes, profile) == (4, "shallow") else OTHERS, seed
        )
        for unit in UNITS.values()
        for profile in unit.profiles
        for lanes in (LANE_COUNTS if profile in PROFILES else LANE_COUNTS[:1])
    ]
