"""Intrinsics on structures of vectors: loads, stores, table lookups, permutes that give two vectors."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from isa import intrinsics
from isa.acle.values import StructureType
from isa.intrinsics import (
    ElementPointer,
    Program,
    float32x2_t,
    int8x8_t,
    int16x4_t,
    int32x2_t,
    int64x1_t,
    intrinsic,
    uint8x8_t,
    uint8x16_t,
)
from sim import Memory

BASE = 0x10000
BYTES = ElementPointer(BASE, "uint8")
RAMP = tuple(range(8))
FIRST, SECOND, THIRD = (uint8x8_t(*range(start, start + 8)) for start in (100, 110, 120))


def vectors(name: str, *arguments: Any) -> list[tuple[Any, ...]]:
    return [vector.lanes for vector in intrinsic(name)(*arguments).val]


@pytest.fixture
def memory() -> Iterator[Memory]:
    memory = Memory()
    memory.map(BASE, 4096)
    memory.write(BASE, bytes(range(64)))
    with Program(memory):
        yield memory


def structure(name: str, *values: Any) -> Any:
    return getattr(intrinsics, name)(*values)


def test_a_structure_load_takes_every_nth_element(memory: Memory) -> None:
    assert vectors("vld3_u8", BYTES) == [tuple(range(k, 24, 3)) for k in range(3)]


def test_a_load_of_consecutive_vectors_takes_one_after_the_other(memory: Memory) -> None:
    assert vectors("vld1_u8_x3", BYTES) == [tuple(range(8 * k, 8 * k + 8)) for k in range(3)]


def test_a_structure_of_64_bit_elements_is_consecutive(memory: Memory) -> None:
    expected = [(int.from_bytes(bytes(range(8 * k, 8 * k + 8)), "little"),) for k in range(2)]
    assert vectors("vld2_s64", ElementPointer(BASE, "int64")) == expected


def test_a_duplicating_load_fills_each_vector(memory: Memory) -> None:
    assert vectors("vld4_dup_u8", BYTES) == [(k,) * 8 for k in range(4)]


def test_a_lane_load_keeps_the_other_lanes(memory: Memory) -> None:
    loaded = vectors("vld2_lane_u8", BYTES, structure("uint8x8x2_t", FIRST, SECOND), 1)
    assert loaded == [(100, 0, *range(102, 108)), (110, 1, *range(112, 118))]


def test_a_structure_store_interleaves(memory: Memory) -> None:
    intrinsic("vst2_u8")(BYTES, structure("uint8x8x2_t", FIRST, SECOND))
    assert list(memory.read(BASE, 16)) == [value for k in range(8) for value in (100 + k, 110 + k)]


def test_a_lane_store_writes_one_element_of_each(memory: Memory) -> None:
    intrinsic("vst3_lane_u8")(BYTES, structure("uint8x8x3_t", FIRST, SECOND, THIRD), 7)
    assert list(memory.read(BASE, 4)) == [107, 117, 127, 3]


def test_the_registers_of_a_list_follow_each_other() -> None:
    with Program() as program:
        intrinsic("vadd_u8")(FIRST, SECOND)
        intrinsic("vqtbl2_u8")(structure("uint8x16x2_t", *[uint8x16_t(*range(16))] * 2), FIRST)
    numbers = [int(number) for number in re.findall(r"v(\d+)\.16b", program.instructions[-1].text)]
    assert numbers[1] == numbers[0] + 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("vzip_s8", [(0, 8, 1, 9, 2, 10, 3, 11), (4, 12, 5, 13, 6, 14, 7, 15)]),
        ("vuzp_s8", [(0, 2, 4, 6, 8, 10, 12, 14), (1, 3, 5, 7, 9, 11, 13, 15)]),
        ("vtrn_s8", [(0, 8, 2, 10, 4, 12, 6, 14), (1, 9, 3, 11, 5, 13, 7, 15)]),
    ],
)
def test_a_permute_gives_both_halves(name: str, expected: list[tuple[int, ...]]) -> None:
    assert vectors(name, int8x8_t(*range(8)), int8x8_t(*range(8, 16))) == expected


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_lookup_past_a_64_bit_table_gives_zero(count: int) -> None:
    size = 8 * count
    table = [uint8x8_t(*range(50 + 8 * k, 58 + 8 * k)) for k in range(count)]
    indices = uint8x8_t(0, size - 1, size, size + 1, size + 7, size + 8, 128, 255)
    found = intrinsic(f"vtbl{count}_u8")(table[0] if count == 1 else structure(f"uint8x8x{count}_t", *table), indices)
    assert found.lanes == (50, 49 + size, 0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_an_extension_past_a_64_bit_table_keeps_the_lane(count: int) -> None:
    size = 8 * count
    table = [uint8x8_t(*range(50 + 8 * k, 58 + 8 * k)) for k in range(count)]
    indices = uint8x8_t(0, size - 1, size, size + 1, size + 7, size + 8, 128, 255)
    given = table[0] if count == 1 else structure(f"uint8x8x{count}_t", *table)
    kept = uint8x8_t(*RAMP)
    assert intrinsic(f"vtbx{count}_u8")(kept, given, indices).lanes == (50, 49 + size, 2, 3, 4, 5, 6, 7)


def test_a_lookup_in_a_table_of_128_bit_vectors() -> None:
    table = structure("uint8x16x2_t", uint8x16_t(*range(16)), uint8x16_t(*range(100, 116)))
    assert intrinsic("vqtbl2_u8")(table, uint8x8_t(0, 15, 16, 31, 32, 1, 2, 3)).lanes == (0, 15, 100, 115, 0, 1, 2, 3)


def test_a_structure_type_has_acles_name() -> None:
    assert str(StructureType(float32x2_t, 3)) == "float32x2x3_t"


@pytest.mark.parametrize(("count", "vector"), [(1, int8x8_t), (5, int8x8_t)])
def test_a_structure_that_acle_lacks_is_refused(count: int, vector: Any) -> None:
    with pytest.raises(ValueError, match=f"no structure type has {count} vectors of int8x8_t: 2 to 4"):
        StructureType(vector, count)


PAIR = structure("int16x4x2_t", int16x4_t(1, 2, 3, 4), int16x4_t(5, 6, 7, 8))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: structure("int8x8x2_t", int8x8_t(*RAMP)), "int8x8x2_t has 2 vectors of int8x8_t, not int8x8_t"),
        (
            lambda: structure("int64x1x2_t", int64x1_t(1), 3),
            "int64x1x2_t has 2 vectors of int64x1_t, not int64x1_t, int",
        ),
        (
            lambda: intrinsic("vst2_s32")(ElementPointer(BASE, "int32"), PAIR),
            "vst2_s32 takes int32x2x2_t as argument 2, not int16x4x2_t",
        ),
        (
            lambda: intrinsic("vst2_s32")(ElementPointer(BASE, "int32"), int32x2_t(1, 2)),
            "vst2_s32 takes int32x2x2_t as argument 2, not int32x2_t",
        ),
        (
            lambda: intrinsic("vst2_s16")(ElementPointer(BASE, "int32"), PAIR),
            "vst2_s16 takes a pointer to int16, not to int32",
        ),
    ],
)
def test_a_wrong_structure_is_refused(call: Any, sentence: str) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(sentence)}$"):
        call()


def test_a_lane_of_a_structure_is_one_of_its_vectors() -> None:
    with pytest.raises(ValueError, match=r"vst2_lane_s16 takes a lane 0\.\.3, not 4"):
        intrinsic("vst2_lane_s16")(ElementPointer(BASE, "int16"), PAIR, 4)
