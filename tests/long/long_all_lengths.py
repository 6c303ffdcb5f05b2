"""Kernels of the house for all lengths, and faults in their machine code, which are never proved to be right."""

from __future__ import annotations

from random import Random

import pytest

from sim.call.kernel_image import open_kernel
from sim.kernels.kernel import built_in_kernel
from sim.symbolic.kernel_proof import KernelProof
from sim.symbolic.proof import Prover
from sim.symbolic.shapes import shapes_of
from sim.toolchain.image import Image
from support.planted_words import Subject, faulty, input_sets, prepared, shows_a_fault

SUBJECTS = [
    Subject("quantize_down", "acl_19_08", source, "O2", (1, 15, 16, 17, 33), "parameters.shift", (5,))
    for source in ("kernel.c", "kernel_plain.c")
]
FAULTS = 20


def proof_of(subject: Subject, image: Image, each: dict[str, tuple[int, ...]]) -> KernelProof:
    kernel = built_in_kernel(subject.kernel, subject.mode)
    prover = Prover(
        kernel, {"build": image}, shapes_of(kernel, subject.lengths), each=each, known=frozenset(), seconds=60, jobs=1,
        kept_in=None, any_length=True,
    )  # fmt: skip
    return prover.run()


@pytest.mark.parametrize("source", ["kernel.c", "kernel_plain.c"])
def test_quantize_down_is_proved_for_all_lengths(source: str) -> None:
    subject = Subject("quantize_down", "acl_19_08", source, "O2", (1,))
    kernel = built_in_kernel(subject.kernel, subject.mode)
    image = open_kernel(kernel, next(s for s in kernel.sources if s.name == source), "-O2", *kernel.flags)
    proof = proof_of(subject, image, {})
    assert (proof.outcome, proof.builds[0].any_length) == ("proved", "")


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.source)
@pytest.mark.parametrize("seed", range(FAULTS))
def test_a_fault_that_inputs_show_is_not_proved_for_all_lengths(subject: Subject, seed: int) -> None:
    kernel, image, _, references, executed = prepared(subject)
    rng = Random(f"any length, {subject.name} {seed}")
    wrong, where = faulty(image, executed, rng)
    (build,) = proof_of(subject, wrong, {subject.each: subject.values}).builds
    if build.any_length == "":
        sets = [one for reference in references for one in input_sets(subject, reference, rng, 40)]
        assert not any(shows_a_fault(kernel, wrong, one, "machine") for one in sets), where
