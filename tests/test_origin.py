"""Where the bytes of a written lane came from, instruction by instruction, on registers and memory that are given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pytest

from isa.evaluate.exact import Evaluation, Occurrence
from isa.instruction import Instruction
from isa.lane import Int, Load, Place, read, walk
from sim.call.call import Recorded
from sim.check.origin import (
    MEMORY,
    Byte,
    FloatBits,
    LaneOrigin,
    Node,
    OriginWalk,
    WantedBytes,
    bits_of,
    copied_bytes,
    decided_origin_of,
    decides,
    keeps_number,
    origin_of,
    source_bytes,
    written_lanes,
)
from support.one_instruction import State, named

ARRAY, OUT = 0x100, 0x200
GIVEN = {"x1": ARRAY, "x2": OUT, "v1": int.from_bytes(bytes(range(1, 17)), "little")}
DATA = {ARRAY: bytes(range(0x11, 0x31))}


def occurrence(instruction: Instruction, state: State) -> Occurrence:
    """With all that the instruction reads, as it is now."""
    evaluation = Evaluation(state)
    loads = {
        evaluation.value(node.address): state.load(evaluation.value(node.address), node.size)
        for node in walk(instruction.lanes)
        if isinstance(node, Load)
    }
    return Occurrence(instruction, {place: state.read(place) for place in instruction.places_read}, loads)


def trace(texts: Iterable[str], registers: Mapping[str, int] = GIVEN) -> list[Recorded]:
    """The instructions run one behind the other, at addresses from 0 on."""
    state, found = State(registers, DATA), list[Recorded]()
    for at, text in enumerate(texts):
        instruction = named(text)
        found.append(Recorded(4 * at, occurrence(instruction, state)))
        state.run(instruction)
    return found


def by_place(found: Iterable[Byte]) -> dict[str, list[int]]:
    numbers: dict[str, list[int]] = {}
    for byte in found:
        numbers.setdefault(str(byte.where), []).append(byte.number)
    return {where: sorted(set(some)) for where, some in numbers.items()}


def part(first: int, count: int) -> list[int]:
    return [*range(first, first + count)]


@pytest.mark.parametrize(
    ("text", "registers", "lane", "sources"),
    [
        ("add v0.4s, v1.4s, v2.4s", {}, 1, {"v1": part(4, 4), "v2": part(4, 4)}),
        ("zip1 v0.8b, v1.8b, v2.8b", {}, 1, {"v2": [0]}),
        ("zip1 v0.8b, v1.8b, v2.8b", {}, 2, {"v1": [1]}),
        ("xtn v0.4h, v1.4s", {}, 1, {"v1": part(4, 4)}),  # an element is narrowed from all of it
        ("sqxtn v0.4h, v1.4s", {}, 1, {"v1": part(4, 4)}),
        ("addhn v0.4h, v1.4s, v2.4s", {}, 0, {"v1": part(0, 4), "v2": part(0, 4)}),
        ("sshll v0.8h, v1.8b, #0", {}, 3, {"v1": [3]}),
        ("sshll2 v0.8h, v1.16b, #0", {}, 3, {"v1": [11]}),
        ("sshr v0.4s, v1.4s, #1", {}, 2, {"v1": part(8, 4)}),
        ("addv s0, v1.4s", {}, 0, {"v1": part(0, 16)}),
        ("ext v0.16b, v1.16b, v2.16b, #12", {}, 3, {"v1": [15]}),
        ("ext v0.16b, v1.16b, v2.16b, #12", {}, 4, {"v2": [0]}),
        ("tbl v0.8b, {v1.16b}, v2.8b", {"v2": 5}, 0, {"v1": [5], "v2": [0]}),
        ("tbl v0.8b, {v1.16b}, v2.8b", {"v2": 200}, 0, {"v2": [0]}),
        ("mov v0.s[1], w3", {}, 1, {"x3": part(0, 4)}),
        ("mov v0.s[1], w3", {}, 0, {"v0": part(0, 4)}),
        ("umov w0, v1.b[5]", {}, 0, {"v1": [5]}),
        ("ubfx w0, w3, #4, #8", {"x3": 0xFFF}, 0, {"x3": part(0, 4)}),
        ("and w0, w3, w4", {"x3": 5, "x4": 6}, 0, {"x3": part(0, 4), "x4": part(0, 4)}),
        ("and w0, w3, w4", {"x3": 5}, 0, {"x4": part(0, 4)}),  # which a zero masks away
        ("and w0, w3, w4", {"x4": 5}, 0, {"x3": part(0, 4)}),
        ("and w0, w3, w4", {}, 0, {"x3": part(0, 4)}),
        ("orr w0, w3, w4", {}, 0, {"x3": part(0, 4), "x4": part(0, 4)}),
        ("smax v0.4s, v1.4s, v2.4s", {}, 0, {"v1": part(0, 4), "v2": part(0, 4)}),
        ("csel w0, w3, w4, mi", {"nzcv": 8}, 0, {"x3": part(0, 4)}),
        ("csel w0, w3, w4, mi", {}, 0, {"x4": part(0, 4)}),
        ("cset w0, mi", {"nzcv": 8}, 0, {"nzcv": [0]}),
        ("cmp w3, w4", {}, 0, {"x3": part(0, 4), "x4": part(0, 4)}),
        ("mov w0, w3", {}, 0, {"x3": part(0, 4)}),
        ("ldr w0, [x1, #4]", {}, 0, {MEMORY: part(ARRAY + 4, 4)}),
        ("ldrb w0, [x1]", {}, 0, {MEMORY: [ARRAY]}),
        ("ldr q0, [x1, #16]", {}, 0, {MEMORY: part(ARRAY + 16, 16)}),
        ("str w3, [x2]", {}, 0, {"x3": part(0, 4)}),
        ("strh w3, [x2]", {}, 0, {"x3": part(0, 4)}),
    ],
)
def test_a_lane_comes_from_these_bytes(
    text: str, registers: dict[str, int], lane: int, sources: dict[str, list[int]]
) -> None:
    (recorded,) = trace([text], {**GIVEN, **registers})
    evaluation = Evaluation(recorded.occurrence)
    written = [*written_lanes(evaluation, recorded.occurrence.instruction)][lane]
    copied = copied_bytes(written.lane, evaluation)
    assert by_place(source_bytes(written.lane, evaluation)) == sources
    assert copied is None or by_place(copied) == sources


@pytest.mark.parametrize(
    ("text", "decided"),
    [
        ("csel w0, w3, w4, mi", {"x4": part(0, 4), "nzcv": [0]}),
        ("cset w0, mi", {"nzcv": [0]}),
        ("bsl v0.16b, v1.16b, v2.16b", None),
    ],
)
def test_what_decided_between_two_is_among_what_a_lane_comes_from_where_it_is_asked_for(
    text: str, decided: dict[str, list[int]] | None
) -> None:
    (recorded,) = trace([text])
    evaluation = Evaluation(recorded.occurrence)
    written = next(written_lanes(evaluation, recorded.occurrence.instruction))
    found = by_place(source_bytes(written.lane, evaluation, decisions=True))
    assert found == (by_place(source_bytes(written.lane, evaluation)) if decided is None else decided)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("ldr w0, [x1]", [("x0", part(0, 4)), ("x0", part(4, 4))]),
        ("ldr x0, [x1]", [("x0", part(0, 8))]),
        ("fmov s0, w3", [("v0", part(0, 4)), ("v0", part(4, 12))]),
        ("add v0.2s, v1.2s, v2.2s", [("v0", part(0, 4)), ("v0", part(4, 4)), ("v0", part(8, 8))]),
        ("str x3, [x2, #8]", [(MEMORY, part(OUT + 8, 8))]),
        ("strb w3, [x2]", [(MEMORY, [OUT])]),
        ("cmp w3, w4", [("nzcv", [0])] * 4),  # a lane for each flag
    ],
)
def test_a_lane_goes_to_these_bytes_and_what_is_above_the_last_becomes_zero(
    text: str, spans: list[tuple[str, list[int]]]
) -> None:
    (recorded,) = trace([text])
    found = [*written_lanes(Evaluation(recorded.occurrence), recorded.occurrence.instruction)]
    assert [(str(one.span[0].where), [byte.number for byte in one.span]) for one in found] == spans


@pytest.mark.parametrize(
    ("text", "is_kept", "is_copied"),
    [
        ("mov w0, w3", True, True), ("ldrsb w0, [x1]", True, False), ("umov w0, v1.b[5]", True, True),
        ("sshll v0.8h, v1.8b, #0", False, False), ("neg w0, w3", False, False), ("ubfx w0, w3, #4, #8", True, False),
        ("fmov s0, w3", True, True),
    ],
)  # fmt: skip
def test_a_number_that_is_only_moved_is_told_from_one_that_is_computed(
    text: str, is_kept: bool, is_copied: bool
) -> None:
    (recorded,) = trace([text])
    lane = recorded.occurrence.instruction.writes[0].lanes[0]
    assert keeps_number(lane) == is_kept
    if not is_kept or is_copied:
        assert (copied_bytes(lane, Evaluation(recorded.occurrence)) is not None) == is_copied


SUM = ["ldr w3, [x1]", "add w3, w3, #1", "mov w4, w3", "strb w4, [x2]"]


def seen(nodes: Sequence[Node]) -> list[tuple[int, int, int, int]]:
    """Which instruction, the number and the bits of the lane, and its value."""
    return [(node.index, node.lane, node.bits, node.value) for node in nodes]


def test_bytes_are_wanted_where_they_lie_and_by_those_who_were_computed_from_them() -> None:
    wanted, one, other = WantedBytes(), node(8, 1), node(8, 2)
    x3 = Place("x", 3)
    for number in (5, 100):
        wanted.add(Byte(MEMORY, number), [one])
    wanted.add(Byte(x3, 0), [])
    wanted.add(Byte(x3, 0), [other])
    assert wanted.get(Byte(MEMORY, 5)) == {one}
    assert wanted.get(Byte(x3, 0)) == {other}
    assert wanted.get(Byte(MEMORY, 0)) is wanted.get(Byte(Place("x", 4), 0)) is None
    reached = [first for first in range(12) if wanted.have_some_of(MEMORY, first, 2)]
    assert reached == [4, 5]
    assert wanted.places == {MEMORY, x3}
    wanted.remove(Byte(x3, 0))
    wanted.remove(Byte(x3, 1))
    assert (wanted.places, wanted.get(Byte(x3, 0))) == ({MEMORY}, None)


@pytest.mark.parametrize(
    ("text", "where", "could"),
    [
        ("str w3, [x2]", MEMORY, True), ("str w3, [x2]", Place("x", 3), False), ("ldr w3, [x2]", MEMORY, False),
        ("ldr w3, [x2]", Place("x", 3), True), ("adds w0, w1, w2", Place("nzcv"), True),
        ("adds w0, w1, w2", Place("x", 0), True), ("adds w0, w1, w2", Place("x", 1), False),
    ],
)  # fmt: skip
def test_what_writes_one_of_the_places_of_which_bytes_are_wanted_may_be_where_they_come_from(
    text: str, where: Place | str, could: bool
) -> None:
    wanted = WantedBytes()
    wanted.add(Byte(where, 0), ())
    assert wanted.could_come_from(named(text)) == could


def test_a_byte_is_followed_back_through_what_moved_and_what_computed_it() -> None:
    recorded, first = trace(SUM), int.from_bytes(DATA[ARRAY][:4], "little")
    walk_back = OriginWalk(OUT, 1)
    for index in (3, 2, 1, 0):
        walk_back.take(index, recorded[index])
    found = walk_back.origin()
    assert found.memory == tuple(part(ARRAY, 4))
    assert seen(found.nodes) == [(1, 0, 32, first + 1), (3, 0, 8, (first + 1) % 256)]
    assert seen(walk_back.copies) == [(2, 0, 32, first + 1), (0, 0, 32, first)]
    assert {*found.readers} == {*found.memory}
    assert {node.index for readers in found.readers.values() for node in readers} == {1}
    assert origin_of(recorded, OUT, 1).memory == found.memory


def test_nodes_know_what_was_computed_from_them() -> None:
    texts = ["ldr w3, [x1]", "add w3, w3, #1", "neg w4, w3", "add w5, w4, w3", "str w5, [x2]"]
    nodes = {node.index: node for node in origin_of(trace(texts), OUT, 4).nodes}
    consumers = {index: {one.index for one in node.consumers} for index, node in nodes.items()}
    assert consumers == {1: {2, 3}, 2: {3}, 3: set()}
    assert nodes[3].sources() == {Place("x", 4), Place("x", 3)}
    assert nodes[1].sources() == {Place("x", 3)}


def test_what_is_overwritten_later_is_not_where_it_came_from() -> None:
    texts = ["str w3, [x2]", "ldr w4, [x1]", "str w4, [x2]"]
    found = origin_of(trace(texts), OUT, 4)
    assert (found.memory, found.nodes) == (tuple(part(ARRAY, 4)), ())
    found = origin_of(trace(texts), OUT + 4, 4)
    assert (found.memory, found.nodes) == (tuple(part(OUT + 4, 4)), ())


@pytest.mark.parametrize(
    ("first", "size", "bits", "lane"),
    [(5, 1, 8, 5), (4, 2, 16, 2), (6, 2, 16, 3), (5, 2, 32, 1), (4, 4, 32, 1), (0, 8, 64, 0), (9, 4, 64, 1),
     (7, 2, 128, 0), (0, 16, 128, 0), (15, 1, 8, 15)],
)  # fmt: skip
def test_of_a_register_that_is_loaded_the_smallest_element_around_the_bytes_is_told(
    first: int, size: int, bits: int, lane: int
) -> None:
    (recorded,) = trace(["ldr q0, [x1]"])
    walk_back = OriginWalk(first, size, Place("v", 0))
    walk_back.take(0, recorded)
    value = int.from_bytes(DATA[ARRAY][:16], "little") >> bits * lane & (1 << bits) - 1
    assert seen(walk_back.copies) == [(0, lane, bits, value)]
    assert walk_back.origin().memory == tuple(part(ARRAY + first, size))


@pytest.mark.parametrize(
    ("first", "size", "bits", "lane"),
    [(5, 1, 8, 5), (6, 2, 16, 3), (5, 2, 32, 1), (4, 4, 32, 1), (13, 1, 8, 13), (12, 4, 32, 3)],
)
def test_so_it_is_of_one_lane_of_several(first: int, size: int, bits: int, lane: int) -> None:
    (recorded,) = trace(["ld1 {v0.4s}, [x1]"])
    walk_back = OriginWalk(first, size, Place("v", 0))
    walk_back.take(0, recorded)
    value = int.from_bytes(DATA[ARRAY][:16], "little") >> bits * lane & (1 << bits) - 1
    assert seen(walk_back.copies) == [(0, lane, bits, value)]
    (loaded,) = [
        one
        for one in written_lanes(Evaluation(recorded.occurrence), recorded.occurrence.instruction)
        if one.number == first // 4
    ]
    narrowed = loaded.narrowed(part(first % 4, size))
    assert [byte.number for byte in narrowed.span] == part(lane * bits // 8, bits // 8)


def test_a_byte_of_many_that_are_stored_together_comes_from_its_own() -> None:
    found = origin_of(trace(["ldr q3, [x1]", "st1 {v3.16b}, [x2]"]), OUT + 13, 1)
    assert found.memory == (ARRAY + 13,)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("strb w3, [x2]", 1), ("str w3, [x2]", 4), ("stp x3, x4, [x2]", 16), ("str q3, [x2]", 16),
        ("stp q3, q4, [x2]", 32), ("st1 {v3.16b}, [x2]", 16), ("st1 {v3.8b}, [x2]", 8), ("st1 {v3.2d}, [x2]", 16),
        ("st1 {v3.h}[5], [x2]", 2), ("st2 {v3.8h, v4.8h}, [x2]", 32), ("st4 {v3.2s, v4.2s, v5.2s, v6.2s}, [x2]", 32),
    ],
)  # fmt: skip
def test_all_bytes_that_are_stored_and_no_others_come_from_what_was_stored(text: str, size: int) -> None:
    recorded = trace([text])
    own = [at for at in range(-2, size + 2) if origin_of(recorded, OUT + at, 1).memory == (OUT + at,)]
    assert own == [-2, -1, size, size + 1]


def test_a_negative_number_is_told_by_all_of_its_bits() -> None:
    found = origin_of(trace(["neg w4, w3", "str w4, [x2]"], {**GIVEN, "x3": 5}), OUT, 4)
    assert seen(found.nodes) == [(0, 0, 32, 2**32 - 5)]


@pytest.mark.parametrize(("lsb", "bits", "copied"), [(8, 16, [1, 2]), (4, 8, None), (8, 4, None)])
def test_only_whole_bytes_of_a_register_are_moved(lsb: int, bits: int, copied: list[int] | None) -> None:
    found = copied_bytes(Int(bits, False).field(read(Place("x", 3)), lsb), Evaluation(State({})))
    assert found == (None if copied is None else [Byte(Place("x", 3), number) for number in copied])


DECIDED = ["ldr w9, [x1, #12]", "cbnz w9, #0x100", "ldr w5, [x1, #4]", "cmp w5, #3", "b.lt #0x100", "mov w0, #7",
           "str w0, [x2]"]  # fmt: skip


def test_what_decided_a_constant_is_what_the_branch_before_it_looked_at() -> None:
    assert origin_of(trace(DECIDED), OUT, 4).memory == ()
    assert decided_origin_of(trace(DECIDED), OUT, 4).memory == tuple(part(ARRAY + 4, 4))
    without = [text for text in DECIDED if text != "b.lt #0x100"]
    assert decided_origin_of(trace(without), OUT, 4).memory == tuple(part(ARRAY + 12, 4))
    behind = [*DECIDED, "ldr w8, [x1, #20]", "cbz w8, #0x100"]
    assert decided_origin_of(trace(behind), OUT, 4).memory == tuple(part(ARRAY + 4, 4))


def test_a_selection_comes_from_what_decided_it() -> None:
    texts = [
        "ldr w3, [x1]",
        "ldr w4, [x1, #4]",
        "ldr w5, [x1, #8]",
        "cmp w3, #3",
        "csel w0, w4, w5, lt",
        "str w0, [x2]",
    ]
    assert origin_of(trace(texts), OUT, 4).memory == tuple(part(ARRAY + 8, 4))
    assert decided_origin_of(trace(texts), OUT, 4).memory == (*part(ARRAY, 4), *part(ARRAY + 8, 4))


@pytest.mark.parametrize(
    ("text", "is_decision"),
    [("b.lt #0x10", True), ("cbz w1, #0x10", True), ("tbnz w1, #3, #0x10", True), ("b #0x10", False), ("ret", False),
     ("br x1", False), ("blr x1", False), ("bl #0x10", False), ("csel w0, w1, w2, lt", False)],
)  # fmt: skip
def test_a_branch_to_one_of_two_places_decides(text: str, is_decision: bool) -> None:
    assert decides(named(text)) == is_decision


def node(bits: int, value: int) -> Node:
    (recorded,) = trace(["mov w0, w3"])
    write = recorded.occurrence.instruction.writes[0]
    return Node(index=0, recorded=recorded, write=write, lane=0, bits=bits, value=value)


@pytest.mark.parametrize(
    ("bits", "value", "number", "holds", "ends"),
    [
        (8, 200, 200, True, True), (8, 200, -56, True, True), (8, 200, 456, False, True), (8, 200, 201, False, False),
        (8, 128, -128, True, True), (8, 127, -129, False, True), (8, 255, 255, True, True), (8, 0, 256, False, False),
        (8, 0, 0, True, True), (32, 5, 2**32 + 5, False, True), (32, 2**32 - 5, -5, True, True),
        (64, 2**32 + 5, 5, True, True), (64, 2**63 + 5, 2**32 - 1, False, False), (64, 7, 2**33 + 7, False, False),
        (64, 2**33 + 7, 2**33 + 7, True, True), (64, 2**32 - 5, -5, True, True), (64, 5, -(2**31) - 1, False, False),
        (64, 3 << 32, -(2**31) - 2**32, False, False), (64, 1 << 31, -(2**31), True, True),
        (64, 2**32, 2**32, True, True), (64, 2**33 + 2**32 - 1, 2**32 - 1, True, True),
        (64, 2**31 - 1, -(2**31) - 1, False, False),
    ],
)  # fmt: skip
def test_a_lane_is_a_number_with_a_sign_or_without_or_its_low_bits(
    bits: int, value: int, number: int, holds: bool, ends: bool
) -> None:
    assert (node(bits, value).holds(number), node(bits, value).ends(number)) == (holds, ends)


def test_a_floating_point_number_must_be_the_whole_lane() -> None:
    half = bits_of(np.float32(0.5))
    assert isinstance(half, FloatBits)
    assert (half, half.width) == (0x3F00_0000, 32)
    found = [node(bits, value).ends(half) for bits, value in ((32, half), (64, half), (32, half + 1), (16, 0))]
    assert found == [True, False, False, False]


@pytest.mark.parametrize(
    ("number", "bits"),
    [
        (np.int8(-3), -3), (np.uint32(2**32 - 1), 2**32 - 1), (np.float16(1), 0x3C00), (np.float32(-0.0), 1 << 31),
        (np.float64(-2), 0xC000_0000_0000_0000), (np.float32(np.nan), 0x7FC0_0000), (-np.float32(np.nan), 0x7FC0_0000),
        (np.float16(np.inf), 0x7C00),
    ],
)  # fmt: skip
def test_numbers_are_their_bits_every_nan_the_default_one(number: np.generic, bits: int) -> None:
    assert bits_of(number) == bits


def test_past_the_last_lane_there_is_a_zero_that_comes_from_nothing() -> None:
    found: LaneOrigin = origin_of(trace(["add v0.2s, v1.2s, v3.2s", "str q0, [x2]"]), OUT + 8, 8)
    assert found.memory == ()
    assert [(one.lane, one.value, one.sources()) for one in found.nodes] == [(2, 0, set())]
