"""What the bench of one unit adds to the scenarios, which are the same for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from random import Random

from rtl_models.benches.coverage.unit_coverpoints import Coverpoints
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.register_map import CHANNELS
from rtl_models.units import UNITS, Unit


@dataclass(frozen=True, kw_only=True)
class UnitBench:
    """The stimulus and the coverpoints of a unit.

    `frames` of a generator of random numbers and the lanes never ends; any `round` of them in succession meets all
    coverpoints.  `long_frame` has at least so many beats.  `fitted` makes a frame whole again whose settings or beats
    were changed at will, or says with None that there is none.
    """

    unit: Unit
    coverpoints: Coverpoints
    frames: Callable[[Random, int], Iterator[UnitFrame]]
    long_frame: Callable[[Random, int, int], UnitFrame]
    round: int
    fitted: Callable[[UnitFrame, int], UnitFrame | None] = lambda frame, _: frame
    rare_frames: Callable[[Random, int], list[UnitFrame]] = lambda rng, lanes: []
    """What shows faults that frames in turn would show too seldom, such as a bit that a carry reaches once in 2^20."""
    samples_settings: bool = False
    """Whether the settings of a frame are those of its first beat, whatever is written after it."""


def bench_of(name: str, channels: int = CHANNELS) -> UnitBench:
    """That of the unit of this name; the tables of one that has some are of so many channels."""
    module = import_module(f"rtl_models.benches.units.{name}_bench")
    bench: UnitBench = module.bench_at(channels) if UNITS[name].tables else module.BENCH
    return bench
