"""What is mutated: which module at which parameters, and what its bench puts it through."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from typing import Final

from rtl_models.benches.unit_bench import bench_of
from rtl_models.cores.gemm import GemmCore
from rtl_models.cores.names import CORE_PARTS, CORES
from rtl_models.formal.equations.written import Subject, SubjectSources, at_width, design_of
from rtl_models.formal.schedules.proof import StreamFinding
from rtl_models.formal.subject import subjects
from rtl_models.formal.units.pipelines import profile_at
from rtl_models.formal.units.tables import quantize_down_channels
from rtl_models.latencies import depths
from rtl_models.mutation.copies import Ranges
from rtl_models.mutation.mutants import Mutant
from rtl_models.mutation.scenarios import gemm_core, lanes, mac_array, registers
from rtl_models.mutation.scenarios.scenario import Scenario
from rtl_models.mutation.scenarios.units import UnitScenarios
from rtl_models.mutation.simulator import CLOCK, HANDSHAKE
from rtl_models.operators import OPERATORS
from rtl_models.register_map import CHANNELS, MOST_CHANNELS
from rtl_models.register_map import registers as registers_of
from rtl_models.units import UNITS

_WITH_TABLES: Final = re.compile(r"quantize_down_channels at Lanes (4|8|16), (Deep|Depth) \d+, Channels (\d{1,4})")


@dataclass(frozen=True)
class OwnModule:
    """The texts of a user's module; `proved` asks of its equations whether results are those due, for so many seconds.

    None where that cannot be asked: of an operator theorems are, and of other units nothing is.  `around` is the file
    of the module around it, if there is one; what is told of that `in_its_words` has the ports of the user's.  Bench
    and proofs are about the numbers that are `built_in`, of which the texts say nothing.
    """

    design: SubjectSources
    proved: Callable[[str, float], StreamFinding] | None = None
    around: str = ""
    in_its_words: Callable[[str], str] = str
    built_in: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Target:
    """A module at parameters with its bench.

    `control` are those ports of the clock and the handshake that it has; `scenarios` draws by a seed.  Where the
    theorems do not `say_all` of it, a mutant with which they hold may be another module.  `own` is a module of a
    user's, and what can be proved of it.  Proofs may assume `ranges`, which they show first.
    """

    subject: Subject
    control: tuple[str, ...]
    scenarios: Callable[[int], list[Scenario]]
    say_all: bool = True
    own: OwnModule | None = None
    ranges: Ranges = field(default_factory=dict)

    @property
    def design(self) -> SubjectSources:
        """The texts of the module."""
        return design_of(self.subject) if self.own is None else self.own.design

    def is_planted(self, mutant: Mutant) -> bool:
        """Whether it is in the module, and not in what is around a user's."""
        around = "" if self.own is None else self.own.around
        return not (around and mutant.places) or any(not place.startswith(f"{around}:") for place in mutant.places)


def targets() -> list[Target]:
    """The operators, the registers, the units at the parameters that there are theorems about, and parts of cores."""
    return [
        *(
            Target(at_width(operator.name, lanes.width_of(operator)), (), partial(lanes.scenarios, operator))
            for operator in OPERATORS.values()
        ),
        *(
            Target(subject, CLOCK, partial(registers.scenarios, dict(subject.parameters)["Channels"]))
            for subject in subjects()
            if subject.module == "config_registers"
        ),
        *(
            _unit(subject)
            for subject in subjects()  # but what is for another unit around it, on whose bench it is
            if subject.module in UNITS and "PerChannel" not in dict(subject.parameters)
        ),
        *map(_part_of_core, CORE_PARTS),
    ]


def targets_named(pattern: str) -> list[Target]:
    """Those of a module, or of all modules that match a glob; all of `targets` for "".

    By its own name alone, also at its parameters, a core is had, as what its bench lets live may be left undecided; by
    its name at parameters the unit with tables of channels, of any size that they can have.  A unit has its mutants
    shallow and deep; at a depth between, by its name at parameters alone.
    """
    if cores := [core for core in map(_core, CORES) if pattern in (core.subject.module, str(core.subject))]:
        return cores
    if named := _WITH_TABLES.fullmatch(pattern):
        lanes, channels, levels = int(named[1]), int(named[3]), range(len(depths("quantize_down_channels")))
        legal = 2 * lanes <= channels <= MOST_CHANNELS and channels % lanes == 0
        at = [quantize_down_channels(lanes, level, channels // lanes).subject for level in levels] if legal else []
        return [_unit(subject) for subject in at if str(subject) == pattern]
    return [
        target
        for target in targets()
        if fnmatchcase(target.subject.module, pattern or "*") and "Depth" not in dict(target.subject.parameters)
    ]


def _part_of_core(module: str) -> Target:
    """At the first of its sizes.  The array has steps to make; of the others all is asked of the theorems."""
    subject = next(subject for subject in subjects() if subject.module == module)
    if module != "mac_array":
        return Target(subject, (), lambda _: [])
    given = dict(subject.parameters)
    return Target(subject, CLOCK[:1], partial(mac_array.scenarios, given["Rows"], given["Columns"]))


def _core(module: str) -> Target:
    """At the size that there are theorems about, which say of its parts what they do and of it what goes between."""
    subject = next(subject for subject in subjects() if subject.module == module)
    given = dict(subject.parameters)
    core = GemmCore(
        rows=given["Rows"], columns=given["Columns"], steps=given["Steps"], channels=given["Channels"],
        image=given["Image"], deep=bool(given["Deep"]),
    )  # fmt: skip
    return Target(subject, CLOCK, partial(gemm_core.scenarios, core), say_all=False, ranges=_of_settings(core))


def _of_settings(core: GemmCore) -> Ranges:
    """What the core's registers take, where that are not all numbers that there are bits for."""
    fields = [field for register in registers_of(core.channels) for field in register.fields]
    return {
        f"u_config_registers.{field.setting}_o": (field.low, field.high)
        for field in fields
        if field.low >= 0 and (field.low, field.high) != (0, (1 << field.bits) - 1)
    }


def _unit(subject: Subject) -> Target:
    given = dict(subject.parameters)
    bench = bench_of(subject.module, given.get("Channels", CHANNELS))

    def scenarios(seed: int) -> list[Scenario]:
        return UnitScenarios(bench, given["Lanes"], profile_at(subject), seed).all()

    return Target(subject, (*CLOCK, *HANDSHAKE), scenarios)
