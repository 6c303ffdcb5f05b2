"""The pipelines against a second, simple description of them, on random instructions of every class."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random
from typing import Literal

import pytest

from sim.timing.model.core import ClassTiming, Core
from sim.timing.model.core_file import core_names, load_core
from sim.timing.model.pipeline import pipeline
from sim.timing.model.stream import Executed
from support.random_executed import random_core, random_stream
from support.reference_pipelines import Numbered, Times, reference


@cache
def whole_core(name: str) -> Core:
    """A real core; its averages of parameters rounded."""
    core = load_core(name)
    return replace(
        core,
        store_forward_scalar=Fraction(round(core.store_forward_scalar)),
        store_forward_vector=Fraction(round(core.store_forward_vector)),
        taken_branch_interval=Fraction(round(core.taken_branch_interval)),
    )


def is_comparable(one: Numbered) -> bool:
    """Whether its figures are whole numbers of cycles."""
    return is_whole(one.timing)


def is_whole(timing: ClassTiming) -> bool:
    figures = (
        timing.latency,
        *(f for f in (timing.accumulate, timing.merge) if f is not None),
        *(use.cycles for use in timing.uses),
    )
    return all(figure.denominator == 1 for figure in figures)


def timed(stream: Sequence[Executed], core: Core, mispredicted: Collection[int]) -> Times:
    engine = pipeline(core)
    engine.feed(stream, mispredicted)
    found = engine.schedule()
    return Times(list(found.entered), list(found.issued), list(found.ready), list(found.retired))


def assert_same(random: Random, core: Core) -> None:
    stream = [one for one in random_stream(random) if is_comparable(Numbered(core, [one], 0))]
    wrong = {number for number, one in enumerate(stream) if one.instruction.is_branch and random.random() < 0.3}
    assert timed(stream, core, wrong) == reference(stream, core, wrong), [one.instruction.text for one in stream]


@pytest.mark.parametrize("name", core_names())
@pytest.mark.parametrize("seed", range(25))
def test_a_random_stream_takes_the_reference_times_on_a_real_core(name: str, seed: int) -> None:
    assert_same(Random(seed), whole_core(name))


@pytest.mark.parametrize("order", ["in", "out"])
@pytest.mark.parametrize("seed", range(40))
def test_a_random_stream_takes_the_reference_times_on_a_random_core(order: Literal["in", "out"], seed: int) -> None:
    random = Random(seed)
    assert_same(random, random_core(random, order))
