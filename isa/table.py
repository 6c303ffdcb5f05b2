"""The instruction table: (mnemonic, operand shapes) -> form.

Rows are written a family at a time (`isa/rows/`) and expanded here.  In a family's mnemonic a final `%` becomes
`2` where the arrangement T fills 128 bits (`sqxtn%` is SQXTN and SQXTN2).  In its shapes these letters stand for
what follows from each arrangement T in turn:

    T  the arrangement itself        .4h   .8h   h
    W  elements twice as wide        .4s   .4s   s     (128-bit: as many lanes as T has, or its upper half)
    P  pairs of elements             .2s   .4s         (same bits, half as many lanes)
    D  fours of bytes                .8b -> .2s   .16b -> .4s
    E  one element                   .h[i] .h[i] .h[i]
    N  the scalar of one element     h     h     h
    L  the scalar twice as wide      s     s     s

Alternatives stand in parentheses: `T,T,T(| lsl| lsr)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product

from isa.errors import LanewiseError
from isa.instruction import FEATURES, Form, Instruction, Pattern
from isa.operands import ELEMENT_BITS, ELEMENT_LETTERS
from isa.parse import ParseError, blank_registers, parse
from isa.refusals import extension_of
from isa.semantics.elementwise import Body

_WIDER = {letter: ELEMENT_LETTERS[2 * bits] for letter, bits in ELEMENT_BITS.items() if 2 * bits in ELEMENT_LETTERS}


class UnknownInstruction(LanewiseError):
    """The table has no row for an instruction; `text` is its disassembly, `reason` says why."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"{text}: {reason}")
        self.text = text
        self.reason = reason


def family(mnemonic: str, shapes: str, arrangements: str, body: Body, *features: str) -> Iterator[Form]:
    """The forms of one row: every shape of `shapes` at every arrangement (an empty string: just one).

    `features` are all that they need.  Raises ValueError where one is not of `FEATURES`.
    """
    for feature in features:
        if feature not in FEATURES:
            raise ValueError(f"{mnemonic}: {feature!r} is not one of {', '.join(FEATURES)}")
    parts = [part.split("|") for part in re.split(r"[()]", shapes)]
    alternatives = ["".join(choice) for choice in product(*parts)]
    for arrangement in arrangements.split() or [""]:
        count, letter = _split_arrangement(arrangement)
        fills_register = arrangement.startswith(".") and count * ELEMENT_BITS[letter] == 128
        name = mnemonic.replace("%", "2" if fills_register else "")
        for shape in alternatives:
            yield Form(name, _substituted(shape, arrangement), body, features)


def _split_arrangement(arrangement: str) -> tuple[int, str]:
    match = re.fullmatch(r"\.(\d+)([bhsdq])", arrangement)
    return (int(match[1]), match[2]) if match else (1, arrangement)


def _substituted(shape: str, arrangement: str) -> str:
    if not arrangement:
        return shape
    count, letter = _split_arrangement(arrangement)
    meanings = {"T": arrangement, "N": letter, "E": f".{letter}[i]"}
    wider = _WIDER.get(letter)
    if wider is not None:
        meanings["L"] = wider
        meanings["W"] = f".{128 // ELEMENT_BITS[wider]}{wider}" if arrangement.startswith(".") else wider
        meanings["P"] = f".{count // 2}{wider}"
        meanings["D"] = f".{count // 4}s"
    return re.sub("[A-Z]", lambda match: meanings[match[0]], shape)


class Table:
    """The forms by mnemonic and shape, in `named` by both as one text.  Two rows for one key are refused.

    Raises ValueError where rows overlap.
    """

    def __init__(self, forms: Iterable[Form]) -> None:
        self.forms: dict[tuple[str, str], Form] = {}
        self._patterns: dict[tuple[str, str], Pattern] = {}
        for form in forms:
            if (form.mnemonic, form.shape) in self.forms:
                raise ValueError(f"two rows of the instruction table describe {form.name!r}")
            self.forms[form.mnemonic, form.shape] = form
        self.named = {form.name: form for form in self.forms.values()}

    def replacing(self, name: str, body: Body) -> Table:
        """A copy in which the form of that name does something else (for planting faults).

        Raises KeyError where no form has that name.
        """
        if name not in self.named:
            raise KeyError(f"the instruction table has no form {name!r}")
        forms = [Form(f.mnemonic, f.shape, body, f.features) if f.name == name else f for f in self.forms.values()]
        return Table(forms)

    def instruction(self, mnemonic: str, operand_text: str) -> Instruction:
        """The instruction with this text.  Raises UnknownInstruction."""
        blanked, registers = blank_registers(operand_text)
        pattern = self._patterns.get((mnemonic, blanked))
        if pattern is None:
            pattern = self._patterns[mnemonic, blanked] = self._pattern(mnemonic, operand_text)
        return Instruction(pattern, registers)

    def _pattern(self, mnemonic: str, operand_text: str) -> Pattern:
        text = f"{mnemonic} {operand_text}".rstrip()
        blanked, registers = blank_registers(operand_text)
        row, parsed_text = mnemonic, blanked
        if mnemonic.startswith("b."):  # `b.ge #8` is the row `b.cond` with the operands `ge, #8`
            row, parsed_text = "b.cond", f"{mnemonic[2:]}, {blanked}"
        try:
            operands = parse(parsed_text, registers)
        except ParseError as error:
            raise UnknownInstruction(text, _refusal(mnemonic, operand_text, str(error))) from None
        form = self.forms.get((row, ",".join(operand.shape for operand in operands)))
        if form is None:
            reason = _refusal(mnemonic, operand_text, "the instruction table has no such form")
            raise UnknownInstruction(text, reason)
        return Pattern(form, f"{mnemonic} {blanked}".rstrip(), parsed_text, len(registers))


def _refusal(mnemonic: str, operand_text: str, otherwise: str) -> str:
    extension = extension_of(mnemonic, operand_text)
    return extension.reason if extension is not None else otherwise
