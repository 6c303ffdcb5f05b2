"""Repairs of several instructions at once, on numbers: wider sums, one rounding instead of two, a number in places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import floor
from typing import Any

import pytest

import sim.check.repair.code
from isa.evaluate.exact import Evaluation
from isa.instruction import Instruction
from isa.lane import Memory
from sim.check.repair.alternative import Alternative, Beside, replaced
from sim.check.repair.code import ExecutedCode
from sim.check.repair.numbers import _elements, other_numbers
from sim.check.repair.rounded_once import rounded_once
from sim.check.repair.tables import other_elements
from sim.check.repair.wider import BELOW, _offset, wider
from sim.toolchain.dwarf.code_lines import SourceLine
from support import code_of_lines
from support.code_of_lines import START, Segment, Symbol, code_of
from support.one_instruction import Known, State, elements, left_by, register_of

FRAME = 0x8000


def after(code: ExecutedCode, changes: Iterable[Alternative], registers: Mapping[str, int]) -> State:
    """All instructions run, some of them changed."""
    changed = replaced(changes)
    state = Known({"sp": FRAME, **registers})
    return state.run(*(changed.get(pc, one) for pc, one in code.instructions.items()))


BYTES = [-128, -100, -1, 0, 1, 3, 100, 127]
HALVES = [-(2**15), -3, 2, 2**15 - 1]
WORDS = [-(2**31), -(2**31) + 1, -5, 0, 7, 2**30, 2**31 - 1]


def of_bytes(a: int, b: int, c: int, d: int) -> dict[str, int]:
    return {f"v{n}": register_of([number] * 16, 8) for n, number in zip((2, 3, 5, 6), (a, b, c, d), strict=True)}


def of_upper_bytes(a: int, b: int, c: int, d: int) -> dict[str, int]:
    """The first two in the upper half, the third in the lower one."""
    return {f"v{n}": register_of([c] * 8 + [number] * 8, 8) for n, number in zip((2, 3), (a, b), strict=True)}


def of_halves(a: int, b: int, c: int, d: int) -> dict[str, int]:
    return {f"v{n}": register_of([number] * 8, 16) for n, number in zip((2, 3, 5, 6), (a, b, c, d), strict=True)}


def of_words(a: int, b: int, c: int, d: int) -> dict[str, int]:
    return {f"x{n}": number % 2**32 for n, number in zip((2, 3, 5, 6), (a, b, c, d), strict=True)}


def lanes(bits: int, count: int) -> Callable[[State], list[int]]:
    return lambda state: elements(state.registers["v0"], bits, count)


def word(state: State) -> list[int]:
    return elements(state.registers["x0"], 32, 1)


def double_word(state: State) -> list[int]:
    return elements(state.registers["x0"], 64, 1)


def unsigned_bytes(state: State) -> list[int]:
    return [number % 256 for number in elements(state.registers["v0"], 8, 8)]


def unsigned(number: int) -> int:
    return number % 256


WIDER: dict[str, tuple[list[str], Any, list[int], Callable[[State], list[int]], Callable[..., int]]] = {
    "a sum of bytes": (
        ["add v1.8b, v2.8b, v3.8b", "sshll v0.8h, v1.8b, #0"], of_bytes, BYTES, lanes(16, 8), lambda a, b, c, d: a + b,
    ),
    "a sum of bytes without a sign": (
        ["add v1.8b, v2.8b, v3.8b", "ushll v0.8h, v1.8b, #0"], of_bytes, BYTES, lanes(16, 8),
        lambda a, b, c, d: unsigned(a) + unsigned(b),
    ),
    "a bounded difference": (
        ["sqsub v1.8b, v2.8b, v3.8b", "sshll v0.8h, v1.8b, #1"], of_bytes, BYTES, lanes(16, 8),
        lambda a, b, c, d: 2 * (a - b),
    ),
    "the upper half": (
        ["add v1.16b, v2.16b, v3.16b", "mov x9, v1.d[1]", "fmov d4, x9", "sshll v0.8h, v4.8b, #0"],
        of_upper_bytes, BYTES, lanes(16, 8), lambda a, b, c, d: a + b,
    ),
    "both operands": (
        ["add v1.8b, v2.8b, v3.8b", "sub v4.8b, v5.8b, v6.8b", "saddl v0.8h, v1.8b, v4.8b"], of_bytes, BYTES[::3],
        lanes(16, 8), lambda a, b, c, d: a + b + c - d,
    ),
    "a product of 16 bits": (
        ["mul v1.4h, v2.4h, v3.4h", "sshll v0.4s, v1.4h, #0"], of_halves, HALVES, lanes(32, 4),
        lambda a, b, c, d: a * b,
    ),
    "a product without a sign that is bounded": (
        ["mul v1.8h, v2.8h, v3.8h", "uqxtn v0.8b, v1.8h"], of_halves, HALVES, unsigned_bytes,
        lambda a, b, c, d: min(a % 2**16 * (b % 2**16), 255),
    ),
    "-1 where it is less, bounded": (
        ["cmhi v1.8h, v2.8h, v3.8h", "uqxtn v0.8b, v1.8h"], of_halves, HALVES, unsigned_bytes, lambda a, b, c, d: 0,
    ),
    "a sum of products": (
        ["add v1.16b, v2.16b, v3.16b", "sdot v0.4s, v1.16b, v5.16b"], of_bytes, BYTES[::2], lanes(32, 4),
        lambda a, b, c, d: 4 * (a + b) * c,
    ),
    "a sum that is extended": (
        ["add w1, w2, w3", "sxtw x0, w1"], of_words, WORDS, double_word, lambda a, b, c, d: a + b,
    ),
    "a sum that is shifted": (
        ["add w1, w2, w3", "asr w0, w1, #1"], of_words, WORDS, word, lambda a, b, c, d: a + b >> 1,
    ),
    "a sum of three that is shifted": (
        ["add w1, w2, w3", "add w1, w1, w5", "asr w0, w1, #2"], of_words, WORDS, word,
        lambda a, b, c, d: a + b + c >> 2,
    ),
    "a sum kept in a variable": (
        ["add w1, w2, w3", "str w1, [sp, #4]", "ldr w4, [sp, #4]", "asr w0, w4, #1"], of_words, WORDS, word,
        lambda a, b, c, d: a + b >> 1,
    ),
}  # fmt: skip


def all_right(
    kind: str, changes: Sequence[Alternative], code: ExecutedCode, expected: Callable[..., Sequence[int]]
) -> bool:
    _, given, numbers, result, _ = WIDER[kind]
    return all(
        set(result(after(code, changes, given(*some)))) <= set(expected(*some))
        for some in product(numbers[:4], numbers, numbers[-3:], numbers[:1])
    )


@pytest.mark.parametrize("kind", WIDER)
def test_what_computes_with_cut_numbers_is_right_with_whole_ones(kind: str) -> None:
    texts, _, _, _, whole = WIDER[kind]
    code = code_of([(text, at) for at, text in enumerate(texts)])
    last = START + 4 * (len(texts) - 1)

    def expected(*some: int) -> list[int]:
        return [whole(*some)]

    right = [changes for changes in wider(code, last) if all_right(kind, changes, code, expected)]
    assert not all_right(kind, [], code, expected)
    assert right
    assert {change.says for change in right[0]} == {"not cut", "of what was not cut"}
    assert right[0][-1].pc == last


def test_what_the_first_instruction_of_2048_bytes_keeps_is_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept lowest of all.  A word that is not negative is whole when it is extended: its half is as before."""
    monkeypatch.setattr(code_of_lines, "START", 0x800)
    code = code_of([("sxtw x1, w2", 1), ("asr x0, x1, #1", 2)])
    for number in (1, 7, 2**30, 2**31 - 1):
        found = [after(code, changes, {"x2": number}) for changes in wider(code, 0x804)]
        assert {state.registers["x0"] for state in found} == {number // 2}


def test_what_instructions_keep_of_2048_bytes_in_a_row_lies_apart_and_below_the_frame() -> None:
    for first in range(0, 4096, 4):
        offsets = sorted(_offset(pc) for pc in range(first, first + 2048, 4))
        assert all(other - one >= 32 for one, other in pairwise(offsets))
        assert offsets[0] >= 0
        assert offsets[-1] + 32 <= BELOW


@pytest.mark.parametrize(
    ("texts", "bits"),
    [
        (["add w1, w2, w3", "asr w0, w1, #1"], 64),
        (["add v1.16b, v2.16b, v3.16b", "sshr v0.16b, v1.16b, #1"], 256),
    ],
)
def test_what_is_kept_whole_lies_below_the_stack_and_has_twice_the_bits(texts: list[str], bits: int) -> None:
    code = code_of([(text, at) for at, text in enumerate(texts)])
    for keeps, _ in wider(code, START + 4):
        ((kept, place),) = ((one, one.place) for one in keeps.instruction.writes if isinstance(one.place, Memory))
        address = Evaluation(State({"sp": FRAME})).value(place.address)
        assert FRAME - BELOW <= address < address + bits // 8 < FRAME
        assert (kept.bits * len(kept.lanes), place.size) == (bits, bits // 8)


@pytest.mark.parametrize("reader", ["sshr v0.8h, v1.8h, #1", "sshr v0.2d, v1.2d, #1", "neg v0.16b, v1.16b"])
def test_what_is_taken_as_other_elements_than_it_was_made_of_stays(reader: str) -> None:
    code = code_of([("add v1.4s, v2.4s, v3.4s", 1), (reader, 2)])
    given = {"v2": register_of([2**31 - 1, -5, 7, 100], 32), "v3": register_of([2**30, -(2**31), 3, -1], 32)}
    plain = State(given).run(*code.instructions.values()).registers["v0"]
    left = [after(code, changes, given).registers["v0"] for changes in wider(code, START + 4)]
    assert plain in left
    assert len(left) == 2


@pytest.mark.parametrize(("is_signed", "low", "high"), [(True, -128, 127), (False, 0, 255)])
def test_what_computes_with_whole_numbers_may_bound_its_own(is_signed: bool, low: int, high: int) -> None:
    code = code_of([("add v1.8b, v2.8b, v3.8b", 1), ("add v0.8b, v1.8b, v5.8b", 2)])
    right = [
        changes[-1].says
        for changes in wider(code, START + 4, bounded=True)
        if all(
            elements(after(code, changes, of_bytes(a, b, c, 0)).registers["v0"], 8, 8)
            == elements(register_of([min(max(a + b + c, low), high)], 8), 8, 1) * 8
            for a, b, c in product(BYTES[::2], BYTES[1::3], BYTES[::3])
        )
    ]
    assert right == ["of what was not cut, bounded"] * len(right)
    assert bool(right) == is_signed


@pytest.mark.parametrize(
    "texts",
    [
        ["fadd v1.4s, v2.4s, v3.4s", "fcvtzs v0.4s, v1.4s"],  # no integers
        ["add v1.4s, v2.4s, v3.4s", "fadd v0.4s, v1.4s, v1.4s"],
        ["sqadd s1, s2, s3", "fcvt d0, s1"],
        ["sqadd s1, s2, s3", "fcmp s0, s1"],
        ["saddl v1.4s, v2.4h, v3.4h", "neg v0.4s, v1.4s"],  # nothing is cut
        ["ldr w1, [x2]", "asr w0, w1, #1"],
        ["mov w1, w2", "asr w0, w1, #1"],
        ["add w1, w2, w3", "str w1, [x0]"],
        ["add w1, w2, w3", "ldr w0, [x1]"],
        ["add w1, w2, w3", "ldnp w0, w1, [x1]"],
        ["add w1, w2, w3", "add x0, sp, w1, sxtw"],
        ["ldrsb w1, [x2]", "asr w0, w1, #1"],  # nothing is computed
        ["fcvtzs w1, s2", "asr w0, w1, #1"],
    ],
)
def test_where_nothing_is_cut_nothing_is_wider(texts: list[str]) -> None:
    code = code_of([(text, at) for at, text in enumerate(texts)])
    assert list(wider(code, START + 4)) == []


@pytest.mark.parametrize(
    "texts",
    [
        ["add v1.2d, v2.2d, v3.2d", "sshr v0.2d, v1.2d, #1"],
        ["xtn2 v1.8h, v2.4s", "sshll2 v0.4s, v1.8h, #0"],  # one half of it
    ],
)
def test_elements_of_64_bits_and_those_of_one_half_are_cut_too(texts: list[str]) -> None:
    code = code_of([(text, at) for at, text in enumerate(texts)])
    assert [[change.pc for change in some] for some in wider(code, START + 4)] == [[START, START + 4]] * 2


def test_sums_of_sums_are_gone_back_to_the_fourth_one() -> None:
    """Each as far, with a sign and without."""
    texts = ["add w1, w2, w3", *["add w1, w1, w2"] * 5, "asr w0, w1, #1"]
    code = code_of([(text, at) for at, text in enumerate(texts)])
    last = START + 4 * 6
    plain, bounded = [*wider(code, last)], [*wider(code, last, bounded=True)]
    found = [[(change.pc - START) // 4 for change in some] for some in plain]
    assert found == [some for some in ([5, 6], [4, 5, 6], [3, 4, 5, 6], [2, 3, 4, 5, 6]) for _ in range(2)]
    assert len(bounded) == 2 * len(found)
    assert [[change.pc for change in some if change.beside.is_bounded] for some in bounded] == [[last]] * len(bounded)
    assert not any(change.beside.is_bounded for some in plain for change in some)


ROUNDED: dict[str, tuple[list[str], Callable[[int, int], int]]] = {
    "two that are rounded": (
        ["add w8, w0, #4", "asr w8, w8, #3", "add w9, w1, #4", "add w8, w8, w9, asr #3", "add w8, w8, #2",
         "asr w8, w8, #2"],
        lambda a, b: floor(Fraction(a + b, 32) + Fraction(1, 2)),
    ),
    "two that are cut": (
        ["asr w8, w0, #3", "sub w8, w8, w1, asr #3", "asr w8, w8, #2"], lambda a, b: floor(Fraction(a - b, 32)),
    ),
    "as far at last": (
        ["add w8, w0, #4", "asr w8, w8, #3", "add w8, w8, #4", "asr w8, w8, #3"],
        lambda a, b: floor(Fraction(a, 64) + Fraction(1, 2)),
    ),
    "numbers without a sign": (
        ["lsr w8, w0, #1", "add w8, w8, w1, lsr #1", "add w8, w8, #8", "lsr w8, w8, #4"],
        lambda a, b: floor(Fraction(a + b, 32) + Fraction(1, 2)) if a >= 0 and b >= 0 else -1,
    ),
    "another number that is added stays": (
        ["add w8, w0, #5", "asr w8, w8, #3", "add w8, w8, w1, asr #3", "add w8, w8, #2", "asr w8, w8, #2"],
        lambda a, b: floor(Fraction(a + 5 + b, 32) + Fraction(1, 2)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", ROUNDED)
def test_a_line_that_rounds_twice_may_round_once(kind: str) -> None:
    texts, once = ROUNDED[kind]
    code = code_of([("add x7, x7, #4", 1), *((text, 1) for text in texts), ("asr w8, w8, #9", 2)])
    (changes,) = rounded_once(code, [*code.instructions])
    apart = 0
    code = code_of([("add x7, x7, #4", 1), *((text, 1) for text in texts)])
    for a, b in product([-70, -33, -17, -5, 0, 3, 12, 31, 48, 99], [-31, -4, 0, 5, 18, 77]):
        given = {"x0": a % 2**32, "x1": b % 2**32, "x7": 100}
        if (expected := once(a, b)) != -1 or "sign" not in kind:
            left = after(code, changes, given).registers
            assert (elements(left["x8"], 32, 1), left["x7"]) == ([expected], 104)
            apart += left["x8"] != after(code, [], given).registers["x8"]
    assert apart


@pytest.mark.parametrize(
    "texts",
    [
        ["asr w8, w8, #3"],
        ["add w8, w8, w9"],
        ["asr w8, w0, #3", "add w8, w8, w1, asr #4", "asr w8, w8, #2"],
    ],
)
def test_a_line_without_one_shift_before_another_is_left(texts: list[str]) -> None:
    code = code_of([(text, 1) for text in texts])
    assert list(rounded_once(code, [*code.instructions])) == []


class Asked:
    """Trials that note what is asked, and in which only some addresses need a change."""

    def __init__(self, *needed: int) -> None:
        self._needed = {START + 4 * number for number in needed}
        self.asked: list[list[str]] = []
        self.last: Mapping[int, Instruction] = {}

    def are_right_with(self, replaced: Mapping[int, Instruction]) -> bool:
        self.asked.append([one.text for one in replaced.values()])
        self.last = replaced
        return bool(self._needed) and self._needed <= replaced.keys()


def asked(code: ExecutedCode, *needed: int) -> tuple[list[list[str]], list[list[int]]]:
    """What is asked for, and the numbers of the instructions of each repair."""
    trials: Any = Asked(*needed)
    found = [[(change.pc - START) // 4 for change in changes] for changes in other_numbers(code, trials)]
    return trials.asked, found


def test_a_number_in_several_places_is_tried_one_further_from_0_and_one_nearer() -> None:
    code = code_of([
        ("add w0, w1, #5", 1), ("sub w2, w1, #5", 2), ("mov w3, #-5", 3), ("cmp w4, #0x63", 4), ("mov w5, #0x63", 4),
        ("mov w6, #0", 5), ("mov w7, #0", 6), ("add x8, sp, #0x63", 7), ("b #0x63", 7), ("adr x9, #0x63", 7),
        ("ldr w9, [x1, #5]", 7), ("mov w10, #0x11", 8), ("tbz w1, #0x11, #0x11", 8),
        ("mov w11, #1", 9), ("mov w12, #-1", 9),
    ])  # fmt: skip
    assert asked(code) == (
        [
            ["cmp w4, #0x64", "mov w5, #0x64"], ["cmp w4, #0x62", "mov w5, #0x62"],
            ["add w0, w1, #6", "sub w2, w1, #6", "mov w3, #-6"], ["add w0, w1, #4", "sub w2, w1, #4", "mov w3, #-4"],
            ["mov w11, #2", "mov w12, #-2"], ["mov w11, #0", "mov w12, #0"],
        ],
        [],
    )  # fmt: skip


def test_of_a_number_in_several_places_the_lines_that_need_it_are_told() -> None:
    code = code_of([("add w0, w1, #5", 1), ("add w2, w1, #5", 1), ("add w3, w1, #5", 2), ("add w4, w1, #5", 3)])
    assert asked(code, 1)[1] == [[0, 1]] * 2
    assert asked(code, 1, 3)[1] == [[0, 1, 3]] * 2
    assert asked(code, 0, 2, 3)[1] == [[0, 1, 2, 3]] * 2


@pytest.mark.parametrize(
    ("first", "then", "number"),
    [
        ("mov w3, #0x86a7", "movk w3, #1, lsl #16", 100_007),
        ("mov w3, #-1", "movk w3, #0xfff0", -16),
        ("mov w3, #-2", "movk w3, #0x7fff, lsl #16", 0x7FFF_FFFE),
    ],
)
def test_a_number_made_in_two_parts_is_another_one_as_a_whole(first: str, then: str, number: int) -> None:
    code = code_of([(first, 1), (then, 1), (first, 2), (then, 2)])

    class Noting(Asked):
        def are_right_with(self, replaced: Mapping[int, Instruction]) -> bool:
            if replaced.keys() == {START + 4, START + 12}:
                made.append([after(code, [], {}).registers["x3"], *(left(replaced, pc) for pc in replaced)])
            return False

    def left(replaced: Mapping[int, Instruction], pc: int) -> int:
        before = State({}).run(code.instructions[pc - 4])
        return left_by(replaced[pc], before)["x3"]

    made: list[list[int]] = []
    trials: Any = Noting()
    assert list(other_numbers(code, trials)) == []
    away = 1 if number > 0 else -1
    assert made == [[each % 2**32 for each in (number, number + by, number + by)] for by in (away, -away)]


def test_elements_are_numbers_with_a_sign() -> None:
    for bits, numbers in ((32, [-5, 2**31 - 1, 0x0102_0304, -(2**31)]), (16, [-2, 0x0102, 2**15 - 1])):
        assert _elements(b"".join(each.to_bytes(bits // 8, "little", signed=True) for each in numbers), bits) == numbers


def test_numbers_that_are_others_together_are_repeated_ones() -> None:
    code = code_of([("add w0, w1, #5", 1), ("sub w2, w1, #5", 2)])
    trials: Any = Asked(0, 1)
    changes = next(iter(other_numbers(code, trials)))
    assert [change.beside.is_repeated for change in changes] == [True, True]


def test_an_element_of_a_constant_of_the_program_may_stand_in_several_places() -> None:
    numbers = [70_000, -3, 5, 70_000]
    data = register_of(numbers, 32).to_bytes(16, "little")
    lines = [("adrp x1, #0x3000", 1), ("ldr q0, [x1]", 1), ("adrp x2, #0x3000", 2), ("ldr q3, [x2]", 2)]
    code = code_of(lines, segments=[Segment(0x3000, data)])
    made: list[list[list[int]]] = []

    class Noting(Asked):
        def are_right_with(self, replaced: Mapping[int, Instruction]) -> bool:
            state = State({"x1": 0x3000, "x2": 0x3000}, {0x3000: data})
            left = [next(iter(left_by(one, state).values())) for one in replaced.values()]
            made.append([elements(each, 32, 4) for each in left])
            return False

    trials: Any = Noting()
    assert list(other_numbers(code, trials)) == []
    assert made[:2] == [[[70_000 + by, -3, 5, 70_000 + by]] * 2 for by in (1, -1)]
    for of, number in ((1, -3), (2, 5)):
        away = 1 if number > 0 else -1
        for by in (away, -away):
            changed = [number + by if at == of else each for at, each in enumerate(numbers)]
            assert [changed] * 2 in made


def test_neighbours_of_a_table_of_which_each_call_loads_one_may_have_changed_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sim.check.repair.code, "data_lines", lambda image: {0x3000: SourceLine("f.c", 9)})
    code = code_of([("ldr w0, [x1]", 1), ("ldr w2, [x1]", 2)], [Symbol("table", 0x3000, 16), Symbol("next", 0x3010, 8)])

    class Read(Asked):
        data_reads = (
            frozenset({(START, 0x3000, 4), (START + 4, 0x3004, 4), (START, 0x300C, 4)}),
            frozenset({(START, 0x3008, 4), (START, 0x3004, 4), (START, 0x3010, 4)}),
        )

    trials: Any = Read()
    found = [*other_elements(code, trials)]
    swapped = [some for some in found if "in each other's place" in some[0].says]
    of_all = {f"with {says} element 1 of f.c:9" for says in ("1 added to", "1 taken from")}
    assert {change.says for some in found if some not in swapped for change in some} == of_all
    assert [({change.pc for change in some}, {change.says for change in some}) for some in swapped] == [
        ({START, START + 4}, {f"with element {number} of f.c:9 and the next one in each other's place"})
        for number in (0, 1)
    ] + [({START}, {"with element 2 of f.c:9 and the next one in each other's place"})]
    assert {change.beside for some in swapped for change in some} == {Beside(table="f.c:9")}
    data = register_of([7, -1, 2**31 - 1, 5], 32).to_bytes(16, "little")
    left = [left_by(swapped[1][0].instruction, State({"x1": 0x3000 + 4 * at}, {0x3000: data})) for at in range(4)]
    assert left == [{"x0": number} for number in (7, 2**31 - 1, 2**32 - 1, 5)]


def test_an_element_of_a_table_is_one_off_for_all_that_load_it_and_for_one_line_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sim.check.repair.code, "data_lines", lambda image: {0x3000: SourceLine("f.c", 9)})
    lines = [
        ("ldr w0, [x1]", 1),
        ("ldrb w2, [x1]", 2),
        ("ldr w4, [x1]", 3),
        ("ldr q5, [x1], #16", 4),
        ("ldr w6, [x1]", 5),
    ]
    code = code_of(lines, [Symbol("table", 0x3000, 16)])
    data = register_of([7, -1, 2**31 - 1, 5], 32)
    read = {
        (0, 0x3004, 4),
        (1, 0x300F, 1),
        (2, 0x3004, 4),
        (3, 0x3000, 16),
        (4, 0x3000, 4),
        (4, 0x3006, 4),
        (4, 0x3010, 4),
    }

    class Read(Asked):
        data_reads = (frozenset((START + 4 * number, address, size) for number, address, size in read),)

    def made(change: Alternative, address: int) -> int:
        state = State({"x1": address}, {0x3000: data.to_bytes(16, "little")})
        return next(iter(left_by(change.instruction, state).values()))

    trials: Any = Read()
    found = [
        (
            [(change.pc - START) // 4 for change in changes],
            {change.says for change in changes},
            {change.beside.table for change in changes},
        )
        for changes in other_elements(code, trials)
        if "in each other's place" not in changes[0].says
    ]
    assert found == [
        (numbers, {f"with {says} {element} of f.c:9"}, {table})
        for element, by_line in (
            ("element 1", [([0], ""), ([2], ""), ([0, 2], "f.c:9")]),
            ("element 15", [([1], "f.c:9")]),
            ("element 0", [([4], "f.c:9")]),
            ("byte 6", [([4], "f.c:9")]),
        )
        for says in ("1 added to", "1 taken from")
        for numbers, table in by_line
    ]
    (more, *_), *_, (byte_more, *_), (byte_less, *_), _, _, _, _ = (
        changes for changes in other_elements(code, trials) if "in each other's place" not in changes[0].says
    )
    assert [made(more, 0x3004), made(more, 0x3000), made(more, 0x3008)] == [0, 7, 2**31 - 1]
    assert [made(byte_more, 0x300F), made(byte_less, 0x300F), made(byte_less, 0x300C)] == [1, 255, 5]
