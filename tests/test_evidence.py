"""The table of docs/evidence.md: every kernel has every link, what is named exists, and small proofs are done again."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from rtl_models.formal.theorems import theorems
from sim.kernels.kernel import built_in_kernel
from sim.symbolic.proof import Prover
from sim.symbolic.shapes import shapes_of
from sim.toolchain.compilers import build as compiled
from support.chain import EvidenceRow, evidence_rows, hardware_questions, outcomes
from support.planted_words import SUBJECTS, Subject, prepared

ROOT = Path(__file__).parents[1]
LINKS = ["compiled = golden", "golden = unit", "program = golden", "unit = hardware"]


ROWS = evidence_rows(ROOT)
SMALL = [subject for subject in SUBJECTS if (subject.kernel, subject.source) in {
    ("offset_contribution", "kernel_plain.c"), ("transpose1xw", "kernel.c"), ("quantize_down", "kernel_plain.c")
} and subject.level == "O2"]  # fmt: skip


def test_each_kernel_has_each_link_once() -> None:
    kernels = [
        "interleave4x4",
        "offset_contribution",
        "quantize_down",
        "quantized_add",
        "quantized_multiplier",
        "transpose1xw",
    ]
    assert sorted((row.kernel, row.link) for row in ROWS) == [(kernel, link) for kernel in kernels for link in LINKS]
    assert {row.kind for row in ROWS} == {"proof", "test"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.kernel}, {row.link}")
def test_what_a_row_names_exists_and_is_of_its_kind(row: EvidenceRow) -> None:
    if "::" in row.by:
        file, name = row.by.split("::")
        assert f"def {name}(" in (ROOT / file).read_text()
        return
    words = shlex.split(row.by)
    assert row.kernel in words
    if words[1] == "rtl":
        assert any(row.kernel in theorem.claim.name for theorem in theorems())
    else:
        built_in_kernel(row.kernel, words[words.index("--mode") + 1] if "--mode" in words else None)
    assert (words[1] == "check") == (row.kind == "test")


@pytest.mark.slow
@pytest.mark.parametrize("subject", SMALL, ids=lambda subject: subject.kernel)
def test_a_small_proof_of_compiled_code_is_one_still(subject: Subject) -> None:
    kernel, image, shapes, _, _ = prepared(subject)
    assert ("proof", "compiled = golden") in {(row.kind, row.link) for row in ROWS if row.kernel == subject.kernel}
    each = {subject.each: subject.values} if subject.each else {}
    prover = Prover(
        kernel, {"build": image}, shapes, each=each, known=frozenset(), seconds=60, jobs=1, kept_in=None
    )  # fmt: skip
    assert prover.run().outcome == "proved"


@pytest.mark.slow
@pytest.mark.parametrize("build", ["tflite.c", "program"])
def test_a_small_proof_of_the_integer_add_is_one_still(build: str) -> None:
    kernel = built_in_kernel("quantized_add", "tflite")
    (source,) = (one for one in kernel.sources if one.name == "tflite.c")
    image = compiled(source, "-O2") if build == "tflite.c" else None
    proof = Prover(
        kernel, {build: image}, shapes_of(kernel, [1]), each={}, known=frozenset({"shift", "left_shift"}),
        seconds=60, jobs=1, kept_in=None,
    ).run()  # fmt: skip
    assert (proof.outcome, proof.builds[0].proved) == ("proved", 1)


@pytest.mark.slow
def test_the_golden_of_quantize_down_is_what_its_hardware_is_proved_to_be() -> None:
    found = outcomes(hardware_questions((5,)))
    assert set(found) == {"proved"}
    assert len(found) >= 2


@pytest.mark.slow
def test_another_convention_is_not_what_the_hardware_is_proved_to_be() -> None:
    assert set(outcomes(hardware_questions((31,), "page"))) == {"counter-example"}
