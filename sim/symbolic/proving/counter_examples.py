"""What is said of elements that are not proved: the inputs that tell them apart, in words, or why nobody knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from isa.lane import Constant, Lane, Place, Read, walk
from sim.symbolic.call import ADDRESS
from sim.symbolic.equality import Answer, Equality
from sim.symbolic.kernel_proof import OutputElement, Unproved
from sim.symbolic.reference import TracedReference
from sim.symbolic.simplify import SIMPLIFIER, in_terms_of

_MOST_SAID: Final = 12


def unproved(
    elements: Sequence[OutputElement], reference: TracedReference, question: Equality, answer: Answer,
    numbers: Mapping[Place, int],
) -> Unproved:  # fmt: skip
    """What came of a question that these elements ask, for one with the inputs `numbers` put in.

    Inputs that tell two lanes apart only where arrays lie in certain places are no input set: then nothing is known.
    """
    outcome, reason, inputs = answer.finding.outcome, answer.finding.reason, None
    values = {**answer.values, **numbers}
    if outcome == "counter-example":
        addresses = {place.file: at for place, at in answer.values.items() if place.file.startswith(ADDRESS)}
        words = in_words(reference, values)
        if addresses and not _is_wrong_anywhere(question, values):
            where = sorted(f"{name} = {at:#x}" for name, at in addresses.items())
            outcome, reason = "unknown", f"it depends on where arrays lie: {', '.join([*where, words])}"
        else:
            inputs, reason = reference.input_set(values), words
    return Unproved(
        element=elements[0], elements=len(elements), outcome=outcome, reason=reason, inputs=inputs,
        seconds=answer.finding.seconds,
    )  # fmt: skip


def _is_wrong_anywhere(question: Equality, values: Mapping[Place, int]) -> bool:
    """Whether these inputs tell the sides apart wherever arrays lie: with them no address is left in the question."""
    leaves = [node for node in walk(question) if isinstance(node, Read) and not node.place.file.startswith(ADDRESS)]
    by: dict[Lane, Lane] = {leaf: SIMPLIFIER.number(values[leaf.place]) for leaf in leaves}
    one, other, given = in_terms_of(question, by)
    known = isinstance(one, Constant) and isinstance(other, Constant) and isinstance(given, Constant)
    return known and one.low != other.low and given.low == 1


def in_words(reference: TracedReference, values: Mapping[Place, int]) -> str:
    """Numbers of inputs by their names, those that are not 0 of more than a dozen, and how many more there are."""
    single = {lane.place for lane in reference.scalars.values()}
    inputs = {lane.place for lane in reference.inputs.values()}
    said = sorted(place for place in values if place in inputs)
    if len(said) > _MOST_SAID:
        said = [place for place in said if values[place]][:_MOST_SAID] or said[:_MOST_SAID]
    words = [
        f"{place.file.removeprefix('in.')}{'' if place in single else f'[{place.index}]'} = {values[place]}"
        for place in said
    ]
    rest = [values[place] for place in values if place in inputs and place not in said]
    return ", ".join(words) + (f" and {len(rest)} {'more' if any(rest) else 'that are 0'}" if rest else "")
