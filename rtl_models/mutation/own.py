"""Modules of a user's own as they are mutated: by the benches of what they stand for, whatever their latency is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from rtl_models.adapters import Adapter
from rtl_models.adapters.wrapper import adapted_sources, wrapper_of
from rtl_models.benches.unit_bench import bench_of, with_built_in
from rtl_models.formal.equations.written import Subject, SubjectSources, at_width, design_of
from rtl_models.formal.own import results_of
from rtl_models.formal.schedules.proof import StreamFinding, proved
from rtl_models.mutation.scenarios import lanes as of_lanes
from rtl_models.mutation.scenarios.scenario import Scenario
from rtl_models.mutation.scenarios.units import UnitScenarios
from rtl_models.mutation.simulator import CLOCK, HANDSHAKE
from rtl_models.mutation.targets import OwnModule, Target
from rtl_models.operators import OPERATORS
from rtl_models.tools.sources import MODULE_ENDINGS
from rtl_models.units import UNITS

LANES: Final = 4
"""Of a unit that can be built for any number."""
_NOTHING: Final[Mapping[str, int]] = {}


def adapted_target(adapter: Adapter, folder: Path) -> Target:
    """The module of an adapter, for the least numbers a beat.  Raises UnreadableModule."""
    lanes = min(adapter.lane_counts)
    design = SubjectSources(Subject(wrapper_of(adapter), ()), adapted_sources(adapter, lanes, folder))
    return _unit(adapter.unit.name, lanes, design, adapter)


def own_targets(folder: Path, name: str) -> list[Target]:
    """The operators and units of a folder, or that of a name; a unit shallow and deep.

    Raises UnreadableModule.
    """
    there = {file.stem for file in folder.iterdir() if file.suffix == MODULE_ENDINGS[0]}
    wanted = [one for one in sorted(there) if name in ("", one)]
    return [*_operators(wanted, folder), *_units(wanted, folder)]


def _operators(names: Sequence[str], folder: Path) -> Iterator[Target]:
    for operator in (OPERATORS[name] for name in names if name in OPERATORS):
        subject = at_width(operator.name, of_lanes.width_of(operator))
        own = OwnModule(design_of(subject, folder))
        yield Target(subject, (), partial(of_lanes.scenarios, operator), own=own)


def _units(names: Sequence[str], folder: Path) -> Iterator[Target]:
    for name in names:
        for deep in (0, 1) if name in UNITS else ():
            yield _unit(name, LANES, design_of(Subject(name, (("Lanes", LANES), ("Deep", deep))), folder))


def _unit(name: str, lanes: int, design: SubjectSources, adapter: Adapter | None = None) -> Target:
    built_in = adapter.built_in if adapter else _NOTHING
    bench, results = with_built_in(bench_of(name), built_in), results_of(name, lanes, built_in)

    def scenarios(seed: int) -> list[Scenario]:
        return UnitScenarios(bench, lanes, "deep", seed=seed, strict=False).all()

    def asked(equations: str, seconds: float) -> StreamFinding:
        return proved(equations, results, seconds)

    around, words = (f"{wrapper_of(adapter)}.sv", adapter.in_its_words) if adapter else ("", str)
    own = OwnModule(design, asked if results else None, around, words, built_in)
    return Target(design.subject, (*CLOCK, *HANDSHAKE), scenarios, own=own)
