"""What a proof of a kernel has found: of which shapes, build by build, and what is not proved."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sim.kernels.kernel import Inputs
from sim.prove.claim import Outcome

NOT_ASKED: Final = "not asked, as a value before refutes"
"""What became of a question about a number that is taken value by value."""


class Shape(NamedTuple):
    """Input sets of one shape, by an example, a word for it, and the length of its rows."""

    name: str
    length: int
    example: Inputs


def in_runs(numbers: Collection[int]) -> str:
    """Numbers as "0..5, 7"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{low}..{high}" if low != high else str(low) for low, high in runs)


class OutputElement(NamedTuple):
    """An element of an output of a build, in one shape; of the output "" where it is the call itself."""

    build: str
    shape: int
    output: str
    number: int


@dataclass(frozen=True, kw_only=True)
class Unproved:
    """Elements that are not proved: the first of them, how many ask the same, and what came of it.

    `inputs` is the input set of a counter-example.  `call_seed` is the seed of a call with it that was wrong, by which
    arrays lie and undefined bytes are drawn; None where it is shown without a call.
    """

    element: OutputElement
    elements: int
    outcome: Outcome
    reason: str
    inputs: Inputs | None = None
    call_seed: int | None = None
    seconds: float = 0.0


@dataclass(kw_only=True)
class BuildProof:
    """What is known of one build: `proved` and `failures` count elements of all shapes.

    `any_length` is "" where it is proved for all lengths, None where that was not asked, else what is in the way;
    `loops` is how many were taken by induction for that.
    """

    build: str
    elements: int = 0
    proved: int = 0
    instructions: int = 0
    failures: list[Unproved] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    branches: dict[str, set[str]] = field(default_factory=dict)
    any_length: str | None = None
    loops: int = 0

    @property
    def depends_on(self) -> list[str] | None:
        """The inputs on which control flow or an address may depend, none for code that does the same for all.

        None where it was not followed to its end.
        """
        return None if self.refused or not self.elements else sorted(set().union(*self.branches.values()))

    @property
    def outcome(self) -> Outcome:
        """Proved where every element is, and nothing else was found; at least one there must be."""
        if any(failure.outcome == "counter-example" for failure in self.failures):
            return "counter-example"
        whole = self.elements > 0 and self.proved == self.elements and not self.refused and not self.faults
        return "proved" if whole and not self.any_length else "unknown"


@dataclass(kw_only=True)
class KernelProof:
    """What a run has found: `ways` says how many questions were decided how, of which `alike` had not to be asked, as
    both sides have the same form; `known` which numbers were not unknown.

    Seconds are of processor time.  `longest` is the greatest length where all are asked for.  `reference_not_asked`
    says why builds are compared with each other on all inputs of the domains, whether the reference takes them or not.
    """

    shapes: Sequence[Shape]
    builds: list[BuildProof]
    known: frozenset[str] = frozenset()
    each: Mapping[str, Sequence[int]] = field(default_factory=dict)
    ways: dict[str, int] = field(default_factory=dict)
    questions: int = 0
    alike: int = 0
    kept: int = 0
    refused_inputs: bool = False
    trace_seconds: float = 0.0
    solver_seconds: float = 0.0
    interrupted: bool = False
    untraceable: str = ""
    reference_not_asked: str = ""
    same: bool = False
    is_floating: bool = False
    longest: int | None = None

    @property
    def compared(self) -> list[BuildProof]:
        """The builds that are compared: with the reference all, with the first build the others."""
        return self.builds[1:] if self.same else self.builds

    @property
    def outcome(self) -> Outcome:
        """Proved where every build is."""
        outcomes = {build.outcome for build in self.compared}
        if "counter-example" in outcomes:
            return "counter-example"
        return "proved" if outcomes == {"proved"} and not self.interrupted and not self.untraceable else "unknown"

    def as_json(self) -> dict[str, object]:
        """The proof for machines; times apart it is the same in every run."""
        return {
            "outcome": self.outcome,
            "shapes": [shape.name for shape in self.shapes],
            "each": {name: list(values) for name, values in self.each.items()},
            "known": sorted(self.known),
            "same": self.same,
            "floating_point": self.is_floating,
            "untraceable": self.untraceable,
            "reference_not_asked": self.reference_not_asked,
            "interrupted": self.interrupted,
            "longest": self.longest,
            "questions": self.questions,
            "decided_by": dict(sorted(self.ways.items())),
            "builds": [
                {
                    "build": build.build,
                    "outcome": build.outcome,
                    "elements": build.elements,
                    "proved": build.proved,
                    "instructions": build.instructions,
                    "any_length": build.any_length,
                    "loops": build.loops,
                    "control_flow_depends_on": build.depends_on,
                    "branches_on_data": {at: sorted(names) for at, names in sorted(build.branches.items())},
                    "faults": build.faults,
                    "refused": build.refused,
                    "not_proved": [
                        {
                            "outcome": failure.outcome,
                            "shape": self.shapes[failure.element.shape].name,
                            "output": failure.element.output,
                            "element": failure.element.number,
                            "elements": failure.elements,
                            "reason": failure.reason,
                            "call_seed": failure.call_seed,
                        }
                        for failure in build.failures
                    ],
                }
                for build in self.compared
            ],
        }
