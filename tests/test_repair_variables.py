"""What a line could have taken instead, on numbers: another variable, the element beside, one variable more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest

from isa.instruction import Instruction
from isa.lane import Place
from sim.check.repair.alternative import FOLLOWS, NOTHING, STEP, Alternative, Beside
from sim.check.repair.steps import ELEMENTS, with_body
from sim.check.repair.variables import (
    BESIDE,
    SIZES,
    holding,
    left_out_variables,
    other_values,
    parts_beside,
    swapped_loads,
)
from sim.check.repair.wider import BELOW, wider_variables
from support.code_of_lines import START, code_of
from support.one_instruction import Known, State, elements, fits, left_by, named, register_of

FRAME, ARRAY = 0x8000, 0x400
LINES = (
    ("str w1, [sp, #12]", 1), ("str w2, [sp, #8]", 2), ("strh w3, [sp, #6]", 3), ("strb w4, [sp, #5]", 4),
    ("str x5, [sp, #24]", 5), ("str q6, [sp, #32]", 6), ("mov w7, #3", 7), ("str w7, [sp, #16]", 7),
    ("strh wzr, [sp, #18]", 8), ("adrp x17, #0x3000", 9), ("ldr q18, [x17, #16]", 9),
    ("ldr w8, [sp, #12]", 20), ("ldrsh w9, [sp, #6]", 20), ("ldrb w10, [sp, #5]", 20), ("ldr x11, [sp, #24]", 20),
    ("ldr q12, [sp, #32]", 20), ("ldr w13, [sp, #16]", 20), ("ldrh w14, [sp, #18]", 20), ("ldr w15, [x11, #4]", 20),
    ("add w16, w8, w15", 20), ("add v20.4s, v12.4s, v21.4s", 20), ("add x22, x11, x23", 20),
    ("str w16, [sp, #60]", 20), ("ldr w24, [sp, #60]", 20), ("str w24, [x11, #8]", 20),
)  # fmt: skip
"""Code as -O0 makes it, with the numbers of its lines: six lines keep variables, which the last one takes."""


CODE = code_of(LINES)


def at(text: str) -> int:
    (pc,) = [pc for pc, instruction in CODE.instructions.items() if instruction.text == text]
    return pc


def state(**registers: int) -> State:
    """A frame with the variables, and an array."""
    frame = {
        12: (-7).to_bytes(4, "little", signed=True), 8: (100).to_bytes(4, "little"),
        6: (-300).to_bytes(2, "little", signed=True), 5: (200).to_bytes(1, "little"), 16: (3).to_bytes(4, "little"),
        24: ARRAY.to_bytes(8, "little"), 32: register_of([5, -6, 2**31 - 1, -(2**31)], 32).to_bytes(16, "little"),
    }  # fmt: skip
    memory = {FRAME + slot: data for slot, data in frame.items()} | {ARRAY - 64: bytes(range(100, 250))}
    return Known({"sp": FRAME, "x11": ARRAY, **registers}, memory)


def array(start: int, size: int, is_signed: bool = False) -> int:
    """A number of the array, from a byte on."""
    return int.from_bytes(bytes(range(100, 250))[64 + start :][:size], "little", signed=is_signed)


def numbers(found: list[Alternative], given: State) -> list[tuple[str, int]]:
    """What is said of alternatives, with what they leave in the one place that the instruction writes as it is."""
    assert all(fits(write) for one in found for write in one.instruction.writes)
    left = [(one.says, left_by(one.original, given), left_by(one.instruction, given)) for one in found]
    return [(says, numbers[place]) for says, places, numbers in left for place in places]


def other(text: str, given: State | None = None) -> list[tuple[str, int]]:
    return numbers([*other_values(CODE, at(text))], given or state())


def test_a_load_may_be_of_another_variable_as_wide() -> None:
    assert other("ldr w8, [sp, #12]") == [("with what f.c:2 keeps", 100), ("with what f.c:7 keeps", 3)]
    assert other("ldr x11, [sp, #24]") == []


def test_a_short_load_may_be_of_a_whole_variable() -> None:
    of_words = [("f.c:1", 2**32 - 7), ("f.c:2", 100), ("f.c:7", 3)]
    whole = [(f"with what {line} keeps in its place", number) for line, number in of_words]
    assert other("ldrb w10, [sp, #5]") == whole
    assert other("ldrsh w9, [sp, #6]") == [("with what f.c:8 keeps", 0), *whole]


def test_a_result_may_be_a_variable_as_wide() -> None:
    words = [("f.c:1", 2**32 - 7), ("f.c:2", 100), ("f.c:7", 3)]
    assert other("add w16, w8, w15") == [(f"with what {line} keeps in its place", number) for line, number in words]
    assert other("add x22, x11, x23") == [("with what f.c:5 keeps in its place", ARRAY)]
    whole = register_of([5, -6, 2**31 - 1, -(2**31)], 32)
    assert other("add v20.4s, v12.4s, v21.4s") == [("with what f.c:6 keeps in its place", whole)]


def test_a_store_may_be_of_another_variable_short_ones_with_a_sign_and_without() -> None:
    assert other("str w1, [sp, #12]") == [
        ("of what f.c:2 keeps", 100),
        ("of what f.c:3 keeps", 2**32 - 300),
        ("of what f.c:3 keeps", 2**16 - 300),
        ("of what f.c:4 keeps", 2**32 - 56),
        ("of what f.c:4 keeps", 200),
        ("of what f.c:7 keeps", 3),
        ("of what f.c:8 keeps", 0),
        ("of what f.c:8 keeps", 0),
    ]
    assert other("strh w3, [sp, #6]") == [("of what f.c:8 keeps", 0)]
    assert other("str q6, [sp, #32]") == []


@pytest.mark.parametrize(
    ("text", "size", "kinds"),
    [
        ("str w7, [sp, #16]", 4, [(1, True), (1, False), (2, True), (2, False), (4, True)]),
        ("strh wzr, [sp, #18]", 2, [(1, True), (1, False), (2, True)]),
        ("str w1, [sp, #12]", 4, []),  # what it keeps is no constant
        ("str x5, [sp, #24]", 8, []),
    ],
)
def test_a_constant_that_is_kept_may_be_the_first_element_of_an_array(
    text: str, size: int, kinds: list[tuple[int, bool]]
) -> None:
    says = "of the first element where what f.c:5 keeps points"
    found = [number for said, number in other(text) if said == says]
    assert found == [array(0, bytes_of, is_signed) % 2 ** (8 * size) for bytes_of, is_signed in kinds]


def test_a_load_from_an_array_may_be_of_an_element_beside_or_further_by_a_variable() -> None:
    given = state()
    given.store(FRAME + 12, (5).to_bytes(4, "little"))
    given.store(FRAME + 8, (2).to_bytes(4, "little"))
    given.store(FRAME + 24, (1).to_bytes(8, "little"))
    lines = (("f.c:1", 5), ("f.c:2", 2), ("f.c:5", 1), ("f.c:7", 3))
    further = [
        (f"further by what {line} keeps", array(4 + number * size, 4)) for line, number in lines for size in SIZES
    ]
    beside = [
        (f"{by} bytes {way}", array(4 + sign * by, 4)) for by in BESIDE for way, sign in (("up", 1), ("down", -1))
    ]
    found = other("ldr w15, [x11, #4]", given)
    assert [one for one in found if "in its place" not in one[0]] == further + beside
    assert [one for one in found if "in its place" in one[0]] == [
        (f"with what {line} keeps in its place", number) for line, number in lines if line != "f.c:5"
    ]


def test_a_store_to_an_array_may_go_to_an_element_beside() -> None:
    found = [
        (one.says, left_by(one.instruction, state(x24=77))) for one in other_values(CODE, at("str w24, [x11, #8]"))
    ]
    assert found == [
        (f"{by} bytes {way}", {ARRAY + 8 + sign * by: 77}) for by in BESIDE for way, sign in (("up", 1), ("down", -1))
    ]


def test_a_constant_of_the_program_may_be_another_number_in_one_element() -> None:
    given = state(x17=0x3000)
    kept = register_of([1, 0, -1, 2], 32)
    given.store(0x3010, kept.to_bytes(16, "little"))
    expected = []
    for bits in ELEMENTS:
        before = elements(kept, bits, 128 // bits)
        for number in range(128 // bits):
            for by, says in ((1, "added to"), (-1, "taken from")):
                after = [each + by * (each_at == number) for each_at, each in enumerate(before)]
                expected.append((f"with 1 {says} element {number} of {bits} bits", register_of(after, bits)))
    assert other("ldr q18, [x17, #16]", given) == expected


def test_a_load_holds_a_number_whatever_there_is() -> None:
    instruction = named("ldrsb w0, [x11]")
    assert left_by(with_body(instruction, holding(instruction.form, -3)), state()) == {"x0": 2**32 - 3}
    for text, bits in (("ldrb w0, [x11]", 8), ("ldrh w0, [x11]", 16), ("ldr w0, [x11]", 32), ("ldr x0, [x11]", 64)):
        instruction = named(text)
        held = with_body(instruction, holding(instruction.form, 0x9234_5678_9ABC_DEF0))
        assert all(map(fits, held.writes))
        assert left_by(held, state()) == {"x0": 0x9234_5678_9ABC_DEF0 % 2**bits}


COMBINED: dict[str, Callable[[int, int], int]] = {
    "plus": lambda a, b: a + b,
    "minus": lambda a, b: a - b,
    "at least": max,
    "at most": min,
    "less by 1 with a negative sign of": lambda a, b: a - 1 if b < 0 else a,
    "more by 1 with a negative sign of": lambda a, b: a + 1 if b < 0 else a,
    "with the sign of": lambda a, b: -a if b < 0 else a,
    "ORed with": lambda a, b: a | b,
    "ANDed with": lambda a, b: a & b,
    "XORed with": lambda a, b: a ^ b,
}
"""A result and a variable that was left out, of 32 bits and signed."""
BIT_BY_BIT = ("ORed with", "ANDed with", "XORed with")
OF_LANES = ("plus", "minus", "at least", "at most", "unsigned at least", "unsigned at most", *BIT_BY_BIT)
VARIABLES = {"f.c:1": -7, "f.c:2": 100, "f.c:3": -300, "f.c:4": 200, "f.c:7": 3, "f.c:8": 0}
"""By the lines that keep them: of 16 bits with a sign, for it is loaded so, and of 8 bits without one."""


@pytest.mark.parametrize(("one", "more"), [(20, 4), (-20, -4), (0, 0), (2**31 - 1, 0), (-(2**31), 0), (100, 0)])
def test_a_variable_may_have_been_left_out_of_a_result(one: int, more: int) -> None:
    found = left_out_variables(CODE, at("add w16, w8, w15"), [])
    expected = {
        (f"{says} what {line} keeps", combined(one + more, number) % 2**32)
        for line, number in VARIABLES.items()
        for says, combined in COMBINED.items()
    }
    assert set(numbers([*found], state(x8=one % 2**32, x15=more % 2**32))) == expected


def test_what_a_variable_is_added_to_may_lack_it_in_each_of_its_addends() -> None:
    found = [*left_out_variables(CODE, at("add w16, w8, w15"), [])]
    sums = {one.says.partition(" what ")[0] for one in found if one.beside == Beside(Place("x", 16), is_more=True)}
    assert sums == {"plus", "minus"}
    assert {one.beside for one in found} == {NOTHING, Beside(Place("x", 16), is_more=True)}


def test_a_variable_of_minus_one_has_a_negative_sign() -> None:
    given = state(x8=5)
    given.store(FRAME + 12, (-1).to_bytes(4, "little", signed=True))
    found = dict(numbers([*left_out_variables(CODE, at("add w16, w8, w15"), [])], given))
    names = ("less by 1 with a negative sign of", "more by 1 with a negative sign of", "with the sign of")
    assert [found[f"{name} what f.c:1 keeps"] for name in names] == [4, 6, 2**32 - 5]


def test_variables_of_the_own_line_come_first_and_of_each_what_is_done_bit_by_bit_last() -> None:
    code = code_of([("str w1, [sp, #8]", 1), ("str w2, [sp, #12]", 2), ("ldr w3, [sp, #12]", 3), ("add w4, w3, #1", 3),
                    ("ldr w5, [sp, #8]", 4), ("add w6, w5, #1", 4)])  # fmt: skip
    says = [one.says for one in left_out_variables(code, START + 4 * 3, code.instructions)]
    plain = [each for each in COMBINED if each not in BIT_BY_BIT]
    assert says == [f"{each} what f.c:{line} keeps" for line in (2, 1) for each in (*plain, *BIT_BY_BIT)]


@pytest.mark.parametrize(
    ("text", "left"),
    [("add w1, w2, #8", (50 + 30) % 2**32), ("sub w1, w2, #8", 50 - 30), ("add x1, x2, #8", 50 + 2**40)],
)
def test_what_is_added_may_be_a_variable_and_no_number(text: str, left: int) -> None:
    code = code_of([("str w5, [sp, #8]", 1), ("str x6, [sp, #16]", 2), ("strh w7, [sp, #24]", 3), (text, 4)])
    found = [one for one in other_values(code, max(code.instructions)) if one.says.endswith("for its number")]
    memory = {FRAME + 8: (30).to_bytes(4, "little"), FRAME + 16: (2**40).to_bytes(8, "little")}
    kept_by = "f.c:2" if "x" in text else "f.c:1"
    assert numbers(found, Known({"sp": FRAME, "x2": 50}, memory)) == [
        (f"with what {kept_by} keeps for its number", left)
    ]


@pytest.mark.parametrize("text", ["adds w1, w2, #8", "add w1, w2, w3", "and w1, w2, #8"])
def test_what_sets_flags_and_what_adds_no_number_keeps_its_number(text: str) -> None:
    code = code_of([("str w5, [sp, #8]", 1), (text, 4)])
    assert not any("for its number" in one.says for one in other_values(code, max(code.instructions)))


def moved(found: Iterable[Sequence[Alternative]]) -> list[dict[str, str]]:
    return [{one.original.text: one.says for one in some} for some in found]


def test_a_load_may_be_of_a_part_beside_that_is_kept() -> None:
    """Of an array of three vectors, kept by one of 16 bytes and one of 8."""
    lines = [("str q0, [sp, #32]", 1), ("str x8, [sp, #48]", 1), ("ldr d1, [sp, #40]", 2), ("ldr d2, [sp, #64]", 3)]
    code = code_of(lines)
    found = [*parts_beside(code, [*code.instructions])]
    assert moved(found) == [{"ldr d1, [sp, #40]": "8 bytes up"}, {"ldr d1, [sp, #40]": "8 bytes down"},
                            {"ldr d2, [sp, #64]": "16 bytes down"}, {"ldr d2, [sp, #64]": "24 bytes down"}]  # fmt: skip
    memory = {FRAME + 32 + 8 * part: bytes([part + 1] * 8) for part in range(3)}
    left = [next(iter(left_by(some[0].instruction, State({"sp": FRAME}, memory)).values())) for some in found]
    assert left == [int.from_bytes(bytes([part] * 8), "little") for part in (3, 1, 3, 2)]


def test_what_is_kept_but_for_its_first_or_last_byte_is_no_part_beside() -> None:
    above, below = ["sturb w1, [sp, #25]", "sturh w1, [sp, #26]"], ["str w1, [sp, #8]", "strh w1, [sp, #12]"]
    texts = [*above, "str w1, [sp, #28]", *below, "strb w1, [sp, #14]", "ldr d0, [sp, #16]"]
    code = code_of([(text, 1) for text in texts])
    assert [*parts_beside(code, [*code.instructions])] == []
    whole = code_of([(text, 1) for text in ("strb w1, [sp, #24]", "strb w1, [sp, #15]", *texts)])
    assert moved(parts_beside(whole, [*whole.instructions])) == [
        {"ldr d0, [sp, #16]": f"8 bytes {way}"} for way in ("up", "down")
    ]


def test_a_part_beside_is_no_other_variable_as_wide() -> None:
    lines = [("str w1, [sp]", 1), ("str w2, [sp, #4]", 2), ("ldr w8, [sp]", 3), ("ldr w9, [sp, #4]", 4)]
    code = code_of(lines)
    assert [*parts_beside(code, [*code.instructions])] == []
    assert [one.says for one in other_values(code, START + 8)] == ["with what f.c:2 keeps"]


def test_of_a_vector_another_lane_than_the_first_may_be_kept() -> None:
    lines = [("str q1, [sp, #32]", 1), ("ldr q0, [sp, #32]", 2), ("str s0, [sp, #8]", 2), ("ldr w8, [sp, #8]", 2)]
    code = code_of(lines)
    found = [some for some in parts_beside(code, []) if some[0].original.text.startswith("ldr q0")]
    assert [one.says for some in found for one in some] == ["4 bytes up", "8 bytes up", "12 bytes up"]
    memory = {FRAME + 32: bytes([5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8])}
    left = [
        State({"sp": FRAME}, memory).run(some[0].instruction, *(named(text) for text, _ in lines[2:])) for some in found
    ]
    assert [state.registers["x8"] for state in left] == [6, 7, 8]


def test_loads_that_lie_behind_each_other_are_moved_together_by_as_far_as_they_are_long() -> None:
    lines = [(f"str q0, [sp, #{slot}]", 1) for slot in (0, 16, 32, 48)]
    lines += [("ldr q1, [sp]", 2), ("ldr q2, [sp, #16]", 2)]
    code = code_of(lines)
    several = [some for some in parts_beside(code, [*code.instructions]) if len(some) > 1]
    assert moved(several) == [{"ldr q1, [sp]": "32 bytes up", "ldr q2, [sp, #16]": "32 bytes up"}]
    assert [*parts_beside(code, [])] == []
    other_line = code_of([*lines[:-1], ("ldr q2, [sp, #16]", 3)])
    assert all(len(some) == 1 for some in parts_beside(other_line, [*other_line.instructions]))


def test_two_loads_of_a_line_may_have_changed_places() -> None:
    lines = [("str x1, [sp]", 1), ("str w2, [sp, #8]", 1), ("str w3, [sp, #12]", 1),
             ("ldr w8, [sp, #8]", 2), ("ldr w9, [sp, #12]", 2),
             ("ldr x8, [sp]", 3), ("ldr w9, [x8, #4]", 3), ("ldr x8, [sp]", 3), ("ldr w10, [x8]", 3),
             ("ldrb w11, [x8, #2]", 3), ("ldr w8, [sp, #12]", 4)]  # fmt: skip
    code = code_of(lines)
    found = [*swapped_loads(code, [*code.instructions])]
    assert moved(found) == [{"ldr w8, [sp, #8]": "4 bytes up", "ldr w9, [sp, #12]": "4 bytes down"},
                            {"ldr w9, [x8, #4]": "4 bytes down", "ldr w10, [x8]": "4 bytes up"}]  # fmt: skip
    memory = {FRAME + 8: bytes([7, 0, 0, 0, 9]), ARRAY: bytes([5, 0, 0, 0, 6])}
    stack, pointer = (
        State({"sp": FRAME, "x8": ARRAY}, memory).run(*(one.instruction for one in some)).registers for some in found
    )
    assert (stack["x8"], stack["x9"], pointer["x9"], pointer["x10"]) == (9, 7, 5, 6)


def test_loads_by_two_pointers_do_not_change_places() -> None:
    lines = [("str x1, [sp]", 1), ("str x2, [sp, #8]", 1), ("ldr x8, [sp]", 3), ("ldr w9, [x8, #4]", 3),
             ("ldr x8, [sp, #8]", 3), ("ldr w10, [x8]", 3)]  # fmt: skip
    code = code_of(lines)
    assert [some for some in swapped_loads(code, [*code.instructions]) if "w" in some[0].original.text] == []


def test_loads_by_a_pointer_that_no_variable_keeps_do_not_change_places() -> None:
    code = code_of([("add x8, x1, #8", 3), ("ldr w9, [x8, #4]", 3), ("ldr w10, [x8]", 3)])
    assert [*swapped_loads(code, [*code.instructions])] == []


def test_a_constant_that_one_line_alone_keeps_is_no_first_element() -> None:
    lines = [
        ("str x5, [sp, #24]", 5), ("ldr x11, [sp, #24]", 20), ("mov w26, #5", 20), ("str w26, [sp, #64]", 20),
        ("ldr w27, [sp, #64]", 20), ("mov w28, #5", 20), ("str w1, [sp, #8]", 6), ("ldr w28, [sp, #8]", 20),
    ]  # fmt: skip
    code = code_of(lines)
    pcs = {instruction.text: pc for pc, instruction in code.instructions.items()}
    for text in ("str w26, [sp, #64]", "ldr w28, [sp, #8]"):
        assert [one.says for one in other_values(code, pcs[text]) if "first element" in one.says] == []


def combined_lanes(says: str, one: list[int], other: list[int], bits: int) -> list[int]:
    if says.startswith("unsigned"):
        one, other = ([each % 2**bits for each in some] for some in (one, other))
    combined = COMBINED[says.removeprefix("unsigned ")]
    return elements(register_of([combined(a, b) for a, b in zip(one, other, strict=True)], bits), bits, len(one))


def test_a_variable_may_have_been_left_out_of_lanes() -> None:
    lanes, own = [3, -9, -1, 2**31 - 1], [5, -6, 2**31 - 1, -(2**31)]
    found = left_out_variables(CODE, at("add v20.4s, v12.4s, v21.4s"), [])
    expected = [
        (f"{says} what {line} keeps", register_of(combined_lanes(says, lanes, many, 32), 32))
        for line, many in ((line, [number] * 4) for line, number in VARIABLES.items())
        for says in OF_LANES
    ] + [(f"{says} what f.c:6 keeps", register_of(combined_lanes(says, lanes, own, 32), 32)) for says in OF_LANES]
    assert sorted(numbers([*found], state(v12=register_of(lanes, 32)))) == sorted(expected)


def test_a_variable_may_have_been_left_out_of_lanes_of_any_size_that_are_loaded() -> None:
    given = state()
    data = given.load(FRAME + 32, 16)
    found = numbers([*left_out_variables(CODE, at("ldr q12, [sp, #32]"), [])], given)
    for line, number in VARIABLES.items():
        for says in OF_LANES:
            expected = []
            for bits in ELEMENTS:
                lanes = elements(int.from_bytes(data, "little"), bits, 128 // bits)
                alike = elements(number % 2**bits, bits, 1) * len(lanes)
                expected.append(register_of(combined_lanes(says, lanes, alike, bits), bits))
            assert [left for said, left in found if said == f"{says} what {line} keeps"] == expected


@pytest.mark.parametrize(
    "text", ["str w16, [sp, #60]", "ldr w24, [sp, #60]", "add x22, x11, x23", "ldr x11, [sp, #24]"]
)
def test_no_variable_is_left_out_of_stores_of_pointers_and_of_what_one_line_keeps(text: str) -> None:
    assert list(left_out_variables(CODE, at(text), [])) == []


def test_no_variable_is_left_out_of_floating_point_numbers_and_of_addresses_in_the_frame() -> None:
    lines = [*LINES, ("fadd v21.4s, v12.4s, v12.4s", 20), ("add w25, wsp, #4", 20), ("add w26, w8, #4", 20)]
    code = code_of(lines)
    found = [[*left_out_variables(code, pc, [])] for pc in [*code.instructions][-3:]]
    assert [bool(some) for some in found] == [False, False, True]


def test_variables_that_nothing_else_takes_come_before_those_that_other_lines_take() -> None:
    lines = [("str w1, [sp, #12]", 1), ("str w2, [sp, #8]", 2), ("str w3, [sp, #4]", 3), ("ldr w9, [sp, #12]", 10),
             ("ldr w10, [sp, #4]", 20), ("add w8, w10, w11", 20)]  # fmt: skip
    code = code_of(lines)
    *_, last = code.instructions
    for reached, order in ((code.instructions, [2, 3, 1]), ([], [1, 2, 3])):
        said = [one.says.partition("what ")[2] for one in left_out_variables(code, last, reached)]
        assert list(dict.fromkeys(said)) == [f"f.c:{line} keeps" for line in order]


def test_of_variables_that_are_as_likely_what_is_done_bit_by_bit_comes_last() -> None:
    said = [one.says.partition(" what ")[0] for one in left_out_variables(CODE, at("add w16, w8, w15"), [])]
    assert [each in BIT_BY_BIT for each in said] == sorted(each in BIT_BY_BIT for each in said)


def test_all_bits_of_a_variable_count() -> None:
    found = [*left_out_variables(CODE, at("add w16, w8, w15"), [])]
    for number in (2**31 - 1, -(2**31), 0x0100_0000):
        given = state(x8=0, x15=0)
        given.store(FRAME + 12, number.to_bytes(4, "little", signed=True))
        assert dict(numbers(found, given))["plus what f.c:1 keeps"] == number % 2**32


def run(*instructions: Instruction, **registers: int) -> State:
    return State({"sp": FRAME, **registers}).run(*instructions)


def test_a_short_variable_of_32_bits_passes_on_what_is_kept() -> None:
    found = {one[0].original.text: one for one in wider_variables(CODE)}
    assert set(found) == {"strh w3, [sp, #6]", "strb w4, [sp, #5]", "strh wzr, [sp, #18]"}
    for store, number in (("strh w3, [sp, #6]", 70_000), ("strb w4, [sp, #5]", -1000)):
        stored, loaded = (one.instruction for one in found[store])
        name = f"x{3 if 'w3' in store else 4}"
        after = run(stored, loaded, **{name: number % 2**32}).registers
        assert after[f"x{9 if 'w3' in store else 10}"] == number % 2**32


def test_short_variables_are_kept_whole_apart_from_each_other_and_below_all_other_numbers() -> None:
    lines = [(f"strb w{slot}, [sp, #{slot}]", 1) for slot in range(4)]
    lines += [(f"ldrb w{10 + slot}, [sp, #{slot}]", 2) for slot in range(4)]
    code = code_of(lines)
    changes = [one for some in wider_variables(code) for one in some]
    assert [(one.rank, one.original.text[:3]) for one in changes] == [(STEP, "str"), (FOLLOWS, "ldr")] * 4
    changed = {one.pc: one.instruction for one in changes}
    given = State({"sp": FRAME, **{f"x{slot}": -(10**9) * slot % 2**32 for slot in range(4)}})
    after = given.run(*(changed[pc] for pc in code.instructions)).registers
    assert [after[f"x{10 + slot}"] for slot in range(4)] == [-(10**9) * slot % 2**32 for slot in range(4)]
    for one in changes[::2]:
        (address,) = left_by(one.instruction, given)
        assert int(address) <= FRAME - BELOW


def test_a_slot_that_is_loaded_as_a_word_too_is_no_short_variable() -> None:
    lines = [("strh w3, [sp, #4]", 1), ("ldrh w4, [sp, #4]", 2), ("ldr w5, [sp, #4]", 3)]
    assert list(wider_variables(code_of(lines))) == []
    assert len(list(wider_variables(code_of(lines[:2])))) == 1
