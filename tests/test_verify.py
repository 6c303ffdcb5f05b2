"""The differential run: planted faults are found, coverage is what it says, nothing passes with nothing compared."""

from __future__ import annotations

import random
import re
from functools import partial
from itertools import product
from typing import Any

import pytest

from isa.decode import decode
from isa.encodings import EncodingRow, words_of
from isa.instruction import FEATURES, Form
from isa.lane import Int, Lane
from isa.rows import TABLE
from isa.semantics import multiply
from isa.semantics.elementwise import SIGNED, Body, each
from isa.semantics.memory import store_register
from sim import Emulator, Machine, UnsupportedInstruction
from sim.call import definitions
from sim.call.definitions import EMULATED_WRONGLY, NOT_EMULATED, SIGNS, defining_sum, signed_extreme
from sim.machine.registers import RegisterStorage
from sim.verify import differential, verify, words
from sim.verify.states import CODE, DATA, DATA_SIZE, States, corners, shift_counts
from sim.verify.verification import Verification
from sim.verify.verify import FormResult, lanes_written, verify_all, verify_form
from sim.verify.words import words_to_run

SQRDMULH = "sqrdmulh .4s,.4s,.4s"


def plant(monkeypatch: pytest.MonkeyPatch, name: str, body: Body) -> None:
    """Give the machine a form that does something else than the table says."""
    monkeypatch.setattr(differential, "Machine", partial(Machine, table=TABLE.replacing(name, body)))


def rounding_down(to: Int, a: Lane, b: Lane) -> Lane:
    return multiply.doubling_multiply_high(to, a, b)


def wrapping(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap((a * b + (1 << to.bits - 2)) >> (to.bits - 1))


@pytest.mark.parametrize("name", [SQRDMULH, "ldr x,[x,#]!", "b.cond cond,#", "tbl .8b,{2}.16b,.8b", "adcs x,x,x"])
def test_a_form_agrees_on_the_emulator(name: str) -> None:
    result = verify_form(name, 1, 300)
    assert (result.evidence, result.difference) == ("emulation", "")
    assert result.vectors >= 300


@pytest.mark.parametrize("wrong", [rounding_down, wrapping])
def test_a_planted_fault_is_a_difference(monkeypatch: pytest.MonkeyPatch, wrong: Any) -> None:
    plant(monkeypatch, SQRDMULH, each(SIGNED, wrong))
    assert "exact" in verify_form(SQRDMULH, 1, 200).difference


def test_a_fault_of_machine_and_arbiter_alike_is_found_by_the_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    table = TABLE.replacing(SQRDMULH, each(SIGNED, rounding_down))
    monkeypatch.setattr(differential, "Machine", partial(Machine, table=table))
    monkeypatch.setattr(differential, "decode", partial(decode, table=table))
    assert "emulator" in verify_form(SQRDMULH, 1, 200).difference


def test_a_missing_store_is_a_difference_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "str x,[x,#]!", lambda s, address: store_register(s, address)[1:])
    assert "memory at 0x" in verify_form("str x,[x,#]!", 1, 50).difference


def test_an_engine_that_fails_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("isa.evaluate.exact.execute", fail)
    assert verify_form("nop", 1, 1).difference == "nop: d503201f nop, state 0: ZeroDivisionError: planted"


def test_a_difference_names_form_word_text_state_place_and_values(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "add .2d,.2d,.2d", each(SIGNED, lambda to, a, b: to.wrap(a + b + 1)))
    found = verify_form("add .2d,.2d,.2d", 1, 10).difference
    pattern = (
        r"add \.2d,\.2d,\.2d: [0-9a-f]{8} add v\d+\.2d, .*, state \d+: v\d+: machine 0x[0-9a-f]+, exact 0x[0-9a-f]+"
    )
    assert re.fullmatch(pattern, found)


def test_the_same_seed_meets_the_same_states_and_another_seed_others() -> None:
    filled = []
    for seed in (1, 1, 2):
        states, registers = States(SQRDMULH, seed), RegisterStorage()
        states.fill(registers, 5, 0x6EA2B420)
        filled.append(bytes(registers.vectors))
    assert filled[0] == filled[1] != filled[2]


def test_every_shift_count_is_met_in_the_count_register() -> None:
    states, registers, met = States("sqrshl .4s,.4s,.4s", 1), RegisterStorage(), set()
    for number in range(500):
        states.fill(registers, number, 0x4EA25C20)
        met |= {byte - 256 if byte > 127 else byte for byte in registers.vectors[32:48:4]}
    assert set(shift_counts(32)) <= met


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_every_pair_of_least_and_corner_values_of_two_registers_is_met(bits: int) -> None:
    states, registers, met = States("mul", 1), RegisterStorage(), set()
    step, extremes = bits // 8, {0, 1, (1 << bits) - 1, 1 << bits - 1, (1 << bits - 1) - 1}
    for number in range(2000):
        states.fill(registers, number, 0x4E229C20)
        columns = zip(*(lanes(registers, register, step) for register in (1, 2)), strict=True)
        met |= {pair for pair in columns if set(pair) <= extremes}
    assert met >= set(product(extremes, repeat=2))


def lanes(registers: RegisterStorage, number: int, step: int) -> list[int]:
    """The lanes of a vector register, `step` bytes each."""
    register = registers.vectors[16 * number : 16 * number + 16]
    return [int.from_bytes(register[i : i + step], "little") for i in range(0, 16, step)]


def test_corners_have_the_ends_of_both_kinds_of_numbers() -> None:
    assert {value % 256 for value in corners(8)} >= {0, 1, 255, 127, 128, 0x55, 0xAA}


def test_states_set_every_flag_and_mode() -> None:
    states, registers, met = States("adc", 1), RegisterStorage(), [0, 0, 0]
    for number in range(64):
        states.fill(registers, number, 0)
        met = [seen | flag for seen, flag in zip(met, registers.flags, strict=False)]
    assert met == [15, 0x0800009F, 0x07C80000]


def test_every_immediate_of_a_shift_is_run() -> None:
    made = words_to_run("sqrshrn .4h,.4s,#", random.Random(1), 500)
    assert {word >> 16 & 0x7F for word in made} == set(range(16, 32))


def test_registers_coincide_in_some_words() -> None:
    fields = [(w & 31, w >> 5 & 31, w >> 16 & 31) for w in words_to_run(SQRDMULH, random.Random(1), 500)]
    assert any(d == n == m for d, n, m in fields)
    assert any(d == n != m for d, n, m in fields)
    assert any(d == m != n for d, n, m in fields)


def test_no_word_writes_a_register_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "words_of", lambda form: (0xF8408420,))  # ldr x0, [x1], #8
    made = words_to_run("ldr x,[x],# post", random.Random(1), 500)
    assert [f"{word:08x}" for word in made if word & 31 == word >> 5 & 31] == []


@pytest.mark.parametrize(
    ("word", "lanes"),
    [
        (0x4E228420, 16),  # add v0.16b, v1.16b, v2.16b
        (0x5EE28420, 1),  # add d0, d1, d2
        (0x4F0A9420, 8),  # sqshrn2 v0.16b, v1.8h, #6
        (0x6E0C0420, 1),  # mov v0.s[1], v1.s[0]
        (0x4C400020, 64),  # ld4 {v0.16b - v3.16b}, [x1]
        (0xA9400C22, 2),  # ldp x2, x3, [x1]
        (0xD503201F, 1),  # nop
    ],
)
def test_a_run_compares_as_many_lanes_as_it_computes(word: int, lanes: int) -> None:
    assert lanes_written(decode(word.to_bytes(4, "little"))) == lanes


def test_runs_that_fault_are_no_lane_vectors() -> None:
    result = verify_form("str q,[x]", 1, 64)
    assert result.faults > 0
    assert result.vectors == result.runs - result.faults >= 64


@pytest.mark.slow
def test_the_emulator_lacks_the_features_that_are_listed() -> None:
    lacking = {f for form in TABLE.forms.values() if form.features and not emulates(form) for f in form.features}
    assert lacking == NOT_EMULATED & {feature for form in TABLE.forms.values() for feature in form.features}


def emulates(form: Form) -> bool:
    emulator = Emulator()
    emulator.memory.map(CODE, 4096, "rx")
    emulator.memory.map(DATA, DATA_SIZE, "rw")
    word = words_of(form.name)[0]
    emulator.memory.write(CODE, word.to_bytes(4, "little"))
    emulator.pc = CODE
    emulator.x[word >> 5 & 31 if word >> 5 & 31 < 31 else 0] = DATA
    emulator.sp = DATA
    try:
        emulator.run(max_instructions=1)
    except UnsupportedInstruction:
        return False
    return True


def test_every_form_of_i8mm_has_a_defining_sum() -> None:
    assert {form.name for form in TABLE.forms.values() if "i8mm" in form.features} == set(SIGNS)


@pytest.mark.parametrize("name", SIGNS)
def test_a_form_of_i8mm_equals_its_defining_sum(name: str) -> None:
    result = verify_form(name, 1, 200)
    assert (result.evidence, result.difference) == ("definition", "")


def test_the_defining_sum_of_usdot_takes_the_first_source_as_unsigned() -> None:
    vectors = [bytes(16), bytes([255] * 16), bytes([255] * 16)]
    total = defining_sum("usdot .4s,.16b,.16b", 0x4E829C20, vectors)  # 4 * 255 * -1
    assert int.from_bytes(total[:4], "little", signed=True) == -1020


def test_the_defining_sum_by_element_takes_the_group_of_the_index() -> None:
    vectors = [bytes(16), bytes([1] * 16), bytes(12) + bytes([2] * 4)]
    total = defining_sum("sudot .4s,.16b,.4b[i]", 0x4F22F820, vectors)  # sudot v0.4s, v1.16b, v2.4b[3]
    assert total == (8).to_bytes(4, "little") * 4


def test_a_difference_from_the_defining_sum_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIGNS, "smmla .4s,.16b,.16b", "BB")
    assert "definition" in verify_form("smmla .4s,.16b,.16b", 1, 100).difference


@pytest.mark.slow
def test_a_signed_minimum_in_memory_equals_its_definition() -> None:
    names = [form.name for form in TABLE.forms.values() if EMULATED_WRONGLY.fullmatch(form.name)]
    results = [verify_form(name, 1, 40) for name in names]
    assert {(result.evidence, result.difference) for result in results} == {("definition", "")}


def test_the_definition_of_a_signed_maximum_is_signed() -> None:
    registers = RegisterStorage()
    registers.general[2] = 1
    assert signed_extreme("ldsmaxh w,w,[x]", 0x78224020, registers, b"\xff\xff\x07") == b"\x01\x00\x07"


@pytest.mark.parametrize("fault", definitions.EMULATOR_FAULTS, ids=lambda fault: fault.pattern)
def test_a_known_fault_of_the_emulator_is_one(
    monkeypatch: pytest.MonkeyPatch, fault: definitions.EmulatorFault
) -> None:
    (name,) = (form.name for form in TABLE.forms.values() if re.fullmatch(fault.pattern, form.name))
    assert verify_form(name, 1, 2000).difference == ""
    monkeypatch.setattr(definitions, "EMULATOR_FAULTS", ())
    assert "emulator" in verify_form(name, 1, 2000).difference


def test_a_form_that_the_emulator_lacks_and_nobody_defines_is_compared_with_the_arbiter_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(definitions, "SIGNS", {})
    assert verify_form("smmla .4s,.16b,.16b", 1, 10).evidence == "two evaluators"


@pytest.mark.slow
def test_two_processes_find_what_one_finds() -> None:
    forms = [form.name for form in TABLE.forms.values() if form.mnemonic in ("sqadd", "uqadd", "addp", "ldp", "adds")]
    found: list[list[FormResult]] = []
    for jobs in (1, 2):
        results: list[FormResult] = []
        assert not verify_all(forms, 3, 16, jobs, results.append)
        found.append(sorted(results, key=lambda result: result.form))
    assert found[0] == found[1]
    assert len(found[0]) == len(forms) > 2 * verify._FORMS_A_PROCESS


def test_an_interrupt_keeps_what_was_compared() -> None:
    results: list[FormResult] = []

    def report(result: FormResult) -> None:
        results.append(result)
        raise KeyboardInterrupt

    assert verify_all(["nop", "add x,x,x"], 1, 4, 1, report)
    assert [result.form for result in results] == ["nop"]


ROWS = (
    EncodingRow("a .b", 1, 1),
    EncodingRow("fadd s", 2, 1),
    EncodingRow("aese .b", 3, 1),
    EncodingRow("usdot .b", 4, 1),
)
GOOD = FormResult(form="a .b", evidence="emulation", words=1, runs=10, faults=0, vectors=10)


def verification(*results: FormResult, **changes: Any) -> Verification:
    fields: dict[str, Any] = {"asked": ("a .b", "ldr x"), "rows": ROWS, "seed": 1, "vectors": 10}
    supported = frozenset({"a .b", "usdot .b", "ldr x"})
    return Verification(**{**fields, "results": results, "supported": supported, **changes})


def test_the_denominator_splits_the_rows() -> None:
    counted = verification(
        GOOD, FormResult(form="usdot .b", evidence="definition", words=1, runs=10, faults=0, vectors=10)
    ).as_json()["rows"]
    assert counted == {
        "enumerated": 4, "integer": 3, "floating": 1, "supported": 2,
        "verified_by_emulation": 1, "verified_by_defining_sum": 1, "unsupported": ["fadd s", "aese .b"],
    }  # fmt: skip


def test_forms_outside_of_the_space_are_counted_apart() -> None:
    assert verification(GOOD).elsewhere == ("ldr x",)


def test_a_run_that_agrees_passes() -> None:
    assert verification(GOOD).passed


@pytest.mark.parametrize(
    "results",
    [
        (),
        (FormResult(form="a .b", evidence="emulation", words=1, runs=5, faults=5, vectors=0),),
        (GOOD, FormResult(form="ldr x", evidence="no word")),
    ],
    ids=["no form", "only faults", "a form without a word"],
)
def test_a_run_in_which_nothing_was_compared_fails(results: tuple[FormResult, ...]) -> None:
    assert not verification(*results).passed


def test_a_run_with_a_difference_fails_and_the_form_is_not_verified() -> None:
    report = verification(
        FormResult(form="a .b", evidence="emulation", words=1, runs=10, faults=0, vectors=10, difference="a .b: ...")
    )
    assert not report.passed
    assert report.verified("emulation", ["a .b"]) == 0


def test_lanes_are_compared_once_for_each_other_engine() -> None:
    report = verification(GOOD, FormResult(form="x", evidence="two evaluators", words=1, runs=10, faults=0, vectors=10))
    assert (report.vectors_compared, report.lanes_compared) == (20, 30)


def test_the_features_not_emulated_are_features() -> None:
    assert set(FEATURES) >= NOT_EMULATED
