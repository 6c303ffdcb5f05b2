"""What instructions need is derived from the table: an assembler is asked about every recorded word of every form."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import pytest
from conftest import Words

from isa.acle.assembly import architecture
from isa.decode import decode
from isa.instruction import Form, Instruction
from isa.rows import TABLE
from sim.toolchain.compilers import clang_command

ERROR = re.compile(r"forms\.s:(\d+):\d+: error: (.*)")
ASSEMBLER_NAMES = {"fhm": "fp16fml"}
"""What the assembler calls a feature, where that is another name."""


@pytest.fixture(scope="module")
def instructions(form_words: Words) -> list[Instruction]:
    """Every recorded word, decoded at address 0."""
    return [decode(word.to_bytes(4, "little")) for word in chain.from_iterable(form_words.values())]


def refused(lines: Iterable[tuple[str, Instruction]], folder: Path) -> dict[int, str]:
    """By number, what the assembler says of the lines that it refuses: each an architecture and an instruction."""
    source = folder / "forms.s"
    source.write_text("".join(f".arch {arch}; {instruction.text}\n" for arch, instruction in lines))
    command = [*clang_command(), "-ferror-limit=0", "-c", str(source), "-o", str(source.with_suffix(".o"))]
    done = subprocess.run(command, capture_output=True, text=True)
    errors = {int(number) - 1: message for number, message in ERROR.findall(done.stderr)}
    assert bool(errors) == bool(done.returncode), done.stderr
    return errors


@pytest.mark.slow
def test_every_form_is_assembled_for_the_architecture_that_is_derived(
    instructions: list[Instruction], tmp_path: Path
) -> None:
    errors = refused(((architecture([i.form]), i) for i in instructions), tmp_path)
    assert [f"{instructions[number].text}: {message}" for number, message in errors.items()] == []


@pytest.mark.slow
def test_every_form_is_assembled_for_the_architecture_of_the_whole_table(
    instructions: list[Instruction], tmp_path: Path
) -> None:
    whole = architecture(TABLE.forms.values())
    errors = refused(((whole, instruction) for instruction in instructions), tmp_path)
    assert [f"{instructions[number].text}: {message}" for number, message in errors.items()] == []


def without_one(form: Form) -> Iterator[str]:
    """Armv8.0 with all features of a form but one, for each of them."""
    for missing in form.features:
        others = (ASSEMBLER_NAMES.get(name, name) for name in form.features if name != missing)
        yield "+".join(["armv8-a", *others])


def test_no_form_is_said_to_need_a_feature_that_it_does_not_need(
    instructions: list[Instruction], tmp_path: Path
) -> None:
    lines = [(arch, instruction) for instruction in instructions for arch in without_one(instruction.form)]
    errors = refused(lines, tmp_path)
    assert [(arch, i.text) for number, (arch, i) in enumerate(lines) if number not in errors] == []


@pytest.mark.parametrize(
    ("text", "features"),
    [
        ("fcmla v0.8h, v0.8h, v1.h[0], #0", ("fcma", "fp16")),
        ("fcmla v0.4s, v0.4s, v1.s[0], #0", ("fcma",)),
        ("fcadd v0.4h, v0.4h, v1.4h, #90", ("fcma", "fp16")),
        ("fmlal v0.4s, v1.4h, v2.4h", ("fhm",)),
        ("fcvtl v0.4s, v1.4h", ()),
    ],
)
def test_an_instruction_needs_all_of_its_features(text: str, features: tuple[str, ...]) -> None:
    assert TABLE.instruction(*text.split(" ", 1)).form.features == features
