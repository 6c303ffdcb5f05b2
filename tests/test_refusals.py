"""Instructions that are not modelled: each is refused in a sentence that names its extension and what to do."""

from __future__ import annotations

import random
import re

import pytest

from isa.decode import UnpredictableInstruction, decode
from isa.refusals import EXTENSIONS, NO_INSTRUCTION, Extension, extension_of
from isa.rows import TABLE
from isa.table import UnknownInstruction
from sim import Machine, UnsupportedInstruction

REFUSED = [
    (0x04200001, "add z1.b, z0.b, z0.b", "SVE"),
    (0x2518E3E0, "ptrue p0.b", "SVE"),
    (0x0420E020, "cntb x0, vl1", "SVE"),
    (0x0430E420, "decb x0, vl1", "SVE"),
    (0x04BF5020, "rdvl x0, #1", "SVE"),
    (0x043F5020, "addvl x0, sp, #1", "SVE"),
    (0x25A02020, "ctermeq w1, w0", "SVE"),
    (0xD503477F, "smstart ", "SME"),
    (0xD503467F, "smstop ", "SME"),
    (0x80800000, "fmopa za0.s, p0/m, p0/m, z0.s, z0.s", "SME"),
    (0x9ADF1020, "irg x0, x1", "MTE"),
    (0xD9600020, "ldg x0, [x1]", "MTE"),
    (0xD9A00820, "st2g x0, [x1]", "MTE"),
    (0x9AC00020, "subp x0, x1, x0", "MTE"),
    (0xD53B42F1, "mrs x17, tco", "MTE"),
    (0xDAC10020, "pacia x0, x1", "pointer authentication"),
    (0xDAC143E0, "xpaci x0", "pointer authentication"),
    (0xD73F0820, "blraa x1, x0", "pointer authentication"),
    (0xF8200420, "ldraa x0, [x1]", "pointer authentication"),
    (0x1D820420, "cpye [x0]!, [x2]!, x1!", "MOPS"),
    (0x1DC20420, "setgp [x0]!, x1!, x2", "MOPS"),
    (0xD5233078, "tstart x24", "TME"),
    (0xF83FD020, "ld64b x0, [x1]", "LS64"),
    (0x54000050, "bc.eq #8", "HBC"),
    (0xD5031020, "wfit x0", "WFxT"),
    (0xD503323F, "dsb oshnxs", "XS"),
    (0xD53BD060, "mrs x0, tpidrro_el0", "the system instructions"),
    (0xD53B0020, "mrs x0, ctr_el0", "the system instructions"),
    (0xD50B7420, "dc zva, x0", "the system instructions"),
    (0xD69F03E0, "eret ", "the system instructions"),
]


def refusal_of(word: int) -> UnknownInstruction:
    with pytest.raises(UnknownInstruction) as caught:
        decode(word.to_bytes(4, "little"))
    return caught.value


@pytest.mark.parametrize(("word", "text", "extension"), REFUSED)
def test_a_refusal_has_the_text_and_names_the_extension(word: int, text: str, extension: str) -> None:
    refusal = refusal_of(word)
    named = refusal.reason.startswith(f"it belongs to {extension}, which lanewise does not model: ")
    assert (refusal.text, named) == (text.rstrip(), True)


def test_every_extension_has_an_instruction_here() -> None:
    assert {name for _, _, name in REFUSED} == {extension.name for extension in EXTENSIONS}


@pytest.mark.parametrize("extension", EXTENSIONS, ids=lambda extension: extension.pattern)
def test_every_pattern_names_some_instruction_here(extension: Extension) -> None:
    named = [extension_of(*text.split(" ", 1)) for _, text, _ in REFUSED]
    assert extension in named


@pytest.mark.parametrize("extension", EXTENSIONS, ids=lambda extension: extension.name)
def test_a_reason_is_one_line_of_a_sentence(extension: Extension) -> None:
    assert re.fullmatch(r"it belongs to [^:\n]+, which lanewise does not model: [^:\n]+[^.\s]", extension.reason)


def test_the_advice_names_the_compiler_option() -> None:
    assert refusal_of(0x04200001).reason.endswith("compile with -march=armv8.6-a, without +sve")


def test_a_word_that_no_disassembler_knows_is_said_to_be_newer_or_data() -> None:
    assert refusal_of(0xFFFFFFFF).reason == NO_INSTRUCTION.format(group="floating point and AdvSIMD")


@pytest.mark.parametrize("register", ["fpcr", "fpsr", "nzcv"])
def test_the_system_registers_that_there_are_are_in_the_table(register: str) -> None:
    assert {("mrs", f"x,{register}"), ("msr", f"{register},x")} <= set(TABLE.forms)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_refused_has_a_name_unless_it_is_no_instruction(seed: int) -> None:
    rng, nameless = random.Random(seed), []
    for _ in range(5000):
        word = rng.getrandbits(32)
        try:
            decode(word.to_bytes(4, "little"))
        except UnpredictableInstruction:
            continue
        except UnknownInstruction as refusal:
            if not refusal.reason.startswith(("it belongs to ", "Capstone 5 knows no such")):
                nameless.append(f"{word:08x} {refusal}")
    assert nameless == []


def test_the_machine_says_what_the_instruction_belongs_to() -> None:
    machine = Machine()
    machine.memory.map(0x10000, 0x1000, "rx")
    machine.memory.write(0x10000, (0x04200001).to_bytes(4, "little"))
    machine.pc = 0x10000
    with pytest.raises(UnsupportedInstruction, match=r"at 0x10000, add z1\.b, z0\.b, z0\.b: it belongs to SVE, which"):
        machine.run()
