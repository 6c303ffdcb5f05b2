"""Aiming at the compiled code: candidates are run by the hundred, and those that tell something are kept for the check.

A build is run on all candidates, and then again for each mistake that it could have (`mistakes`), up to the first
candidate that shows it.  Kept are the input sets that the golden reference disagrees on, and for each mistake one that
shows it.  The work is bounded by executed instructions, not by time: the same seed gives the same inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from isa.evaluate.exact import Occurrence
from isa.lane import Place
from sim.call.kernel_image import open_kernel
from sim.call.prepared import PER_CALL, PreparedCall, Repeater
from sim.check.aim.candidates import CandidateSet, candidate_of, candidates, changed_candidates
from sim.check.aim.classes import ClassesMet
from sim.check.aim.demand import FOLLOWED, changing_nothing, has_one_shape, never, sought
from sim.check.aim.mistakes import Mistake, differing, mistakes_of, places_of, unlike
from sim.check.aim.power import OperandsMet, Power, TriedMistake
from sim.check.aim.ranges import Ranges
from sim.check.aim.rivals import rivals_of
from sim.check.aim.variables import same_in_all, shown_domains
from sim.check.check import Job
from sim.check.compare import arguments_at, as_value
from sim.check.vectors import Vectors
from sim.kernels.domain import Domain
from sim.kernels.extent import element_name
from sim.kernels.input_tree import Where
from sim.kernels.inputs import edited, numbers_of
from sim.kernels.kernel import Inputs, Kernel, KernelError, Outputs
from sim.kernels.tolerance import agreement, all_agree
from sim.processes import memory_limited
from sim.symbolic.following.lookout import Goal
from sim.toolchain.branches import with_targets
from sim.toolchain.dwarf.function_types import require_fit
from sim.toolchain.image import Image, ImageError
from sim.toolchain.tools import ToolchainError, ToolchainUnavailable

USUAL_LEVEL: Final = "-O2"
PER_ELEMENT: Final = 1000
"""Instructions that one call may take here for each element of its arrays: emulated floating point takes as many."""
MISTAKES: Final = 120
"""Mistakes of one build that are tried at most, spread over its code."""
WORK, EACH = 2_000_000, 60_000
"""Instructions that they may take all together, a second or two, and each of them."""
LOOKED_AT, IN_VAIN = 80_000, 12_000
"""Instructions among which classes of operands are looked for, and those since the last that was met."""
LOOKED_THROUGH, EXAMPLES = 200, 3
"""Candidates of which examples are taken for what is asked of the solver, and how many examples."""
FAILING: Final = 4
"""Input sets of a build at most that are kept because it is wrong there."""
USUAL: Final = 20
"""Every twentieth input set next to steps is kept, whatever it tells."""


@dataclass(frozen=True)
class Aimed:
    """Input sets for a check, with their golden outputs, and what they tell."""

    inputs: Sequence[Inputs]
    golden: Sequence[Outputs]
    power: Power

    def added_to(self, vectors: Vectors) -> Vectors:
        """The vectors of a check, and then these."""
        inputs, golden = [*vectors.inputs, *self.inputs], [*vectors.golden, *self.golden]
        return Vectors(inputs, golden, vectors.seed, vectors.random_lanes, vectors.long_from)


@memory_limited()
def aim(kernel: Kernel, jobs: Iterable[Job], vectors: Vectors) -> Aimed:
    """Input sets that the vectors of a check lack, and what can be told of its builds.

    Of each source one build is run, that at -O2 where there is one.  A kernel with a `sample` or `arguments` of its own
    is aimed at by changes of its short vectors: those that keep to declared domains are added to the check, the others
    only tell, and where a build differs on one, that is a doubt; so is what all of its input sets have alike.

    Raises KernelError where the golden reference fails, ToolchainUnavailable.
    """
    short = slice(vectors.long_from)
    given = [CandidateSet(*case) for case in zip(vectors.inputs[short], vectors.golden[short], strict=True)]
    own = [] if kernel.is_drawn else given
    made = candidates(kernel, vectors.seed) if kernel.is_drawn else changed_candidates(kernel, own, vectors.seed)
    tried = own + list(made)
    near = [number for number, candidate in enumerate(tried) if candidate.is_near and not candidate.undeclared]
    kept, mistakes, operands, doubts = set(near[::USUAL]), list[TriedMistake](), list[OperandsMet](), list[str]()
    for title, image in aimed_builds(kernel, jobs):
        target = _Target(image, kernel, tried)
        kept.update(target.failing or target.telling(kept))
        if not target.failing:
            kept.update(target.demanded(kept))
            operands += target.classes.told(title, image)
        doubts += [target.doubt(title)] if target.doubtful and not target.failing else []
        mistakes += target.mistakes(title)
    chosen = [tried[number] for number in sorted(kept) if number >= len(own) and not tried[number].undeclared]
    others = [one for n, one in enumerate(tried) if n >= len(own) and n not in kept and not one.undeclared]
    rivals, telling = rivals_of(kernel, [*given, *chosen], others, vectors.seed)
    chosen += telling
    doubts += [] if kernel.is_drawn else _unvaried(kernel, [*vectors.inputs, *(one.inputs for one in chosen)])
    power = Power(
        lanes_aimed=sum(candidate.lanes for candidate in tried[len(own) :]),
        mistakes=mistakes,
        operands=operands,
        beyond=_beyond(kernel, vectors, tried),
        doubts=doubts,
        rivals=rivals,
    )
    return Aimed([one.inputs for one in chosen], [one.golden for one in chosen], power)


def _beyond(kernel: Kernel, vectors: Vectors, tried: Sequence[CandidateSet]) -> str:
    """The numbers that arguments without a declared domain went through, where some did."""
    changed = dict.fromkeys(name for candidate in tried for name in candidate.undeclared)
    shown = shown_domains(kernel, map(kernel.arguments, vectors.inputs))
    return ", ".join(f"{name} {shown[name].low}..{shown[name].high}" for name in changed if name in shown)


def _unvaried(kernel: Kernel, cases: Sequence[Inputs]) -> list[str]:
    """What the kernel's own input sets leave untried, as a sentence."""
    same = same_in_all(kernel, cases)
    *most, last = same or [""]
    told = f"{', '.join(most)} and {last}" if most else last
    advice = "let `corners` and `sample` vary it, or declare for a number the domain that has no other"
    return [f"every input set has {told}, so what others would show is not known: {advice}"] if same else []


def aimed_builds(kernel: Kernel, jobs: Iterable[Job]) -> list[tuple[str, Image]]:
    """One build of each source, with its title; what cannot be built is left to the check, which says why.

    Raises ToolchainUnavailable.
    """
    chosen: dict[Path, Job] = {}
    for job in jobs:
        if job.source is not None and (job.source not in chosen or USUAL_LEVEL in job.flags):
            chosen[job.source] = job
    found = []
    for source, job in chosen.items():
        try:
            image = open_kernel(kernel, source, *job.flags)
            require_fit(image, kernel.symbol, kernel.signature)
        except ToolchainUnavailable:
            raise
        except (ToolchainError, ImageError):
            continue
        found.append((" ".join((job.name, *job.flags)), image))
    return found


def _beside(kernel: Kernel, example: Inputs, inputs: Inputs) -> Iterator[Inputs]:
    """The inputs with one more, then one less, in each integer of an array that is not the example's, if it may be."""
    before = numbers_of(example)

    def moved(place: Where, number: Any, by: int) -> Any:
        name = ".".join(part for part in place if isinstance(part, str))
        domain = kernel.domain.get(name, Domain())
        if not isinstance(number, np.integer) or number == before.get(place):
            return number
        low, high = domain.bounds(number.dtype)
        changed = int(number) + by
        return changed if low <= changed <= high and domain.holds(changed) else number

    for by in (1, -1):
        yield edited(inputs, partial(moved, by=by))


class _Target:
    """One build on all candidates, up to the first that does not return.

    `failing` are those that it has wrong and must have right, `doubtful` those of which nobody says that it must.
    """

    def __init__(self, image: Image, kernel: Kernel, tried: list[CandidateSet]) -> None:
        self._image, self._kernel, self._tried = image, kernel, tried
        self._repeater = Repeater(image, kernel)
        self._shown: dict[Mistake, bool] = {}
        self._no_mistakes = set[Mistake]()
        self.failing: list[int] = []
        self.doubtful: dict[int, Mapping[str, np.ndarray[Any, Any]] | None] = {}
        self._calls: dict[int, PreparedCall] = {}
        self._took: dict[int, int] = {}
        for number in range(len(tried)):
            if not self._run(number) or len(self.failing) == FAILING:
                break
        self._instructions = self._repeater.instructions  # as compiled: patches come later
        self.classes = ClassesMet(self._instructions)
        self._tries = self._mistakes()
        self._places = self._places_noted()
        self._unlike = {mistake: unlike(mistake, self._places[mistake.pc]) for mistake in self._tries}
        self._noted: dict[int, Mapping[int, Sequence[tuple[int, ...]]]] = {}

    def _run(self, number: int) -> bool:
        """Run the build as it is on a candidate; whether it returns."""
        one = self._tried[number]
        try:
            self._calls[number] = self._repeater.prepare(one.inputs, number)
        except KernelError:  # the check says so of the kernel's own
            return True
        outputs, executed = self._repeater.run(self._calls[number], PER_ELEMENT * (100 + one.elements))
        if not self._is_wrong(number, outputs):
            self._took[number] = executed
        elif one.undeclared:
            self.doubtful[number] = outputs
        else:
            self.failing.append(number)
        return outputs is not None

    def _is_wrong(self, number: int, outputs: Mapping[str, np.ndarray[Any, Any]] | None) -> bool:
        """Whether the golden reference has other outputs for a candidate, or there are none."""
        return outputs is None or not all_agree(outputs, self._tried[number].golden, self._kernel.tolerance)

    def doubt(self, title: str) -> str:
        """What there is to say of the first that is doubtful."""
        number, outputs = next(iter(self.doubtful.items()))
        one, told = self._tried[number], "it faults or does not return"
        for name, made in outputs.items() if outputs is not None else ():
            golden = one.golden[name]
            for at in np.argwhere(~agreement(made, golden, self._kernel.tolerance))[:1]:
                place = tuple(int(index) for index in at)
                got, expected = as_value(made[place]), as_value(golden[place])
                arguments = arguments_at(self._kernel.arguments(one.inputs), place, golden.shape)
                told = f"{element_name(name, place)}: machine {got}, golden {expected} for {arguments}"
        return (
            f"{title} differs on inputs made of the kernel's own by changes of {' and '.join(one.undeclared)}, of "
            "which no domain is declared, so whether it must be right there is not known: declare domains, or let the "
            f"golden reference raise ValueError there; {told}"
        )

    def mistakes(self, title: str) -> list[TriedMistake]:
        """What is known of each mistake that was tried."""
        return [
            TriedMistake(
                build=title,
                place=self._image.place_of(one.pc),
                kind=one.kind,
                instruction=with_targets(one.original.text, self._image),
                instead=with_targets(one.instruction.text, self._image),
                shown=shown,
                impossible=one in self._no_mistakes,
            )
            for one, shown in self._shown.items()
        ]

    def telling(self, kept: set[int]) -> list[int]:
        """For each mistake that the build could have a candidate that shows it, if there is one: a kept one first."""
        order = self._order(kept)
        found, left = list[int](), WORK
        for mistake in self._tries:
            shows, end = None, left - EACH
            for number in order:
                if left < end:
                    break
                left -= self._took[number] + PER_CALL
                if self._is_shown(mistake, number):
                    shows = number
                    break
            if left < 0:
                break
            if shows is not None:
                found.append(shows)
                order.remove(shows)
                order.insert(0, shows)
            self._shown[mistake] = shows is not None
        self._repeater.patch({})
        return found

    def _is_shown(self, mistake: Mistake, number: int) -> bool:
        """Whether the build with a mistake has a candidate wrong that it has right without."""
        if not self._comes_to_bear(mistake, number):
            return False
        self._repeater.patch({mistake.pc: mistake.instruction})
        outputs, _ = self._repeater.run(self._calls[number], 2 * self._took[number] + 100)
        return self._is_wrong(number, outputs)

    def _comes_to_bear(self, mistake: Mistake, number: int) -> bool:
        """Whether a mistake leaves anything else anywhere in a call; where it does not, the call need not be run."""
        is_unlike, found = self._unlike[mistake], self._operands(number).get(mistake.pc, ())
        return bool(found) if is_unlike is None else any(map(is_unlike, found))

    def _operands(self, number: int) -> Mapping[int, Sequence[tuple[int, ...]]]:
        """What the registers of `_places` hold in a call, as `Repeater.noted` says it."""
        if number not in self._noted:
            self._noted[number] = self._repeater.noted(self._calls[number], self._took[number], self._places)
        return self._noted[number]

    def _executions(self, number: int, wanted: Container[int]) -> Iterator[tuple[int, Occurrence]]:
        """What a call executes at the wanted addresses, of those that have classes of operands."""
        for pc, found in self._operands(number).items():
            instruction, places = self._instructions[pc], self._places[pc]
            chosen = [(place, places.index(place)) for place in instruction.places_read]
            for values in found:
                if pc in wanted:
                    yield pc, Occurrence(instruction, {place: values[at] for place, at in chosen}, {})

    def demanded(self, kept: set[int]) -> list[int]:
        """Ask for candidates for what none of those there are meets, kept ones first: classes of operands, mistakes,
        edges of comparisons.

        Returns those that meet something; they come behind the others.
        """
        self._look(self._order(kept))
        self.classes.settle(Ranges(self._image, self._kernel))
        hidden: dict[Goal, Mistake] = {}
        for mistake, shown in self._shown.items():
            goal = None if shown else differing(mistake)
            if goal is not None:
                hidden[goal] = mistake
        edges = set(self.classes.open_edges())
        goals, useful = [*self.classes.open_goals(), *hidden, *self.classes.open_edges()], list[int]()

        def run(example: Inputs, inputs: Inputs) -> list[Goal]:
            one, number = candidate_of(self._kernel, example, inputs), len(self._tried)
            if one is None:
                return []
            self._tried.append(one)
            if not self._run(number) or number not in self._took:
                useful.append(number)
                return []
            before = [*self.classes.open_goals(), *self.classes.open_edges()]
            self.classes.look(self._executions(number, {goal.pc for goal in before}))
            still_open = {*self.classes.open_goals(), *self.classes.open_edges()}
            met = [goal for goal in before if goal not in still_open]
            for goal, mistake in hidden.items():
                if not self._shown[mistake] and self._is_shown(mistake, number):
                    self._shown[mistake] = True
                    met.append(goal)
            self._repeater.patch({})
            useful.extend([number] if met else [])
            return met

        def confirm(example: Inputs, inputs: Inputs) -> list[Goal]:
            met = run(example, inputs)
            if not edges.isdisjoint(met):  # a compiler may compare without the last bits
                met += [goal for beside in _beside(self._kernel, example, inputs) for goal in run(example, beside)]
            return met

        examples = self._examples({goal.pc for goal in goals})
        impossible = sought(self._kernel, self._image, examples, goals, confirm) - edges
        is_weak = self._weakness()
        doubtful = [one for one in hidden.values() if is_weak(one.pc) and not self._shown[one]]
        self._no_mistakes = changing_nothing(self._kernel, self._image, doubtful) if doubtful else set()
        self.classes.exclude(impossible if has_one_shape(self._kernel) else self._never_at_any_length(impossible))
        return useful

    def _weakness(self) -> Callable[[int], bool]:
        """Whether the check would be weak for what is at an address: else proofs are not worth the time."""
        power = Power(mistakes=self.mistakes(""))
        blind = power.blind_lines
        return lambda pc: not power.is_enough or self._image.place_of(pc) in blind

    def _never_at_any_length(self, impossible: Collection[Goal]) -> set[Goal]:
        """Of the goals those that no input meets, where the check would be weak."""
        is_weak = self._weakness()
        goals = {goal for goal in impossible if is_weak(goal.pc)}
        absences = {
            frozenset(name for name, value in one.inputs.items() if value is None): one.inputs
            for one in reversed(self._tried)
            if not one.is_long
        }
        return never(self._kernel, self._image, absences, goals) if goals else set()

    def _look(self, order: Iterable[int]) -> None:
        """Look for classes of operands in candidates."""
        left, vain, classes = LOOKED_AT, IN_VAIN, self.classes
        for number in order:
            left, vain = left - self._took[number], vain - self._took[number]
            if min(left, vain) < 0 or not classes.wanted:
                return
            if classes.look(self._executions(number, classes.wanted)):
                vain = IN_VAIN

    def _examples(self, places: set[int]) -> list[Inputs]:
        """Input sets of few instructions that together come by addresses, as far as few of them do."""
        found, left = list[Inputs](), set(places)
        for number in sorted(self._took, key=lambda number: self._took[number])[:LOOKED_THROUGH]:
            if not left or len(found) == EXAMPLES or self._took[number] > FOLLOWED:
                break
            path = set(self._repeater.path(self._calls[number], self._took[number]))
            if path & left:
                found.append(self._tried[number].inputs)
                left -= path
        return found

    def _order(self, first: set[int]) -> list[int]:
        """The candidates that are not long, by lot, but these first, and last those that only tell of a doubt."""
        lot = np.random.default_rng(1).permutation(len(self._tried)).tolist()
        order = [number for number in lot if number in self._took and not self._tried[number].is_long]
        return sorted(order, key=lambda number: (number not in first, bool(self._tried[number].undeclared)))

    def _places_noted(self) -> dict[int, list[Place]]:
        """The registers, by address, that say which classes of operands a call meets, and whether mistakes show."""
        found = {pc: list(self._instructions[pc].places_read) for pc in self.classes.wanted}
        for mistake in self._tries:
            places = found.setdefault(mistake.pc, [])
            places += [place for place in places_of(mistake) if place not in places]
        return found

    def _mistakes(self) -> list[Mistake]:
        """At most so many of the code that is executed, evenly spread, in an order that is the same every time."""
        every = [mistake for pc, i in sorted(self._instructions.items()) for mistake in mistakes_of(pc, i)]
        some = every[:: -(-len(every) // MISTAKES)] if every else []
        return [some[n] for n in np.random.default_rng(len(some)).permutation(len(some))]
