"""A row of the class table: the mnemonics and operand shapes that a class of instructions has.

Mnemonics are names separated by spaces, with the brackets and stars of file names (`[su]mlal2`, `ldadd*`).  Shapes
are those of `isa.instruction.Form`, separated by semicolons; in them a capital letter or a star stands for

    R  a general register                     x w
    Q  128 bits of lanes                      .16b .8h .4s .2d .1q
    D  64 bits of lanes, or a scalar          .8b .4h .2s .1d b h s d
    E  an element                             .b[i] .s[i] .4b[i]
    I  an immediate                           # #fp
    *  anything
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property
from typing import NamedTuple

from isa.instruction import Form, Pattern

_LETTERS = {
    "R": "[xw]",
    "Q": r"\.(?:16b|8h|4s|2d|1q)",
    "D": r"(?:\.(?:8b|4h|2s|1d)|[bhsd])",
    "E": r"\.\d?[bhsd]\[i\]",
    "I": "#(?:fp)?",
    "*": ".*",
}
_LAST_IMMEDIATE = re.compile(r"#(\d+)$")


class Clause(NamedTuple):
    """What a row asks beyond mnemonic and shape: of the form alone, or of the text of the instruction."""

    of_form: Callable[[Form], bool]
    of_text: Callable[[str], bool] | None


def _last_immediate(text: str) -> int | None:
    match = _LAST_IMMEDIATE.search(text)
    return int(match[1]) if match else None


def _any_form(_form: Form) -> bool:
    return True


CLAUSES: Mapping[str, Clause] = {
    "": Clause(_any_form, None),
    "fp16": Clause(lambda form: "fp16" in form.features, None),
    "by 0": Clause(_any_form, lambda text: _last_immediate(text) == 0),
    "by up to 4": Clause(_any_form, lambda text: (_last_immediate(text) or 0) <= 4),
}
"""What may stand in a row's third column.  A row whose clause is met goes before those after it."""


@dataclass(frozen=True)
class ClassRow:
    """One row: the class `name`, its `mnemonics`, their `shapes`, and a clause (see `CLAUSES`)."""

    name: str
    mnemonics: str
    shapes: str
    clause: str = ""

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """Of its mnemonics, and of its shapes."""
        names = "|".join(translate(name) for name in self.mnemonics.split())
        shapes = (shape.strip() for shape in self.shapes.split(";"))
        shape = "|".join("".join(_LETTERS.get(c, re.escape(c)) for c in shape) for shape in shapes)
        return re.compile(names), re.compile(shape)

    def takes(self, form: Form) -> bool:
        """Whether an instruction of this form can be of the class."""
        mnemonics, shapes = self._patterns
        named = mnemonics.fullmatch(form.mnemonic) and shapes.fullmatch(form.shape)
        return bool(named) and CLAUSES[self.clause].of_form(form)

    def takes_text(self, pattern: Pattern) -> bool:
        """Whether the text of a pattern whose form it takes meets its clause."""
        of_text = CLAUSES[self.clause].of_text
        return of_text is None or of_text(pattern.text)
