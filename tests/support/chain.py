"""The table of docs/evidence.md, and quantize_down's golden reference against what its hardware is proved to be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from isa.lane import Int, Lane, constant, operands_first
from rtl_models.formal.models.quantize_down import quantize_down
from sim.kernels.kernel import built_in_kernel
from sim.symbolic.equality import Answer, Equality, decide_all
from sim.symbolic.loops.reference import any_length_reference
from sim.symbolic.shapes import shapes_of
from sim.symbolic.simplify import SIMPLIFIER, simplified


class EvidenceRow(NamedTuple):
    """A row of the table."""

    kernel: str
    link: str
    kind: str
    by: str
    assumed: str


def evidence_rows(root: Path) -> list[EvidenceRow]:
    """The rows of the table in the repository."""
    page = (root / "docs" / "evidence.md").read_text()
    found = [re.fullmatch(r"\| `(\w+)` \| (.+?) \| (\w+) \| `(.+?)` \| (.+) \|", line) for line in page.splitlines()]
    return [EvidenceRow(*match.groups()) for match in found if match]


def hardware_questions(shifts: Iterable[int], mode: str = "acl_19_08") -> Iterator[Equality]:
    """Whether an element that the reference makes of arrays of any length is a lane of the unit's result.

    The bounds are those that the kernel is called with; the unit's are unsigned.  One question for each shift and each
    case of the reference, with a bias.
    """
    kernel = built_in_kernel("quantize_down", mode)
    example = next(s.example for s in shapes_of(kernel, [17]) if s.example["bias"] is not None)
    reference = any_length_reference(kernel, example)
    unit = quantize_down(4, 0)
    for case in reference.cases:
        ports = {
            "accumulator_i": reference.elements.leaf("accumulators", reference.index),
            "bias_i": reference.elements.leaf("bias", reference.index),
            "minimum_i": case.numbers["lower"],
            "maximum_i": case.numbers["upper"],
            "signed_i": constant(0),
        } | {f"{name}_i": case.numbers[name] for name in ("multiplier", "shift", "offset")}

        def read(wire: str, kind: Int, lsb: int | None = None, ports: dict[str, Lane] = ports) -> Lane:
            return kind.wrap(ports[wire])

        result = unit.results[0]
        made, given = simplified(result.meaning(read)), simplified(case.given & result.given(read))
        for shift in shifts:
            by = {simplified(case.numbers["shift"]): SIMPLIFIER.number(shift)}
            yield Equality(*(_with(lane, by) for lane in (made, simplified(case.outputs["output"]), given)))


def _with(lane: Lane, by: dict[Lane, Lane]) -> Lane:
    known = dict(by)
    for node in operands_first([lane], known):
        known[node] = SIMPLIFIER.again(node, [known[arg] for arg in node.args])
    return known[lane]


def outcomes(questions: Iterable[Equality], seconds: float = 30) -> list[str]:
    """What comes of questions, in no order."""
    found = list[str]()

    def report(_: int, answer: Answer) -> None:
        found.append(answer.finding.outcome)

    decide_all(dict(enumerate(questions)), seconds, 1, None, report)
    return found
