"""Claims that instruction forms compute what `sim.prove.arm_statements` says: the rows of the table, not a copy.

Every lane that a form writes is taken out of its semantics.  The elements that Arm's manual has it read become the
inputs `n`, `m` (and `d`, the old element of the destination); an immediate shift becomes an input over all counts that
can be encoded.  Lanes of equal expressions share a claim.  A lane that reads any other element has it as an input of
its own, which the statement does not have: the claim is refuted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

from isa.instruction import Form
from isa.lane import Field, Int, Lane, Place, Read, head, rebuilt
from isa.operands import Element, Scalar, Vector
from isa.parse import parse
from isa.rows import TABLE
from sim.prove.arm_statements import ArmStatement
from sim.prove.arm_statements_arithmetic import ARITHMETIC
from sim.prove.arm_statements_shifts import NARROWING, SHIFTS
from sim.prove.claim import Claim, Range, Result, input_lane, with_qc

STATEMENTS: Mapping[str, ArmStatement] = {**ARITHMETIC, **SHIFTS, **NARROWING}
_IN_LANES = re.compile(r"((\.\d*)?[bhsd](\[i\])?,?)+#?")
"""The shapes of operands in vector registers, perhaps with an immediate; NEG and others have general registers too."""
Registers = Vector | Scalar | Element


@dataclass(frozen=True)
class AnyCount:
    """The operand of an immediate shift, with all of its counts at once."""

    counts: Range

    def lanes(self, signed: bool, count: int = 1) -> list[Lane]:
        """The count in each of `count` lanes."""
        return [input_lane("shift", self.counts)] * count


class Taken(NamedTuple):
    """One lane of a form: its expression over inputs, of which the first `stated` are those of the manual."""

    lane: Lane
    inputs: Mapping[str, Int | Range]
    stated: int


def form_claims(forms: Iterable[Form] = TABLE.forms.values()) -> list[Claim]:
    """A claim for each lane expression of the forms for which there is a statement, in the order of the table."""
    groups: dict[tuple[str, str], list[tuple[Form, Taken]]] = {}
    for form in forms:
        for name, taken in _lanes_of(form):
            groups.setdefault((name, fingerprint(taken.lane)), []).append((form, taken))
    names = [name for name, _ in groups]
    return [
        _claim(name if names.count(name) == 1 else f"{name} of {members[0][0].name}", members)
        for (name, _), members in groups.items()
    ]


def _claim(name: str, members: list[tuple[Form, Taken]]) -> Claim:
    form, taken = members[0]
    statement, destination = cast(ArmStatement, statement_of(form)), _operands(form)[0]
    covers = tuple(dict.fromkeys(member.name for member, _ in members))
    element = cast(Vector, destination).element(signed=False)
    results = {**with_qc(taken.lane), "value": element.wrap(taken.lane)}

    def right(*inputs: Lane) -> Result:
        stated = statement.compute(element.bits, *inputs[: taken.stated])
        return {"value": stated.value, "QC": stated.saturated}

    return Claim(name, taken.inputs, lambda *_: results, right, covers=covers)


def statement_of(form: Form) -> ArmStatement | None:
    """What Arm's manual says of a form, if it is one of those stated."""
    if not _IN_LANES.fullmatch(form.shape):
        return None
    mnemonic = form.mnemonic.removesuffix("2")
    immediate = " #" if form.shape.endswith("#") else ""
    return STATEMENTS.get(f"{mnemonic}{immediate}")


def _lanes_of(form: Form) -> Iterator[tuple[str, Taken]]:
    """The lanes that a form computes, each with the name of its claim, such as `sqadd .s,.s,.s`.

    The name has no lane counts, no `2` and one way to write an element.
    """
    statement = statement_of(form)
    if statement is None:
        return
    destination, *sources = _operands(form)
    counts = [AnyCount(_counts(form, destination, sources))] if form.shape.endswith("#") else []
    (write,) = form.body(destination, *sources, *counts)
    shapes = [shape.replace("[i]", "").lstrip(".0123456789") for shape in form.shape.split(",")]
    name = f"{form.mnemonic.removesuffix('2')} {','.join(s if s == '#' else f'.{s}' for s in shapes)}"
    count, source_count = _count(destination), _count(sources[0])
    upper = destination.bits < sources[0].bits and source_count < count  # where `...2` puts its narrow results
    operands = [destination, *sources] if statement.accumulates else sources
    letters = ("dnm" if statement.accumulates else "nm")[: len(statement.reads)]
    for number in range(count // 2 if upper else 0, count):
        elements = {}
        for letter, read, operand in zip(letters, statement.reads, operands, strict=True):
            if isinstance(operand, Element):
                at = operand.number
            elif operand.count == 2 * count:
                at = number + count  # Vpart[n, part]
            else:
                at = number % operand.count  # Elem[operand, e]
            elements[letter] = operand.place, operand.bits * at, operand.element(read == "s")
        yield name, _taken(write.lanes[number], elements, counts)


def _operands(form: Form) -> list[Registers]:
    """Its operands, in registers v0, v1, ... in their order; an immediate is left out."""
    shapes = [shape for shape in form.shape.split(",") if shape != "#"]
    texts = [f"v_{shape.replace('[i]', '[1]')}" if shape.startswith(".") else f"{shape}_" for shape in shapes]
    return [cast(Registers, parse(text, [k])[0]) for k, text in enumerate(texts)]


def _counts(form: Form, destination: Registers, sources: list[Registers]) -> Range:
    """The counts that the immh:immb field can encode (Arm ARM C4.1.96), SHLL's one, XAR's six bits."""
    bits = min(destination.bits, *(source.bits for source in sources))
    if form.mnemonic.startswith("shll"):
        return Range(bits, bits)
    left = "shl" in form.mnemonic or form.mnemonic in ("sli", "xar")
    return Range(0, bits - 1) if left else Range(1, bits)


def _count(operand: Registers) -> int:
    return 1 if isinstance(operand, Element) else operand.count


def _taken(lane: Lane, elements: Mapping[str, tuple[Place, int, Int]], counts: list[AnyCount]) -> Taken:
    """The lane with inputs for elements, which are each a register, the lowest bit and the type."""
    inputs: dict[str, Int | Range] = {name: element for name, (_, _, element) in elements.items()}
    names = {(place, lsb, element.bits): name for name, (place, lsb, element) in elements.items()}
    inputs.update(("shift", any_count.counts) for any_count in counts)
    stated = len(inputs)

    def leaf(place: Place, lsb: int, element: Int) -> Lane:
        name = names.get((place, lsb, element.bits), f"{place}<{lsb + element.bits - 1}:{lsb}>")
        kind = inputs.setdefault(name, element)
        return element.wrap(input_lane(name, kind))

    return Taken(_replaced(lane, leaf), inputs, stated)


def _replaced(lane: Lane, leaf: Callable[[Place, int, Int], Lane]) -> Lane:
    """The expression with something else for the elements of registers."""
    if isinstance(lane, Field) and isinstance(lane.operand, Read):
        return leaf(lane.operand.place, lane.lsb, lane.element)
    return rebuilt(lane, [_replaced(arg, leaf) for arg in lane.args])


def fingerprint(lane: Lane) -> str:
    """A text that is the same for expressions of the same nodes."""
    numbers: dict[Lane, int] = {}
    lines: dict[str, int] = {}

    def number(node: Lane) -> int:
        if node not in numbers:
            args = [number(arg) for arg in node.args]
            line = f"{head(node)} {args} {node.low} {node.high}"
            numbers[node] = lines.setdefault(line, len(lines))
        return numbers[node]

    number(lane)
    return "\n".join(lines)
