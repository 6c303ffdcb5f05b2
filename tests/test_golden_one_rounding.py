"""The conventions of docs/spec/requantization.md against the systems that it names, written out in integers."""

from __future__ import annotations

import doctest
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from sim.golden import one_rounding
from sim.golden.fixed_point import Int32Array
from sim.golden.one_rounding import (
    scale_then_offset_floor,
    single_rounding_by_vector_saturating_left,
    single_rounding_floor,
    single_rounding_of_long_narrowed,
    single_rounding_ties_away,
    single_rounding_truncated,
)
from sim.golden.registry.conventions import CONVENTIONS
from sim.golden.registry.record import Convention
from support.requantization_systems import CASES, Case, Operands

DRAWN = 1500
Scaling = Callable[..., Int32Array]
P = 2**30
IDS = [f"{case.convention}-{case.system.__qualname__.partition('.')[0]}" for case in CASES]
ANY_SIGN = (single_rounding_ties_away, single_rounding_floor, single_rounding_truncated)


def wrong(case: Case, seed: int, drawn: int) -> list[tuple[Operands, int, int]]:
    """The operands for which convention and system differ, with both numbers."""
    operands = list(case.operands(seed, drawn))
    given = results(CONVENTIONS[case.convention], operands)
    expected = [case.system(*one) for one in operands]
    return [item for item in zip(operands, given, expected, strict=True) if item[1] != item[2]]


def results(convention: Convention, operands: Sequence[Operands]) -> list[int]:
    """What the convention gives for each; swept at once where they share the parameters that are one number each."""
    swept = 1 if convention.family.name in ("product by a factor", "float to byte", "float to int8") else None
    groups: dict[Operands, list[int]] = defaultdict(list)
    for at, one in enumerate(operands):
        groups[one[swept:] if swept else ()].append(at)
    found = np.zeros(len(operands), np.int64)
    for parameters, members in groups.items():
        if swept:
            kind = convention.family.operands[0].kind
            values = np.array([operands[at][0] for at in members], np.float32 if kind == "float32" else np.int64)
            found[members] = convention.function(values, *parameters)
        else:
            found[members] = convention.function(*np.array([operands[at] for at in members], np.int64).T)
    return [int(number) for number in found]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_convention_gives_what_its_system_computes(case: Case) -> None:
    assert wrong(case, 18, DRAWN)[:3] == []


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_numbers_that_are_tried_would_show_another_convention_of_the_family(case: Case) -> None:
    """What a system computes is given by no neighbour of the same family, but by one that is equal on its domain."""
    family = CONVENTIONS[case.convention].family
    operands = list(case.operands(18, DRAWN))
    expected = [case.system(*one) for one in operands]
    equal = set()
    for convention in CONVENTIONS.values():
        if convention.family is family:
            try:
                if results(convention, operands) == expected:
                    equal.add(convention.name)
            except (ValueError, TypeError):
                continue
    assert {case.convention} <= equal <= {case.convention, *ALSO.get(case.system.__name__, ())}


ALSO = {
    # for e <= 0 nothing is shifted to the left of what these keep
    "xnnpack_rndnu": {"single_rounding_by_vector", "single_rounding_by_vector_saturating_left"},
}


@pytest.mark.parametrize("convention", ANY_SIGN, ids=lambda convention: convention.__name__)
def test_a_number_for_each_channel_is_the_number_of_that_channel_alone(convention: Scaling) -> None:
    values = np.random.default_rng(3).integers(-(2**31), 2**31, (50, 4))
    multipliers, shifts = np.array([P, -P - 1, 3 << 29, 1717986918]), np.array([0, -7, 3, -31])
    alone = [convention(values[:, c], int(multipliers[c]), int(shifts[c])) for c in range(4)]
    assert convention(values, multipliers, shifts).tolist() == np.stack(alone, axis=1).tolist()


def test_every_example_runs() -> None:
    result = doctest.testmod(one_rounding)
    assert (result.failed, result.attempted) == (0, 7)


@pytest.mark.parametrize("convention", ANY_SIGN, ids=lambda convention: convention.__name__)
@pytest.mark.parametrize("shift", [-32, 31])
def test_a_shift_outside_of_the_rule_is_refused(convention: Scaling, shift: int) -> None:
    with pytest.raises(ValueError, match=f"left_shift: {shift} is given"):
        convention(1, P, shift)


def test_numbers_outside_of_a_rule_are_refused() -> None:
    with pytest.raises(ValueError, match="multiplier goes down to -1"):
        single_rounding_by_vector_saturating_left(1, -1, 0)
    with pytest.raises(ValueError, match="must lie in 48 bits"):
        single_rounding_of_long_narrowed(2**47, P, 0)
    for convention, shift in (
        (single_rounding_by_vector_saturating_left, -32),
        (single_rounding_by_vector_saturating_left, 31),
        (single_rounding_of_long_narrowed, -32),
        (single_rounding_of_long_narrowed, 8),
    ):
        with pytest.raises(ValueError, match=f"left_shift: {shift} is given"):
            convention(1, P, shift)
    with pytest.raises(ValueError, match="right_shift: 32 is given"):
        scale_then_offset_floor(1, 1, 1, 32)
