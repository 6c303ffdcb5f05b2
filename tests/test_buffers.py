"""Where arrays of a call lie in memory, byte by byte."""

from __future__ import annotations

import numpy as np
import pytest

from sim.call.buffers import BUFFER_SPACING, FIRST_BUFFER, TABLE, Buffers, PlacedArray, address_of, whole_pages
from sim.call.guards.undefined_bytes import SeededBytes
from sim.kernels import KernelError, Pointer, ScalarArgument, Signature
from sim.kernels.signature import Struct
from sim.machine.memory import PAGE, Memory

ROWS = PlacedArray(Pointer("a", "int32", (3, 4), strides=(6, 1)), 0x1000, (3, 4), (6, 1))
"""Three rows of four numbers, six apart: the last row ends behind 16 numbers."""


@pytest.mark.parametrize(
    ("size", "pages"), [(0, 1), (1, 1), (PAGE - 1, 1), (PAGE, 1), (PAGE + 1, 2), (2 * PAGE, 2), (2 * PAGE + 1, 3)]
)
def test_a_size_is_rounded_up_to_pages_and_at_least_one(size: int, pages: int) -> None:
    assert whole_pages(size) == pages * PAGE


def test_a_strided_array_goes_to_the_end_of_its_last_row() -> None:
    assert ROWS.size == 4 * 16
    assert [PlacedArray(ROWS.pointer, 0, shape, (6, 1)).size for shape in ((0, 4), (3, 0), (1, 1))] == [0, 0, 4]


@pytest.mark.parametrize(
    ("byte", "position"),
    [(0, (0, 0)), (3, (0, 0)), (4, (0, 1)), (15, (0, 3)), (16, (0, 4)), (23, (0, 5)), (24, (1, 0)), (63, (2, 3))],
)
def test_a_byte_is_that_of_an_element_or_between_rows(byte: int, position: tuple[int, int]) -> None:
    assert ROWS.position_of(0x1000 + byte) == position


def test_of_a_step_of_nothing_all_elements_are_the_first() -> None:
    same = PlacedArray(Pointer("a", "int32", (3, 4)), 0x1000, (3, 4), (0, 1))
    assert (same.position_of(0x100B), same.size) == ((0, 2), 16)


def test_an_array_is_viewed_in_its_bytes() -> None:
    data = bytearray(np.arange(16, dtype="<i4").tobytes())
    view = ROWS.view(data)
    assert view.tolist() == [[0, 1, 2, 3], [6, 7, 8, 9], [12, 13, 14, 15]]
    view[1, 2] = -1
    assert data[32:36] == b"\xff" * 4
    assert PlacedArray(ROWS.pointer, 0x1000, (0, 4), (6, 1)).view(bytearray()).shape == (0, 4)


@pytest.mark.parametrize(
    ("more", "at_end", "offset"),
    [
        ({}, True, PAGE - 12),
        ({}, False, 0),
        ({"alignment": 8}, True, PAGE - 16),
        ({"alignment": 64}, True, PAGE - 64),
        ({"alignment": 64}, False, 0),
        ({"over_read": 4}, True, PAGE - 16),
        ({"over_read": 4, "alignment": 16}, True, PAGE - 16),
        ({"over_read": 5, "alignment": 16}, True, PAGE - 32),
        ({"over_read": PAGE}, True, PAGE - 12),
    ],
)
def test_an_array_ends_or_begins_where_its_mapping_does(more: dict[str, int], at_end: bool, offset: int) -> None:
    signature = Signature((Pointer("a", "int32", (3,), **more), Pointer("b", "int8", (1,), direction="out")))  # type: ignore[arg-type]
    memory = Memory()
    given = {"a": np.array([5, 6, 7], np.int32)}
    placed = Buffers(signature, [memory]).place(given, SeededBytes(1), at_end)
    assert placed["a"].address == FIRST_BUFFER + offset
    assert placed["b"].address == FIRST_BUFFER + BUFFER_SPACING + (PAGE - 1 if at_end else 0)
    assert memory.read(placed["a"].address, 12) == given["a"].tobytes()
    rights = [(region.start, region.end - region.start, region.permissions) for region in memory.regions]
    room = 2 * PAGE if more.get("over_read") == PAGE else PAGE
    assert rights == [(FIRST_BUFFER, room, "r"), (FIRST_BUFFER + BUFFER_SPACING, PAGE, "rw")]


SAME = Signature(
    (
        Pointer("b", "int8", (4,), nullable=True, over_read=3),
        Pointer("a", "int8", ("n",), direction="out", may_be="b", over_read=1),
        ScalarArgument("n", "int64"),
    )
)


def placed_for(**given: object) -> dict[str, PlacedArray]:
    return Buffers(SAME, [Memory()]).place(given, SeededBytes(1), at_end=True)


def test_an_output_in_the_place_of_an_input_lies_there_with_its_rights() -> None:
    placed = placed_for(b=np.zeros(4, np.int8), a="b", n=4)
    assert (placed["a"].address, placed["a"].pointer.over_read) == (placed["b"].address, 3)
    apart = placed_for(b=np.zeros(4, np.int8), a=None, n=4)
    assert apart["a"].address - apart["b"].address >= BUFFER_SPACING - PAGE


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"b": np.zeros(4, np.int8), "a": "c", "n": 4}, "the output 'a' can be 'b' where that is given, and nothing"),
        ({"b": None, "a": "b", "n": 4}, "the output 'a' can be 'b' where that is given, and nothing else"),
        ({"b": np.zeros(4, np.int8), "a": "b", "n": 5}, "'a' cannot be 'b': they have 5 and 4 bytes"),
    ],
)
def test_an_output_in_another_place_is_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(KernelError, match=message):
        placed_for(**given)


def test_a_table_points_to_each_of_its_rows() -> None:
    memory = Memory()
    given = {"a": np.arange(6, dtype=np.int16).reshape(3, 2)}
    placed = Buffers(Signature((Pointer("a", "int16", (3, 2), indirect=True),)), [memory]).place(
        given, SeededBytes(1), at_end=True
    )
    rows, table = placed["a"], placed[TABLE + "a"]
    step = rows.strides[0] * 2
    pointers = np.frombuffer(memory.read(table.address, 24), np.uint64).tolist()
    assert pointers == [rows.address, rows.address + step, rows.address + 2 * step]
    assert step >= 4
    assert [memory.read(at, 4) for at in pointers] == [row.tobytes() for row in given["a"]]
    assert [address_of(one, placed) for one in (rows.pointer, None)] == [table.address, 0]


def test_an_array_of_less_than_nothing_is_refused() -> None:
    signature = Signature((Pointer("a", "int8", ("n", 2)), ScalarArgument("n", "int64")))
    with pytest.raises(KernelError, match=r"the argument 'a' cannot have the shape \[-1, 2\]"):
        Buffers(signature, [Memory()]).place({"a": np.zeros(2, np.int8), "n": -1}, SeededBytes(1), at_end=True)


@pytest.mark.parametrize(("at_end", "byte"), [(True, 0), (True, PAGE - 5), (False, 4), (False, PAGE - 1)])
def test_what_lies_around_an_array_is_undefined_in_each_call(at_end: bool, byte: int) -> None:
    memory = Memory()
    buffers = Buffers(Signature((Pointer("a", "int8", (4,)),)), [memory])
    found = set()
    for seed in range(12):
        buffers.place({"a": np.zeros(4, np.int8)}, SeededBytes(seed), at_end)
        found.add(memory.read(FIRST_BUFFER + byte, 1))
    assert len(found) > 6


def test_what_are_no_fields_of_a_structure_is_refused() -> None:
    signature = Signature((Struct("s", (("x", "int8"), ("y", "int16")), by_pointer=True),))
    place = Buffers(signature, [Memory()]).place
    where = place({"s": {"x": 5, "y": -2}}, SeededBytes(1), at_end=False)["s"]
    assert where.size == 4
    with pytest.raises(KernelError, match="the argument 's' is no such structure: "):
        place({"s": {"x": 5, "y": 1 << 20}}, SeededBytes(1), at_end=False)


def test_the_fields_of_a_structure_are_parts_of_it_each_at_its_offset() -> None:
    memory = Memory()
    signature = Signature((Struct("s", (("x", "int8"), ("y", "int16")), by_pointer=True),))
    placed = Buffers(signature, [memory]).place({"s": {"x": 5, "y": -2}}, SeededBytes(1), at_end=True)
    where = [placed[name] for name in ("s", "s.x", "s.y")]
    assert [array.address - where[0].address for array in where] == [0, 0, 2]
    assert [array.is_part for array in where] == [False, True, True]
    assert memory.read(where[2].address, 2) == b"\xfe\xff"


def test_fields_of_several_structures_have_their_own_extents_behind_those_of_the_structures() -> None:
    memory = Memory()
    struct = Struct("s", (("x", "int8"), ("v", "(3,)int16")), by_pointer=True, shape=(2,))
    given = {"s": {"x": np.array([5, 6]), "v": np.array([[1, 2, 3], [4, 5, 6]])}}
    placed = Buffers(Signature((struct,)), [memory]).place(given, SeededBytes(1), at_end=False)
    assert [placed[name].extents for name in ("s", "s.x", "s.v")] == [(2,), (2,), (2, 3)]
    assert [placed[name].strides for name in ("s.x", "s.v")] == [(8,), (4, 1)]
    v = placed["s.v"]
    assert v.view(bytearray(memory.read(v.address, v.size))).tolist() == [[1, 2, 3], [4, 5, 6]]


def test_an_array_has_as_many_bytes_as_there_may_be_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.call.buffers.LARGEST_BUFFER", 8)
    buffers = Buffers(Signature((Pointer("a", "int32", ("n",)), ScalarArgument("n", "int64"))), [Memory()])
    assert buffers.place({"a": np.zeros(2, np.int32), "n": 2}, SeededBytes(1), at_end=False)["a"].size == 8
    with pytest.raises(KernelError, match="the argument 'a' has 12 bytes: at most 8"):
        buffers.place({"a": np.zeros(3, np.int32), "n": 3}, SeededBytes(1), at_end=False)


def test_what_an_array_is_placed_in_is_made_once_for_its_size() -> None:
    memory = Memory()
    buffers = Buffers(Signature((Pointer("a", "int8", ("n",)), ScalarArgument("n", "int64"))), [memory])
    starts = []
    for count in (1, PAGE, PAGE + 1, 2):
        where = buffers.place({"a": np.zeros(count, np.int8), "n": count}, SeededBytes(1), at_end=False)["a"]
        starts.append((where.address - FIRST_BUFFER) // BUFFER_SPACING)
    assert starts == [0, 0, 1, 0]
