"""Floating point on arrays: numpy where that is provably Arm's, the arbiter everywhere else."""

from __future__ import annotations

from struct import pack

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.evaluate.batch.floating import computed
from isa.evaluate.floating import compute
from isa.evaluate.floating.formats import IXC
from isa.floating import F16, F32, F64, Float, FloatOperation, Operation

LETTERS = {F16: "e", F32: "f", F64: "d"}
COUNTS: dict[Operation, int] = {
    "add": 2, "subtract": 2, "multiply": 2, "divide": 2, "square_root": 1, "multiply_add": 3, "maximum": 2
}  # fmt: skip
"""Operands of each operation."""


def bits_of(number: float, format: Float) -> int:
    return int.from_bytes(pack(f"<{LETTERS[format]}", number), "little")


def both(operation: FloatOperation, numbers: list[int], fpsr: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The result and FPSR after it, on arrays of one element and by the arbiter, in the default modes."""
    format = operation.of
    assert isinstance(format, Float)
    operands = tuple(np.array([[number]], f"u{format.bits // 8}") for number in numbers)
    control = np.zeros((1, 1), "u4")
    result, raised = computed(operation, operands, control, np.full((1, 1), fpsr, "u4"))
    expected, noted = compute(operation, tuple(numbers), 0)
    return (int(result[0, 0]), fpsr | (0 if raised is None else int(raised[0, 0]))), (expected, fpsr | noted)


def numbers_of(format: Float) -> st.SearchStrategy[int]:
    """Lanes: any bits, and numbers of few bits so that ties occur."""
    few = st.builds(lambda m, e: bits_of(m * 2.0**e, format), st.integers(-2047, 2047), st.integers(-20, 4))
    return st.one_of(st.integers(0, 2 * format.sign_bit - 1), few, few)


@pytest.mark.parametrize("format", LETTERS, ids=str)
@pytest.mark.parametrize("name", COUNTS)
@given(st.data(), st.sampled_from([0, IXC]))
def test_an_element_is_what_the_arbiter_computes(
    name: Operation, format: Float, data: st.DataObject, fpsr: int
) -> None:
    numbers = [data.draw(numbers_of(format)) for _ in range(COUNTS[name])]
    found, expected = both(FloatOperation(name, format, format), numbers, fpsr)
    assert found == expected


def test_a_fused_sum_that_is_just_above_a_tie_is_rounded_up() -> None:
    """24929 * 673 is 2^24 + 1: the product is half a unit above 1, and the addend too small for double precision."""
    numbers = [bits_of(number, F32) for number in (2.0**-60, 24929.0, 673.0 * 2.0**-24)]
    found, _ = both(FloatOperation("multiply_add", F32, F32), numbers, IXC)
    assert found[0] == bits_of(1 + 2.0**-23, F32)
