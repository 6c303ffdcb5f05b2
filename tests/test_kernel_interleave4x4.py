"""interleave4x4: element by element, the operator with its padding, every way to run it, and faults."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest

from sim.check.check import Job, check_job, jobs_of
from sim.check.vectors import Vectors
from sim.kernels import Kernel, built_in_kernel, kernel_modes
from sim.kernels.interleave4x4 import golden
from sim.kernels.interleave4x4.configure import Interleave4x4
from sim.kernels.interleave4x4.golden import MODES, interleaved
from sim.kernels.operator import ConfigurationError, TensorInfo
from support.planted_source import wrong_lanes

NAME = "interleave4x4"
KERNELS = [built_in_kernel(NAME, mode) for mode in kernel_modes(NAME)]
CASES = [
    pytest.param(kernel, job, id=f"{kernel.mode} {job.name}") for kernel in KERNELS for job in jobs_of(kernel, ["O2"])
]


def test_every_docstring_example_runs() -> None:
    result = doctest.testmod(golden)
    assert (result.failed, result.attempted) == (0, 1)


@pytest.mark.parametrize("mode", MODES)
def test_every_element_comes_from_its_place(mode: str) -> None:
    memory = np.frombuffer(np.random.default_rng(3).bytes(12 * 24 * 4), MODES[mode].dtype).reshape(-1, 12, 24)
    made = interleaved(memory, mode)
    places = [(z, g, k, r) for z in range(len(memory)) for g in range(3) for k in range(24) for r in range(4)]
    assert [made[z, g, 4 * k + r] for z, g, k, r in places] == [memory[z, 4 * g + r, k] for z, g, k, r in places]


@pytest.mark.parametrize(
    ("memory", "mode", "sentence"),
    [
        (np.zeros((4, 8), np.int16), "acl_19_08_8bit", "memory is not a numpy array of elements of 1 bytes"),
        (np.zeros((3, 8), np.uint8), "acl_19_08_8bit", "give multiples of 4 rows and 8 columns"),
        (np.zeros((4, 6), np.float32), "acl_19_08_32bit", "give multiples of 4 rows and 4 columns"),
        (np.zeros((4, 8), np.uint8), "acl", "unknown mode 'acl'"),
    ],
)
def test_what_is_no_whole_of_groups_and_steps_is_refused(memory: golden.AnyArray, mode: str, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        interleaved(memory, mode)


@pytest.mark.parametrize(("kernel", "job"), CASES)
def test_every_implementation_agrees_in_lockstep(kernel: Kernel, job: Job) -> None:
    inputs = [kernel.sample(np.random.default_rng(seed)) for seed in range(8)]
    vectors = Vectors(inputs, [kernel.golden(case) for case in inputs], seed=0)
    outcome = check_job(kernel, job, vectors, lambda _: None)
    assert (outcome.failure, outcome.vectors) == ("", vectors.count)


PLANTED = [
    ("acl_19_08_8bit", 0, "vld1_u8(input + width + k), vld1_u8(input + 2 * width + k)",
     "vld1_u8(input + 2 * width + k), vld1_u8(input + width + k)"),
    ("acl_19_08_16bit", 0, "vld1_u16(input + 3 * width + k)", "vld1_u16(input + 3 * k)"),
    ("acl_19_08_32bit", 1, "4 * k + row % 4] = input[row * 4 * steps + k]", "k + row % 4 * 4 * steps] = input[row * 4 "
     "* steps + k]"),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "source", "right", "wrong"), PLANTED)
def test_a_planted_fault_is_found(tmp_path: Path, mode: str, source: int, right: str, wrong: str) -> None:
    assert wrong_lanes(built_in_kernel(NAME, mode), source, right, wrong, tmp_path, random=10) > 0


# The operator.


def test_an_empty_output_is_made_and_the_padding_is_extended() -> None:
    input, output, operator = TensorInfo((2, 6, 5), "S16"), TensorInfo(), Interleave4x4()
    operator.configure(input, output)
    paddings = (input.right_padding, input.bottom_padding, output.right_padding)
    assert (output.shape, output.data_type, paddings) == ((2, 2, 20), "S16", (3, 2, 12))
    assert (operator.name(), operator.window()[-1]) == ("NEGEMMInterleave4x4Kernel", slice(0, 8, 4))


def test_what_lies_in_the_padding_is_copied() -> None:
    """docs/spec/neighbours.md section 1: upstream's reference writes 0 there."""
    info, output_info, operator = TensorInfo((2, 3), "U8"), TensorInfo(), Interleave4x4()
    operator.configure(info, output_info)
    memory, output = np.full((4, 8), 90, np.uint8), np.zeros((1, 32), np.uint8)
    memory[:2, :3] = [[1, 2, 3], [4, 5, 6]]
    operator.run(memory, output)
    assert output[0].tolist() == [1, 4, 90, 90, 2, 5, 90, 90, 3, 6, *[90] * 22]


def test_one_row_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="one row is not reshaped"):
        Interleave4x4().configure(TensorInfo((1, 8), "U8"), TensorInfo())


def test_an_array_of_other_elements_or_another_shape_is_refused() -> None:
    operator = Interleave4x4()
    with pytest.raises(ConfigurationError, match="the operator is not configured"):
        operator.window()
    operator.configure(TensorInfo((2, 8), "U8"), TensorInfo())
    with pytest.raises(TypeError, match="input is not a numpy array of elements of 1 bytes"):
        operator.run(np.zeros((4, 8), np.int16), np.zeros((1, 32), np.uint8))
    with pytest.raises(ValueError, match=r"input has shape \(2, 8\): it was configured as \(4, 8\)"):
        operator.run(np.zeros((2, 8), np.uint8), np.zeros((1, 32), np.uint8))
