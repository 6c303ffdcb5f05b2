"""Instructions that the emulator lacks: the machine executes them, the report counts them, golden judges them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from isa.rows import TABLE
from isa.semantics.dot import dot
from isa.semantics.elementwise import SIGNED
from isa.table import Table
from sim.call.definitions import cannot_verify
from sim.check.check import Job, check_job
from sim.check.report import Outcome, Report
from sim.check.vectors import Vectors, make_vectors
from sim.kernels import Inputs, Kernel, Pointer, Signature
from sim.kernels.kernel import Outputs

SOURCE = """
#include <arm_neon.h>
void f(const int32_t *start, const int8_t *a, const int8_t *b, const uint8_t *weights, int32_t *out)
{
    const int8x16_t bytes = vld1q_s8(b);
    const int32x4_t product = vmmlaq_s32(vld1q_s32(start), vld1q_s8(a), bytes);
    vst1q_s32(out, vusdotq_s32(product, vld1q_u8(weights), bytes));
}
"""
FLAGS = ("-O1", "-march=armv8.6-a+i8mm")
SMMLA, USDOT = "smmla .4s,.16b,.16b", "usdot .4s,.16b,.16b"
SETS = 9
"""The corner and as many random input sets of four lanes as make up 32 lanes."""


def steps(inputs: Inputs) -> Outputs:
    """A 2 by 8 times 8 by 2 product of matrices, then four dot products of four, modulo 2^32."""
    a, b, weights = (inputs[name].astype(np.int64) for name in ("a", "b", "weights"))
    product = inputs["start"] + (a.reshape(2, 8) @ b.reshape(2, 8).T).reshape(4)
    out = product + (weights * b).reshape(4, 4).sum(axis=1)
    return {"product": product.astype(np.int32), "dot": out.astype(np.int32)}


def golden(inputs: Inputs) -> Outputs:
    return {"out": steps(inputs)["dot"]}


def corners() -> Iterator[Inputs]:
    lowest = np.full(16, -128, np.int8)
    yield {"start": np.full(4, 2**31 - 1, np.int32), "a": lowest, "b": lowest, "weights": np.full(16, 255, np.uint8)}


def sample(rng: np.random.Generator) -> Inputs:
    a, b = rng.integers(-128, 128, (2, 16), dtype=np.int8)
    start = rng.integers(-(2**31), 2**31, 4, dtype=np.int32)
    return {"start": start, "a": a, "b": b, "weights": rng.integers(0, 256, 16, dtype=np.uint8)}


SIGNATURE = Signature(
    (
        Pointer("start", "int32", (4,)),
        Pointer("a", "int8", (16,)),
        Pointer("b", "int8", (16,)),
        Pointer("weights", "uint8", (16,)),
        Pointer("out", "int32", (4,), direction="out"),
    )
)
KERNEL = Kernel(
    name="products",
    symbol="f",
    sources=(),
    signature=SIGNATURE,
    golden=golden,
    steps=steps,
    arguments=dict,
    corners=corners,
    sample=sample,
)


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return make_vectors(KERNEL, 32, seed=1)


def outcome(vectors: Vectors, folder: Path, table: Table = TABLE) -> Outcome:
    source = folder / "products.c"
    source.write_text(SOURCE)
    return check_job(KERNEL, Job(source, FLAGS), vectors, lambda _: None, table)


@pytest.fixture(scope="module")
def made(vectors: Vectors, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return outcome(vectors, tmp_path_factory.mktemp("products"))


def test_a_kernel_of_instructions_that_the_emulator_lacks_agrees_with_numpy(made: Outcome) -> None:
    assert (made.failure, made.lanes_compared) == ("", 2 * 4 * SETS)


def test_what_the_emulator_lacks_is_counted_by_form(made: Outcome) -> None:
    assert made.unverified == {SMMLA: SETS, USDOT: SETS}


def test_what_the_emulator_lacks_is_among_the_forms(made: Outcome) -> None:
    assert made.forms >= {SMMLA, USDOT}


def test_a_report_does_not_count_it_as_verified(made: Outcome) -> None:
    report = Report(kernel="products", compiler="clang", seed=1, outcomes=[made], reproduce="lanewise check")
    assert report.instructions_in_lockstep == made.instructions - 2 * SETS


def test_wrong_semantics_that_no_emulator_can_see_are_caught_by_the_golden_reference(
    vectors: Vectors, tmp_path: Path
) -> None:
    """A dot product of signed bytes stands in for the product of matrices."""
    wrong = outcome(vectors, tmp_path, TABLE.replacing(SMMLA, dot(SIGNED, SIGNED)))
    assert wrong.mismatch is not None
    assert (wrong.divergence, wrong.mismatch.parted_at) == ("", "product")


def test_what_the_emulator_lacks_or_has_wrong_is_told_from_all_else() -> None:
    """An instruction of an extension that it lacks; one that it takes as unsigned; one of a known fault; two others."""
    texts = {
        "smmla v0.4s, v1.16b, v2.16b": True, "ldsmax w0, w1, [x2]": True, "fjcvtzs w0, d1": True,
        "ldadd w0, w1, [x2]": False, "add v0.4s, v1.4s, v2.4s": False,
    }  # fmt: skip
    found = {text: cannot_verify(TABLE.instruction(*text.split(" ", 1)).form) for text in texts}
    assert found == texts
