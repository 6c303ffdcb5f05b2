"""What a check names as the place of a fault: kernels of a user's own, with one fault each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.check.check import Job, check_job
from sim.check.report import Mismatch
from sim.check.vectors import make_vectors
from sim.kernels import Domain, Kernel, parse_prototype

Inputs = Mapping[str, Any]
PER_CHANNEL = """
#include <stddef.h>
#include <stdint.h>
void shifted(const int32_t *values, const int32_t *shift, int32_t *output, size_t rows, size_t channels)
{
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < channels; ++c) {
            int32_t moved = values[r * channels + c] >> shift[c];
            output[r * channels + c] = 3 * moved - 1;
        }
}
"""
PER_CHANNEL_PROTOTYPE = (
    "void shifted(const int32_t values[rows][channels], const int32_t shift[channels], "
    "int32_t output[rows][channels], size_t rows, size_t channels)"
)


def tripled(inputs: Inputs) -> dict[str, np.ndarray]:
    moved = inputs["values"] >> inputs["shift"]
    return {"shift": moved, "triple": 3 * moved, "last": 3 * moved + 1}


def mismatch_of(
    text: str, prototype: str, steps: Callable[[Inputs], dict[str, np.ndarray]], folder: Path, level: str = "O1",
    **domain: Domain,
) -> Mismatch:  # fmt: skip
    """The mismatch of a C kernel whose golden output is the last of its golden steps."""
    source = folder / "kernel.c"
    source.write_text(text)
    name, signature = parse_prototype(prototype)
    kernel = Kernel(
        name=name, symbol=name, sources=(source,), signature=signature, domain=domain, steps=steps,
        golden=lambda inputs: {"output": [*steps(inputs).values()][-1].astype(np.int32)},
    )  # fmt: skip
    vectors = make_vectors(kernel, 100, seed=1)
    found = check_job(kernel, Job(source, (f"-{level}",)), vectors, engine="machine").mismatch
    assert found is not None
    return found


@pytest.mark.parametrize("level", ["O0", "O2"])
def test_a_golden_step_named_like_an_argument_is_told_apart_from_it(level: str, tmp_path: Path) -> None:
    domain = {"values": Domain(-9999, 9999), "shift": Domain(1, 5)}
    found = mismatch_of(PER_CHANNEL, PER_CHANNEL_PROTOTYPE, tripled, tmp_path, level, **domain)
    assert (found.parted_at, found.agreed) == ("last", ("shift", "triple"))


def test_no_source_is_named_where_no_instruction_was_found(tmp_path: Path) -> None:
    text = "void copied(const int *a, int *output, int n) { for (int i = 0; i < n; ++i) output[i] = a[0]; }"
    prototype = "void copied(const int32_t a[n], int32_t output[n], int32_t n)"
    found = mismatch_of(text, prototype, lambda inputs: {"a": inputs["a"]}, tmp_path, n=Domain(1, 20))
    assert (found.parted_at, found.instruction, found.source) == ("a", "", "")
