"""What the bench of one unit adds to the scenarios, which are the same for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from random import Random
from typing import Final

import numpy as np

from rtl_models.benches.coverage.unit_coverpoints import Coverpoints
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.register_map import CHANNELS, register_writes
from rtl_models.units import UNITS, Unit

_TRIES: Final = 1_000
"""Frames in succession of which one goes with what is built in; two of three are of other roundings."""


class NothingFits(ValueError):
    """Numbers built into a module that no frame goes with."""


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
    aimed: Callable[[UnitFrame, Random, int], UnitFrame] = lambda frame, rng, lanes: frame
    """A frame of as many beats with the settings of one, and numbers that matter with these."""


def bench_of(name: str, channels: int = CHANNELS) -> UnitBench:
    """That of the unit of this name; the tables of one that has some are of so many channels."""
    module = import_module(f"rtl_models.benches.units.{name}_bench")
    bench: UnitBench = module.bench_at(channels) if UNITS[name].tables else module.BENCH
    return bench


def with_built_in(bench: UnitBench, numbers: Mapping[str, int]) -> UnitBench:
    """The bench of a module that has these numbers built in, by operand or setting: all frames have them.

    Numbers are aimed at them.  Frames raise NothingFits where none goes with them.
    """
    if not numbers:
        return bench
    settings = {name: number for name, number in numbers.items() if name in bench.unit.settings}
    operands = {f"{name}_i": number for name, number in numbers.items() if name not in settings}

    def having(frame: UnitFrame) -> UnitFrame:
        rows = {port: np.full_like(frame.operands[port], number) for port, number in operands.items()}
        return UnitFrame({**frame.settings, **settings}, {**frame.operands, **rows})

    def fitted(frame: UnitFrame, lanes: int) -> UnitFrame | None:
        whole = bench.fitted(having(frame), lanes)
        try:
            return whole if whole is not None and register_writes(whole.settings) else None
        except ValueError:
            return None

    def aimed(frame: UnitFrame, rng: Random, lanes: int) -> UnitFrame | None:
        whole = fitted(frame, lanes)
        return fitted(bench.aimed(whole, rng, lanes), lanes) if whole is not None else None

    def fitting(frames: Iterable[UnitFrame | None]) -> Iterator[UnitFrame]:
        tried = 0
        for frame in frames:
            tried = 0 if frame is not None else tried + 1
            if frame is not None:
                yield frame
            elif tried == _TRIES:
                raise NothingFits(f"no frame of {bench.unit.name} goes with the numbers built in, {dict(numbers)}")

    def long_frame(rng: Random, lanes: int, beats: int) -> UnitFrame:
        made = bench.long_frame(rng, lanes, beats)
        return aimed(made, rng, lanes) or next(fitting(aimed(one, rng, lanes) for one in bench.frames(rng, lanes)))

    return replace(
        bench,
        frames=lambda rng, lanes: fitting(aimed(frame, rng, lanes) for frame in bench.frames(rng, lanes)),
        long_frame=long_frame,
        fitted=fitted,
        rare_frames=lambda rng, lanes: list(filter(None, (fitted(f, lanes) for f in bench.rare_frames(rng, lanes)))),
    )
