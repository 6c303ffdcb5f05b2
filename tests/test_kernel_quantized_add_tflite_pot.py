"""quantized_add, mode tflite_s16_pot: exact fractions, the shifts of scales, builds, conventions and faults."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sim.check.check import Job, check_job, jobs_of
from sim.check.vectors import Vectors, make_vectors
from sim.kernels.quantized_add import MODES, golden_tflite_pot
from sim.kernels.quantized_add.golden_tflite_pot import ParametersOfPowers, derived_of_powers, log2_of
from support.exact_rounding import half_away
from support.planted_source import wrong_lanes
from support.rivals import hardly_apart

KERNEL = MODES["tflite_s16_pot"]


def added(a: int, b: int, by: ParametersOfPowers) -> int:
    """The sum by exact fractions; by 2^16 and more what is shifted becomes 1, or -1 where it is negative."""
    kept, moved, right = (b, a, -by.a_shift) if by.a_shift else (a, b, -by.b_shift)
    divided = half_away(Fraction(moved, 2**right)) if right < 16 else (-1 if moved < 0 else 1)
    return min(max(min(max(kept + divided, -32768), 32767), by.lower), by.upper)


def test_every_docstring_example_runs() -> None:
    result = doctest.testmod(golden_tflite_pot)
    assert (result.failed, result.attempted) == (0, 2)


def test_every_output_is_that_of_exact_fractions() -> None:
    rng, apart = np.random.default_rng(1), []
    for inputs in (*KERNEL.corners(), *(KERNEL.sample(rng) for _ in range(40))):
        made = KERNEL.golden(inputs)["output"].tolist()
        rows = zip(inputs["a"].tolist(), inputs["b"].tolist(), made, strict=True)
        apart += [row for row in rows if added(*row[:2], inputs["parameters"]) != row[2]]
    assert apart == []


@pytest.mark.parametrize(
    ("a", "b", "by", "expected"),
    [
        pytest.param(0, 1, ParametersOfPowers(b_shift=-1), 1, id="a tie"),
        pytest.param(0, -1, ParametersOfPowers(b_shift=-1), -1, id="a tie below 0"),
        pytest.param(-3, 5, ParametersOfPowers(a_shift=-1), 3, id="the other operand"),
        pytest.param(32767, 9, ParametersOfPowers(b_shift=-3), 32767, id="saturated"),
        pytest.param(-32768, -32768, ParametersOfPowers(), -32768, id="saturated below"),
        pytest.param(0, 0, ParametersOfPowers(b_shift=-16), 1, id="0 by 2^16"),
        pytest.param(9, -1, ParametersOfPowers(a_shift=-31), 0, id="9 by 2^31"),
    ],
)
def test_single_sums(a: int, b: int, by: ParametersOfPowers, expected: int) -> None:
    inputs = {"a": np.array([a], np.int16), "b": np.array([b], np.int16), "parameters": by}
    assert KERNEL.golden(inputs)["output"].tolist() == [expected]


def test_the_general_addition_of_the_same_scales_rounds_the_sum_instead() -> None:
    """1 by 2 is a tie: away from zero alone, and within the sum where that is below zero."""
    by = ParametersOfPowers(b_shift=-1)
    inputs = {"a": np.array([-1], np.int16), "b": np.array([1], np.int16), "parameters": by}
    made = [KERNEL.golden(inputs), KERNEL.conventions["tflite_s16"](inputs)]
    assert [int(outputs["output"][0]) for outputs in made] == [0, -1]


def test_what_is_taken_for_a_power_of_two() -> None:
    """Within 0.001 of a whole log2, in float32."""
    near = [2.0**-7 * 2.0**by for by in (0.0009, -0.0009, 0.0011, -0.0011)]
    assert [log2_of(scale) for scale in near] == [-7, -7, None, None]
    assert [log2_of(scale) for scale in (0.0, -1.0, float("inf"), float("nan"))] == [None] * 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ParametersOfPowers(a_shift=1), r"a_shift is 1: it must lie in -31\.\.0"),
        (lambda: ParametersOfPowers(a_shift=-1, b_shift=-1), "one operand must have the output's scale"),
        (lambda: ParametersOfPowers(lower=8, upper=7), "bounds are 8 and 7"),
        (lambda: derived_of_powers(0.5, 0.3, 1.0), "not all of them are powers of two"),
        (lambda: derived_of_powers(1.0, 0.5, 0.5), r"a_shift is 1: it must lie in -31\.\.0"),
        (lambda: derived_of_powers(0.5, 0.25, 1.0), "shifts are -1 and -2"),
    ],
)
def test_numbers_that_tflite_refuses_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("job", [pytest.param(job, id=job.name) for job in jobs_of(KERNEL, ["O2"])])
def test_every_implementation_agrees_on_all_corners(job: Job) -> None:
    vectors = make_vectors(KERNEL, 500, seed=2)
    outcome = check_job(KERNEL, job, vectors, lambda _: None, engine="machine")
    assert (outcome.failure, outcome.vectors) == ("", vectors.count)


@pytest.mark.parametrize("job", [pytest.param(job, id=job.name) for job in jobs_of(KERNEL, ["O2"])])
def test_machine_and_emulator_stay_together(job: Job) -> None:
    inputs = list(KERNEL.corners())[::9]
    vectors = Vectors(inputs, [KERNEL.golden(case) for case in inputs], seed=0)
    assert check_job(KERNEL, job, vectors, lambda _: None).failure == ""


def test_random_vectors_separate_the_mode_from_every_convention() -> None:
    assert (len(KERNEL.conventions), hardly_apart(KERNEL, 60)) == (5, [])


PLANTED = [
    (0, "vrshlq_s16(vqaddq_s16(value, fix), shift)", "vrshlq_s16(value, shift)"),
    (0, "vqaddq_s16(vld1q_s16(kept + i)", "vaddq_s16(vld1q_s16(kept + i)"),
    (0, "if (shift < -15)", "if (shift < -16)"),
    (0, "const int16_t *kept = a_shift ? b : a, *moved = a_shift ? a : b;", "const int16_t *kept = a, *moved = b;"),
    (1, "moved[i] < 0 ? -1 : 1", "moved[i] > 0 ? 1 : -1"),
]


@pytest.mark.parametrize(("source", "right", "wrong"), PLANTED)
def test_a_planted_fault_is_found(tmp_path: Path, source: int, right: str, wrong: str) -> None:
    assert wrong_lanes(KERNEL, source, right, wrong, tmp_path, corners=64) > 0
