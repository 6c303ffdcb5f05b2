"""An input that somebody asks for: with which an instruction meets a class of operands, or goes one way.

    tie at requant.c:25              some lane of an instruction of the line meets a tie
    branch at kernel.c:14            each way of a conditional branch there
    taken at kernel.c:14 b.ne        one way of one of several
    unlike RIVAL at output[3]        one of the kernel's conventions gives another number there

What is found is run before it is told.  That there is none is proved, or it is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from math import prod
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

import numpy as np

from isa.decode import decode
from isa.errors import LanewiseError
from isa.evaluate.exact import Evaluation
from isa.instruction import Instruction
from isa.rows import TABLE
from sim.call.prepared import Repeater
from sim.check.aim.candidates import CandidateSet, candidate_of, candidates, changed_candidates
from sim.check.aim.classes import goals_of
from sim.check.aim.demand import has_one_shape, never
from sim.check.aim.directions import Direction
from sim.check.aim.power import NOT_FOUND
from sim.check.aim.solving import FollowedShape, differences, followed
from sim.check.operand_classes import OperandClass
from sim.check.written_inputs import plain
from sim.kernels.extent import element_name, indices_in
from sim.kernels.kernel import Inputs, Kernel
from sim.kernels.tolerance import agreement, all_agree
from sim.machine.errors import ExecutionError
from sim.prove.claim import any_of
from sim.symbolic.equality import Answer, Equality, decide_all
from sim.symbolic.following.lookout import Goal
from sim.symbolic.kernel_proof import Shape
from sim.symbolic.reference import TracedReference, traced_reference
from sim.symbolic.simplify import SIMPLIFIER
from sim.toolchain.branches import with_targets
from sim.toolchain.image import Image

NAMES: Final[tuple[str, ...]] = (*get_args(OperandClass), *get_args(Direction))
BRANCH: Final = "branch"
"""Both ways of a branch."""
INSTRUCTIONS: Final = 200_000
"""Instructions that are followed of one shape, and that a call may take."""
TRIED: Final = 400_000
"""Instructions of inputs that are tried where the solver does not decide."""
_AT: Final = re.compile(rf"({'|'.join(sorted((*NAMES, BRANCH), key=len, reverse=True))}) at (\S+:\d+)(?: (.+))?")
_UNLIKE: Final = re.compile(r"unlike (\S+?)(?: at (\w+)((?:\[[\d, ]+\])+))?")


class FindError(LanewiseError):
    """What is not found because it is not there, or not said in a way that is read; the message is one sentence."""


class AtLine(NamedTuple):
    """A class of operands, or a way, of instructions of a source line whose text begins so."""

    name: str
    place: str
    instruction: str


class Unlike(NamedTuple):
    """One of a kernel's conventions gives another number than the golden reference: of an element, or of any.

    `at` are the indices of the element, or its one number in the order of C.
    """

    rival: str
    output: str | None
    at: tuple[int, ...]

    @property
    def element(self) -> str:
        """Such as out[1][2]."""
        return element_name(str(self.output), self.at)

    def number(self, shape: tuple[int, ...]) -> int | None:
        """The number of the element in an array of that shape; None where there is none."""
        if len(self.at) == 1:
            (number,) = self.at
            return number if number < prod(shape) else None
        inside = len(self.at) == len(shape) and all(
            index < extent for index, extent in zip(self.at, shape, strict=True)
        )
        return int(np.ravel_multi_index(self.at, shape)) if inside else None


@dataclass(frozen=True, kw_only=True)
class FoundInput:
    """What came of a question: `what` was asked of which build, "" for none.

    `inputs` meet it, and have been run; `shape` is theirs.  `agrees` says whether the build gives there what the golden
    reference gives, None where that is not asked.  Without inputs `proved` says of which inputs none meets it, "" where
    that is not known, for which `reason` is why.
    """

    build: str
    what: str
    inputs: Inputs | None = None
    shape: str = ""
    agrees: bool | None = None
    proved: str = ""
    reason: str = ""

    @property
    def verdict(self) -> str:
        """In a word or three."""
        return "found" if self.inputs is not None else "none can" if self.proved else NOT_FOUND

    @property
    def plain_inputs(self) -> dict[str, Any] | None:
        """The inputs as JSON has them."""
        return None if self.inputs is None else plain(self.inputs)

    def as_json(self) -> dict[str, object]:
        """As plain data."""
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**told, "verdict": self.verdict, "inputs": self.plain_inputs}


def wanted_of(text: str) -> AtLine | Unlike:
    """What a user asks for, from its words.  Raises FindError."""
    if at := _AT.fullmatch(text.strip()):
        return AtLine(at[1], at[2], at[3] or "")
    if unlike := _UNLIKE.fullmatch(text.strip()):
        return Unlike(unlike[1], unlike[2], tuple(indices_in(unlike[3] or "")))
    raise FindError(
        f"{text!r} is nothing that can be found: say WHAT at FILE:LINE, WHAT one of {BRANCH}, {', '.join(NAMES)}, or "
        "unlike CONVENTION at OUTPUT[3]"
    )


@dataclass(frozen=True, kw_only=True)
class InputSearch:
    """Where is looked: input sets of these shapes, so many seconds for a question; `kept_in` has answers of before.

    `has_reference` is false for a function of which nothing is known but its prototype.
    """

    kernel: Kernel
    shapes: Sequence[Shape]
    seconds: float
    jobs: int
    kept_in: Path | None
    has_reference: bool = True

    def at_line(self, title: str, image: Image, wanted: AtLine) -> Iterator[FoundInput]:
        """What is found in a build, instruction by instruction.  Raises FindError where the line has no such class."""
        repeater = Repeater(image, self.kernel)
        own = [CandidateSet(shape.example, self.kernel.expected(shape.example)) for shape in self.shapes]
        code = self._code(image, repeater, own)
        goals = dict(_goals(image, code, wanted))
        if not goals:
            raise FindError(_what_there_is(image, code, wanted))
        left, impossible, reasons = dict.fromkeys(goals), set(goals), dict[Goal, str]()
        for shape in self.shapes:
            if not left:
                break
            try:
                of_shape = followed(self.kernel, image, shape.example, left, INSTRUCTIONS)
            except LanewiseError as error:
                impossible.clear()
                reasons |= dict.fromkeys(left, f"{shape.name}: {error}")
                continue
            for goal in list(left):
                inputs, open_because = self._asked(of_shape, goal)
                if inputs is not None and (found := self._tried(repeater, goal, shape.example, inputs)) is not None:
                    del left[goal]
                    yield replace(found, build=title, what=goals[goal], shape=shape.name)
                elif inputs is not None or open_because:
                    impossible.discard(goal)
                    reasons.setdefault(goal, open_because or "what the solver found does not meet it when it is run")
        absences = {frozenset(n for n, v in s.example.items() if v is None): s.example for s in self.shapes}
        gone = impossible & left.keys()
        at_any_length = gone if has_one_shape(self.kernel) else never(self.kernel, image, absences, gone)
        for goal in left:
            if goal in gone:
                lengths = "of any length" if goal in at_any_length else self._lengths()
                yield FoundInput(build=title, what=goals[goal], proved=f"no input {lengths} brings it about")
            elif (found := self._by_trying(repeater, goal, own)) is not None:
                yield replace(found, build=title, what=goals[goal], shape="drawn")
            else:
                yield FoundInput(build=title, what=goals[goal], reason=reasons.get(goal, ""))

    def unlike(self, wanted: Unlike) -> FoundInput:
        """An input with which a convention of the kernel is another than its golden reference.  Raises FindError."""
        kernel, what = self.kernel, f"unlike {wanted.rival}"
        if wanted.rival not in kernel.conventions:
            names = ", ".join(kernel.conventions) or "none"
            raise FindError(f"{kernel.title} has no convention {wanted.rival!r}: it has {names}")
        if wanted.output is not None:
            what += f" at {wanted.element}"
            outputs = [kernel.expected(shape.example).get(wanted.output, np.zeros(0)) for shape in self.shapes]
            if all(wanted.number(output.shape) is None for output in outputs):
                raise FindError(f"no output of these lengths has {wanted.element}")
        rival, reason = replace(kernel, golden=kernel.conventions[wanted.rival], conventions={}), ""
        for shape in self.shapes:
            try:
                mine, other = (traced_reference(one, shape.example) for one in (kernel, rival))
            except LanewiseError as error:
                reason = reason or f"{shape.name}: {error}"
                continue
            if known := mine.known | other.known:
                reason = reason or f"{', '.join(sorted(known))} is as in the example"
            at = None
            if wanted.output is not None:
                at = wanted.output, wanted.number(kernel.expected(shape.example)[wanted.output].shape)
            questions = [q for name, n, q in differences(mine, other) if at is None or (name, n) == at]
            inputs, open_because = self._found(questions, mine)
            reason = reason or open_because
            if inputs is not None and _is_unlike(kernel, wanted, inputs):
                return FoundInput(build="", what=what, inputs=inputs, shape=shape.name)
            if inputs is not None:
                reason = reason or "what the solver found is none when it is run"
        if reason:
            return FoundInput(build="", what=what, reason=reason)
        return FoundInput(
            build="", what=what, proved=f"they are the same for all inputs {self._lengths()} that both are defined on"
        )

    def _code(self, image: Image, repeater: Repeater, own: Sequence[CandidateSet]) -> dict[int, Instruction]:
        """The instructions of the function, and of those that it calls with an example, by address."""
        for number, one in enumerate(own):
            repeater.run(repeater.prepare(one.inputs, number), INSTRUCTIONS)
        code, entry = image.code_of(self.kernel.symbol), image.symbol(self.kernel.symbol).address
        found = dict(repeater.instructions)
        for at in range(0, len(code), 4):
            with suppress(LanewiseError):  # data between instructions or behind them
                found[entry + at] = decode(code[at : at + 4], entry + at, TABLE)
        return dict(sorted(found.items()))

    def _asked(self, shape: FollowedShape, goal: Goal) -> tuple[Inputs | None, str]:
        """Inputs of a shape that should meet a goal, or why it is not known whether there are any."""
        conditions = shape.conditions(goal)
        no, yes = (SIMPLIFIER.number(bit) for bit in (0, 1))
        inputs, reason = self._found([Equality(condition, no, yes) for condition in conditions], shape.arguments)
        elsewhere = "it depends on no input, but on where arrays lie" * (len(conditions) < len(shape.met[goal]))
        return inputs, reason or shape.open or elsewhere

    def _found(self, questions: Sequence[Equality], arguments: TracedReference) -> tuple[Inputs | None, str]:
        """Inputs on which some equality does not hold, or why it is not known whether there are any."""
        reason = ""
        for start in range(0, len(questions), self.jobs):
            answers: dict[int, Answer] = {}
            some = dict(enumerate(questions[start : start + self.jobs]))
            if decide_all(some, self.seconds, self.jobs, self.kept_in, answers.__setitem__):
                raise KeyboardInterrupt
            for _, answer in sorted(answers.items()):
                if answer.finding.outcome == "counter-example":
                    return arguments.input_set({**arguments.values(), **answer.values}), ""
                if answer.finding.outcome == "unknown":
                    reason = reason or answer.finding.reason
        return None, reason

    def _tried(self, repeater: Repeater, goal: Goal, example: Inputs, inputs: Inputs) -> FoundInput | None:
        """Inputs that meet a goal when they are run; None where they do not, or are no inputs of the kernel."""
        one = candidate_of(self.kernel, example, inputs)
        return None if one is None else self._run(repeater, goal, one)

    def _run(self, repeater: Repeater, goal: Goal, one: CandidateSet) -> FoundInput | None:
        call, condition, met = repeater.prepare(one.inputs, 1), any_of(goal.lanes), False
        with suppress(ExecutionError):
            executions = repeater.executions(call, INSTRUCTIONS, {goal.pc})
            met = any(Evaluation(occurrence).value(condition) for _, occurrence in executions)
        if not met:
            return None
        outputs, _ = repeater.run(call, INSTRUCTIONS)
        agrees = outputs is not None and all_agree(outputs, one.golden, self.kernel.tolerance)
        return FoundInput(build="", what="", inputs=one.inputs, agrees=agrees if self.has_reference else None)

    def _by_trying(self, repeater: Repeater, goal: Goal, own: Sequence[CandidateSet]) -> FoundInput | None:
        """Inputs that meet a goal among those that a check would try."""
        left = TRIED
        for one in candidates(self.kernel, 1) if self.kernel.is_drawn else changed_candidates(self.kernel, own, 1):
            if left <= 0:
                return None
            _, executed = repeater.run(repeater.prepare(one.inputs, 1), left)
            left -= executed
            if not one.undeclared and (found := self._run(repeater, goal, one)) is not None:
                return found
        return None

    def _lengths(self) -> str:
        lengths = sorted({shape.length for shape in self.shapes})
        return f"of the length{'s' * (len(lengths) != 1)} {', '.join(map(str, lengths))}"


def _goals(image: Image, code: Mapping[int, Instruction], wanted: AtLine) -> Iterator[tuple[Goal, str]]:
    names = ("taken", "not taken") if wanted.name == BRANCH else (wanted.name,)
    for pc, instruction in code.items():
        text = with_targets(instruction.text, image)
        is_wanted = text.startswith(wanted.instruction) or instruction.text.startswith(wanted.instruction)
        if image.place_of(pc) == wanted.place and is_wanted:
            for name, goal in goals_of(pc, instruction, get_args(OperandClass)).items():
                if name in names:
                    yield goal, f"{name} at {wanted.place} {text}"


def _what_there_is(image: Image, code: Mapping[int, Instruction], wanted: AtLine) -> str:
    """That a line has no such class, and which it has."""
    of_line = [(pc, one) for pc, one in code.items() if image.place_of(pc) == wanted.place]
    if not of_line:
        lines = sorted({line for pc in code if (line := image.source_line(pc))}, key=lambda at: (at.file, at.line))
        there = f"it is of {', '.join(map(str, lines))}" if lines else "its build has no line numbers: compile with -g"
        return f"no code is of {wanted.place}: {there}"
    names = dict.fromkeys(name for pc, one in of_line for name in goals_of(pc, one, get_args(OperandClass)))
    at = f"{wanted.place} {wanted.instruction}".strip()
    return f"no instruction at {at} has {wanted.name!r}; the line has {', '.join(names) or 'nothing of that kind'}"


def _is_unlike(kernel: Kernel, wanted: Unlike, inputs: Inputs) -> bool:
    """Whether the two give different numbers on inputs that both are defined on."""
    golden = kernel.expected(inputs)
    made = kernel.by_convention(wanted.rival, inputs, golden)
    if made is None:
        return False
    apart = {name: ~agreement(made[name], array, kernel.tolerance).ravel() for name, array in golden.items()}
    if wanted.output is not None:
        number = wanted.number(golden[wanted.output].shape)
        return number is not None and bool(apart[wanted.output][number])
    return any(each.any() for each in apart.values())
