"""offset_contribution and transpose1xw, every mode: compiled, both sources, and in intrinsics, against the golden."""

from pathlib import Path

import numpy as np
import pytest

from sim.check.check import Job, check_job, jobs_of
from sim.check.vectors import Vectors, make_vectors
from sim.kernels import Kernel, built_in_kernel, kernel_modes
from support.sampled import sampled

KERNELS = [
    built_in_kernel(name, mode) for name in ("offset_contribution", "transpose1xw") for mode in kernel_modes(name)
]
CASES = [
    pytest.param(kernel, job, id=f"{kernel.title} {job.name}") for kernel in KERNELS for job in jobs_of(kernel, ["O2"])
]


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
    outcome = check_job(kernel, job, vectors, lambda _: None)
    assert (outcome.failure, outcome.vectors) == ("", vectors.count)


PLANTED = [
    ("acl_19_08_cl", "vaddq_s32(vld1q_s32(mm), terms)", "vqaddq_s32(vld1q_s32(mm), terms)", "'add to mm'"),
    ("acl_19_08_cl", "vaddq_s32(offsets, vld1q_s32(bias + x))", "offsets", "'add bias'"),
    (
        "acl_19_08_cl_window",
        "column_sums ? column_sums + z /",
        "column_sums ? column_sums + (first_plane + z) /",
        "'add column term'",
    ),
    ("acl_19_08_neon", "z = a_offset && b_offset ? plane : plane % planes", "z = plane", "convention acl_20_11_neon"),
    ("acl_20_11", "i < width; ++i", "i + 1 < width; ++i", "'copy'"),
    ("acl_20_11", "vdupq_n_u8(0)", "vld1q_u8(input + chunk * CHUNK)", "past the end of 'input'"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "right", "wrong", "named"), sampled(PLANTED, 3))
def test_a_planted_fault_is_found_and_named(tmp_path: Path, mode: str, right: str, wrong: str, named: str) -> None:
    kernel = next(kernel for kernel in KERNELS if kernel.mode == mode)
    text, source = kernel.sources[0].read_text(), tmp_path / "kernel.c"
    source.write_text(text.replace(right, wrong))
    outcome = check_job(
        kernel, Job(source, ("-O2",)), make_vectors(kernel, 0, seed=2), lambda _: None, engine="machine"
    )
    assert named in outcome.failure
