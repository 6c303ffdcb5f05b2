"""What is mutated: which module at which parameters, and what its bench puts it through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import import_module

from rtl_models.benches.unit_bench import UnitBench
from rtl_models.formal.subject import subjects
from rtl_models.formal.yosys import Subject, at_width
from rtl_models.mutation import lanes, registers
from rtl_models.mutation.scenario import Scenario
from rtl_models.mutation.simulator import CLOCK, HANDSHAKE
from rtl_models.mutation.units import UnitScenarios, within_channels
from rtl_models.operators import OPERATORS, Operator
from rtl_models.units import UNITS


@dataclass(frozen=True)
class Target:
    """A module at parameters with its bench.

    `control` are those ports of the clock and the handshake that it has; `scenarios` draws by a seed.
    """

    subject: Subject
    control: tuple[str, ...]
    scenarios: Callable[[int], list[Scenario]]


def targets() -> list[Target]:
    """The operators, the registers, then the units at the parameters that there are theorems about."""
    return [
        *(_lane(operator) for operator in OPERATORS.values()),
        *(
            Target(subject, CLOCK, registers.scenarios)
            for subject in subjects()
            if subject.module == "config_registers"
        ),
        *(_unit(subject) for subject in subjects() if subject.module in UNITS and not _is_inner(subject)),
    ]


def targets_named(pattern: str) -> list[Target]:
    """Those of a module, or of all modules that match a glob; all for ""."""
    return [target for target in targets() if fnmatchcase(target.subject.module, pattern or "*")]


def _lane(operator: Operator) -> Target:
    subject = at_width(operator.name, lanes.width_of(operator))
    return Target(subject, (), lambda seed: lanes.scenarios(operator, seed))


def _unit(subject: Subject) -> Target:
    given = dict(subject.parameters)
    bench: UnitBench = import_module(f"rtl_models.benches.{subject.module}_bench").BENCH
    fitting = within_channels(bench, given["Channels"]) if "Channels" in given else bench

    def scenarios(seed: int) -> list[Scenario]:
        return UnitScenarios(fitting, given["Lanes"], bool(given["Deep"]), seed).all()

    return Target(subject, (*CLOCK, *HANDSHAKE), scenarios)


def _is_inner(subject: Subject) -> bool:
    """Whether it is for another unit around it, on whose bench it is."""
    return any(name == "PerChannel" for name, _ in subject.parameters)
