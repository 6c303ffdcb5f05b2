"""What executed code says of itself: lines, variables, where a number was made, who takes it, who calls a function."""

from __future__ import annotations

from pathlib import Path

import pytest

import sim.check.repair.code
from isa.lane import Place
from sim.check.repair.alternative import NEAR, Alternative
from sim.check.repair.callers import called_otherwise, calls_by_line, only_from
from sim.check.repair.code import Access, Source
from sim.check.repair.macros import macros_used
from sim.toolchain.dwarf.code_lines import SourceLine
from sim.toolchain.image import Image
from support.code_of_lines import START, Segment, Symbol, code_of
from support.one_instruction import State, left_by, named

LINES = (
    ("stp x29, x30, [sp, #-0x20]!", 1), ("mov x29, sp", 1), ("str w0, [sp, #12]", 1), ("mov w9, #7", 1),
    ("str w9, [sp, #16]", 1),
    ("ldr w8, [sp, #12]", 2), ("lsl w8, w8, #2", 2), ("str w8, [sp, #20]", 2),
    ("ldr w10, [sp, #20]", 3), ("ldr w11, [sp, #16]", 3), ("mov w12, w10", 3), ("add w12, w12, w11", 3),
    ("str w12, [sp, #24]", 3), ("ldr w13, [sp, #24]", 3),
    ("strh wzr, [sp, #28]", 4), ("ldrsh w14, [sp, #28]", 4), ("ldrb w15, [sp]", 4),
    ("movi v1.4s, #1", 5), ("mov x16, v1.d[1]", 5), ("fmov d2, x16", 5),
    ("bl #0x15c", 6), ("bl #0x15c", 7), ("ret", 7),
    ("str w12, [sp, #20]", 9), ("asr w0, w1, #4", 9), ("ret", 9),
)  # fmt: skip
"""A function and another one, which it calls twice."""
CODE = code_of(LINES, [Symbol("f", START), Symbol("g", 0x15C)])
SHIFT = START + 4 * 24


def at(number: int) -> int:
    return START + 4 * number


def through(number: int, register: Place) -> list[tuple[int, int]]:
    """The numbers of the instructions that what a register holds came through, and from which bit on it lies there."""
    return [((source.pc - START) // 4, source.lsb) for source in CODE.sources(at(number), register)]


def x(number: int) -> Place:
    return Place("x", number)


def test_a_number_is_followed_back_through_moves_and_variables_to_what_made_it() -> None:
    assert through(11, x(12)) == [(10, 0), (8, 0), (7, 0), (6, 0)]
    assert through(12, x(12)) == [(11, 0)]
    assert through(6, x(8)) == [(5, 0), (2, 0)]  # an argument
    assert through(16, x(14)) == [(15, 0), (14, 0)]  # a zero
    assert through(17, x(15)) == [(16, 0)]  # of what nothing is stored
    assert through(20, Place("v", 2)) == [(19, 0), (18, 0), (17, 64)]
    assert through(24, x(12)) == []  # made in another function
    assert next(CODE.sources(at(11), x(12))) == Source(at(10), 0)


def test_of_two_stores_of_a_slot_the_latter_is_what_is_taken() -> None:
    lines = [("str w0, [sp, #4]", 1), ("str w1, [sp, #4]", 2), ("ldr w2, [sp, #4]", 2), ("add w3, w2, w2", 3)]
    code = code_of(lines)
    assert [source.pc for source in code.sources(at(3), x(2))] == [at(2), at(1)]
    assert [code.only_passes_on(at(number)) for number in range(4)] == [False, False, True, False]
    swapped = code_of([*lines[:2], ("ldr w2, [sp, #4]", 1), lines[3]])
    assert not swapped.only_passes_on(at(2))


def test_what_reaches_no_slot_or_two_at_once_is_no_access_of_one() -> None:
    assert code_of([("ldr w0, [x1]", 1), ("stp x1, x2, [sp, #16]", 1)]).accesses == {}


def test_those_who_take_what_a_line_makes_are_found_through_the_line_itself() -> None:
    def users(number: int) -> list[int]:
        return [(pc - START) // 4 for pc in CODE.users(at(number))]

    assert users(5) == [10, 11]
    assert users(3) == [11]
    assert users(11) == []


def test_what_only_keeps_or_fetches_what_its_own_line_made_is_told() -> None:
    passing = [number for number in range(len(LINES)) if CODE.only_passes_on(at(number))]
    assert passing == [4, 7, 12, 13, 15]


def test_loads_and_stores_of_the_stack_are_told_apart() -> None:
    assert CODE.accesses[at(2)] == Access(False, "", "w", x(0), 12)
    assert CODE.accesses[at(14)] == Access(False, "h", "w", None, 28)
    assert CODE.accesses[at(15)] == Access(True, "sh", "w", x(14), 28)
    assert CODE.accesses[at(16)] == Access(True, "b", "w", x(15), 0)
    assert at(0) not in CODE.accesses
    of_vectors = code_of([("ldr q3, [sp, #16]", 1), ("stur d4, [sp, #8]", 1)])
    assert [*of_vectors.accesses.values()] == [
        Access(True, "", "q", Place("v", 3), 16),
        Access(False, "", "d", Place("v", 4), 8),
    ]


def test_stores_and_loads_of_a_variable_are_those_of_its_function() -> None:
    assert CODE.accesses_of(at(8)) == ([at(7)], [at(8)])
    assert CODE.accesses_of(at(23)) == ([at(23)], [])


def test_variables_are_what_several_lines_keep_or_take() -> None:
    assert CODE.variables == {START: {12: at(2), 16: at(4), 20: at(7)}, at(23): {20: at(23)}}


def test_what_a_variable_holds_first_is_what_it_is_told_by() -> None:
    code = code_of([("str w0, [sp, #8]", 1), ("str w1, [sp, #8]", 2), ("ldr w2, [sp, #8]", 3)])
    assert code.variables == {START: {8: START}}


def test_where_a_function_begins_and_opens_and_whether_it_keeps_its_frame() -> None:
    assert [CODE.start(pc) for pc in (START, at(22), at(23), SHIFT)] == [START, START, at(23), at(23)]
    assert [number for number in range(len(LINES)) if CODE.opens(at(number))] == [0, 1, 2, 3, 4, 23, 24, 25]
    assert [CODE.keeps_frame(pc) for pc in (START, at(10), SHIFT)] == [True, True, False]
    assert code_of(LINES).start(SHIFT) == START  # where no function is known


@pytest.mark.parametrize(("loads", "is_signed"), [("ldrb", False), ("ldrsb", True), ("ldr", True), ("ldrsh", True)])
def test_a_short_variable_has_a_sign_by_how_it_is_loaded(loads: str, is_signed: bool) -> None:
    code = code_of([("strb w0, [sp, #4]", 1), (f"{loads} w1, [sp, #4]", 2), ("ldrb w2, [sp, #8]", 3)])
    assert code.is_signed(at(0), 4) == is_signed


DATA = bytes(range(64))


@pytest.mark.parametrize(
    ("lines", "first", "size"),
    [
        (["adrp x1, #0x3000", "ldr q0, [x1, #16]"], 16, 16),
        (["adrp x1, #0x3000", "ldr q0, [x1]"], 0, 16),
        (["adrp x1, #0x3000", "ldr q0, [x1, #48]"], 48, 16),
        (["adrp x1, #0x3000", "ldr d0, [x1, #16]"], 16, 8),
        (["adrp x1, #0x3000", "add x2, x1, #0x20", "ldr q0, [x2, #16]"], 48, 16),
        (["adrp x1, #0x3000", "add x1, x1, #0x20", "ldr q0, [x1]"], 32, 16),
        (["adrp x1, #0x3000", "add x1, x1, #0x31", "ldr q0, [x1]"], 0, 0),  # not all of it is data
        (["adrp x1, #0x2000", "add x1, x1, #0xfff", "ldr q0, [x1]"], 0, 0),
        (["adrp x1, #0x3000", "add x1, x1, x2", "ldr q0, [x1]"], 0, 0),
        (["ldr x1, [sp, #8]", "ldr q0, [x1]"], 0, 0),
        (["mov x3, x4", "ldr q0, [x1]"], 0, 0),
        (["adrp x1, #0x3000", "ldr x0, [x1]"], 0, 0),
    ],
)
def test_a_constant_of_the_program_is_read_where_its_address_is_known(lines: list[str], first: int, size: int) -> None:
    code = code_of([(text, 1) for text in lines], segments=[Segment(0x3000, DATA)])
    assert code.literal(at(len(lines) - 1)) == (DATA[first : first + size] if size else None)


@pytest.mark.parametrize(
    ("lines", "is_literal"),
    [
        (["adrp x1, #0x3000", "ldr q0, [x1, #16]"], True),
        (["adr x1, #0x3000", "add x1, x1, #0x20", "ldr d0, [x1]"], True),
        (["adrp x1, #0x3000", "sub x1, x1, #0x20", "ldr d0, [x1]"], False),
        (["ldr x1, [sp, #8]", "ldr q0, [x1]"], False),
        (["nop", "ldr q0, [x1]"], False),
        (["adrp x1, #0x3000", "str q0, [x1]"], False),
    ],
)
def test_a_constant_of_the_program_is_known_by_its_address(lines: list[str], is_literal: bool) -> None:
    assert code_of([(text, 1) for text in lines]).is_literal(at(len(lines) - 1)) == is_literal


def test_data_are_told_by_the_line_on_which_they_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    def data_lines(image: Image) -> dict[int, SourceLine]:
        return {0x3000: SourceLine("f.c", 4)}

    monkeypatch.setattr(sim.check.repair.code, "data_lines", data_lines)
    code = code_of(LINES, [Symbol("known", 0x3000, 12), Symbol("nameless", 0x3010, 4)])
    asked = (0x2FFF, 0x3000, 0x300B, 0x300C, 0x3012)
    assert [code.data_at(address) for address in asked] == [
        ("", 0), ("f.c:4", 0), ("f.c:4", 11), ("", 0), ("the data of nameless", 2),
    ]  # fmt: skip


def shifted_otherwise() -> Alternative:
    return Alternative(SHIFT, NEAR, CODE.instructions[SHIFT], named("lsr w0, w1, #4"), "as lsr w0, w1, #4")


def test_calls_of_a_function_are_found_by_line_but_for_those_of_the_kernel() -> None:
    assert calls_by_line(CODE, at(23)) == {"f.c:6": (at(20),), "f.c:7": (at(21),)}
    twice = code_of([("bl #0x10c", 2), ("bl #0x10c", 2), ("bl #0x100", 3), ("ret", 4)], [Symbol("g", 0x10C)])
    assert calls_by_line(twice, 0x10C) == {"f.c:2": (at(0), at(1))}
    assert calls_by_line(twice, START) == {}


def made(change: Alternative, state: State) -> int:
    return left_by(change.instruction, state)["x0"]


def test_a_change_of_a_function_that_several_lines_call_is_tried_for_each_line_alone() -> None:
    found = [*called_otherwise(CODE, [shifted_otherwise()])]
    assert [(one.says.partition(" where ")[2], one.beside.calls, one.blamed) for one in found] == [
        ("f.c:6 calls it", (at(20),), at(20)),
        ("f.c:7 calls it", (at(21),), at(21)),
    ]
    for one, own in zip(found, (at(20), at(21)), strict=True):
        for call in (at(20), at(21)):
            after = made(one, State({"x1": 0x8000_0000, "x30": call + 4}))
            assert after == (0x0800_0000 if call == own else 0xF800_0000)


def test_a_change_of_a_function_that_one_line_calls_or_that_writes_elsewhere_is_not_tried_so() -> None:
    other = Alternative(SHIFT, NEAR, CODE.instructions[SHIFT], named("lsr w2, w1, #4"), "as lsr w2, w1, #4")
    assert [*called_otherwise(CODE, [other])] == []
    one_line = [(text, 6 if line == 7 else line) for text, line in LINES]
    assert [*called_otherwise(code_of(one_line, [Symbol("g", at(23))]), [shifted_otherwise()])] == []


def test_calls_of_calls_are_told_by_the_frames_that_functions_keep() -> None:
    """g and its callers: the first returns where x30 says, or where its frame does; the next one's is behind it."""
    change = shifted_otherwise()
    framed = code_of([*LINES[:23], ("mov x29, sp", 9), *LINES[24:]], [Symbol("f", START), Symbol("g", at(23))])
    frames = {here: pointer.to_bytes(8, "little") + returns.to_bytes(8, "little") + b"\xff"
              for here, pointer, returns in (
                  (0x1000, 0x2000, at(21) + 4), (0x2000, 0x3000, 0x804), (0x3000, 0x4000, 0x904))}  # fmt: skip
    for code, x30 in ((CODE, at(20) + 4), (framed, 0)):
        state = State({"x1": 0x8000_0000, "x30": x30, "x29": 0x1000}, frames)
        first, second, third = ((at(20), at(21), 0x800), (at(21), 0x800, 0x900))[code is framed]
        for callers, is_called in (
            ([(first,)], True), ([(first,), (second,)], True), ([(4, first)], True), ([(second,)], False),
            ([(first,), (first,)], False), ([(4,), (second,)], False), ([(first,), (second,), (third,)], True),
            ([(first,), (second,), (second,)], False),
        ):  # fmt: skip
            found = only_from(code, change, callers)
            assert found is not None
            assert made(found, state) == (0x0800_0000 if is_called else 0xF800_0000)


MACROS = """int first = LOW;
#define LOW -128
#define BOUNDED(x) \\
    ((x) < LOW ? LOW : (x))
  #  define OTHER 4
int x = LOW + OTHER + BOUNDED(LOW);
int y = BOUNDED(1) + NOT_OURS;
int z;
int last = OTHER;"""


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("kernel.c:1", {"LOW of kernel.c:2"}),
        ("kernel.c:6", {"LOW of kernel.c:2", "BOUNDED of kernel.c:3", "OTHER of kernel.c:5"}),
        ("kernel.c:7", {"LOW of kernel.c:2", "BOUNDED of kernel.c:3"}),
        ("kernel.c:8", set()),
        ("kernel.c:9", {"OTHER of kernel.c:5"}),
        ("kernel.c:10", set()),
        ("kernel.c:0", set()),
        ("other.c:6", set()),
        ("kernel.c:five", set()),
        ("no source line", set()),
    ],
)
def test_a_line_tells_the_macros_of_its_file_that_it_uses_and_theirs(line: str, told: set[str], tmp_path: Path) -> None:
    source = tmp_path / "kernel.c"
    source.write_text(MACROS)
    found = macros_used(line, source)
    assert (set(found), len(found)) == (told, len(told))
