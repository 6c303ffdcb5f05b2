"""Inputs on demand: such that an instruction meets a condition on what it reads, or that two references part.

The code is followed on all inputs of one shape.  What a condition is there, wherever the instruction is executed, is an
expression of the inputs, and the solver is asked for some that meet it.  Whoever asks has to run them: the inputs that
the kernel refuses are not known here, nor what floating point and undefined bytes come to.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Final, NamedTuple

from isa.errors import LanewiseError
from isa.evaluate.smt import Found, Impossible, Solver
from isa.evaluate.smt_terms import Untranslatable
from isa.lane import Lane, Load, Place, Read, operands_first
from sim.kernels.kernel import Inputs, Kernel
from sim.symbolic.call import INPUT, SymbolicCall, input_leaf
from sim.symbolic.equality import Equality, asked
from sim.symbolic.following.lookout import Goal, Lookout, Sighting
from sim.symbolic.loops.proof import never_at_any_length
from sim.symbolic.reference import TracedReference, traced_reference
from sim.symbolic.simplify import SIMPLIFIER, in_terms_of
from sim.symbolic.unknowns import cut_out
from sim.toolchain.image import Image

SECONDS: Final = 60.0
"""For a question that is over in so many rounds before, so that a slow computer answers as a fast one does."""


class Sought(NamedTuple):
    """What came of a goal: inputs that should meet it, None where there are none.

    `impossible` says that no input of the shape meets it; `rounds` are those of the solver.
    """

    inputs: Inputs | None
    impossible: bool
    rounds: int


@dataclass(frozen=True)
class FollowedShape:
    """A build on all inputs that have the shape of an example.

    `met` has for each goal where it is met: expressions of the inputs, each alike but for the names of inputs once.
    `open` says why it was not followed on all inputs in the domains, "" where it was.
    """

    arguments: TracedReference
    met: Mapping[Goal, Collection[Lane]]
    open: str

    def conditions(self, goal: Goal) -> list[Lane]:
        """Where a goal is met, those first that depend on inputs alone; without what depends on no input.

        Nobody chooses where arrays lie: a condition on that holds or does not when what was found is run.
        """
        elsewhere = {
            condition: any(not place.file.startswith(INPUT) for place in _inputs(condition))
            for condition in self.met[goal]
            if condition.value is not None or any(place.file.startswith(INPUT) for place in _inputs(condition))
        }
        return sorted(elsewhere, key=lambda condition: elsewhere[condition])

    def seek(self, goal: Goal, rounds: int) -> Sought:
        """Ask for inputs that meet a goal, in so many rounds of the solver."""
        conditions = self.conditions(goal)
        is_open = bool(self.open) or len(conditions) < len(self.met[goal])
        return _sought(self.arguments, (cut_out([condition]) for condition in conditions), rounds, is_open)


def differences(mine: TracedReference, other: TracedReference) -> Iterator[tuple[str, int, Equality]]:
    """For each way of two references, and each element of an output by name and number: that the two are equal."""
    for one, two in product(mine.cases, other.cases):
        given = SIMPLIFIER.computed("and", one.given, two.given)
        for name, lanes in one.outputs.items():
            for number, (a, b) in enumerate(zip(lanes, two.outputs[name], strict=True)):
                yield name, number, Equality(a, b, given)


def parting(mine: TracedReference, rival: Kernel, rounds: int) -> Sought:
    """Ask in so many rounds for inputs, of the shape of its example, on which a golden reference parts from a rival.

    `impossible`: no inputs do that both take.  Raises Untraceable and KernelError for the rival's.
    """
    other = traced_reference(rival, mine.example)
    questions = [question for _, _, question in differences(mine, other) if question.given.high]
    alike = {asked(question).key: question for question in questions if question.one is not question.other}
    is_open = bool(mine.known | other.known) or not questions
    return _sought(mine, map(_unlike, alike.values()), rounds, is_open)


def _sought(arguments: TracedReference, questions: Iterable[Sequence[Lane]], rounds: int, is_open: bool) -> Sought:
    """Ask for inputs on which all lanes of some question are 1; with `is_open` it stays open whether there are any."""
    spent = 0
    for question in questions:
        solver = Solver(time.monotonic() + SECONDS, rounds - spent)
        try:
            answer = solver.check(*question)
        except Untranslatable:
            is_open = True
            continue
        spent += solver.searched
        if isinstance(answer, Found):
            return Sought(arguments.input_set({**arguments.values(), **answer.values}), False, spent)
        is_open |= not isinstance(answer, Impossible)
    return Sought(None, not is_open, spent)


def _unlike(question: Equality) -> tuple[Lane, Lane]:
    """What is given, and that the two are not equal."""
    one, other, given = cut_out(question)
    return given, one.equals(other).equals(0)


def followed(
    kernel: Kernel, image: Image, example: Inputs, goals: Iterable[Goal], most_instructions: int
) -> FollowedShape:
    """Follow a build on all inputs of the shape of an example, through so many instructions at most.

    Raises Untraceable and KernelError for the arguments.
    """
    arguments, lookout, is_open = traced_reference(kernel, example, with_outputs=False), Lookout(goals), ""
    if arguments.known:
        is_open = f"{', '.join(sorted(arguments.known))} is as in the example"
    try:
        SymbolicCall(kernel, image).traced(
            kernel.arguments(example), arguments.unknown_arguments, (), lookout.look, most_instructions
        )
    except LanewiseError as error:
        is_open = is_open or str(error)
    met = {goal: _told_apart(kernel, arguments, sightings) for goal, sightings in lookout.seen.items()}
    return FollowedShape(arguments, met, is_open)


def never_met(
    kernel: Kernel, image: Image, example: Inputs, goals: Iterable[Goal], most_instructions: int, rounds: int
) -> set[Goal]:
    """The goals that no input of any length meets, with null pointers as in an example; as far as it is found.

    Raises LanewiseError where code or reference cannot be followed for any length.
    """
    found = set()
    for goal, questions in never_at_any_length(kernel, image, example, goals, most_instructions).items():
        if all(_is_impossible(_unlike(question), rounds) for question in dict.fromkeys(questions)):
            found.add(goal)
    return found


def cannot_hold(goal: Goal, rounds: int) -> bool:
    """Whether a goal is met by nothing at all that registers and memory hold, as far as that is found."""
    lanes = [SIMPLIFIER.simplified(lane) for lane in goal.lanes]  # equal loads are one node then
    loads = {node for node in operands_first(lanes) if isinstance(node, Load)}
    return all(not lane.high or _is_impossible(cut_out([lane], loads), rounds) for lane in lanes)


def _is_impossible(conditions: Sequence[Lane], rounds: int) -> bool:
    try:
        return isinstance(Solver(time.monotonic() + SECONDS, rounds).check(*conditions), Impossible)
    except Untranslatable:
        return False


def _told_apart(kernel: Kernel, arguments: TracedReference, sightings: Iterable[Sighting]) -> Collection[Lane]:
    """Conditions on arguments as such on inputs within the domains; of those that ask the same the first."""
    known: dict[Hashable, Lane] = {}
    for case in arguments.cases:
        by = {
            leaf: lane
            for name in arguments.unknown_arguments
            for index, lane in enumerate(case.arguments[name])
            if (leaf := SIMPLIFIER.simplified(input_leaf(kernel, name, index))) is not lane
        }
        for sighting in sightings:
            (condition,) = in_terms_of([reduce(_both, sighting.assumed, sighting.condition)], by)
            whole = reduce(_both, _about(condition, case.conditions))
            if whole.high:
                known.setdefault(asked([whole]).key, whole)
    return known.values()


def _about(condition: Lane, given: Iterable[Lane]) -> list[Lane]:
    """The condition with what is given of its inputs, and of the inputs that this is about."""
    found, rest = [condition], {lane: _inputs(lane) for lane in given if lane.low == 0}
    names = _inputs(condition)
    while near := [lane for lane, its in rest.items() if names & its]:
        found += near
        names = names.union(*(rest.pop(lane) for lane in near))
    return found


def _inputs(lane: Lane) -> set[Place]:
    return {node.place for node in operands_first([lane]) if isinstance(node, Read)}


def _both(one: Lane, other: Lane) -> Lane:
    return SIMPLIFIER.computed("and", one, other)
