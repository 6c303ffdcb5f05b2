"""Every mode of quantized_add: compiled code in lockstep and the program of intrinsics against the golden reference."""

import numpy as np
import pytest

from sim.check.check import Job, check_job, jobs_of
from sim.check.vectors import Vectors
from sim.kernels.kernel import Kernel
from sim.kernels.quantized_add import MODES
from support.sampled import sampled


def some_vectors(kernel: Kernel, sets: int) -> Vectors:
    """The last corners, which are the lengths up to whole steps and a tail, and random sets."""
    rng = np.random.default_rng(7)
    inputs = [*list(kernel.corners())[-24:], *(kernel.sample(rng) for _ in range(sets))]
    return Vectors(inputs, [kernel.golden(case) for case in inputs], seed=7)


def verdict(kernel: Kernel, job: Job, vectors: Vectors) -> tuple[str, bool]:
    """What differs, and whether anything was compared."""
    outcome = check_job(kernel, job, vectors, lambda _: None)
    return outcome.failure, outcome.lanes_compared > 0


@pytest.mark.slow
@pytest.mark.parametrize("mode", sampled(MODES, 4))
def test_compiled_code_agrees_in_lockstep(mode: str) -> None:
    kernel = MODES[mode]
    vectors = some_vectors(kernel, 6)
    assert {verdict(kernel, job, vectors) for job in jobs_of(kernel, ["O2"]) if job.source} == {("", True)}


@pytest.mark.parametrize("mode", MODES)
def test_the_program_agrees(mode: str) -> None:
    assert verdict(MODES[mode], Job(None, ()), some_vectors(MODES[mode], 20)) == ("", True)
