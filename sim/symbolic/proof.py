"""A kernel proved: what each build leaves is what its reference leaves, element by element, for all inputs.

The reference and the compiled code are run once for each shape, on numbers that are not known; what they make of an
element are two lanes.  Elements that ask the same are asked once, whatever build, length or place they are of.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from isa.errors import LanewiseError
from isa.lane import Floating, Lane, Place, constant, walk
from sim.call.call import CompiledKernel, Implementation, ProgramKernel
from sim.kernels.inputs import edited
from sim.kernels.kernel import Inputs, Kernel
from sim.prove.claim import any_of
from sim.symbolic.call import PLACED, Path, SymbolicCall, input_leaf
from sim.symbolic.equality import NO_INPUT, Answer, Equality, asked, decide_all
from sim.symbolic.kernel_proof import NOT_ASKED, BuildProof, KernelProof, OutputElement, Shape, Unproved
from sim.symbolic.loops.proof import any_length_questions
from sim.symbolic.numbers.elementwise import less, negated, settled
from sim.symbolic.numbers.floats import format_of, is_floating
from sim.symbolic.numbers.tracing import Untraceable
from sim.symbolic.program_call import SymbolicProgramCall
from sim.symbolic.proving.by_value import ValueByValue
from sim.symbolic.proving.counter_examples import in_words, unproved
from sim.symbolic.proving.rehearsal import is_undefined, rehearse
from sim.symbolic.proving.substitution import Substitution, argument_lanes
from sim.symbolic.proving.trial import wrong_call
from sim.symbolic.reference import ReferenceCase, TracedReference, traced_reference
from sim.symbolic.rules.floating import but_for_nans
from sim.symbolic.shapes import sizes_held
from sim.symbolic.simplify import SIMPLIFIER
from sim.toolchain.image import Image


@dataclass
class _Pair:
    """Elements that ask whether the same two lanes are equal under the same condition."""

    question: Equality
    reference: TracedReference
    elements: list[OutputElement] = field(default_factory=list)


class Prover:
    """Proves builds of one kernel in shapes.

    `builds` are linked code by the name of the build, and None for the program of intrinsics.  `each` gives the values
    of numbers that are taken one by one; numbers of few values are without being named.  `known` names
    numbers that stay as they are in the example.  One question may take `seconds`; `jobs` are asked at once; `kept_in`
    keeps answers.  With `same` builds are compared with the first of them, on the inputs that the reference
    takes; with `any_length` they are proved for all lengths besides, where that can be done.  `symbols` are the
    functions of builds that have another than the kernel's.
    """

    def __init__(
        self, kernel: Kernel, builds: Mapping[str, Image | None], shapes: Sequence[Shape], *,
        each: Mapping[str, Sequence[int]], known: frozenset[str], seconds: float, jobs: int,
        kept_in: FilePath | None, same: bool = False, any_length: bool = False,
        symbols: Mapping[str, str] | None = None, advance: Callable[[str], None] = lambda _: None,
    ) -> None:  # fmt: skip
        self._kernel, self._builds, self._same = kernel, builds, same
        self._kernels = {name: replace(kernel, symbol=symbol) for name, symbol in (symbols or {}).items()}
        self._first: dict[tuple[int, int], Mapping[str, list[Lane]]] = {}
        self._beside, self._tried_kernel = "the reference", kernel
        self._known, self._any_length = known, any_length
        self._seconds, self._jobs, self._kept_in, self._advance = seconds, jobs, kept_in, advance
        self._substitution = Substitution()
        self._by_value = ValueByValue(each, self._substitution)
        self._pairs: dict[tuple[Lane, Lane, Lane], _Pair] = {}
        self._suspected: dict[tuple[str, int], dict[str, Equality]] = {}
        self._given_of: dict[tuple[Lane, Lane], Lane] = {}
        if each:
            shapes = [shape._replace(example=edited(shape.example, self._by_value.asked_about)) for shape in shapes]
        found = [BuildProof(build=name) for name in builds]
        self.proof = KernelProof(shapes=shapes, builds=found, same=same, known=sizes_held(kernel, shapes))

    def run(self) -> KernelProof:
        """Prove what can be proved.  Raises KernelError where reference and signature do not fit, SolverMissing."""
        started = time.process_time()
        try:
            references = self._references()
            for build, image in zip(self.proof.builds, self._builds.values(), strict=True):
                self._collect(build, image, references)
        except Untraceable as error:
            self.proof.untraceable = str(error)
            return self.proof
        except KeyboardInterrupt:
            self.proof.interrupted = True
            return self.proof
        finally:
            self.proof.trace_seconds = time.process_time() - started
        self._decide()
        if self._any_length and not self.proof.interrupted:
            self._decide_for_any_length()
        return self.proof

    def _references(self) -> list[tuple[int, TracedReference]]:
        """The reference in each shape; of known numbers of few values with each of them."""
        found = []
        for number, shape in enumerate(self.proof.shapes):
            self._advance(f"the reference, {shape.name}")
            traced = self._reference(shape)
            if not traced.cases:
                raise Untraceable(f"the reference takes no input of {shape.name}")
            self.proof.known |= traced.known
            found.append((number, traced))
            self.proof.refused_inputs |= traced.refused > 0
            self._by_value.meet(traced)
            self.proof.each = self._by_value.each
        return found

    def _reference(self, shape: Shape) -> TracedReference:
        """The reference in a shape; where it is not traced, builds are compared without it."""
        try:
            return traced_reference(self._kernel, shape.example, self._known)
        except Untraceable as error:
            if not self._same or self._kernel.valid is not None:
                raise
            self.proof.reference_not_asked = str(error)
            return traced_reference(self._kernel, shape.example, self._known, with_outputs=False)

    def _collect(
        self, build: BuildProof, image: Image | None, references: Sequence[tuple[int, TracedReference]]
    ) -> None:
        kernel = self._kernels.get(build.build, self._kernel)
        call = SymbolicProgramCall(kernel) if image is None else SymbolicCall(kernel, image)
        numbers = ProgramKernel(kernel) if image is None else CompiledKernel(image, kernel, engine="machine")
        first = self.proof.builds[0] if self._same else None
        if build is first:
            self._beside, self._tried_kernel = (
                build.build,
                replace(self._kernel, golden=partial(_outputs_of, kernel, numbers)),
            )
        for number, reference in references:
            shape = self.proof.shapes[number]
            self._advance(f"{build.build}, {shape.name}")
            arguments, before = self._kernel.arguments(shape.example), len(build.refused) + len(build.faults)
            paths: Sequence[Path] = ()
            try:
                paths = call.traced(arguments, reference.unknown_arguments, [self._taken(reference)])
            except LanewiseError as error:
                build.refused.append(f"{shape.name}: {error}")
            else:
                rehearse(self._kernel, build, numbers, reference, paths, self._substitution)
            for path in paths:
                build.instructions += path.instructions
                for at, names in path.branches.items():
                    build.branches.setdefault(at, set()).update(name.removeprefix("in.") for name in names)
                build.faults += [f"{shape.name}: {fault}" for fault in path.faults]
                for which, case in enumerate(reference.cases):
                    self._pair(build, number, reference, which, case, path)
            is_told = first is None or (build is not first and not first.refused and not first.faults)
            if len(build.refused) + len(build.faults) > before and is_told:
                stopped = self._stopped(reference, call.stopped_under)
                self._try(
                    build,
                    numbers,
                    reference,
                    number,
                    [*stopped, *self._suspected.pop((build.build, number), {}).values()],
                )

    def _stopped(self, reference: TracedReference, conditions: Sequence[Lane]) -> Iterator[Equality]:
        """That no input goes where a build was not followed, which some input does."""
        for case in reference.cases if conditions else ():
            by, given = argument_lanes(self._kernel, reference, case), case.given
            for condition in conditions:
                given = SIMPLIFIER.computed("and", given, self._substitution.of(SIMPLIFIER.simplified(condition), by))
            yield Equality(SIMPLIFIER.number(1), SIMPLIFIER.number(0), given)

    def _try(
        self, build: BuildProof, called: Implementation, reference: TracedReference, shape: int,
        suspected: Sequence[Equality],
    ) -> None:  # fmt: skip
        """Run a build that is not followed, or does what no caller may find: inputs that show it refute it."""
        if wrong := wrong_call(self._tried_kernel, called, reference, suspected, self._beside):
            element = OutputElement(build.build, shape, wrong.output, wrong.number)
            reason = f"{in_words(reference, wrong.values) or 'the example'}: {wrong.reason}"
            build.failures.append(
                Unproved(
                    element=element, elements=1, outcome="counter-example", reason=reason, inputs=wrong.inputs,
                    call_seed=wrong.seed,
                )
            )  # fmt: skip

    def _taken(self, reference: TracedReference) -> Lane:
        """1 where the single numbers of the call are those of an input that is asked about and the reference takes."""
        scalars = reference.scalars
        asked_about = [
            negated(less(scalars[name], constant(min(values)))) & less(scalars[name], constant(max(values) + 1))
            for name, values in self.proof.each.items()
            if name in scalars and values
        ]
        cases = []
        for case in reference.cases:
            single = [(name, case.arguments[name]) for name in reference.unknown_arguments]
            same = [input_leaf(self._kernel, name).equals(lanes[0]) for name, lanes in single if len(lanes) == 1]
            cases.append(reduce(lambda a, b: settled(a & b), [*asked_about, *same], case.given))
        return SIMPLIFIER.simplified(any_of(cases))

    def _pair(
        self, build: BuildProof, shape: int, reference: TracedReference, which: int, case: ReferenceCase, path: Path
    ) -> None:  # fmt: skip
        by, put = argument_lanes(self._kernel, reference, case), self._substitution.of
        condition = put(path.condition, by)
        given = self._given_of.get((case.given, condition))
        if given is None:
            given = case.given & condition
            for leaf, lane in by.items():
                if lane.low < leaf.low or lane.high > leaf.high:
                    given = given & negated(less(lane, constant(leaf.low))) & less(lane, constant(leaf.high + 1))
                    self.proof.refused_inputs = True
            given = self._given_of[case.given, condition] = SIMPLIFIER.simplified(settled(given))
        lost = [Equality(put(now, by), put(was, by), given) for was, now in path.lost]
        suspected = self._suspected.setdefault((build.build, shape), {})
        for question in lost:
            if question.one is not question.other:
                suspected.setdefault("a register", question)
        outputs = case.outputs
        if self._same and build is self.proof.builds[0]:
            self._first[shape, which] = {n: [put(x, by) for x in of] for n, of in path.outputs.items()}
            return
        if self._same:
            if (shape, which) not in self._first:
                name = self.proof.shapes[shape].name
                found = [said for said in self.proof.builds[0].refused if said.startswith(f"{name}: ")]
                build.refused.append(
                    f"{name}: {self.proof.builds[0].build} is not followed" + "".join(found[:1]).removeprefix(name)
                )
                return
            outputs = self._first[shape, which]
        if set(path.outputs) != set(outputs):
            build.refused.append(f"{self.proof.shapes[shape].name}: the outputs are not those of the reference")
            return
        types = {p.name: np.dtype(p.dtype) for p in self._kernel.signature.outputs}
        for name, lanes in outputs.items():
            dtype = types.get(name, np.dtype(self._kernel.signature.returns or "i8"))
            for index, (lane, wanted) in enumerate(zip(path.outputs[name], lanes, strict=True)):
                made = put(lane, by)
                if is_undefined(made):  # a fault says so
                    suspected.setdefault("undefined bytes", Equality(made, wanted, given))
                    build.elements += 1
                    continue
                if is_floating(dtype):
                    made, wanted = (but_for_nans(SIMPLIFIER, each, format_of(dtype)) for each in (made, wanted))
                key = (made, wanted, given)
                pair = self._pairs.get(key)
                if pair is None:
                    self.proof.is_floating |= any(isinstance(node, Floating) for node in walk([made, wanted]))
                    pair = self._pairs[key] = _Pair(Equality(made, wanted, given), reference)
                pair.elements.append(OutputElement(build.build, shape, name, index))
                build.elements += 1

    def _decide(self) -> None:
        """Ask what the form does not decide, once for each question that is another."""
        builds = {build.build: build for build in self.proof.builds}
        alike: dict[Hashable, list[_Pair]] = {}
        for pair in self._pairs.values():
            if pair.question.one is pair.question.other:
                self._count("form")
                self.proof.alike += 1
                for element in pair.elements:
                    builds[element.build].proved += 1
                continue
            alike.setdefault(self._kind(pair.question), []).append(pair)
        questions: dict[tuple[Hashable, int], Equality] = {}
        chosen: dict[tuple[Hashable, int], dict[Place, int]] = {}
        waiting: dict[Hashable, int] = {}
        for key, pairs in alike.items():
            for number, (question, values) in enumerate(self._by_value.questions(pairs[0].question)):
                questions[key, number], chosen[key, number] = question, values
            waiting[key] = number + 1
        self.proof.questions = len(questions)
        failed: dict[Hashable, tuple[int, Unproved]] = {}
        ways: dict[tuple[Hashable, int], str] = {}

        def wanted(name: tuple[Hashable, int]) -> bool:
            """Whether no value before this one refutes the elements: so which one is shown is not a matter of time."""
            key, number = name
            return key not in failed or failed[key][1].outcome == "unknown" or number <= failed[key][0]

        def report(name: tuple[Hashable, int], answer: Answer) -> None:
            key, number = name
            waiting[key] -= 1
            ways[name] = answer.how if answer.finding.outcome == "proved" else answer.finding.outcome
            self._advance(f"{len(questions) - len(ways)} of {len(questions)} questions left")
            self.proof.kept += answer.finding.cached
            if answer.finding.outcome != "proved" and wanted(name):
                elements, first = [e for pair in alike[key] for e in pair.elements], alike[key][0]
                failure = unproved(elements, first.reference, first.question, answer, chosen[name])
                found, known = (number, failure), failed.get(key, (number, failure))
                failed[key] = min(found, known, key=lambda one: (one[1].outcome == "unknown", one[0]))
            elif waiting[key] == 0 and key not in failed:
                for pair in alike[key]:
                    for element in pair.elements:
                        builds[element.build].proved += 1

        before = _of_children()
        self.proof.interrupted |= decide_all(questions, self._seconds, self._jobs, self._kept_in, report, wanted)
        self.proof.solver_seconds = _of_children() - before
        for which in questions:
            if not wanted(which):
                self._count(NOT_ASKED)
            elif which in ways:
                self._count(ways[which])
        for key, (_, failure) in failed.items():
            for name, build in builds.items():
                elements = [e for pair in alike[key] for e in pair.elements if e.build == name]
                if elements:
                    build.failures.append(_of_build(failure, elements, builds[failure.element.build] is build))
        only_impossible = self.proof.ways and set(self.proof.ways) <= {NO_INPUT}
        if only_impossible:
            self.proof.untraceable = "no input at all fulfils what the reference takes"

    def _decide_for_any_length(self) -> None:
        """Prove the builds for all lengths, with the null pointers of each of the shapes."""
        examples = {
            tuple(n for n, v in shape.example.items() if v is None): shape.example for shape in self.proof.shapes
        }
        # what is alike but for the names of inputs is asked once, of all builds that ask it
        of_builds: dict[Hashable, tuple[Equality, dict[str, None]]] = {}
        for build, image in zip(self.proof.builds, self._builds.values(), strict=True):
            build.any_length = "" if image is not None else "programs of intrinsics are followed at the lengths named"
            for example in examples.values():
                self._advance(f"{build.build}, any length")
                if image is None:
                    break
                try:
                    left = any_length_questions(self._kernel, image, example)
                except LanewiseError as error:
                    build.any_length = str(error)
                    break
                build.loops += left.loops
                self.proof.longest = left.longest
                for question in left.questions:
                    of_builds.setdefault(self._kind(question), (question, {}))[1][build.build] = None
        builds = {build.build: build for build in self.proof.builds}
        questions = {
            (kind, number): part
            for kind, (question, _) in of_builds.items()
            for number, (part, _) in enumerate(self._by_value.questions(question))
        }
        waiting = dict.fromkeys(questions)

        def without_proof(kind: Hashable, reason: str) -> None:
            for name in of_builds[kind][1]:
                builds[name].any_length = builds[name].any_length or reason

        def report(name: tuple[Hashable, int], answer: Answer) -> None:
            self._advance(f"{len(waiting)} questions of any length left")
            waiting.pop(name)
            self.proof.kept += answer.finding.cached
            if answer.finding.outcome != "proved":
                found = answer.finding.reason or "with numbers of its own for what the length leaves open, it differs"
                without_proof(name[0], f"{answer.finding.outcome}: {found}")

        self.proof.interrupted |= decide_all(questions, self._seconds, self._jobs, self._kept_in, report)
        for kind, _ in waiting:
            without_proof(kind, "interrupted")

    def _count(self, how: str) -> None:
        self.proof.ways[how] = self.proof.ways.get(how, 0) + 1

    def _kind(self, question: Equality) -> Hashable:
        """What a question is but for the names of its inputs, and which of these are taken value by value."""
        found = asked(question)
        by_value = ((k, lane.place.file) for k, lane in enumerate(found.inputs) if self._by_value.takes(lane))
        return found.key, tuple(by_value)


def _of_children() -> float:
    """Seconds of processor time of the processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _of_build(failure: Unproved, elements: Sequence[OutputElement], is_its_own: bool) -> Unproved:
    """The failure as one of another build that asks the same; the inputs are those of the first."""
    first = failure.element if is_its_own else elements[0]
    return replace(failure, element=first, elements=len(elements))


def _outputs_of(kernel: Kernel, called: Implementation, inputs: Inputs) -> Mapping[str, Any]:
    """What a build that others are compared with leaves, as a golden reference would return it."""
    return next(iter(called.call(kernel.arguments(inputs), PLACED).outputs.values()))
