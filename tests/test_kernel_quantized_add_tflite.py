"""quantized_add, mode tflite: the integer add against sim.golden.addition, numbers by hand and planted faults."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sim.check.check import Job, check_job
from sim.check.vectors import make_vectors
from sim.golden.addition import (
    AddParameters,
    Quantization,
    add_tflite,
    add_tflite_single_rounding,
    relu_if,
)
from sim.golden.fixed_point import Int32Array
from sim.kernels.quantized_add import MODES
from sim.kernels.quantized_add.golden_tflite import Parameters, Scale, derived, steps
from support.sampled import sampled, shown_too_by

KERNEL = MODES["tflite"]
HALF = 1 << 30
A, B = (part.astype(np.uint8) for part in np.meshgrid(np.arange(256), np.arange(256), indexing="ij"))
"""Every pair of bytes."""
QUANTIZATIONS = (
    ((0.01, 0), (0.01, 3), (0.02, 10)),
    ((0.010, 47), (0.020, 30), (0.015, 38)),
    ((0.06571889, 171), (0.06253845, 195), (0.10072092, 98)),
    ((1.0, 255), (0.001, 0), (0.75, 255)),
)


def quantized(given: tuple[tuple[float, int], ...], relu: bool = False) -> AddParameters:
    a, b, output = (Quantization(scale, zero) for scale, zero in given)
    return AddParameters(a, b, output, relu_if(relu))


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("given", QUANTIZATIONS)
def test_the_integers_of_scales_give_what_tflite_adds(given: tuple[tuple[float, int], ...], relu: bool) -> None:
    parameters = quantized(given, relu)
    assert np.array_equal(steps(A, B, derived(parameters))["output"], add_tflite(A, B, parameters))


@pytest.mark.parametrize("given", QUANTIZATIONS)
def test_the_convention_of_single_rounding_is_the_other_build(given: tuple[tuple[float, int], ...]) -> None:
    parameters = quantized(given)
    result = KERNEL.conventions["single_rounding"]({"a": A, "b": B, "parameters": derived(parameters)})
    assert np.array_equal(result["output"], add_tflite_single_rounding(A, B, parameters))


def test_ties_of_the_multiply_go_up_and_those_of_the_shift_away() -> None:
    """-3 and 5: their halves -1.5 and 2.5 go to -1 and 3, the halves of these to -1 and 2."""
    given = Parameters(
        a=Scale(HALF, -1), b=Scale(0), total=Scale(HALF), a_zero=4, b_zero=0, output_zero=10, left_shift=0
    )
    found = steps(np.array([1, 9], np.uint8), np.zeros(2, np.uint8), given)
    assert {name: values.tolist() for name, values in found.items()} == {
        "a": [1, 9], "b": [0, 0], "a offset": [-3, 5], "a left shift": [-3, 5], "a multiply": [-1, 3],
        "a shift": [-1, 2], "sum": [-1, 2], "multiply": [0, 1], "shift": [0, 1], "offset": [10, 11],
        "output": [10, 11],
    }  # fmt: skip


def test_the_corners_have_every_shift_zero_point_and_extreme_multiplier() -> None:
    given = [case["parameters"] for case in KERNEL.corners()]
    for scales in ([one.a for one in given], [one.b for one in given], [one.total for one in given]):
        assert {scale.shift for scale in scales} == set(range(-31, 1))
        assert {scale.multiplier for scale in scales} >= {-(2**31), 2**31 - 1}
    assert {zero for one in given for zero in (one.a_zero, one.b_zero, one.output_zero)} >= {0, 255}


def _ties(values: Int32Array, factor: int, bits: int) -> set[int]:
    """The signs of the values that come to a half number when they are multiplied and shifted by so many bits."""
    product = values.astype(np.int64) * factor
    unit = 1 << bits
    return set(np.sign(values[2 * (product % unit) == unit]).tolist())


def test_the_corners_reach_the_ties_of_both_roundings_on_both_sides_of_zero() -> None:
    reached: dict[str, set[int]] = {}
    for case in KERNEL.corners():
        by, found = case["parameters"], KERNEL.steps(case)
        for name, values, bits, factor in (
            ("a multiply", found["a left shift"], 31, by.a.multiplier),
            ("a shift", found["a multiply"], -by.a.shift, 1),
            ("multiply", found["sum"], 31, by.total.multiplier),
            ("shift", found["multiply"], -by.total.shift, 1),
        ):
            reached[name] = reached.get(name, set()) | _ties(values, factor, bits)
    assert {name: signs - {0} for name, signs in reached.items()} == {name: {-1, 1} for name in reached}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Scale(2**31), "multiplier is 2147483648"),
        (lambda: Scale(HALF, 1), "shift is 1: it must lie in -31..0"),
        (lambda: Scale(HALF, -32), "shift is -32"),
        (
            lambda: Parameters(a=Scale(0), b=Scale(0), total=Scale(0), b_zero=256),
            "b_zero is 256: it must lie in 0..255",
        ),
        (
            lambda: Parameters(a=Scale(0), b=Scale(0), total=Scale(0), left_shift=21),
            "left_shift is 21: it must lie in 0..20",
        ),
        (
            lambda: Parameters(a=Scale(0), b=Scale(0), total=Scale(0), lower=8, upper=7),
            "upper is 7: it must lie in 8..255",
        ),
        (lambda: derived(quantized(((0.0, 0), (1.0, 0), (1.0, 0)))), "the scale is 0.0"),
        (lambda: derived(quantized(((1.0, 0), (2.0**19, 0), (1.0, 0)))), "shift is 1"),
    ],
)
def test_numbers_out_of_range_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


PLANTED = [
    ("tflite.c", "vreinterpretq_s32_u32(vmovl_u16(bytes)), by.offset", "by.offset, by.offset", "'a'"),
    ("tflite.c", "vshlq_s32(difference, left_shift)", "vshlq_n_s32(difference, 20)", "'a left shift'"),
    ("tflite.c", "vaddq_s32(place(a", "vsubq_s32(place(a", "'sum'"),
    ("tflite.c", "vqrdmulhq_n_s32(value, by.multiplier)", "vqdmulhq_n_s32(value, by.multiplier)", "'multiply'"),
    ("tflite.c", "vqaddq_s32(high, fix)", "high", "'shift'"),
    ("tflite.c", "vmax_u8(bytes, by.lower)", "bytes", "'output'"),
    ("tflite.c", "vld1_dup_u8(b + i)", "vld1_dup_u8(b)", "'b'"),
]


def failure(folder: Path, source: str, right: str, wrong: str, level: str = "-O2") -> str:
    """What a check says of the source in which one text is replaced by another."""
    (original,) = (file for file in KERNEL.sources if file.name == source)
    text, file = original.read_text(), folder / source
    assert text.count(right) == 1
    file.write_text(text.replace(right, wrong))
    vectors = make_vectors(KERNEL, 0, seed=2)
    return check_job(KERNEL, Job(file, (level,)), vectors, lambda _: None, engine="machine").failure


@pytest.mark.slow
@pytest.mark.parametrize(("source", "right", "wrong", "step"), sampled(PLANTED, 3))
def test_a_planted_fault_is_placed_at_its_step(tmp_path: Path, source: str, right: str, wrong: str, step: str) -> None:
    assert f"parts from the golden reference at step {step}" in failure(tmp_path, source, right, wrong)


@pytest.mark.slow
@shown_too_by("test_check_planted_faults.py::test_fault_in_c_is_placed_at_its_step")
def test_a_planted_fault_in_plain_c_is_placed_at_its_step(tmp_path: Path) -> None:
    """As written: optimised, the addition is merged with that of the rounding before it."""
    told = failure(tmp_path, "tflite_plain.c", "multiplier, shift) + offset", "multiplier, shift)", "-O0")
    assert "parts from the golden reference at step 'offset'" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "right", "wrong", "convention"),
    sampled([
        ("tflite.c", "vqaddq_s32(high, fix)", "high", "ties_up"),
        ("tflite_plain.c", "(mask >> 1) + (value < 0)", "(mask >> 1)", "ties_up"),
        ("tflite_plain.c", "((value & mask) > threshold)", "(threshold < 0)", "shift_rounds_down"),
        ("tflite_plain.c", "(INT64_C(1) << 30)) >> 31;\n    return divide_by_power_of_two((int32_t)high, -shift)",
         "(INT64_C(1) << (30 - shift))) >> (31 - shift);\n    return (int32_t)high", "single_rounding"),
    ], 2),
)  # fmt: skip
def test_another_rounding_is_told_by_its_name(
    tmp_path: Path, source: str, right: str, wrong: str, convention: str
) -> None:
    assert f"lanes agree with the convention {convention}\n" in failure(tmp_path, source, right, wrong)
