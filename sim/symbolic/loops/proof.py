"""A build proved for arrays of any length: the questions that are left once its loops are followed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import chain

from isa.lane import Int, Lane, Read, walk
from sim.call.caller import RETURN_ADDRESS
from sim.call.guards.bounds import AccessBounds
from sim.kernels.kernel import Inputs, Kernel
from sim.kernels.signature import RETURNED
from sim.symbolic.call import ADDRESS, UNDEFINED, SymbolicCall, element_type, input_leaf, not_kept
from sim.symbolic.equality import Equality
from sim.symbolic.following.flow import Flow
from sim.symbolic.following.lookout import Goal, Lookout, Sighting
from sim.symbolic.following.machine import MOST_INSTRUCTIONS, RAISED
from sim.symbolic.loops.facts import Facts
from sim.symbolic.loops.induction import Induction, NoInduction
from sim.symbolic.loops.machine import AnyLengthArgument, AnyLengthMachine, LoopState
from sim.symbolic.loops.reference import AnyLengthCase, AnyLengthReference, any_length_reference
from sim.symbolic.loops.sums import SumsCompared
from sim.symbolic.nodes import factors
from sim.symbolic.pieces import cut, number
from sim.symbolic.simplify import SIMPLIFIER, in_terms_of
from sim.toolchain.image import Image


@dataclass(frozen=True)
class AnyLengthQuestions:
    """What must hold of a build besides what was shown: each for all inputs; `loops` were taken by induction."""

    questions: tuple[Equality, ...]
    loops: int
    longest: int


def any_length_questions(kernel: Kernel, image: Image, example: Inputs) -> AnyLengthQuestions:
    """Follow a build on arrays of any length, with null pointers where an example has them.

    Shown are: accesses inside of arrays, each element of each output written, registers kept, an end.  Left are the
    questions whether what is written and returned is the reference's.  Raises LanewiseError with what is in the way.
    """
    s, followed = SIMPLIFIER, _Followed(kernel, image, example)
    asked, facts, machine = followed.asked, followed.facts, followed.machine
    for end in followed.ends:
        if faults := not_kept(s, followed.registers, end):
            raise NoInduction(next(iter(faults)))
        for name, covered in end.covered.items():
            if not facts.at_most(end.assumed, followed.length, covered):
                raise NoInduction(f"it is not shown that all elements of {name!r} are written")
    questions = dict.fromkeys(asked.of_stores(machine))
    for end in followed.ends if kernel.signature.returns else ():
        kind = element_type(kernel.signature.returns or "")
        made = number(s, cut(machine.held(end, kernel.signature.result), 0, kind.bits), kind)
        questions |= dict.fromkeys(asked.of_result(made, kind, end, followed.induction))
    return AnyLengthQuestions(tuple(questions), len(followed.induction.loops), followed.length.high)


def never_at_any_length(
    kernel: Kernel, image: Image, example: Inputs, goals: Iterable[Goal], most_instructions: int
) -> dict[Goal, list[Equality]]:
    """What must hold for all inputs so that no input of any length meets a goal, with null pointers as in an example.

    Raises LanewiseError with what is in the way, such as more instructions than are to be followed.
    """
    lookout = Lookout(goals)
    asked = _Followed(kernel, image, example, lookout, most_instructions).asked
    return {
        goal: list(chain.from_iterable(map(asked.of_sighting, sightings))) for goal, sightings in lookout.seen.items()
    }


class _Followed:
    """A build on arrays of any length: the machine that followed it to its `ends`."""

    def __init__(
        self, kernel: Kernel, image: Image, example: Inputs, lookout: Lookout | None = None,
        most_instructions: int = MOST_INSTRUCTIONS,
    ) -> None:  # fmt: skip
        s, reference = SIMPLIFIER, any_length_reference(kernel, example, with_outputs=lookout is None)
        call = SymbolicCall(kernel, image)
        entry = call.entered(kernel.arguments(example))
        if not isinstance(reference.cases[0].numbers, Mapping):
            raise NoInduction("the reference takes no input")
        for name in reference.cases[0].numbers:
            is_extent = name == reference.extent
            call.pass_number(entry.state, name, reference.length if is_extent else s.made(input_leaf(kernel, name)))
        arrays = dict[Lane, AnyLengthArgument]()
        for leaf, (times, _) in entry.places.items():
            assert isinstance(leaf, Read)
            name = leaf.place.file.removeprefix(ADDRESS)
            pointer = next(pointer for pointer in kernel.signature.pointers if pointer.name == name)
            if pointer.direction not in ("in", "out"):
                raise NoInduction(f"{name!r} is {pointer.direction}, which is not followed for any length")
            address = s.computed("multiply", leaf, times)
            arrays[leaf] = AnyLengthArgument(name, pointer.dtype, pointer.direction == "out", address)
        bounds, facts = AccessBounds((), image.segments, entry.stack, image.absent), Facts(reference.length)

        def breach(address: int, size: int, writes: bool, sp: int) -> str:
            found = bounds.breach(address, size, writes, sp)
            return "" if found is None else found.says

        self.machine = AnyLengthMachine(
            s, entry.instruction_at, entry.first, breach, image.place_of, reference.length, arrays, reference.elements,
            facts, lookout, most_instructions,
        )  # fmt: skip
        outputs = [array.name for array in arrays.values() if array.is_output]
        self.registers, memory = dict(entry.state.registers), dict(entry.state.memory)
        covered = dict.fromkeys(outputs, s.number(0))
        state = LoopState(entry.state.pc, dict(self.registers), memory, covered=covered)
        self.induction = Induction(self.machine, Flow(entry.instruction_at), facts, reference.length.high)
        self.ends = self.induction.ends(state, RETURN_ADDRESS)
        for written, _ in self.machine.touched:
            if any(part.address <= written < part.address + part.size for part in image.segments):
                raise NoInduction(
                    "it writes to static memory, where the next call finds it: only a first call is followed"
                )
        self.asked = _Asked(kernel, reference, facts)
        self.facts, self.length = facts, reference.length


class _Asked:
    """Questions about numbers that a build makes, in each case of the reference."""

    def __init__(self, kernel: Kernel, reference: AnyLengthReference, facts: Facts) -> None:
        self._kernel, self._reference, self._facts = kernel, reference, facts

    def of_stores(self, machine: AnyLengthMachine) -> Iterator[Equality]:
        """Whether each number that is stored is the reference's for its index."""
        for stored in machine.stored:
            where = f"what {machine.line_of(stored.pc)} writes to {stored.output!r}"
            for case in self._reference.cases:
                wanted = self._at(case.outputs[stored.output], stored.index)
                yield from self._asked(stored.value, wanted, case, stored.conditions, [stored.index], where)

    def of_result(self, made: Lane, kind: Int, end: LoopState, induction: Induction) -> Iterator[Equality]:
        """Whether the number that is returned is the reference's."""
        of = self._reference
        sums = SumsCompared(SIMPLIFIER, self._facts, of.elements, of.totals, self._at, induction.loops, of.length)
        for case in of.cases:
            if self._possible(case, end.assumed):
                parts = sums.questions(made, case.outputs[RETURNED], kind.bits, (*end.assumed, *self._of_lengths(case)))
                for one, other, indices in parts:
                    yield from self._asked(one, other, case, (), indices, "the result")

    def of_sighting(self, sighting: Sighting) -> Iterator[Equality]:
        """Whether a condition never holds."""
        elements, never = self._reference.elements, SIMPLIFIER.number(0)
        indices = [elements.indices[node].index for node in walk([sighting.condition]) if node in elements.indices]
        for case in self._reference.cases:
            yield from self._asked(
                sighting.condition, never, case, sighting.assumed, indices, "whether a condition holds"
            )

    def _asked(
        self,
        made: Lane,
        wanted: Lane,
        case: AnyLengthCase,
        conditions: tuple[Lane, ...],
        indices: list[Lane],
        where: str,
    ) -> Iterator[Equality]:
        s = SIMPLIFIER
        if not self._possible(case, conditions):
            return
        by: dict[Lane, Lane] = {}
        for name, lane in case.numbers.items():
            if name != self._reference.extent:
                by[s.made(input_leaf(self._kernel, name))] = lane
        of_data = [one for one in conditions if not self._facts.is_of_lengths(one)]
        made, *of_data = in_terms_of((made, *of_data), by)
        for node in walk([made]):
            if isinstance(node, Read) and node.place.file.startswith((UNDEFINED, RAISED, ADDRESS)):
                raise NoInduction(f"{where} depends on {node.place.file}")
        given = [*of_data, *(one for one in factors(case.given) if not self._facts.is_of_lengths(one))]
        given += [self._at(self._reference.in_domain, index) for index in indices]
        for leaf, lane in by.items():
            if lane.low < leaf.low or lane.high > leaf.high:
                given += [_not(s.computed("less", lane, leaf.low)), s.computed("less", lane, leaf.high + 1)]
        yield Equality(made, wanted, reduce(lambda a, b: s.computed("and", a, b), given, s.number(1)))

    def _of_lengths(self, case: AnyLengthCase) -> list[Lane]:
        return [one for one in factors(case.given) if self._facts.is_of_lengths(one)]

    def _possible(self, case: AnyLengthCase, conditions: tuple[Lane, ...]) -> bool:
        return self._facts.possible((*conditions, *self._of_lengths(case)))

    def _at(self, lane: Lane, index: Lane) -> Lane:
        """What the reference makes of another index than the one that is looked at."""
        elements, by = self._reference.elements, {self._reference.index: index}
        for node in walk([lane]):
            if node in elements.indices:
                by[node] = elements.leaf(elements.indices[node].array, index)
        return in_terms_of([lane], by)[0]


def _not(condition: Lane) -> Lane:
    return SIMPLIFIER.difference(SIMPLIFIER.number(1), condition)
