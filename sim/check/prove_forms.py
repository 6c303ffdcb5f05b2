"""Claims that instruction forms compute what `sim.check.arm_statements` says: the rows of the table, not a copy.

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
from isa.lane import Int, Lane, Place, Write
from isa.operands import Element, Scalar, Vector
from isa.parse import parse
from isa.rows import TABLE
from sim.check.arm_statements import Statement
from sim.check.arm_statements_arithmetic import ARITHMETIC
from sim.check.arm_statements_shifts import NARROWING, SHIFTS
from sim.check.prove import Claim, Range, Result, input_lane, with_qc

STATEMENTS: Mapping[str, Statement] = {**ARITHMETIC, **SHIFTS, **NARROWING}
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
    statement, destination = cast(Statement, statement_of(form)), _operands(form)[0]
    covers = tuple(dict.fromkeys(member.name for member, _ in members))
    element = cast(Vector, destination).element(signed=False)
    return Claim(
        name, taken.inputs, _left(element, taken.lane), _right(element.bits, statement, taken.stated), covers=covers
    )


def _left(element: Int, lane: Lane) -> Callable[..., Result]:
    results = with_qc(lane)
    return lambda *_: {**results, "value": element.wrap(lane)}


def _right(bits: int, statement: Statement, taken: int) -> Callable[..., Result]:
    def compute(*inputs: Lane) -> Result:
        stated = statement.compute(bits, *inputs[:taken])
        return {"value": stated.value, "QC": stated.saturated}

    return compute


def _names(statement: Statement) -> list[str]:
    letters = "dnm" if statement.accumulates else "nm"
    return list(letters[: len(statement.reads)])


def statement_of(form: Form) -> Statement | None:
    """What Arm's manual says of a form, if it is one of those stated."""
    if not _IN_LANES.fullmatch(form.shape):
        return None
    mnemonic = form.mnemonic.removesuffix("2")
    immediate = " #" if form.shape.endswith("#") else ""
    return STATEMENTS.get(f"{mnemonic}{immediate}")


def _lanes_of(form: Form) -> Iterator[tuple[str, Taken]]:
    """The lanes that a form computes, each with the name of its claim."""
    statement = statement_of(form)
    if statement is None:
        return
    destination, *sources = _operands(form)
    counts = [AnyCount(_counts(form, destination, sources))] if form.shape.endswith("#") else []
    (write,) = form.body(destination, *sources, *counts)
    for number in _computed(destination, sources):
        elements = _elements(statement, number, destination, sources)
        yield _name(form), _taken(write, number, elements, counts)


def _operands(form: Form) -> list[Registers]:
    """Its operands, in registers v0, v1, ... in their order; an immediate is left out."""
    shapes = [shape for shape in form.shape.split(",") if shape != "#"]
    return [cast(Registers, parse(_text(shape), [k])[0]) for k, shape in enumerate(shapes)]


def _text(shape: str) -> str:
    return f"v_{shape.replace('[i]', '[1]')}" if shape.startswith(".") else f"{shape}_"


def _counts(form: Form, destination: Registers, sources: list[Registers]) -> Range:
    """The counts that the immh:immb field can encode (Arm ARM C4.1.96), SHLL's one, XAR's six bits."""
    bits = min(destination.bits, *(source.bits for source in sources))
    if form.mnemonic.startswith("shll"):
        return Range(bits, bits)
    left = "shl" in form.mnemonic or form.mnemonic in ("sli", "xar")
    return Range(0, bits - 1) if left else Range(1, bits)


def _computed(destination: Registers, sources: list[Registers]) -> range:
    """The numbers of the lanes that are computed: the upper half where it takes the narrow results of `...2`."""
    count = _count(destination)
    narrows = destination.bits < sources[0].bits and _count(sources[0]) < count
    return range(count // 2, count) if narrows else range(count)


def _count(operand: Registers) -> int:
    return 1 if isinstance(operand, Element) else operand.count


def _elements(
    statement: Statement, number: int, destination: Registers, sources: list[Registers]
) -> dict[str, tuple[Place, int, Int]]:
    """For each input the register, the lowest bit and the type of the element that lane `number` reads."""
    operands = [destination, *sources] if statement.accumulates else sources
    return {
        name: (operand.place, operand.bits * _number(operand, number, destination), operand.element(letter == "s"))
        for name, letter, operand in zip(_names(statement), statement.reads, operands, strict=True)
    }


def _number(operand: Registers, number: int, destination: Registers) -> int:
    """Elem[operand, e] or Vpart[n, part]: the number of the element for lane `number` of the destination."""
    if isinstance(operand, Element):
        return operand.number
    if operand.count == 2 * _count(destination):
        return number + _count(destination)
    return number % operand.count


def _taken(write: Write, number: int, elements: Mapping[str, tuple[Place, int, Int]], counts: list[AnyCount]) -> Taken:
    inputs: dict[str, Int | Range] = {name: element for name, (_, _, element) in elements.items()}
    names = {(place, lsb, element.bits): name for name, (place, lsb, element) in elements.items()}
    inputs.update(("shift", any_count.counts) for any_count in counts)

    stated = len(inputs)

    def leaf(place: Place, lsb: int, element: Int) -> Lane:
        name = names.get((place, lsb, element.bits), f"{place}<{lsb + element.bits - 1}:{lsb}>")
        kind = inputs.setdefault(name, element)
        return element.wrap(input_lane(name, kind))

    lane = _replaced(write.lanes[number], leaf)
    return Taken(lane, inputs, stated)


def _replaced(lane: Lane, leaf: Callable[[Place, int, Int], Lane]) -> Lane:
    """The expression with something else for the elements of registers."""
    if lane.op == "field" and lane.args[0].op == "read":
        lsb, element = cast(tuple[int, Int], lane.detail)
        return leaf(cast(Place, lane.args[0].detail), lsb, element)
    args = tuple(_replaced(arg, leaf) for arg in lane.args)
    return Lane(lane.op, args, lane.low, lane.high, lane.detail) if args else lane


def _name(form: Form) -> str:
    """`sqadd .s,.s,.s`: the form without lane counts, `2`, and the ways to write an element."""
    shapes = [shape.replace("[i]", "").lstrip(".0123456789") for shape in form.shape.split(",")]
    return f"{form.mnemonic.removesuffix('2')} {','.join(s if s == '#' else f'.{s}' for s in shapes)}"


def fingerprint(lane: Lane) -> str:
    """A text that is the same for expressions of the same nodes."""
    numbers: dict[Lane, int] = {}
    lines: dict[str, int] = {}

    def number(node: Lane) -> int:
        if node not in numbers:
            args = [number(arg) for arg in node.args]
            line = f"{node.op} {args} {node.low} {node.high} {node.detail}"
            numbers[node] = lines.setdefault(line, len(lines))
        return numbers[node]

    number(lane)
    return "\n".join(lines)
