"""Volume: a unit under random stalls against the goldens, beats and results in memories of the simulator.

    python -m rtl_models.bulk quantize_down --beats 1000000 --lanes 4 --profile deep --seed 7
    python -m rtl_models.bulk --all

Exit codes: 0 all agree, 1 a mismatch or a broken rule, 2 wrong usage or a design that cannot be built, 3 something is
missing from the environment, 130 interrupted.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rtl_models.benches.protocol import FAILURE, REPORT, SMALLEST
from rtl_models.build_cache import Purpose, built
from rtl_models.bulk.harness import BEATS_VARIABLE, BULK_FAILURE, TOP, design
from rtl_models.environment import SIMULATORS, SimulatorName
from rtl_models.exit_codes import exit_code
from rtl_models.outcome import Outcome
from rtl_models.own_modules import NothingReplaced, modules_option, own_modules
from rtl_models.session import Session
from rtl_models.unit_harness import TOP as UNIT_TOP
from rtl_models.unit_run import PROFILES, Built
from rtl_models.units import LANE_COUNTS, UNITS

BEATS: Final = 1_000_000
"""Of every unit."""
OTHERS: Final = 100_000
"""Of a unit with other Lanes or in the other profile, where all are run."""
_BENCH, _FAILING = "rtl_models.bulk.bench", "rtl_models.bulk.failing_bench"
_SHRINKING: Final = "rtl_models.benches.failing_unit_bench"


class BulkOutcome(Outcome):
    """The outcome of a run of many beats."""

    COMMAND = "python -m rtl_models.bulk"


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


def run_volume(
    volume: Volume, simulator: SimulatorName = "verilator", before: Sequence[Path] = (), purpose: Purpose = "bulk"
) -> Outcome:
    """Build and run; modules in the folders `before` go before those of the package.

    Raises BuildError, and SimulationUnavailable where the environment lacks something.
    """
    name, made = volume.unit.unit.name, built(design(volume.unit, *before), simulator, purpose)
    session = Session(name, TOP, volume.seed, made, volume.variables)
    tests = session.run(_BENCH)
    smallest, waves = _shrunk(volume, session, simulator, before)
    smallest, waves = (smallest, waves) if smallest else _shown_alone(session)
    outcome = BulkOutcome(
        name,
        {**volume.options, **modules_option(before)},
        simulator,
        volume.seed,
        tests,
        session.read(REPORT),
        smallest,
        smallest.get("told", ""),
        waves,
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


def _shown_alone(session: Session) -> tuple[Mapping[str, Any], Path | None]:
    """The whole frames that fail, sent without the others; nothing where none did."""
    if not (session.folder / BULK_FAILURE).exists():
        return {}, None
    waves = session.show(_FAILING, "show")
    return session.read(SMALLEST), waves


def all_volumes(seed: int) -> list[Volume]:
    """A million beats of every unit with four lanes, shallow; fewer with every other number of lanes and deep."""
    return [
        Volume(Built(unit, lanes, profile), BEATS if (lanes, profile) == (4, "shallow") else OTHERS, seed)
        for unit in UNITS.values()
        for profile in PROFILES
        for lanes in LANE_COUNTS
    ]


def _asked(arguments: Sequence[str] | None) -> tuple[list[Volume], SimulatorName, list[Path]]:
    """The runs, the simulator, and the folders whose modules go before those here."""
    parser = argparse.ArgumentParser(prog="python -m rtl_models.bulk", description="Many beats against the goldens.")
    parser.add_argument("unit", nargs="?", choices=list(UNITS))
    parser.add_argument("--all", action="store_true", help="every unit with all lanes in both profiles")
    parser.add_argument("--beats", type=int, default=BEATS)
    parser.add_argument("--lanes", type=int, choices=LANE_COUNTS, default=LANE_COUNTS[0])
    parser.add_argument("--profile", choices=PROFILES, default=PROFILES[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simulator", choices=SIMULATORS, default=SIMULATORS[0])
    parser.add_argument("--modules", type=Path, help="a folder with modules of your own")
    given = parser.parse_args(arguments)
    if given.all == bool(given.unit):
        parser.error("give a unit or --all")
    if given.beats < 1:
        parser.error("give 1 beat or more")
    one = [] if given.all else [Volume(Built(UNITS[given.unit], given.lanes, given.profile), given.beats, given.seed)]
    try:
        before = [own_modules(given.modules)] if given.modules else []
    except NothingReplaced as nothing:
        parser.error(str(nothing))
    return one or all_volumes(given.seed), given.simulator, before


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit code."""
    volumes, simulator, before = _asked(arguments)
    return exit_code(lambda: _shown_all(volumes, simulator, before))


def _shown_all(volumes: Sequence[Volume], simulator: SimulatorName, before: Sequence[Path]) -> int:
    started = time.monotonic()
    passed = [_shown(volume, simulator, before) for volume in volumes]
    print(f"{sum(passed)} of {len(volumes)} agree, {time.monotonic() - started:.0f} s")
    return 0 if all(passed) else 1


def _shown(volume: Volume, simulator: SimulatorName, before: Sequence[Path]) -> bool:
    started = time.monotonic()
    outcome = run_volume(volume, simulator, before)
    print(f"{outcome.told()} ({time.monotonic() - started:.0f} s)", flush=True)
    return outcome.passed
