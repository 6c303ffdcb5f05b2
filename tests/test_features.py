"""Which instruction belongs to which extension, and which processor has which, as the assembler sees it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

from isa.decode import decode
from isa.encodings import words_of
from isa.instruction import BEHAVIOURS, FEATURES
from isa.processors import PROCESSORS, UnknownFeature, features_of
from isa.rows import TABLE
from sim import Batch, Machine, UnsupportedInstruction
from sim.machine.errors import AlignmentFault
from sim.timing.model.core_file import core_names
from sim.toolchain.compilers import clang_command
from support.engines import CODE, DATA, PAGE

CLANG = {
    "rdm": "rdm", "dotprod": "dotprod", "fp16": "fullfp16", "fhm": "fp16fml", "fcma": "fcma", "i8mm": "i8mm",
    "bf16": "bf16", "aes": "aes", "sha2": "sha2", "sha3": "sha3", "sha512": "sha3", "sm4": "sm4", "lse": "lse",
    "crc": "crc", "pmull": "aes", "jscvt": "jsconv", "frintts": "frint3264", "rcpc": "rcpc", "rcpc2": "rcpc-immo",
    "flagm": "flagm", "flagm2": "altnzcv", "lor": "lor", "sb": "sb", "pauth": "pauth",
}  # fmt: skip
"""What clang says that an instruction of a feature requires."""
HINTS = {"esb": "ras", "psb csync": "spe", "tsb csync": "tracev8.4"}
"""Hints, which every processor executes, as NOP where it lacks what they are for (Arm ARM C6.2, HINT)."""
EXAMPLES = {
    "rdm": "sqrdmlah v0.4s, v1.4s, v2.4s", "dotprod": "sdot v0.4s, v1.16b, v2.16b",
    "fp16": "fadd v0.8h, v1.8h, v2.8h", "fhm": "fmlal v0.4s, v1.4h, v2.4h", "fcma": "fcadd v0.4s, v1.4s, v2.4s, #90",
    "i8mm": "smmla v0.4s, v1.16b, v2.16b", "bf16": "bfdot v0.4s, v1.8h, v2.8h", "aes": "aese v0.16b, v1.16b",
    "sha2": "sha256su0 v0.4s, v1.4s", "sha3": "eor3 v0.16b, v1.16b, v2.16b, v3.16b",
    "sha512": "sha512su0 v0.2d, v1.2d", "sm4": "sm4e v0.4s, v1.4s", "lse": "swp x0, x1, [x2]",
    "crc": "crc32b w0, w1, w2", "pmull": "pmull v0.1q, v1.1d, v2.1d", "jscvt": "fjcvtzs w0, d1",
    "frintts": "frint32z s0, s1", "rcpc": "ldapr x0, [x1]", "rcpc2": "ldapur x0, [x1]", "flagm": "cfinv",
    "flagm2": "axflag", "lor": "ldlar x0, [x1]", "sb": "sb", "pauth": "retaa",
}  # fmt: skip


def refused_lines(texts: list[str], option: str, folder: Path) -> dict[int, str]:
    """The lines that clang refuses for a processor that lacks something, with what it says they require."""
    source = folder / "words.s"
    source.write_text("\n".join([*texts, ""]))
    command = [*clang_command(), option, "-ferror-limit=0", "-c", str(source), "-o", str(folder / "words.o")]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    found = re.findall(r"words\.s:(\d+):\d+: error: instruction requires: (.*)", said)
    assert len(found) == said.count("error: ")
    return {int(line) - 1: needs for line, needs in found}


@cache
def recorded_texts() -> dict[str, str]:
    """An instruction of every form."""
    return {form.name: decode(words_of(form.name)[0].to_bytes(4, "little")).text for form in TABLE.forms.values()}


def test_a_form_needs_what_the_assembler_says_that_it_requires(tmp_path: Path) -> None:
    refused = refused_lines(list(recorded_texts().values()), "-march=armv8-a", tmp_path)
    wrong = []
    for number, form in enumerate(TABLE.forms.values()):
        ours = {CLANG[feature] for feature in form.features}
        theirs = set(refused.get(number, "").split()) - {HINTS.get(form.name, "")}
        if ours != theirs:
            wrong.append(f"{form.name}: {sorted(ours)}, clang {sorted(theirs)}")
    assert wrong == []


def test_every_form_is_accepted_with_its_features(tmp_path: Path) -> None:
    everything = "+".join(["-march=armv8.6-a", "fp16", "fp16fml", "aes", "sha2", "sha3", "sm4", "profile"])
    assert refused_lines(list(recorded_texts().values()), everything, tmp_path) == {}


def test_every_feature_has_an_example() -> None:
    assert set(EXAMPLES) == set(CLANG) == set(FEATURES)


@pytest.mark.parametrize("name", [name for name in PROCESSORS if name != "lane128"])
def test_a_processor_has_what_the_compiler_says(name: str, tmp_path: Path) -> None:
    refused = refused_lines(list(EXAMPLES.values()), f"-mcpu={name}", tmp_path)
    has = {feature for number, feature in enumerate(EXAMPLES) if number not in refused}
    assert PROCESSORS[name] - set(BEHAVIOURS) == has


def test_every_core_that_is_timed_is_a_processor() -> None:
    assert set(core_names()) <= set(PROCESSORS)


SDOT, SQRDMLAH, ADD = 0x4E829420, 0x6E828420, 0x8B020020


def executes(machine: Machine, word: int) -> bool:
    machine.memory.map(CODE, PAGE, "rx")
    machine.memory.write(CODE, word.to_bytes(4, "little"))
    machine.pc = CODE
    try:
        return machine.run(max_instructions=1) == 1
    except UnsupportedInstruction:
        return False


@pytest.mark.parametrize(
    ("processor", "word", "there"),
    [
        ("cortex-a72", SDOT, False),
        ("cortex-a72", SQRDMLAH, False),
        ("cortex-a72", ADD, True),
        ("cortex-a55", SDOT, True),
        ("thunderx2t99", SQRDMLAH, True),
        ("thunderx2t99", SDOT, False),
    ],
)
def test_a_machine_of_a_processor_executes_what_that_has(processor: str, word: int, there: bool) -> None:
    assert executes(Machine(features=processor), word) == there


def test_a_batch_can_be_of_a_processor_too() -> None:
    assert Batch(2, features="cortex-a72").features == features_of("cortex-a72")


@pytest.mark.parametrize("feature", sorted({feature for form in TABLE.forms.values() for feature in form.features}))
def test_a_machine_without_a_feature_refuses_its_instructions(feature: str) -> None:
    word = next(words_of(form.name)[0] for form in TABLE.forms.values() if feature in form.features)
    machine = Machine(features=[other for other in FEATURES if other != feature])
    machine.memory.map(CODE, PAGE, "rx")
    machine.memory.write(CODE, word.to_bytes(4, "little"))
    machine.pc = CODE
    with pytest.raises(UnsupportedInstruction, match=f"lacks the feature '{feature}'"):
        machine.run(max_instructions=1)


@pytest.mark.parametrize("name", [name for name in PROCESSORS if name != "lane128"])
def test_a_processor_behaves_as_the_compiler_says(name: str) -> None:
    command = [*clang_command(), f"-mcpu={name}", "--print-enabled-extensions"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert {feature for feature in BEHAVIOURS if f"FEAT_{feature.upper()}" in said.split()} == (
        PROCESSORS[name] & set(BEHAVIOURS)
    )


LDADD, LDXR = 0xB8220020, 0x885F7C20
"""ldadd w2, w0, [x1] and ldxr w0, [x1]: four bytes."""


@pytest.mark.parametrize("engine", [Machine, partial(Batch, 1)])
@pytest.mark.parametrize("word", [LDADD, LDXR])
@pytest.mark.parametrize(
    ("features", "offset", "faults"),
    [
        (FEATURES, 4, False), (FEATURES, 6, True), ("neoverse-n1", 6, True), ("neoverse-v1", 6, False),
        ((*FEATURES, "lse2"), 12, False), ((*FEATURES, "lse2"), 13, True), ((*FEATURES, "lse2"), 15, True),
    ],
)  # fmt: skip
def test_an_atomic_access_within_16_aligned_bytes_may_have_any_address_with_lse2(
    engine: Callable[..., Machine | Batch], word: int, features: str | tuple[str, ...], offset: int, faults: bool
) -> None:
    made = engine(features=features)
    for address, permissions, data in ((CODE, "rx", word.to_bytes(4, "little")), (DATA, "rw", bytes(range(32)))):
        made.memory.map(address, PAGE, permissions)
        made.memory.write(address, data)
    made.pc, made.x[1] = CODE, DATA + offset
    if isinstance(made, Batch):
        made.run(max_instructions=1)
        found = isinstance(made.faults.get(0), AlignmentFault)
    else:
        found = False
        try:
            made.run(max_instructions=1)
        except AlignmentFault:
            found = True
    loaded = int.from_bytes(bytes(range(32))[offset : offset + 4], "little")
    assert (found, int(np.ravel(made.x[0])[0])) == (faults, 0 if faults else loaded)


def test_an_unknown_processor_is_refused_with_the_one_near_it_and_all_there_are() -> None:
    all_of_them = re.escape(", ".join(sorted(PROCESSORS)))
    known = rf"\(did you mean cortex-a7\d\?\): give one of {all_of_them}; in Python"
    with pytest.raises(UnknownFeature, match=rf"^'cortex-a7' is no processor that is known here {known}"):
        Machine(features="cortex-a7")
