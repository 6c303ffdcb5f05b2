"""Finding forms of the instruction table, and what there is to say about one in words."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import NamedTuple

from isa.decode import decode
from isa.encodings import words_of
from isa.instruction import Form, Instruction
from isa.rows import TABLE
from isa.statements import Statement, statements
from isa.table import UnknownInstruction

_Fields = Mapping[tuple[int, int], int]
_REGISTERS: tuple[_Fields, ...] = (
    {(0, 5): 0, (5, 5): 1, (16, 5): 2, (10, 5): 3},
    {(0, 5): 0, (5, 5): 1, (10, 5): 2},
    {(0, 5): 0, (5, 5): 1, (16, 5): 2},
    {(0, 5): 0, (5, 5): 1, (10, 12): 1},
    {(0, 5): 0, (5, 5): 1},
    {},
)
"""Numbers for fields (lowest bit, bits) that make an example easy to read: registers and imm12 (Arm ARM C4.1)."""


class UnknownForm(LookupError):
    """Nothing in the table has this name; the message names what comes near."""


class Alike(NamedTuple):
    """Forms that do the same but for widths and counts, shown by one instruction of one of them."""

    example: Instruction
    statements: tuple[Statement, ...]
    forms: tuple[Form, ...]


def forms_matching(pattern: str, feature: str | None = None) -> list[Form]:
    """Forms whose name or mnemonic matches a glob, or whose name contains the pattern; all of them for "".

    `feature` keeps those of one extension.  Raises UnknownForm where there is none.
    """
    candidates = [form for form in TABLE.forms.values() if feature is None or form.feature == feature]
    found = [form for form in candidates if _matches(form, pattern.lower())]
    if not found:
        of = f" of {feature}" if feature is not None else ""
        raise UnknownForm(_advice(pattern, candidates, of))
    return found


def _matches(form: Form, pattern: str) -> bool:
    return pattern in form.name or fnmatchcase(form.mnemonic, pattern) or fnmatchcase(form.name, pattern)


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
    """The instruction with this assembly text, if the table has it and it is one (`sqadd v0.4s, v1.4s, v2.4s`)."""
    mnemonic, _, operands = " ".join(text.lower().split()).partition(" ")
    try:
        return TABLE.instruction(mnemonic, re.sub(r"\s*,\s*", ", ", operands))
    except (UnknownInstruction, ValueError):
        return None


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
    words = {_with(word, fields) for word in words_of(form.name) for fields in _REGISTERS}
    instructions = [found for word in sorted(words) if (found := _decoded(word)) and found.form.name == form.name]
    return min(instructions, key=_plainness, default=None)


def _plainness(instruction: Instruction) -> tuple[int, int, str]:
    return -len(set(instruction.registers)), len(instruction.text), instruction.text


def _with(word: int, fields: _Fields) -> int:
    for (lsb, bits), number in fields.items():
        word = word & ~((1 << bits) - 1 << lsb) | number << lsb
    return word


def _decoded(word: int) -> Instruction | None:
    try:
        return decode(word.to_bytes(4, "little"))
    except UnknownInstruction:
        return None


def alike(forms: Sequence[Form]) -> Iterator[Alike]:
    """The forms grouped by what they do; a group shows its form of `.4s`, else its last one.

    A form of which no word is recorded is left out.
    """
    groups: dict[str, list[tuple[Form, Instruction]]] = {}
    for form in forms:
        instruction = example(form)
        if instruction is not None:
            groups.setdefault(_kind(statements(instruction)), []).append((form, instruction))
    for members in groups.values():
        shown = next((member for member in members if form_is_common(member[0])), members[-1])[1]
        yield Alike(shown, statements(shown), tuple(form for form, _ in members))


def form_is_common(form: Form) -> bool:
    """Whether its destination is `.4s`, the arrangement that readers know best."""
    return form.shape.startswith(".4s")


def _kind(lines: Iterable[Statement]) -> str:
    """The statements without widths, counts and the clearing of the upper half."""
    texts = ["\n".join((line.text, *line.where)) for line in lines if not re.fullmatch(r"v\d+<127:\d+> = 0", line.text)]
    plain = re.sub(r"\.[bhsd]\[", ".[", re.sub(r"0x[0-9a-f]+|\d+", "#", "\n".join(texts)))
    return re.sub(r"\b[wx]#|\b[wx]zr\b|\b(w?)sp\b", "x#", plain)
