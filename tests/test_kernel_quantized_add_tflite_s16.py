"""quantized_add, mode tflite_s16: exact fractions, the functions that networks are computed by, builds and faults."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sim.check.check import Job, check_job, jobs_of
from sim.check.vectors import make_vectors
from sim.golden.derivation import derive_tflite
from sim.golden.integer_addition import add_rescaled, rescaling_of
from sim.golden.scaling import double_rounding
from sim.kernels.quantized_add import MODES
from sim.kernels.quantized_add.golden_tflite import Scale
from sim.kernels.quantized_add.golden_tflite_s16 import ParametersOf16, derived_of_16
from support.exact_rounding import half_away, half_up
from support.planted_source import wrong_lanes
from support.rivals import hardly_apart

KERNEL = MODES["tflite_s16"]
HALF = 1 << 30


def rescaled(value: int, by: Scale) -> int:
    """Both roundings on exact fractions; nothing saturates where multipliers are 0 or more."""
    return half_away(Fraction(half_up(Fraction(value * by.multiplier, 2**31)), 2**-by.shift))


@pytest.mark.slow
def test_every_output_is_that_of_exact_fractions() -> None:
    rng, apart = np.random.default_rng(1), []
    for inputs in (*KERNEL.corners(), *(KERNEL.sample(rng) for _ in range(40))):
        by, unit = inputs["parameters"], 2 ** inputs["parameters"].left_shift
        for a, b, made in zip(inputs["a"], inputs["b"], KERNEL.golden(inputs)["output"], strict=True):
            total = rescaled(rescaled(int(a) * unit, by.a) + rescaled(int(b) * unit, by.b), by.total)
            if min(max(total, by.lower), by.upper) != made:
                apart.append((a, b, made))
    assert apart == []


@pytest.mark.parametrize("scales", [(0.01, 0.01, 0.02), (0.010, 0.020, 0.015), (1.0, 0.001, 0.75)])
def test_the_integers_of_scales_are_those_of_the_addition_of_networks(scales: tuple[float, float, float]) -> None:
    a, b = (np.random.default_rng(seed).integers(-32768, 32768, 500).astype(np.int16) for seed in (1, 2))
    made = KERNEL.golden({"a": a, "b": b, "parameters": derived_of_16(*scales)})["output"]
    theirs = add_rescaled(a, b, rescaling_of(scales, 15, derive_tflite), 15, double_rounding)
    assert made.tolist() == np.clip(theirs, -32768, 32767).tolist()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ParametersOf16(a=Scale(0), b=Scale(-1), total=Scale(0)), "the multiplier of b is -1"),
        (lambda: ParametersOf16(a=Scale(0), b=Scale(0), total=Scale(0), left_shift=16), r"must lie in 0\.\.15"),
        (lambda: ParametersOf16(a=Scale(0), b=Scale(0), total=Scale(0), lower=8, upper=7), "bounds are 8 and 7"),
        (lambda: derived_of_16(1.0, 0.0, 1.0), r"the scale is 0\.0"),
        (lambda: derived_of_16(1.0, 2.0**14, 1.0), "shift is 1"),
    ],
)
def test_numbers_out_of_range_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.slow
@pytest.mark.parametrize("job", [pytest.param(job, id=job.name) for job in jobs_of(KERNEL, ["O2"])])
def test_every_implementation_agrees_in_lockstep(job: Job) -> None:
    vectors = make_vectors(KERNEL, 100, seed=2)
    outcome = check_job(KERNEL, job, vectors, lambda _: None)
    assert (outcome.failure, outcome.vectors) == ("", vectors.count)


def test_random_vectors_separate_the_mode_from_every_convention() -> None:
    assert (len(KERNEL.conventions) >= 2, hardly_apart(KERNEL, 60)) == (True, [])


PLANTED = [
    (0, "vaddq_s32(widened(vget_high_s16(a)", "vaddq_s32(widened(vget_low_s16(a)"),
    (0, "vminq_s16(vmaxq_s16(sums, lowest), highest), 0)", "vmaxq_s16(sums, lowest), 0)"),
    (1, "rescale(b[i] * power, b_multiplier, b_shift)", "rescale(b[i] * power, b_multiplier, a_shift)"),
]


@pytest.mark.parametrize(("source", "right", "wrong"), PLANTED)
def test_a_planted_fault_is_found(tmp_path: Path, source: int, right: str, wrong: str) -> None:
    assert wrong_lanes(KERNEL, source, right, wrong, tmp_path) > 0
