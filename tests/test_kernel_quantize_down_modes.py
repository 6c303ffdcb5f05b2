"""The modes of quantize_down as kernels: golden reference, program and compiled C agree, on vectors that separate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from isa.intrinsics import ElementPointer, Program
from sim import Memory
from sim.call.call import Engine
from sim.check.check import Job, check_job
from sim.check.vectors import Vectors, make_vectors
from sim.golden.fixed_point import INT32_MAX, INT32_MIN
from sim.kernels.kernel import Kernel, built_in_kernel, kernel_modes
from sim.kernels.quantize_down import KERNEL, MODES, program, vectors
from sim.kernels.quantize_down.golden import MODES as RULES
from sim.kernels.quantize_down.golden import Parameters

OTHERS = [kernel for kernel in MODES.values() if kernel is not KERNEL]
HALF = 2**30


def by_mode(kernel: Kernel) -> str:
    return kernel.mode


def few_vectors(kernel: Kernel) -> Vectors:
    """Forty input sets: a tenth of the corners and some random ones."""
    made = make_vectors(kernel, 500, 1)
    chosen = np.random.default_rng(3).choice(len(made.inputs), 40, replace=False)
    return Vectors([made.inputs[i] for i in chosen], [made.golden[i] for i in chosen], 1)


def failure(kernel: Kernel, job: Job, made: Vectors, engine: Engine = "machine") -> str:
    return check_job(kernel, job, made, lambda _: None, engine=engine).failure


def test_every_mode_of_the_golden_reference_is_a_kernel_the_default_first() -> None:
    assert (list(MODES), kernel_modes("quantize_down")[0]) == (list(RULES), "acl_19_08")


def test_a_mode_is_found_by_its_name() -> None:
    assert built_in_kernel("quantize_down", "page") is MODES["page"]


@pytest.mark.parametrize("kernel", MODES.values(), ids=by_mode)
def test_the_conventions_of_a_mode_are_all_others_of_its_output(kernel: Kernel) -> None:
    alike = {mode for mode, rule in RULES.items() if rule.dtype == RULES[kernel.mode].dtype}
    assert set(kernel.conventions) == alike - {kernel.mode}


@pytest.mark.parametrize("kernel", OTHERS, ids=by_mode)
@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("plain", [False, True], ids=["intrinsics", "plain"])
def test_compiled_code_agrees_with_the_golden_reference(kernel: Kernel, level: str, plain: bool) -> None:
    assert failure(kernel, Job(kernel.sources[plain], (level,)), make_vectors(kernel, 1000, 1)) == ""


@pytest.mark.parametrize("kernel", OTHERS, ids=by_mode)
@pytest.mark.parametrize("plain", [False, True], ids=["intrinsics", "plain"])
def test_machine_and_emulator_agree_in_lockstep(kernel: Kernel, plain: bool) -> None:
    assert failure(kernel, Job(kernel.sources[plain], ("-O2",)), few_vectors(kernel), "lockstep") == ""


@pytest.mark.parametrize("kernel", OTHERS, ids=by_mode)
def test_the_program_agrees_with_the_golden_reference(kernel: Kernel) -> None:
    assert failure(kernel, Job(None, ()), make_vectors(kernel, 1000, 1)) == ""


@pytest.mark.parametrize("kernel", OTHERS, ids=by_mode)
def test_the_code_of_another_mode_is_caught(kernel: Kernel) -> None:
    other = "quantize_down_page" if kernel.mode != "page" else "quantize_down_left_shift"
    wrong = replace(kernel, symbol=other)
    said = failure(wrong, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 1000, 1))
    assert "golden" in said or "the signature" in said


@pytest.mark.parametrize(
    ("row", "lowest"),
    [(program.quantize_row_page, 0), (program.quantize_row_fused, 0), (program.quantize_row_left_shift, -31)],
)
def test_a_program_refuses_the_shifts_that_its_mode_does_not_define(row: Callable[..., None], lowest: int) -> None:
    for shift in (lowest - 1, 32):
        with Program(Memory()), pytest.raises(ValueError, match=rf"shift is {shift}: .* for {lowest}\.\.31"):
            row(ElementPointer(0, "int32"), None, ElementPointer(0, "uint8"), 0, 1, shift, 0, 0, 255)


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        ("acl_20_02_left_shift", lambda parameters: parameters.shift < 0),
        ("acl_20_05_bounds", lambda parameters: (parameters.minimum, parameters.maximum) == (INT32_MIN, INT32_MAX)),
        ("acl_19_08_lanes_and_tail", lambda parameters: not -31 <= parameters.shift <= 31),
        ("acl_19_08_fused", lambda parameters: parameters.maximum > 255),
        ("acl_20_02_s8", lambda parameters: parameters.shift < 0),
        ("acl_20_05_s8", lambda parameters: (parameters.minimum, parameters.maximum) == (INT32_MIN, INT32_MAX)),
        ("acl_20_05_s16", lambda parameters: parameters.shift < 0),
    ],
)
def test_corners_and_samples_hold_the_parameters_that_a_mode_is_about(
    mode: str, wanted: Callable[[Parameters], bool]
) -> None:
    rng = np.random.default_rng(2)
    corners = [inputs["parameters"] for inputs in MODES[mode].corners()]
    sampled = [MODES[mode].sample(rng)["parameters"] for _ in range(200)]
    assert min(sum(map(wanted, corners)), sum(map(wanted, sampled))) >= 5


def test_the_vectors_of_the_default_are_those_of_the_function_without_a_mode() -> None:
    one, other = (list(islice(corners(), 5)) for corners in (KERNEL.corners, vectors.corners))
    assert [set(inputs["accumulators"].tolist()) for inputs in one] == [set(i["accumulators"].tolist()) for i in other]


@pytest.mark.parametrize("left", [1, 7, 31])
def test_corner_accumulators_hold_both_sides_of_the_wrap_of_a_left_shift(left: int) -> None:
    values = set(vectors.corner_accumulators(Parameters(HALF, -left)).tolist())
    assert any(value in values and value + 1 in values for value in (2 ** (31 - left) - 1, 2 ** (31 - left) - 2))
