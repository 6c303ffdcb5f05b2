"""What each access near an array, the stack and a segment is, byte by byte: all of them, against what bounds mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import pytest

from sim.call.buffers import BUFFER_SPACING, FIRST_BUFFER, PlacedArray
from sim.call.guards.bounds import NOT_THERE, AccessBounds, Breach, StackFrame, owned_bytes
from sim.kernels.signature import Direction, Pointer
from sim.machine.trace import Step
from sim.toolchain.image import Segment
from support.one_instruction import named

SP = 0x8000
FAR = StackFrame(SP, 0)
SIZES = (1, 2, 3, 8, 16)
Extents = tuple[int, ...]


def placed(pointer: Pointer, extents: Extents, strides: Extents, address: int = FIRST_BUFFER) -> PlacedArray:
    return PlacedArray(pointer, address, extents, strides)


def of_elements(extents: Extents, strides: Extents, item: int) -> set[int]:
    """The bytes of the elements of an array, counted from its first."""
    return {
        item * sum(index * stride for index, stride in zip(indices, strides, strict=True)) + byte
        for indices in product(*map(range, extents))
        for byte in range(item)
    }


def told(first: int, last: int) -> str:
    return f"byte {first}" if first == last else f"bytes {first}..{last}"


def expected(pointer: Pointer, own: set[int], first: int, size: int, writes: bool) -> Breach | None:
    """What an access of bytes that are counted from the array's first one is, by the bytes that are elements'."""
    end, name, verb = max(own) + 1, pointer.name, "writes" if writes else "reads"
    touched = range(first, first + size)
    if writes and pointer.direction == "in" and any(0 <= byte < end for byte in touched):
        inside = [byte for byte in touched if 0 <= byte < end]
        said = f"writes {told(inside[0], inside[-1])} of the input {name!r}; if it is meant: inout"
        return Breach("write to input", said, name, inside[0], inside[-1])
    more = f", and {pointer.over_read} more declared" if pointer.over_read else ""
    if before := [byte for byte in touched if byte < 0]:
        said = f"{verb} {told(before[0], before[-1])}, before the start of {name!r} ({end} bytes)"
        return Breach("under-write" if writes else "under-read", said, name, before[0], before[-1])
    if behind := [byte for byte in touched if byte >= end]:
        last = behind[-1]
        allowed = not writes and last < end + pointer.over_read
        advice = f"; if it is meant: over_read({last - end + 1}) on {name!r}" if not writes and not allowed else ""
        said = f"{verb} {told(behind[0], last)}, past the end of {name!r} ({end} bytes{more}){advice}"
        return Breach("over-write" if writes else "over-read", said, name, behind[0], last, allowed)
    gaps = [byte for byte in touched if byte not in own]
    if not gaps:
        return None
    last = gaps[0]
    while last + 1 in gaps:
        last += 1
    said = f"{verb} {told(gaps[0], last)} of {name!r}, between its rows"
    return Breach("write between rows" if writes else "read between rows", said, name, gaps[0], last)


ARRAYS: dict[str, tuple[str, Extents, Extents]] = {
    "whole": ("uint32", (3,), (1,)),
    "of bytes": ("uint8", (5,), (1,)),
    "rows": ("uint16", (3, 2), (4, 1)),
    "rows that touch": ("uint16", (2, 2, 2), (7, 2, 1)),
    "every other one": ("uint8", (4,), (2,)),
}


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize(("direction", "over_read"), [("in", 0), ("in", 3), ("out", 0), ("inout", 5)])
def test_every_access_near_an_array_is_what_its_bytes_are(kind: str, direction: Direction, over_read: int) -> None:
    dtype, extents, strides = ARRAYS[kind]
    pointer = Pointer("a", dtype, extents, direction=direction, over_read=over_read)
    bounds, own = (
        AccessBounds([placed(pointer, extents, strides)], [], FAR),
        of_elements(extents, strides, pointer.type.itemsize),
    )
    for first, size, writes in product(range(-5, max(own) + 8), SIZES, (False, True)):
        found = bounds.breach(FIRST_BUFFER + first, size, writes, SP)
        assert found == expected(pointer, own, first, size, writes), (first, size, writes)
        step = step_of(FIRST_BUFFER + first, size, writes)
        assert bounds.check(step, SP) == (None if found is None or found.allowed else found)


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("direction", ["in", "out"])
def test_the_bytes_of_elements_pass_without_a_look(kind: str, direction: Direction) -> None:
    dtype, extents, strides = ARRAYS[kind]
    array = placed(Pointer("a", dtype, extents, direction=direction), extents, strides)
    own = of_elements(extents, strides, array.pointer.type.itemsize)
    mask = bytes(byte in own for byte in range(max(own) + 1))
    assert owned_bytes(array) == (None if 0 not in mask else mask)
    ranges = AccessBounds([array], [], FAR).allowed.ranges
    assert {at - FIRST_BUFFER for first, end, *_ in ranges for at in range(first, end)} == own
    assert {(readable, writable) for _, _, readable, writable in ranges} == {(True, direction == "out")}


def step_of(address: int, size: int, writes: bool) -> Step:
    memory = ((address, bytes(size), bytes(size)),) if writes else ()
    return Step(0, 0x100, named("nop"), (), memory, () if writes else ((address, bytes(size)),), 0x104)


@pytest.mark.parametrize(("direction", "over_read"), [("in", 0), ("in", 4), ("out", 0)])
def test_of_a_table_of_pointers_every_access_is_one_of_the_nearest_row(direction: Direction, over_read: int) -> None:
    """Three rows of two words, 24 bytes apart from the end of one to the next."""
    table = Pointer("a", "uint32", (3, 2), direction=direction, over_read=over_read, indirect=True)
    bounds, own = AccessBounds([placed(table, (3, 2), (8, 1))], [], FAR), set(range(8))
    for first, size, writes in product(range(-14, 86), (1, 4, 8), (False, True)):
        away = [max(-(first - 32 * row), first - 32 * row - 7, 0) for row in range(3)]
        row = away.index(min(away))
        of_row = Pointer(f"a[{row}]", "uint32", (2,), direction=direction, over_read=over_read)
        wanted = expected(of_row, own, first - 32 * row, size, writes)
        if wanted is not None and "over_read(" in wanted.says:
            wanted = wanted._replace(says=wanted.says.replace(f"on 'a[{row}]'", "on 'a'"))
        assert bounds.breach(FIRST_BUFFER + first, size, writes, SP) == wanted, (first, size, writes)


def test_of_an_output_in_the_place_of_an_input_the_input_is_told_whose_over_read_is_to_be_declared() -> None:
    array = placed(Pointer("out", "uint32", (2,), direction="inout", may_be="given"), (2,), (1,))
    found = AccessBounds([array], [], FAR).breach(FIRST_BUFFER + 4, 8, False, SP)
    assert found is not None
    assert found.says == "reads bytes 8..11, past the end of 'out' (8 bytes); if it is meant: over_read(4) on 'given'"


@pytest.mark.parametrize("arguments", [0, 16])
@pytest.mark.parametrize("below", [0, 32])
def test_every_access_near_sp_is_what_belongs_to_a_call(arguments: int, below: int) -> None:
    """All from the lower sp up to the end of the arguments."""
    bounds, sp = AccessBounds([], [], StackFrame(SP, arguments)), SP - below
    assert (bounds.allowed.ranges, bounds.allowed.stack_top) == ((), SP + arguments)
    for at, size, writes in product(range(-40, 30), SIZES, (False, True)):
        address, verb = SP + at, "writes" if writes else "reads"
        found = bounds.breach(address, size, writes, sp)
        if sp <= address and address + size <= SP + arguments:
            assert found is None
        elif address < sp:
            said = f"{verb} {size} bytes at sp - {sp - address}, below the stack pointer"
            assert found == Breach("access below sp", said, "the stack", at, at + size - 1)
        else:
            said = f"{verb} {size} bytes at sp + {address - sp}, above its arguments on the stack"
            assert found == Breach("access to the caller's stack", said, "the stack", max(at, arguments), at + size - 1)
        assert bounds.check(step_of(address, size, writes), sp) == found


DATA = 4 * BUFFER_SPACING
HOLE = range(DATA + 12, DATA + 20)


@pytest.mark.parametrize("permissions", ["r", "rw", "rx", "w"])
def test_every_access_near_a_segment_is_what_may_be_done_there(permissions: str) -> None:
    """Of 32 bytes, among which a symbol lies that nothing defines."""
    segment = Segment(DATA, bytes(8), 32, permissions)
    bounds = AccessBounds([], [segment], FAR, {"absent": HOLE})
    assert bounds.allowed.ranges == tuple(
        (DATA + first, DATA + end, "r" in permissions, "w" in permissions) for first, end in ((0, 12), (20, 32))
    )
    for at, size, writes in product(range(-5, 37), SIZES, (False, True)):
        found = bounds.breach(DATA + at, size, writes, SP)
        verb = "writes" if writes else "reads"
        if any(DATA + byte in HOLE for byte in range(at, at + size)):
            assert found == Breach("missing symbol", f"{verb} 'absent', {NOT_THERE}", "absent")
        elif at >= 0 and at + size <= 32 and ("w" if writes else "r") in permissions:
            assert found is None
        else:
            said = f"{verb} {size} bytes at {DATA + at:#x}, which the call was not given"
            assert found == Breach("wild access", said, "")


def test_segments_where_an_array_or_the_stack_is_nearest_do_not_pass_without_a_look() -> None:
    array = placed(Pointer("a", "uint32", (2,)), (2,), (1,))
    near = [FIRST_BUFFER - BUFFER_SPACING // 2, FIRST_BUFFER + 64, SP + 64]
    apart = [FIRST_BUFFER - BUFFER_SPACING // 2 - 8, FIRST_BUFFER + BUFFER_SPACING // 2, BUFFER_SPACING // 2]
    for address in (*near, *apart):
        ranges = AccessBounds([array], [Segment(address, b"", 8, "rw")], FAR).allowed.ranges
        assert ranges[1:] == (() if address in near else ((address, address + 8, True, True),)), hex(address)
    across = Segment(FIRST_BUFFER - BUFFER_SPACING // 2 - 8, b"", 9, "rw")
    assert len(AccessBounds([array], [across], FAR).allowed.ranges) == 1
    outside = {"elsewhere": range(DATA - 4, DATA), "behind": range(DATA + 8, DATA + 12)}
    ranges = AccessBounds([], [Segment(DATA, b"", 8, "r")], FAR, outside).allowed.ranges
    assert ranges == ((DATA, DATA + 8, True, False),)


def test_what_is_absent_at_the_ends_of_a_segment_does_not_pass_without_a_look() -> None:
    absent = {"first": range(DATA, DATA + 4), "last": range(DATA + 28, DATA + 32)}
    ranges = AccessBounds([], [Segment(DATA, b"", 32, "rw")], FAR, absent).allowed.ranges
    assert {at for first, end, *_ in ranges for at in range(first, end)} == {*range(DATA + 4, DATA + 28)}


@pytest.mark.parametrize(("over_read", "allowed"), [(4, True), (0, False)])
def test_past_the_end_of_an_array_of_none_is_past_its_end(over_read: int, allowed: bool) -> None:
    array = placed(Pointer("a", "uint32", (0,), over_read=over_read), (0,), (1,))
    found = AccessBounds([array], [], FAR).breach(FIRST_BUFFER, 4, False, SP)
    more, advice = (", and 4 more declared", "") if allowed else ("", "; if it is meant: over_read(4) on 'a'")
    said = f"reads bytes 0..3, past the end of 'a' (0 bytes{more}){advice}"
    assert found == Breach("over-read", said, "a", 0, 3, allowed)


def noted(bounds: AccessBounds) -> dict[str, tuple[int | None, int | None]]:
    return {name: (breach.first, breach.last) for name, (breach, _) in bounds.declared.items()}


def reads_of(*accesses: tuple[int, int]) -> Iterator[Step]:
    for pc, (first, size) in enumerate(accesses):
        yield step_of(FIRST_BUFFER + first, size, writes=False)._replace(pc=pc)


@pytest.mark.parametrize(
    ("accesses", "all_of_them"),
    [([(12, 1)], (12, 12)), ([(14, 2), (12, 1)], (12, 15)), ([(12, 1), (8, 8)], (12, 15)), ([(8, 4), (0, 1)], None)],
)
def test_declared_over_reads_are_noted_together_with_the_first_step(
    accesses: Sequence[tuple[int, int]], all_of_them: tuple[int, int] | None
) -> None:
    array = placed(Pointer("a", "uint32", (3,), over_read=4), (3,), (1,))
    bounds = AccessBounds([array], [], FAR)
    for step in reads_of(*accesses):
        assert bounds.check(step, SP) is None
    assert noted(bounds) == ({} if all_of_them is None else {"a": all_of_them})
    if all_of_them is not None:
        breach, step = bounds.declared["a"]
        assert step.pc == 0
        assert breach.says == f"reads {told(*all_of_them)}, past the end of 'a' (12 bytes, and 4 more declared)"


def test_declared_over_reads_of_the_rows_of_a_table_are_noted_row_by_row() -> None:
    table = Pointer("a", "uint32", (3, 2), over_read=4, indirect=True)
    bounds = AccessBounds([placed(table, (3, 2), (8, 1))], [], FAR)
    for step in reads_of((9, 1), (32 + 8, 1), (32 + 10, 2)):
        assert bounds.check(step, SP) is None
    assert noted(bounds) == {"a[0]": (9, 9), "a[1]": (8, 11)}
    assert [breach.says.partition("past ")[2] for breach, _ in bounds.declared.values()] == [
        f"the end of 'a[{row}]' (8 bytes, and 4 more declared)" for row in (0, 1)
    ]


def test_the_first_access_of_a_step_that_is_not_allowed_is_told_reads_before_writes() -> None:
    array = placed(Pointer("a", "uint32", (3,), direction="inout", over_read=4), (3,), (1,))
    bounds = AccessBounds([array], [], FAR)
    reads = tuple((FIRST_BUFFER + at, bytes(4)) for at in (0, 12, 16, 20))
    writes = tuple((FIRST_BUFFER + at, bytes(4), bytes(4)) for at in (0, 12, 16))
    step = Step(0, 0, named("nop"), (), writes, reads, 4)
    found = [bounds.check(one, SP) for one in (step, step._replace(reads_memory=reads[:2]))]
    assert [(one.kind, one.first) for one in found if one is not None] == [("over-read", 16), ("over-write", 12)]


def test_fields_of_structures_are_bound_by_the_whole_array() -> None:
    whole = placed(Pointer("a", "uint32", (3,)), (3,), (1,))
    part = PlacedArray(Pointer("a.x", "uint32", (1,)), FIRST_BUFFER + 4, (1,), (1,), is_part=True)
    for arrays in ([whole, part], [part, whole]):
        assert AccessBounds(arrays, [], FAR).breach(FIRST_BUFFER, 12, False, SP) is None
