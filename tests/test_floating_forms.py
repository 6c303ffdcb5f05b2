"""Every floating-point form: machine, exact evaluator and emulator agree, values and FPSR; where not, who is right.

`make floating` runs at least 3,000 lane vectors of each form.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from isa.lane import Place
from sim.machine.registers import RegisterStorage
from support.floating_forms import EXCEPTIONS, FZ, Comparison, Engines, Z, floating_forms, is_emulated

SEED = 4
RUNS = 25
CHUNKS = 16


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_machine_exact_evaluator_and_emulator_agree(chunk: int) -> None:
    forms = floating_forms()[chunk::CHUNKS]
    assert [line for form in forms for line in Comparison(form, SEED).differences(0, RUNS)] == []


def test_every_form_but_those_of_bf16_is_emulated() -> None:
    missing = [form for form in floating_forms() if not is_emulated(form)]
    assert all(form.startswith("bf") for form in missing)
    assert len(floating_forms()) - len(missing) > 690


@pytest.mark.parametrize("form", ["fadd .4s,.4s,.4s", "fmul d,d,d", "fcvtns w,s", "fcmp s,s", "frintx .8h,.8h"])
def test_a_result_that_is_wrong_now_and_then_is_noticed(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine forgets what raises inexact for the first time."""
    monkeypatch.setattr(Engines, "by_machine", forgetting(Engines.by_machine))
    assert any(Comparison(form, SEED).differences(0, RUNS))


def forgetting(
    by_machine: Callable[[Engines, RegisterStorage], RegisterStorage],
) -> Callable[[Engines, RegisterStorage], RegisterStorage]:
    def wrong(engines: Engines, before: RegisterStorage) -> RegisterStorage:
        after = by_machine(engines, before)
        after.flags[1] &= before.flags[1]
        return after

    return wrong


def outcome(word: int, **registers: int) -> tuple[RegisterStorage, RegisterStorage]:
    """What machine and emulator make of one instruction."""
    engines, before = Engines(), RegisterStorage()
    for name, bits in registers.items():
        before.write(Place("fpcr") if name == "fpcr" else Place("v", int(name[1:])), bits)
    engines.set_word(word)
    return engines.by_machine(before), engines.by_emulator(before)


D = Place("v", 0)
FCMLA = 0x2F421020
"""fcmla v0.4h, v1.4h, v2.h[0], #0"""
FCVTZS = 0x5F1CFC20
"""fcvtzs h0, h1, #4"""
FJCVTZS = 0x1E7E0020
"""fjcvtzs w0, d1"""


def test_fcmla_by_element_of_four_halves_raises_nothing_for_the_upper_half() -> None:
    """A signalling NaN above bit 63; the emulator raises IOC for it."""
    machine, emulator = outcome(FCMLA, v1=0x7C01 << 64)
    assert (machine.flags[1], emulator.flags[1]) == (0, 1)
    assert machine.read(D) == emulator.read(D) == 0


def test_fcvtzs_of_a_half_to_fixed_point_leaves_zeros_above_16_bits() -> None:
    """-3/16 is -3 with four fraction bits; the emulator extends the sign to 32 bits."""
    machine, emulator = outcome(FCVTZS, v1=0xB200)
    assert (machine.read(D), emulator.read(D)) == (0xFFFD, 0xFFFFFFFD)


@pytest.mark.parametrize(
    ("source", "by_machine", "by_emulator"), [(1, 0, Z), (1 | 1 << 63, 0, 0), (0, Z, Z), (1 << 63, 0, 0)],
    ids=["subnormal", "minus subnormal", "zero", "minus zero"],
)  # fmt: skip
def test_fjcvtzs_of_a_flushed_number_is_not_exact(source: int, by_machine: int, by_emulator: int) -> None:
    machine, emulator = outcome(FJCVTZS, v1=source, fpcr=FZ)
    assert (machine.flags[0], emulator.flags[0]) == (by_machine, by_emulator)


@pytest.mark.parametrize("form", EXCEPTIONS)
def test_each_exception_is_needed(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the form differs."""
    expected: dict[str, Callable[..., RegisterStorage]] = dict(EXCEPTIONS)
    del expected[form]
    monkeypatch.setattr("support.floating_forms.EXCEPTIONS", expected)
    assert any(Comparison(form, SEED).differences(0, 2000))


@pytest.mark.parametrize(
    ("word", "fpsr"), [(0x1E2203FF, 0), (0x1E38003F, 1), (0x1E38005F, 16)], ids=["of wzr", "NaN", "inexact"]
)
def test_the_zero_register_as_source_and_destination_of_conversions(word: int, fpsr: int) -> None:
    """scvtf s31, wzr; fcvtzs wzr, s1 and s2: what is lost still raises."""
    machine, emulator = outcome(word, v1=0x7F800001, v2=0x3F000000, v31=5)
    assert (machine.flags[1], emulator.flags[1]) == (fpsr, fpsr)
    assert machine.vectors == emulator.vectors
