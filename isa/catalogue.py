"""Finding forms of the instruction table, and what there is to say about one in words."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import NamedTuple

from isa.decode import decode
from isa.encodings import plain_words
from isa.errors import LanewiseError
from isa.instruction import Form, Instruction
from isa.parse import REGISTER
from isa.rows import TABLE
from isa.table import UnknownInstruction
from isa.text.statements import Statement, statements


class UnknownForm(LanewiseError, LookupError):
    """Nothing in the table has this name; the message names what comes near."""


class AlikeForms(NamedTuple):
    """Forms that do the same but for widths and counts, shown by one instruction of one of them."""

    example: Instruction
    statements: tuple[Statement, ...]
    forms: tuple[Form, ...]


def forms_matching(pattern: str, feature: str | None = None) -> list[Form]:
    """Forms whose name or mnemonic matches a glob, or whose name contains the pattern; all of them for "".

    `feature` keeps those that need this extension.  Raises UnknownForm where there is none.
    """
    candidates = [form for form in TABLE.forms.values() if feature is None or feature in form.features]
    glob = pattern.lower()
    found = [
        form
        for form in candidates
        if glob in form.name or fnmatchcase(form.mnemonic, glob) or fnmatchcase(form.name, glob)
    ]
    if not found:
        of = f" of {feature}" if feature is not None else ""
        raise UnknownForm(_advice(pattern, candidates, of))
    return found


def forms_called(name: str) -> list[Form]:
    """The form of that name or instruction text, or all forms of a mnemonic.  Raises UnknownForm."""
    text = " ".join(name.lower().split())
    exact = [form for form in TABLE.forms.values() if text in (form.name, form.mnemonic)]
    if exact:
        return exact
    instruction = instruction_of(name)
    if instruction is None:
        raise UnknownForm(_advice(name, TABLE.forms.values()))
    return [instruction.form]


def instruction_of(text: str) -> Instruction | None:
    """The instruction with this assembly text, such as `sqadd v0.4s, v1.4s, v2.4s`; None where the table has none.

    Registers are there, but whether an immediate can be encoded is not asked, only that it has a meaning.
    """
    mnemonic, _, operands = " ".join(text.lower().split()).partition(" ")
    try:
        if any(int(number) > (30 if letter in "xw" else 31) for letter, number in REGISTER.findall(operands)):
            return None
        found = TABLE.instruction(mnemonic, re.sub(r"\s*,\s*", ", ", operands))
        found.pattern.writes(found.registers)
    except (UnknownInstruction, ValueError, KeyError):
        return None
    return found


def _advice(name: str, forms: Iterable[Form], of: str = "") -> str:
    mnemonic = name.lower().split()[0] if name.split() else ""
    mnemonics = sorted({form.mnemonic for form in forms})
    near = get_close_matches(mnemonic, mnemonics, n=5)
    if mnemonic in mnemonics:
        shapes = [form.shape for form in forms if form.mnemonic == mnemonic]
        return f"no form is called {name!r}: {mnemonic} has {'; '.join(shapes[:6])}{' ...' if len(shapes) > 6 else ''}"
    hint = f"near it are {', '.join(near)}" if near else "`lanewise isa list` names them all"
    return f"no form{of} is called {name!r}: {hint}"


def description(form: Form) -> str:
    """The docstring of its semantics, on one line; "" where it has none of its own."""
    factory = getattr(sys.modules[form.body.__module__], form.body.__qualname__.split(".")[0], None)
    functions = [cell.cell_contents for cell in form.body.__closure__ or () if callable(cell.cell_contents)]
    texts = [function.__doc__ for function in (*functions, form.body, factory)]
    return next((" ".join(text.split()) for text in texts if text), "")


def example(form: Form) -> Instruction | None:
    """An instruction of the form: different registers with small numbers; None where no word is recorded."""
    instructions = []
    for word in sorted(set(plain_words(form.name))):
        try:
            instructions.append(decode(word.to_bytes(4, "little")))
        except UnknownInstruction:
            continue
    return min(
        (found for found in instructions if found.form.name == form.name),
        key=lambda found: (-len(set(found.registers)), len(found.text), found.text),
        default=None,
    )


def alike(forms: Sequence[Form]) -> Iterator[AlikeForms]:
    """The forms grouped by what they do; a group shows its form of `.4s`, which readers know best, else its last one.

    A form of which no word is recorded is left out.
    """
    groups: dict[str, list[tuple[Form, Instruction]]] = {}
    for form in forms:
        instruction = example(form)
        if instruction is not None:
            groups.setdefault(_kind(statements(instruction)), []).append((form, instruction))
    for members in groups.values():
        shown = next((each for form, each in members if form.shape.startswith(".4s")), members[-1][1])
        yield AlikeForms(shown, statements(shown), tuple(form for form, _ in members))


def _kind(lines: Iterable[Statement]) -> str:
    """The statements without widths, counts and the clearing of the upper half."""
    texts = ["\n".join((line.text, *line.where)) for line in lines if not re.fullmatch(r"v\d+<127:\d+> = 0", line.text)]
    plain = re.sub(r"\.[bhsd]\[", ".[", re.sub(r"0x[0-9a-f]+|\d+", "#", "\n".join(texts)))
    return re.sub(r"\b[wx]#|\b[wx]zr\b|\b(w?)sp\b", "x#", plain)
