"""fused_output_stage: Python's integers, the two kernels that it is, the operator, every way to run it, faults."""

from __future__ import annotations

import doctest
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.check.check import Job, check_job, jobs_of
from sim.check.vectors import Vectors, make_vectors
from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array
from sim.kernels import Kernel, built_in_kernel, kernel_modes
from sim.kernels.fused_output_stage import golden
from sim.kernels.fused_output_stage.configure import FusedOutputStage, validate
from sim.kernels.fused_output_stage.golden import MODES, fused_output_stage, steps
from sim.kernels.offset_contribution.golden import Parameters as Offsets
from sim.kernels.offset_contribution.golden import offset_contribution
from sim.kernels.operator import ConfigurationError, TensorInfo
from sim.kernels.quantize_down.golden import Parameters as Stage
from sim.kernels.quantize_down.golden import quantize_down
from sim.kernels.requantize.golden import IntegerScale, requantize_integer
from support.planted_source import wrong_lanes
from support.sampled import sampled

NAME = "fused_output_stage"
FIXED_POINT, INTEGER_SCALE, ASSEMBLY = MODES
KERNELS = [built_in_kernel(NAME, mode) for mode in kernel_modes(NAME)]
CASES = [
    pytest.param(kernel, job, id=f"{kernel.mode} {job.name}") for kernel in KERNELS for job in jobs_of(kernel, ["O2"])
]
SMALL = (
    (21, 1, 43, 0, 0), (21, 13, 33, 0, 0), (31, 3, 72, -2, 13), (52, 13, 33, 0, 4), (52, 26, 33, -2, 0),
    (31, 27, 23, 5, 13), (38, 43, 21, -3, -2), (32, 72, 17, -9, 1),
)  # fmt: skip
"""K, M, N, a, b of upstream's small list."""
UPSTREAM = {
    INTEGER_SCALE: [Stage(2, 13, offset, 10, 210) for offset in (-200, -100, 0, 100, 0, 200, -200, -100)],
    FIXED_POINT: [
        Stage(254601600 + 2 * (number >= 4), 10, offset, 10, 210)
        for number, offset in enumerate((-2, -1, 0, 1, 2, -2, -1, 0))
    ],
}


def s32(*numbers: object) -> Int32Array:
    return np.array(numbers, np.int32)


def wrapped(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def staged(accumulator: int, stage: Stage, mode: str) -> int:
    """One output by Python's integers (docs/spec/neighbours.md sections 4 and 5)."""
    if mode == INTEGER_SCALE:
        placed = wrapped(wrapped(accumulator + stage.offset) * stage.multiplier) >> stage.shift
    else:
        multiplied = min((accumulator * stage.multiplier + 2**30) >> 31, INT32_MAX)
        half = (1 << stage.shift) >> 1
        up = (multiplied + half) >> stage.shift
        away = up if multiplied >= 0 else -((-multiplied + half) >> stage.shift)
        without_fix_up = mode == ASSEMBLY and stage.minimum >= stage.offset
        placed = wrapped((up if without_fix_up else away) + stage.offset)
    if mode == ASSEMBLY:
        return min(max(placed, stage.minimum), stage.maximum) % 256
    byte = min(max(placed, 0), 255)
    return byte if stage.minimum == stage.maximum else min(max(byte, stage.minimum), stage.maximum)


def test_every_docstring_example_runs() -> None:
    result = doctest.testmod(golden)
    assert (result.failed, result.attempted) == (0, 2)


@pytest.mark.parametrize(("k", "m", "n", "a_offset", "b_offset"), SMALL)
@pytest.mark.parametrize("mode", MODES)
def test_upstreams_products_and_stages(k: int, m: int, n: int, a_offset: int, b_offset: int, mode: str) -> None:
    """The product of (A + a) and (B + b), bias 1..254, by Python's integers; numpy's numbers, not upstream's."""
    stage = UPSTREAM.get(mode, UPSTREAM[FIXED_POINT])[SMALL.index((k, m, n, a_offset, b_offset))]
    a, b, bias = (
        np.random.default_rng(seed).integers(1, 254, shape, endpoint=True).astype(object)
        for seed, shape in enumerate(((m, k), (k, n), (n,)))
    )
    mm, columns, rows = (values.astype(np.int32) for values in (a @ b, b.sum(axis=0), a.sum(axis=1)))
    made = fused_output_stage(mm, columns, rows, bias.astype(np.int32), Offsets(k, a_offset, b_offset), stage, mode)
    exact = (a + a_offset) @ (b + b_offset) + bias
    assert made.tolist() == [[staged(value, stage, mode) for value in row] for row in exact.tolist()]


@pytest.mark.parametrize("mode", MODES)
def test_every_corner_is_what_python_makes_of_it(mode: str) -> None:
    kernel = built_in_kernel(NAME, mode)
    for inputs in kernel.corners():
        sums = steps(**{name: inputs[name] for name in inputs}, mode=mode)["bias"]
        expected = [staged(value, inputs["stage"], mode) for value in sums.ravel().tolist()]
        assert kernel.golden(inputs)["output"].ravel().tolist() == expected


@pytest.mark.parametrize("mode", [FIXED_POINT, INTEGER_SCALE])
def test_it_is_the_two_kernels_one_after_the_other(mode: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        inputs = built_in_kernel(NAME, mode).sample(rng)
        offsets, stage, bias = inputs["offsets"], inputs["stage"], inputs["bias"]
        sums = inputs["column_sums"], inputs["row_sums"]
        contributed = offset_contribution(inputs["mm"], *sums, None, offsets, "acl_20_11_neon")
        if mode == FIXED_POINT:
            expected = quantize_down(contributed, bias, stage)
        else:
            scale = IntegerScale(stage.offset, stage.multiplier, stage.shift, stage.minimum, stage.maximum)
            expected = requantize_integer(contributed, bias, scale)
        made = fused_output_stage(inputs["mm"], *sums, bias, offsets, stage, mode)
        np.testing.assert_array_equal(made, expected)


# What tells the paths apart (docs/spec/neighbours.md sections 5 and 25).


@pytest.mark.parametrize(
    ("value", "stage", "kernel", "assembly"),
    [
        pytest.param(100, Stage(2**30, 0), 50, 0, id="bounds 0, 0"),
        pytest.param(100, Stage(2**30, 0, 0, 7, 7), 50, 7, id="equal bounds"),
        pytest.param(-3, Stage(2**30, 1, 9, 0, 200), 8, 8, id="a tie away from zero"),
    ],
)
def test_kernel_and_assembly(value: int, stage: Stage, kernel: int, assembly: int) -> None:
    made = [
        int(fused_output_stage(s32([value]), None, None, None, Offsets(1, 0, 0), stage, mode)[0, 0])
        for mode in (FIXED_POINT, ASSEMBLY)
    ]
    assert made == [kernel, assembly]


@pytest.mark.parametrize(
    ("value", "bounds", "expected"), [(600, (0, 300), 44), (-10, (-5, 200), 251), (0, (200, 100), 100)]
)
def test_assembly_keeps_the_low_byte_of_any_bounds(value: int, bounds: tuple[int, int], expected: int) -> None:
    stage = Stage(2**30, 0, 0, *bounds)
    assert fused_output_stage(s32([value]), None, None, None, Offsets(1, 0, 0), stage, ASSEMBLY).tolist() == [
        [expected]
    ]


def test_the_fix_up_that_is_left_out_is_seen_where_the_offset_wraps() -> None:
    """-2 * 2^30/2^31 is -1, of which a shift by 1 makes 0 without the fix-up and -1 with it, which wraps."""
    stage, value = Stage(2**30, 1, INT32_MIN, INT32_MIN, INT32_MAX), s32([-2])
    made = fused_output_stage(value, None, None, None, Offsets(1, 0, 0), stage, ASSEMBLY)
    assert (made.tolist(), quantize_down(value, None, stage, "acl_19_08_fused").tolist()) == ([[0]], [[255]])


@pytest.mark.parametrize(("mode", "expected"), [(FIXED_POINT, [1, 1]), (INTEGER_SCALE, [1, 1]), (ASSEMBLY, [1, 2])])
def test_row_15_column_sums_of_batches(mode: str, expected: list[int]) -> None:
    stage = Stage(1, 0, 0, 0, 255) if mode == INTEGER_SCALE else Stage(2**30, 0, 0, 0, 255)
    sums = s32([1], [2]) if mode == INTEGER_SCALE else s32([2], [4])
    made = fused_output_stage(np.zeros((2, 1, 1), np.int32), sums, None, None, Offsets(0, 1, 0), stage, mode)
    assert made.ravel().tolist() == expected


def test_the_offset_of_integers_comes_before_the_multiply() -> None:
    made = [
        int(fused_output_stage(s32([4]), None, None, None, Offsets(0, 0, 0), Stage(*by), mode)[0, 0])
        for by, mode in (((3, 1, 10), INTEGER_SCALE), ((2**30, 0, 10), FIXED_POINT))
    ]
    assert made == [21, 12]


@pytest.mark.parametrize(
    ("mode", "stage", "sentence"),
    [
        (FIXED_POINT, Stage(1, 32), r"shift is 32: mode acl_19_08 defines 0\.\.31"),
        (INTEGER_SCALE, Stage(1, -1), "the right shift is -1"),
        (ASSEMBLY, Stage(1, -1), r"shift is -1: mode acl_19_08_fused defines 0\.\.31"),
        (FIXED_POINT, Stage(1, 0, 0, 0, 256), "maximum is 256: it must not exceed 255"),
        (INTEGER_SCALE, Stage(1, 0, 0, -1, 9), "minimum is -1: it must not be below 0"),
        ("acl", Stage(1, 0), "unknown mode 'acl': give one of acl_19_08, acl_19_08_integer_scale"),
    ],
)
def test_what_the_mode_does_not_take_is_refused(mode: str, stage: Stage, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        fused_output_stage(s32([1]), None, None, None, Offsets(1, 0, 0), stage, mode)


# Every way to run it.


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "job"), sampled(CASES, 4))
def test_every_implementation_agrees_on_all_corners(kernel: Kernel, job: Job) -> None:
    vectors = make_vectors(kernel, 500, seed=2)
    outcome = check_job(kernel, job, vectors, lambda _: None, engine="machine")
    assert (outcome.failure, outcome.vectors) == ("", vectors.count)


@pytest.mark.parametrize(("kernel", "job"), CASES)
def test_machine_and_emulator_stay_together(kernel: Kernel, job: Job) -> None:
    inputs = [kernel.sample(np.random.default_rng(seed)) for seed in range(3)]
    vectors = Vectors(inputs, [kernel.golden(case) for case in inputs], seed=0)
    assert check_job(kernel, job, vectors, lambda _: None).failure == ""


@pytest.mark.parametrize("kernel", KERNELS)
def test_corners_separate_the_mode_from_every_convention(kernel: Kernel) -> None:
    parted = dict.fromkeys(kernel.conventions, 0)
    for inputs in kernel.corners():
        own = kernel.golden(inputs)["output"]
        for name, other in kernel.conventions.items():
            try:
                parted[name] += int((other(inputs)["output"] != own).sum())
            except ValueError:  # a mode does not define the other's bounds
                continue
    assert (len(parted), [name for name, lanes in parted.items() if lanes < 50]) == (5, [])


PLANTED = [
    (FIXED_POINT, 0, "vaddq_s32(value, loaded(bias))", "vqaddq_s32(value, loaded(bias))"),
    (FIXED_POINT, 0, "column_sums + row / rows * batch_step", "column_sums + row / rows * columns"),
    (FIXED_POINT, 0, "vqaddq_s32(value, fix)", "value"),
    (INTEGER_SCALE, 0, "vaddq_s32(part[i], offset), by.multiplier)", "part[i], by.multiplier)"),
    (ASSEMBLY, 0, "if (lower >= offset)", "if (lower > offset)"),
    (ASSEMBLY, 0, "column_batches > 1 ? columns : 0", "0"),
    (ASSEMBLY, 1, "lower >= offset ? ties_up", "lower > offset ? ties_up"),
    (INTEGER_SCALE, 1, "multiplier) >> shift", "multiplier) / (1 << shift)"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "source", "right", "wrong"), sampled(PLANTED, 3))
def test_a_planted_fault_is_found(tmp_path: Path, mode: str, source: int, right: str, wrong: str) -> None:
    kernel = built_in_kernel(NAME, mode)
    assert wrong_lanes(kernel, source, right, wrong, tmp_path, corners=100, random=20) > 0


NAMED = [
    ("value = vmlaq_n_s32(value, loaded(column_sums), a_offset);", "(void)a_offset;", "'add column term'"),
    ("vaddq_s32(value, loaded(bias))", "vsubq_s32(value, loaded(bias))", "'add bias'"),
    ("vqrdmulhq_n_s32(part[i], by.multiplier), minus_shift), offset)", "vqdmulhq_n_s32(part[i], by.multiplier), "
     "minus_shift), offset)", "'multiply'"),
    ("vqaddq_s32(value, fix)", "vaddq_s32(value, value)", "'shift'"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong", "named"), sampled(NAMED, 2))
def test_the_step_of_a_planted_fault_is_named(tmp_path: Path, right: str, wrong: str, named: str) -> None:
    kernel, source = KERNELS[0], tmp_path / "kernel.c"
    text = kernel.sources[0].read_text()
    assert right in text
    source.write_text(text.replace(right, wrong))
    vectors = make_vectors(kernel, 0, seed=2)
    assert named in check_job(kernel, Job(source, ("-O2",)), vectors, lambda _: None, engine="machine").failure


# The operator.

MM, OUTPUT = TensorInfo((3, 21), "S32"), TensorInfo((3, 21), "QASYMM8")
COLUMNS, ROWS = TensorInfo((21,), "S32"), TensorInfo((3,), "S32")


def configured(mode: str = FIXED_POINT) -> FusedOutputStage:
    operator, stage = FusedOutputStage(), Stage(2**30, 2, 3, 10, 210)
    operator.configure(MM, COLUMNS, ROWS, COLUMNS, replace(OUTPUT), Offsets(5, -2, 13), stage, mode)
    return operator


def test_windows_together_are_the_whole() -> None:
    rng = np.random.default_rng(1)
    mm, sums, rows, bias = (rng.integers(-500, 500, shape).astype(np.int32) for shape in ((3, 21), 21, 3, 21))
    whole, parts = np.zeros((3, 21), np.uint8), np.zeros((3, 21), np.uint8)
    configured().run(mm, sums, rows, bias, whole)
    for lines in (slice(0, 1), slice(1, 3)):
        for columns in (slice(0, 16), slice(16, 21)):
            configured().run(mm, sums, rows, bias, parts, (lines, columns))
    assert (parts.tolist(), whole.min() < whole.max()) == (whole.tolist(), True)


def test_an_empty_output_is_filled_in_only_where_the_check_passes() -> None:
    output, wrong = TensorInfo(), TensorInfo()
    FusedOutputStage().configure(MM, None, None, None, output, Offsets(1, 0, 0), Stage(1, 0))
    with pytest.raises(ConfigurationError, match="maximum is 300"):
        FusedOutputStage().configure(MM, None, None, None, wrong, Offsets(1, 0, 0), Stage(1, 0, 0, 0, 300))
    assert ((output.shape, output.data_type), wrong.is_empty) == (((3, 21), "QASYMM8"), True)


def test_batches_are_compared_with_the_output_so_that_an_empty_one_hides_them() -> None:
    rows = replace(ROWS, shape=(2, 3))
    told = [validate(MM, None, rows, None, output, 0, 1).description for output in (OUTPUT, TensorInfo())]
    assert told == ["row_sums has 2 batches: output has 1", ""]


@pytest.mark.parametrize("missing", ["mm", "output"])
def test_mm_and_output_are_asserted_to_be_there(missing: str) -> None:
    given: dict[str, Any] = {"mm": MM, "output": OUTPUT, missing: None}
    with pytest.raises(TypeError, match=f"{missing} is None: give a TensorInfo"):
        validate(**given, column_sums=None, row_sums=None, bias=None, a_offset=0, b_offset=0)


def test_the_assembly_path_skips_the_range_checks() -> None:
    told = [validate(MM, None, None, None, OUTPUT, 0, 0, -5, 300, mode=mode) for mode in MODES]
    assert [bool(status) for status in told] == [False, False, True]


def test_names_of_the_paths() -> None:
    assert [configured(mode).name() for mode in MODES] == [
        "NEGEMMLowpOffsetContributionOutputStageKernel",
        "NEGEMMLowpOffsetContributionOutputStageKernel",
        "NEGEMMAssemblyWrapperKernel",
    ]


def test_what_run_refuses() -> None:
    mm, sums, rows = np.zeros((3, 21), np.int32), np.zeros(21, np.int32), np.zeros(3, np.int32)
    output, signed = np.zeros((3, 21), np.uint8), np.zeros((3, 21), np.int8)
    with pytest.raises(ConfigurationError, match="the operator is not configured"):
        FusedOutputStage().run(mm, sums, rows, sums, output)
    with pytest.raises(ValueError, match="bias: given to one of configure"):
        configured().run(mm, sums, rows, None, output)
    with pytest.raises(TypeError, match="output is not a numpy array of uint8"):
        configured().run(mm, sums, rows, sums, signed)  # type: ignore[arg-type]
    deep = TensorInfo((2, 2, 21), "S32")
    with pytest.raises(ConfigurationError, match="sums are modelled up to rank 2"):
        FusedOutputStage().configure(MM, deep, None, None, TensorInfo(), Offsets(1, 1, 0), Stage(1, 0))
