"""Arithmetic on arrays of members by lanes: that of Python's integers, whatever their size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.evaluate.batch.arithmetic import divided, field, looked_up, saturated, whole, wide
from isa.evaluate.exact import QC
from isa.evaluate.exact import divided as divided_exactly
from isa.evaluate.rolling import Roller, carrier
from isa.lane import S32, U32, Int, Lane, Operator, Place, read

EDGES = [0, 1, -1, 2**31, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 2**100]
NUMBERS = st.one_of(st.sampled_from(EDGES), st.integers(-300, 300), st.integers(-(2**70), 2**70))
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=4)
COMPUTE: dict[Operator, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "minimum": min, "maximum": max, "divide": divided_exactly,
    "less": lambda a, b: int(a < b), "equal": lambda a, b: int(a == b),
}  # fmt: skip


def column(numbers: list[int]) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    """The numbers in the smallest type that holds them."""
    return np.array(numbers, dtype=carrier(min(numbers), max(numbers)) or "O").reshape(-1, 1)


@pytest.mark.parametrize("operation", COMPUTE)
@given(ROWS)
def test_numbers_of_any_size_are_computed_exactly(operation: Operator, rows: list[tuple[int, int]]) -> None:
    found = wide(operation, column([a for a, _ in rows]), column([b for _, b in rows]))
    assert found[:, 0].tolist() == [COMPUTE[operation](a, b) for a, b in rows]


@given(
    st.lists(NUMBERS, min_size=1, max_size=4), st.integers(0, 70), st.sampled_from([1, 4, 8, 9, 32, 63, 64, 65, 128])
)
def test_a_field_is_the_element_at_its_bit(numbers: list[int], lsb: int, bits: int) -> None:
    for element in (Int(bits, False), Int(bits, True)):
        found = field(column(numbers), lsb, bits, element.signed)
        assert found[:, 0].tolist() == [element.wrapped(number >> lsb) for number in numbers]


@given(st.lists(NUMBERS, min_size=1, max_size=4), st.sampled_from([(-128, 127), (0, 255), (-(2**63), 2**63 - 1)]))
def test_saturation_clamps_and_notes_qc_by_member(numbers: list[int], bounds: tuple[int, int]) -> None:
    low, high = bounds
    found, noted = saturated(column(numbers), low, high, carrier(low, high) or "O")
    clamped = [min(max(number, low), high) for number in numbers]
    qc = [QC if a != b else 0 for a, b in zip(numbers, clamped, strict=True)]
    assert found[:, 0].tolist() == clamped
    assert ([0] * len(numbers) if noted is None else noted[:, 0].tolist()) == qc


def test_a_marked_lane_in_any_place_sets_qc_of_its_member() -> None:
    for lanes in (1, 2, 4, 8, 16):
        value = np.zeros((lanes, lanes), np.int16) + 300 * np.eye(lanes, dtype=np.int16)
        _, noted = saturated(np.concatenate([value, np.zeros((1, lanes), np.int16)]), -128, 127, "i1")
        assert noted is not None
        assert noted[:, 0].tolist() == [QC] * lanes + [0]


@given(st.lists(st.tuples(st.integers(-128, 126), st.integers(-127, 127)), min_size=1, max_size=8))
def test_small_quotients_round_toward_zero(rows: list[tuple[int, int]]) -> None:
    a, b = (np.array([list(numbers)], np.int8) for numbers in zip(*rows, strict=True))
    assert divided(a, b)[0].tolist() == [divided_exactly(*row) for row in rows]


@pytest.mark.parametrize("shape", [(1, 4), (2, 4), (2, 3, 4)])
def test_a_lookup_outside_of_the_table_takes_the_last_item(shape: tuple[int, ...]) -> None:
    index = np.array([[0, 2, 3], [-1, 1, 100]], np.int8)
    items = np.broadcast_to(np.array([10, 11, 12, 99], np.uint8), shape)
    assert looked_up(index, items, 3).tolist() == [[10, 12, 99], [99, 11, 99]]


def test_bytes_are_little_endian_numbers() -> None:
    assert whole(np.array([[1, 2] + [0] * 13 + [128]], np.uint8)).tolist() == [[0x80000000_00000000_00000000_00000201]]


def lanes(file: str, count: int = 4) -> list[Lane]:
    return S32.lanes(read(Place("v", int(file[1:]))), count)


def test_lanes_that_differ_in_their_number_are_one_group() -> None:
    sums = [S32.saturate(a + b) for a, b in zip(lanes("v1"), lanes("v2"), strict=True)]
    assert [positions for positions, _ in Roller().groups(sums)] == [[0, 1, 2, 3]]


def test_lanes_of_two_registers_in_turn_are_two_groups() -> None:
    pairs = [lane for pair in zip(lanes("v1", 2), lanes("v2", 2), strict=True) for lane in pair]
    assert [positions for positions, _ in Roller().groups(pairs)] == [[0, 2], [1, 3]]


def test_lanes_read_as_signed_and_as_unsigned_are_two_groups() -> None:
    source = read(Place("v", 1))
    mixed = [S32.field(source, 0), U32.field(source, 32)]
    assert [positions for positions, _ in Roller().groups(mixed)] == [[0], [1]]


def test_a_lane_that_all_use_is_computed_once() -> None:
    factor = lanes("v2")[0]
    ((_, rolled),) = Roller().groups([lane * factor for lane in lanes("v1")])
    assert [arg.width for arg in rolled.args] == [4, 1]
