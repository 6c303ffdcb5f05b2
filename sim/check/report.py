"""What a check found, as data.  The keys of the JSON form are the names of the design."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from sim.call.call import Engine
from sim.call.coverage import Coverage, Share, share_of_branches, share_of_classes, share_of_lines
from sim.call.guards.findings import GuardFinding
from sim.call.native.share import NativeShare
from sim.call.needs import Need
from sim.check.aim.power import Power
from sim.check.compare import Value
from sim.check.repair.fault import FaultLines
from sim.check.separation import Separation
from sim.kernels.extent import element_name

PROGRAM = "program"
"""The name of the program of intrinsics among the implementations."""
_NAMED = 16
"""Elements that a sentence names; of a sum of hundreds nobody reads all."""


@dataclass(frozen=True, kw_only=True)
class Mismatch:
    """An output lane that differs from the golden reference; its numbers as `sim.check.compare.Value`.

    `parted_at` names the first step of the golden reference that the kernel does not reproduce for this lane (None
    where no step computes anything), `golden_step` its value; `instruction` and `source` are the first instruction
    that computed something else from what still agreed, or, without steps, the last one that computed the lane;
    `inlined` says by which calls it came into its function (`Image.inlined_at`), "" where it was written there.
    `came_from` are the array elements that reached the lane, or one text ("nothing: it was never written"), none where
    the implementation has no trace: then nothing is known of the way there.  `conventions` are the other arithmetics
    that give all the outputs of this implementation, `explanation` the sentences of `sim.explanation` about them, the
    nearest ones, a requantization that was recognised, and where the wrong lanes lie.
    `fault` says which source lines are at fault, None where nobody looked; where it names one, `source` is that line.
    `between` are two builds that are compared without a golden reference: what the first gives is `expected`.
    """

    engine: str
    output: str
    lane: tuple[int, ...]
    got: Value
    expected: Value
    inputs: str
    lanes_different: int
    parted_at: str | None
    golden_step: Value | None
    agreed: tuple[str, ...]
    instruction: str
    source: str
    came_from: tuple[str, ...]
    conventions: tuple[str, ...]
    explanation: tuple[str, ...]
    fault: FaultLines | None = None
    between: tuple[str, str] | None = None
    inlined: str = ""

    def __str__(self) -> str:
        element = element_name(self.output, self.lane)
        lanes = "1 lane differs" if self.lanes_different == 1 else f"{self.lanes_different} lanes differ in all calls"
        if self.between is not None:
            first, second = self.between
            gives = f"{element}: {first} gives {self.expected}, {second} {self.got}; neither is taken as right"
            return f"{gives}  ({lanes})\n  inputs {self.inputs}"
        source = f"{self.source} {self.inlined}".rstrip()
        located = self.fault is not None and bool(self.fault.lines)
        if self.parted_at is None:
            clue = f"computed last by {self.instruction} ({source})" if self.instruction else "nothing computed it"
            parting = "no golden step tells where it parts"
            asked = "; Kernel(steps=...) of the kernel file would: a function that returns each step by its name"
        else:
            clue = f"first different: {self.instruction} ({source})" if self.instruction else ""
            after = f" after {self.agreed[-1]!r}" if self.agreed else ""
            parting = f"parts from the golden reference at step {self.parted_at!r}{after}, golden {self.golden_step}"
            asked = ""
        told = f"; {clue}" if clue and self.fault is None else ""
        is_hint = clue and self.fault is not None and not located  # the fault was looked for, and is not known
        lines = [
            f"{element}: {self.engine} {self.got}, golden {self.expected}  ({lanes})",
            f"  inputs {self.inputs}",
            *([f"  {self.fault}"] if self.fault is not None else []),
            *([f"  {parting}{told}{asked}"] if self.came_from else []),
            *([f"  hint: {clue}, where the fault need not be"] if self.came_from and is_hint else []),
            *([f"  it came from {_first_of(self.came_from)}"] if self.came_from else []),
            *(f"  {sentence}" for sentence in self.explanation),
        ]
        return "\n".join(lines)


def _first_of(names: Sequence[str]) -> str:
    """The first of many names, and how many there are."""
    first = ", ".join(names[:_NAMED])
    return first if len(names) <= _NAMED else f"{len(names):,} elements: {first}, ..."


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One implementation against the golden reference.

    `vectors` counts the output lanes whose inputs were run, `lanes_compared` the comparisons: one for each engine;
    `qc_events` counts the executed instructions that set FPSR.QC, each time they saturate; `code` is a digest of the
    machine code, "" for intrinsics and for a build that failed (which has flags).
    `failure` is empty where everything agreed, else a paragraph: a divergence of machine and emulator, a mismatch
    of an output lane, or an error that stopped the run.  `interrupted` says that the user stopped it.
    `findings` are what the guards found, the harmful ones also told in `failure`.
    `unverified` counts, by form, those of the `instructions` that the emulator lacks or is known to get wrong: there
    both engines hold the machine's result, and only the golden reference can tell that it is wrong.
    `coverage` is what the calls in lockstep met of the build, `failed_set` the number of the first failing input set.
    `native` is what of the calls in lockstep ran in native code.
    `made_as` says how an external backend was made, "" for a build and for intrinsics; `outside`
    counts, by reason, the vectors that such a one is not made for, which were not compared.  `left_out` says what of
    the program is not there, or was not done, and no call came to need.  `same_code_at` are other levels at which the
    source is the same program, which was run once.
    """

    implementation: str
    flags: str
    vectors: int
    lanes_compared: int
    instructions: int
    forms: frozenset[str]
    qc_events: int
    code: str
    failure: str = ""
    divergence: str = ""
    mismatch: Mismatch | None = None
    interrupted: bool = False
    unverified: Mapping[str, int] = field(default_factory=dict)
    findings: Sequence[GuardFinding] = ()
    coverage: Coverage | None = None
    failed_set: int | None = None
    made_as: str = ""
    outside: Mapping[str, int] = field(default_factory=dict)
    needs: Sequence[Need] = ()
    native: NativeShare = field(default_factory=NativeShare)
    left_out: Sequence[str] = ()
    same_code_at: Sequence[str] = ()

    def blaming(self, fault: FaultLines) -> Outcome:
        """The same with the lines at fault in its mismatch."""
        if self.mismatch is None:
            return self
        told = replace(self.mismatch, fault=fault)
        if len(fault.lines) == 1:
            told = replace(
                told, source=(*fault.addresses, *fault.lines)[0], instruction=fault.instruction,
                inlined=next(iter(fault.inlined), ""),
            )  # fmt: skip
        return replace(self, mismatch=told, failure=self.failure.replace(str(self.mismatch), str(told)))

    @property
    def title(self) -> str:
        """Such as "kernel.c -O2": its other flags are those of all builds."""
        return f"{self.implementation} {self.flags.partition(' ')[0]}".rstrip()

    @property
    def built(self) -> bool:
        """False for a build that failed."""
        return bool(self.code or self.made_as) or self.implementation == PROGRAM

    @property
    def verdict(self) -> str:
        """One of "agrees", "differs", "not built" and "stopped"."""
        if self.failure:
            return "differs" if self.built else "not built"
        return "stopped" if self.interrupted else "agrees"


@dataclass(frozen=True, kw_only=True)
class Report:
    """A whole check.  It passes only if something was compared, nothing failed and nobody stopped it.

    `common_flags` are those that every build has before its own.  `engine` is what the builds ran on.  `separation`
    counts the vectors that tell the kernel's conventions apart.  `tolerance` is that of floating-point outputs, ""
    where every bit counts.  `mode` is the kernel's, "" where it has one only.  `shrunk` is the first failing input set
    made small, as text, `debug` the command that opens it where it goes wrong, "" where there is none.  `beside` is the
    build whose results the others are compared with where there is no golden reference, `debug_beside` the command that
    opens its call; "" where there is one.  `hindrance` says what of the environment ended it early, such as a full
    disk; `power` how much the inputs can tell, None where nothing was aimed; `questions` are commands that decide
    whether others could tell more.
    """

    kernel: str
    compiler: str
    seed: int
    outcomes: Sequence[Outcome]
    reproduce: str
    stopped: bool = False
    hindrance: str = ""
    common_flags: Sequence[str] = ()
    engine: Engine = "lockstep"
    separation: Separation | None = None
    tolerance: str = ""
    shrunk: str = ""
    debug: str = ""
    beside: str = ""
    debug_beside: str = ""
    mode: str = ""
    power: Power | None = None
    questions: Sequence[str] = ()

    def __repr__(self) -> str:
        ended = "passed" if self.passed else "interrupted" if self.interrupted else "failed"
        count = len(self.failures)
        failing = f", {count} of them fail{'s' * (count == 1)}" if count else ""
        compared = f"{len(self.outcomes)} implementations{failing}, {self.vectors_compared:,} vectors"
        return f"Report({self.title}: {ended}, {compared}, seed {self.seed})"

    @property
    def title(self) -> str:
        """The kernel with its mode, such as "quantize_down:page"."""
        return f"{self.kernel}:{self.mode}" if self.mode else self.kernel

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped the check before its end, between implementations or within one."""
        return self.stopped or any(outcome.interrupted for outcome in self.outcomes)

    @property
    def flags(self) -> list[str]:
        """The builds' own flags, those of failed builds among them."""
        return sorted({outcome.flags for outcome in self.outcomes if outcome.flags})

    @property
    def vectors_compared(self) -> int:
        """The output lanes whose inputs were run, of the implementation that ran most."""
        return max((outcome.vectors for outcome in self.outcomes), default=0)

    @property
    def lanes_compared(self) -> int:
        """The comparisons of output lanes, of all implementations and engines together."""
        return sum(outcome.lanes_compared for outcome in self.outcomes)

    @property
    def failures(self) -> list[Outcome]:
        """The outcomes that failed, in order."""
        return [outcome for outcome in self.outcomes if outcome.failure]

    @property
    def passed(self) -> bool:
        """Whether something was compared, nothing failed and nobody stopped it."""
        whole = not self.interrupted and not self.hindrance
        return self.lanes_compared > 0 and not self.failures and whole

    @property
    def weak(self) -> bool:
        """Whether it passed on inputs that could not have told enough: see `Power.weaknesses`."""
        return self.passed and self.power is not None and bool(self.power.weaknesses)

    @property
    def forms(self) -> frozenset[str]:
        """The names of the instruction forms that were executed."""
        return frozenset().union(*(outcome.forms for outcome in self.outcomes))

    @property
    def instructions(self) -> int:
        """The executed instructions of all implementations."""
        return sum(outcome.instructions for outcome in self.outcomes)

    @property
    def unverified(self) -> dict[str, int]:
        """By form, the executed instructions that the emulator could not check, the most frequent form first."""
        counts: Counter[str] = sum((Counter(outcome.unverified) for outcome in self.outcomes), Counter())
        return dict(counts.most_common())

    @property
    def instructions_in_lockstep(self) -> int:
        """The executed instructions whose results machine and emulator computed apart from each other."""
        if self.engine != "lockstep":
            return 0
        executed = sum(outcome.instructions for outcome in self.outcomes if outcome.code)
        return executed - sum(self.unverified.values())

    @property
    def native(self) -> NativeShare:
        """What ran in native code."""
        return NativeShare.of(outcome.native for outcome in self.outcomes)

    @property
    def distinct_binaries(self) -> int:
        """How many builds differ in their machine code."""
        return len({outcome.code for outcome in self.outcomes if outcome.code})

    @property
    def coverage(self) -> dict[str, Share]:
        """What the builds met together: source lines, branch outcomes, operand classes where they were looked at."""
        builds = {outcome.title: outcome.coverage for outcome in self.outcomes if outcome.coverage is not None}
        shares = {
            "source lines": share_of_lines(builds.values()),
            "branch outcomes": share_of_branches(builds),
            "operand classes": share_of_classes(builds),
        }
        return {name: share for name, share in shares.items() if share.of}

    @property
    def first_divergence(self) -> str:
        """The first failure with the implementation that has it; "" where nothing failed."""
        return next((f"{o.title}: {o.failure}" for o in self.failures), "")

    def as_json(self) -> dict[str, object]:
        """The report as plain data."""
        implementations = []
        for outcome in self.outcomes:
            data = asdict(replace(outcome, coverage=None))
            del data["coverage"]
            if outcome.mismatch is not None:  # one text, as the document's first version has it
                data["mismatch"]["came_from"] = ", ".join(outcome.mismatch.came_from)
            implementations.append({**data, "forms": len(outcome.forms), "passed": not outcome.failure})
        return {
            "kernel": self.kernel,
            "mode": self.mode,
            "passed": self.passed,
            "weak": self.weak,
            "interrupted": self.interrupted,
            "hindrance": self.hindrance,
            "compiler": self.compiler,
            "flags": self.flags,
            "common_flags": list(self.common_flags),
            "engine": self.engine,
            "vectors_compared": self.vectors_compared,
            "lanes_compared": self.lanes_compared,
            "distinct_binaries": self.distinct_binaries,
            "instruction_forms": len(self.forms),
            "forms": sorted(self.forms),
            "qc_events": sum(outcome.qc_events for outcome in self.outcomes),
            "instructions": self.instructions,
            "instructions_in_lockstep": self.instructions_in_lockstep,
            "native": asdict(self.native),
            "unverified": self.unverified,
            "separated": self.separation.as_json() if self.separation is not None else [],
            "power": self.power.as_json() if self.power is not None else None,
            "tolerance": self.tolerance,
            "coverage": {name: share.as_json() for name, share in self.coverage.items()},
            "questions": list(self.questions),
            "shrunk": self.shrunk,
            "debug": self.debug,
            "beside": self.beside,
            "debug_beside": self.debug_beside,
            "first_divergence": self.first_divergence,
            "seed": self.seed,
            "reproduce": self.reproduce,
            "implementations": implementations,
        }
