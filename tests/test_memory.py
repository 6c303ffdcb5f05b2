"""Memory: what can be mapped, what the host may do, what a program may do."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np
import pytest

from sim import Memory, MemoryFault
from sim.machine import memory as memory_module
from sim.machine.memory import PIECE, merged

PAGE = 4096
BASE = 0x10000


def mapped(*regions: tuple[int, int, str]) -> Memory:
    """Regions given as first page after BASE, pages, permissions."""
    memory = Memory()
    for page, pages, permissions in regions:
        memory.map(BASE + page * PAGE, pages * PAGE, permissions)
    return memory


def test_mapped_memory_is_zero() -> None:
    assert mapped((0, 1, "rw")).read(BASE, PAGE) == bytes(PAGE)


def test_regions_are_listed_in_order_of_address() -> None:
    memory = mapped((4, 1, "r"), (0, 2, "rx"), (2, 1, "rw"))
    assert [(r.start, r.end, r.permissions) for r in memory.regions] == [
        (BASE, BASE + 2 * PAGE, "rx"),
        (BASE + 2 * PAGE, BASE + 3 * PAGE, "rw"),
        (BASE + 4 * PAGE, BASE + 5 * PAGE, "r"),
    ]


@pytest.mark.parametrize(("address", "size"), [(BASE + 1, PAGE), (BASE, PAGE - 1), (BASE, 0), (BASE, -PAGE), (8, 8)])
def test_a_region_off_page_boundaries_is_refused(address: int, size: int) -> None:
    with pytest.raises(ValueError, match="must be multiples of 4096"):
        Memory().map(address, size)


@pytest.mark.parametrize(("address", "size"), [(-PAGE, PAGE), (2**64, PAGE), (2**64 - PAGE, 2 * PAGE)])
def test_a_region_outside_of_the_address_space_is_refused(address: int, size: int) -> None:
    with pytest.raises(ValueError, match="not inside of the 64-bit address space"):
        Memory().map(address, size)


def test_the_last_page_can_be_mapped() -> None:
    assert Memory().map(2**64 - PAGE, PAGE).end == 2**64


@pytest.mark.parametrize(("page", "pages"), [(1, 1), (0, 2), (2, 2), (0, 4), (1, 2), (2, 1)])
def test_an_overlap_is_refused(page: int, pages: int) -> None:
    memory = mapped((1, 2, "rw"))
    with pytest.raises(ValueError, match=r"overlaps 0x11000\.\.0x13000"):
        memory.map(BASE + page * PAGE, pages * PAGE)


def test_a_refused_region_is_not_mapped() -> None:
    memory = mapped((1, 1, "rw"))
    with pytest.raises(ValueError, match="overlaps"):
        memory.map(BASE, 2 * PAGE)
    assert len(memory.regions) == 1


@pytest.mark.parametrize("page", [0, 2])
def test_a_neighbour_is_no_overlap(page: int) -> None:
    memory = mapped((1, 1, "rw"))
    memory.map(BASE + page * PAGE, PAGE)
    assert len(memory.regions) == 2


@pytest.mark.parametrize("permissions", ["", "rwz", "R", "r w"])
def test_other_permission_letters_are_refused(permissions: str) -> None:
    with pytest.raises(ValueError, match="permissions are some of 'rwx'"):
        Memory().map(BASE, PAGE, permissions)


@pytest.mark.parametrize("permissions", ["r", "w", "x", "rw", "rx", "rwx"])
def test_the_host_reads_what_it_wrote_whatever_the_permissions(permissions: str) -> None:
    memory = mapped((0, 1, permissions))
    memory.write(BASE + 5, b"lane")
    assert memory.read(BASE + 4, 6) == b"\0lane\0"


def test_the_host_writes_across_adjacent_regions() -> None:
    memory = mapped((0, 1, "r"), (1, 1, "x"))
    memory.write(BASE + PAGE - 2, b"abcd")
    assert (memory.read(BASE + PAGE - 2, 2), memory.read(BASE + PAGE, 2)) == (b"ab", b"cd")


def test_the_host_cannot_read_where_nothing_is_mapped() -> None:
    with pytest.raises(MemoryFault, match="cannot access 4 bytes at 0x10ffe: 0x11000 is not mapped"):
        mapped((0, 1, "rw")).read(BASE + PAGE - 2, 4)


def test_a_host_write_that_does_not_fit_writes_nothing() -> None:
    memory = mapped((0, 1, "rw"))
    with pytest.raises(MemoryFault):
        memory.write(BASE + PAGE - 2, b"abcd")
    assert memory.read(BASE + PAGE - 2, 2) == bytes(2)


@pytest.mark.parametrize("permissions", ["r", "rw", "rx", "rwx"])
def test_a_program_loads_where_it_may_read(permissions: str) -> None:
    memory = mapped((0, 1, permissions))
    memory.write(BASE, b"lane")
    assert bytes(memory.load(BASE, 4)) == b"lane"


@pytest.mark.parametrize("permissions", ["w", "x", "wx"])
def test_a_program_cannot_load_where_it_may_not_read(permissions: str) -> None:
    with pytest.raises(MemoryFault, match=f"cannot read 4 bytes at 0x10000: 0x10000 is mapped '{permissions}' only"):
        mapped((0, 1, permissions)).load(BASE, 4)


@pytest.mark.parametrize("permissions", ["w", "rw", "wx", "rwx"])
def test_a_program_stores_where_it_may_write(permissions: str) -> None:
    memory = mapped((0, 1, permissions))
    memory.store(BASE, b"lane")
    assert memory.read(BASE, 4) == b"lane"


@pytest.mark.parametrize("permissions", ["r", "x", "rx"])
def test_a_program_cannot_store_where_it_may_not_write(permissions: str) -> None:
    with pytest.raises(MemoryFault, match=f"cannot write 4 bytes at 0x10000: 0x10000 is mapped '{permissions}' only"):
        mapped((0, 1, permissions)).store(BASE, b"lane")


@pytest.mark.parametrize("permissions", ["x", "rx", "rwx"])
def test_a_program_fetches_where_it_may_execute(permissions: str) -> None:
    memory = mapped((0, 1, permissions))
    memory.write(BASE + 4, b"lane")
    assert memory.fetch(BASE + 4) == b"lane"


@pytest.mark.parametrize("permissions", ["r", "w", "rw"])
def test_a_program_cannot_fetch_where_it_may_not_execute(permissions: str) -> None:
    with pytest.raises(MemoryFault, match=f"cannot execute 4 bytes at 0x10000: 0x10000 is mapped '{permissions}' only"):
        mapped((0, 1, permissions)).fetch(BASE)


@pytest.mark.parametrize("address", [BASE + 1, BASE + 2, BASE + 3])
def test_an_instruction_address_is_a_multiple_of_4(address: int) -> None:
    with pytest.raises(MemoryFault, match="it is not a multiple of 4"):
        mapped((0, 1, "x")).fetch(address)


@pytest.mark.parametrize("offset", [-2, PAGE - 2, PAGE, 5 * PAGE])
def test_a_load_outside_of_the_region_says_where(offset: int) -> None:
    with pytest.raises(MemoryFault) as caught:
        mapped((0, 1, "rw")).load(BASE + offset, 4)
    assert (caught.value.address, caught.value.size, caught.value.pc) == (BASE + offset, 4, None)


@pytest.mark.parametrize("offset", [-2, PAGE - 2, PAGE, 5 * PAGE])
def test_a_store_outside_of_the_region_says_where(offset: int) -> None:
    with pytest.raises(MemoryFault) as caught:
        mapped((0, 1, "rw")).store(BASE + offset, b"lane")
    assert (caught.value.address, caught.value.size, caught.value.pc) == (BASE + offset, 4, None)


@pytest.mark.parametrize("other", ["rw", "r", "rx", "rwx"])
def test_a_load_crosses_into_an_adjacent_region(other: str) -> None:
    memory = mapped((0, 1, "rw"), (1, 1, other))
    memory.write(BASE + PAGE - 2, b"lane")
    assert bytes(memory.load(BASE + PAGE - 2, 4)) == b"lane"


@pytest.mark.parametrize("other", ["rw", "w", "rwx"])
def test_a_store_crosses_into_an_adjacent_region(other: str) -> None:
    memory = mapped((0, 1, "rw"), (1, 1, other))
    memory.store(BASE + PAGE - 2, b"lane")
    assert memory.read(BASE + PAGE - 2, 4) == b"lane"


def test_a_load_crosses_a_page_of_one_region() -> None:
    memory = mapped((0, 2, "rw"))
    memory.write(BASE + PAGE - 2, b"lane")
    assert bytes(memory.load(BASE + PAGE - 2, 4)) == b"lane"


def test_a_store_that_crosses_into_a_read_only_region_writes_nothing() -> None:
    memory = mapped((0, 1, "rw"), (1, 1, "r"))
    with pytest.raises(MemoryFault, match="0x11000 is mapped 'r' only"):
        memory.store(BASE + PAGE - 2, b"lane")
    assert memory.read(BASE + PAGE - 2, 4) == bytes(4)


def test_a_load_does_not_see_through_to_a_region_mapped_before_a_hole() -> None:
    memory = mapped((0, 1, "rw"), (2, 1, "rw"))
    memory.load(BASE, 4)
    with pytest.raises(MemoryFault, match="0x11000 is not mapped"):
        memory.load(BASE + PAGE - 4, PAGE + 8)


def test_a_region_mapped_later_is_found_after_a_fault() -> None:
    memory = mapped((0, 1, "rw"))
    with pytest.raises(MemoryFault):
        memory.load(BASE + PAGE, 4)
    memory.map(BASE + PAGE, PAGE, "rw")
    assert bytes(memory.load(BASE + PAGE, 4)) == bytes(4)


# The page of an earlier access is remembered


def visited(*regions: tuple[int, int, str]) -> Memory:
    """Memory whose first page was already the aim of a load and a store, allowed or not."""
    memory = mapped(*regions)
    with suppress(MemoryFault):
        memory.load(BASE, 4)
    with suppress(MemoryFault):
        memory.store(BASE, bytes(4))
    return memory


@pytest.mark.parametrize("permissions", ["w", "x", "wx"])
def test_a_forbidden_load_is_refused_again(permissions: str) -> None:
    with pytest.raises(MemoryFault):
        visited((0, 1, permissions)).load(BASE, 4)


@pytest.mark.parametrize("permissions", ["r", "x", "rx"])
def test_a_forbidden_store_is_refused_again(permissions: str) -> None:
    with pytest.raises(MemoryFault):
        visited((0, 1, permissions)).store(BASE, b"lane")


def test_a_later_load_past_the_end_is_refused() -> None:
    with pytest.raises(MemoryFault):
        visited((0, 1, "rw")).load(BASE + PAGE - 2, 4)


def test_a_later_store_past_the_end_is_refused() -> None:
    with pytest.raises(MemoryFault):
        visited((0, 1, "rw")).store(BASE + PAGE - 2, b"lane")


def test_a_later_load_crosses_into_an_adjacent_region() -> None:
    memory = visited((0, 1, "rw"), (1, 1, "r"))
    memory.write(BASE + PAGE - 2, b"lane")
    assert bytes(memory.load(BASE + PAGE - 2, 4)) == b"lane"


def test_a_later_store_crosses_into_an_adjacent_region() -> None:
    memory = visited((0, 1, "rw"), (1, 1, "rwx"))
    memory.store(BASE + PAGE - 2, b"lane")
    assert memory.read(BASE + PAGE - 2, 4) == b"lane"


def test_a_later_store_to_code_changes_the_code_version() -> None:
    memory = visited((0, 1, "rwx"))
    before = memory.code_version
    memory.store(BASE, b"lane")
    assert memory.code_version != before


def test_exchange_returns_the_old_bytes() -> None:
    memory = mapped((0, 1, "rw"))
    memory.store(BASE, b"lane")
    assert memory.exchange(BASE + 2, b"wise") == b"ne\0\0"


def test_exchange_stores() -> None:
    memory = mapped((0, 1, "rw"))
    memory.exchange(BASE, b"lane")
    assert memory.read(BASE, 4) == b"lane"


@pytest.mark.parametrize("permissions", ["x", "rx", "rwx"])
def test_a_host_write_to_code_changes_the_code_version(permissions: str) -> None:
    memory = mapped((0, 1, permissions))
    before = memory.code_version
    memory.write(BASE, b"lane")
    assert memory.code_version != before


def test_a_store_to_code_changes_the_code_version() -> None:
    memory = mapped((0, 1, "rwx"))
    before = memory.code_version
    memory.store(BASE, b"lane")
    assert memory.code_version != before


def test_a_store_that_crosses_into_code_changes_the_code_version() -> None:
    memory = mapped((0, 1, "rw"), (1, 1, "rwx"))
    before = memory.code_version
    memory.store(BASE + PAGE - 2, b"lane")
    assert memory.code_version != before


def test_writing_data_leaves_the_code_version() -> None:
    memory = mapped((0, 1, "rw"), (1, 1, "rx"))
    before = memory.code_version
    memory.write(BASE, b"lane")
    memory.store(BASE + PAGE - 4, b"lane")
    assert memory.code_version == before


def test_a_fault_outside_of_a_run_prints_its_reason_only() -> None:
    assert str(MemoryFault(16, 4, "cannot read")) == "cannot read"


def test_a_fault_in_a_run_prints_address_and_text() -> None:
    assert str(MemoryFault(16, 4, "cannot read", 0x400, "ldr x0, [x1]")) == "at 0x400, ldr x0, [x1]: cannot read"


def test_a_fault_of_a_fetch_prints_so() -> None:
    assert str(MemoryFault(16, 4, "cannot execute", 16)) == "at 0x10, instruction fetch: cannot execute"


def test_a_repeated_permission_is_refused() -> None:
    with pytest.raises(ValueError, match="permissions are some of 'rwx', not 'rr'"):
        Memory().map(0, 4096, "rr")


def test_a_negative_size_cannot_be_read() -> None:
    memory = Memory()
    memory.map(0, 4096)
    with pytest.raises(ValueError, match="cannot be negative"):
        memory.read(0, -4)


def test_more_than_the_computer_has_is_refused() -> None:
    with pytest.raises(ValueError, match="more than this computer can map"):
        Memory().map(0, 1 << 60)


LARGE = 1 << 28


@pytest.fixture(params=["the host tells its pages", "it does not"])
def _both_kinds_of_host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "it does not":
        monkeypatch.setattr(memory_module, "_has_pagemap", lambda: False)


def test_the_host_finds_the_bytes_of_a_region_at_its_address() -> None:
    region = Memory().map(BASE, 2 * PAGE)
    region.view[PAGE + 3 : PAGE + 7] = b"lane"
    ctypes.memset(region.host + PAGE + 4, ord("i"), 1)
    assert (ctypes.string_at(region.host + PAGE + 3, 4), region.buffer[PAGE + 3 : PAGE + 7]) == (b"line", b"line")


@pytest.mark.usefixtures("_both_kinds_of_host")
@pytest.mark.parametrize("size", [PAGE, PIECE - PAGE, PIECE, 5 * PIECE, 5 * PIECE + PAGE, 1 << 22])
def test_the_pieces_of_a_region_have_every_byte_that_is_not_zero(size: int) -> None:
    region, chance = Memory().map(BASE, size), Random(size)
    places = {0, size - 1, *(chance.randrange(size) for _ in range(5))}
    for at in places:
        region.view[at] = 1
    pieces = list(region.pieces())
    assert all(any(start <= at < end for start, end in pieces) for at in places)
    assert pieces == sorted(pieces)
    assert all(0 < end - start <= PIECE and end <= size for start, end in pieces)


@pytest.mark.skipif(not memory_module._has_pagemap(), reason="this computer does not say which pages are there")
def test_a_large_region_has_pieces_only_where_it_was_touched() -> None:
    region = Memory().map(BASE, LARGE)
    region.view[LARGE // 2] = 1
    ((start, end),) = region.pieces()
    assert start <= LARGE // 2 < end <= start + PIECE


def test_filled_pieces_have_a_byte_that_is_not_zero() -> None:
    region = Memory().map(BASE, 3 * PIECE)
    region.view[2 * PIECE - 1] = 1
    assert list(region.filled()) == [(PIECE, 2 * PIECE)]


@pytest.mark.usefixtures("_both_kinds_of_host")
@pytest.mark.parametrize("at", [0, 1, PIECE - 1, PIECE, 1 << 22, (1 << 23) - 1])
@pytest.mark.parametrize("other", [False, True], ids=["in this", "in the other"])
def test_the_first_difference_of_two_memories_is_found(at: int, other: bool) -> None:
    pair = [mapped((0, 1, "rw"), (2, 2048, "rw")) for _ in range(2)]
    for memory in pair:
        memory.write(BASE + 2 * PAGE, b"\1" * 100)
        memory.write(BASE + 2 * PAGE + (1 << 23) - 10, b"\1" * 10)
    start = BASE + 2 * PAGE
    pair[other].write(start + at, b"\2")
    pair[other].write(start + (1 << 23) - 1, b"\2")
    assert pair[0].first_difference(pair[1]) == start + at


def test_memories_with_the_same_bytes_have_no_difference() -> None:
    pair = [mapped((0, 1, "rw"), (2, 2048, "rw")) for _ in range(2)]
    pair[0].read(BASE + 2 * PAGE, 1 << 20)
    assert pair[0].first_difference(pair[1]) is None


def test_what_no_program_may_write_is_not_compared() -> None:
    pair = [mapped((0, 1, "rx")) for _ in range(2)]
    pair[0].write(BASE, b"lane")
    assert pair[0].first_difference(pair[1]) is None


@pytest.mark.parametrize(
    ("ranges", "found"),
    [
        ([], []),
        ([(4, 8), (0, 4)], [(0, 8)]),
        ([(0, 4), (5, 8)], [(0, 4), (5, 8)]),
        ([(0, 9), (1, 2), (3, 12)], [(0, 12)]),
    ],
)
def test_ranges_that_touch_are_merged(ranges: list[tuple[int, int]], found: list[tuple[int, int]]) -> None:
    assert merged(ranges) == found


def test_many_regions_in_any_order_are_found_and_never_overlap() -> None:
    memory, pages = Memory(), list(range(0, 600, 2))
    Random(1).shuffle(pages)
    for page in pages:
        memory.map(BASE + page * PAGE, PAGE)
        memory.write(BASE + page * PAGE, page.to_bytes(2, "little"))
    assert [int.from_bytes(memory.read(r.start, 2), "little") for r in memory.regions] == sorted(pages)
    for page in pages:
        with pytest.raises(ValueError, match="overlaps"):
            memory.map(BASE + max(page - 1, 0) * PAGE, 2 * PAGE)


@pytest.mark.parametrize("data", ["text", 5, None, [1, 2], np.array([1], object)])
def test_what_has_no_bytes_is_not_written(data: Any) -> None:
    memory = Memory()
    memory.map(BASE, PAGE)
    with pytest.raises(TypeError, match="memory is written with bytes or an array of numbers, not "):
        memory.write(BASE, data)
    assert memory.read(BASE, 8) == bytes(8)


def test_memory_is_at_addresses_that_are_integers() -> None:
    memory = Memory()
    for wrong in ("a", 4096.0, None):
        with pytest.raises(TypeError, match=f"^an address is an integer, not {wrong!r}$"):
            memory.write(wrong, b"")  # type: ignore[arg-type]  # what somebody gives
        with pytest.raises(TypeError, match=f"^an address is an integer, not {wrong!r}$"):
            memory.read(wrong, 1)  # type: ignore[arg-type]  # what somebody gives
