"""What proofs say of the mutants that a bench lets live."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rtl_models.formal.equations.smt2 import Equations, NoSuchSignal, parsed
from rtl_models.formal.question import depends_on
from rtl_models.formal.subject import about, decide
from rtl_models.mutation.copies import NO_RANGES, Ranges
from rtl_models.mutation.mutants import Mutant
from rtl_models.mutation.netlist import SELECT, Netlist
from rtl_models.mutation.register_bits import register_bits
from rtl_models.mutation.sameness import Sameness, kept, sameness
from rtl_models.mutation.targets import OwnModule, Target
from rtl_models.mutation.verdict import MutantVerdict
from sim.prove.claim import Claim
from sim.view.sentences import counted


def by_proof(
    target: Target, netlist: Netlist, survivors: Sequence[Mutant], seconds: float
) -> Iterator[tuple[Mutant, MutantVerdict]]:
    """For each a verdict: that no output can ever differ, else what the theorems about the module say.

    Every question has so many seconds.  Raises YosysMissing, Refused, UnreadableEquations, and
    isa.evaluate.smt.SolverMissing.
    """
    of_one_clock = [mutant for mutant in survivors if not mutant.changes_a_clock]
    equations = parsed(netlist.equations(of_one_clock)) if of_one_clock else None
    ranges = kept(equations, target.ranges, seconds) if equations else NO_RANGES
    for mutant in survivors:
        started = time.monotonic()
        selecting = None if mutant.changes_a_clock else equations
        verdict = _verdict(target, netlist, selecting, mutant, seconds, ranges)
        yield mutant, replace(verdict, seconds=time.monotonic() - started)


def _verdict(
    target: Target, netlist: Netlist, equations: Equations | None, mutant: Mutant, seconds: float, ranges: Ranges
) -> MutantVerdict:
    """By equations in which an input selects it; none where they would not show it: they have one clock."""
    same = sameness(equations, mutant.number, seconds, ranges) if equations else Sameness("perhaps different")
    if equations and same.outcome == "same":
        names = register_bits(equations, netlist.text)
        relation: dict[str, object] = {"spoilt": sorted(names[bit] for bit in same.spoilt), "edges": same.edges}
        relation |= {"ranges": dict(ranges)} if ranges else {}
        spoilt = f", though {counted(len(same.spoilt), 'bit')} of registers may" if same.spoilt else ""
        state = "any state after an edge at which no result waits" if same.edges else "any state"
        said = f"no output ever differs{spoilt}, from {state}{' with settings that registers take' if ranges else ''}"
        return MutantVerdict(mutant, "equivalent", said, evidence={"relation": relation})
    if target.own is not None and target.control:
        return _by_schedules(target.own, netlist.equations_with(mutant), mutant, seconds)
    return _by_theorems(target, netlist, mutant, seconds)


def _by_schedules(own: OwnModule, equations: str, mutant: Mutant, seconds: float) -> MutantVerdict:
    """Of a user's stream, whatever its registers are."""
    if own.proved is None:
        return MutantVerdict(mutant, "undecided", "outputs may differ, and of such a module of yours nothing is proved")
    found = own.proved(equations, seconds)
    if found.finding.outcome == "counter-example":
        return MutantVerdict(mutant, "killed by proof", found.told[0], found.finding.values)
    if found.finding.outcome == "proved":
        proved = "every result is proved to be the one due, with it in place"
        return MutantVerdict(mutant, "equivalent", proved, evidence={"theorems": [proved]})
    return MutantVerdict(mutant, "undecided", found.finding.reason)


def _by_theorems(target: Target, netlist: Netlist, mutant: Mutant, seconds: float) -> MutantVerdict:
    """Those first that speak of what the mutant may change: of 46 stages it is one, and to prove one takes long."""
    subject, selecting = target.subject, "" if mutant.changes_a_clock else netlist.equations([mutant])
    theorems = [theorem.claim.name for theorem in about(subject)]
    if not theorems:
        return MutantVerdict(mutant, "undecided", f"outputs may differ, and there is no theorem about {subject}")

    def is_reached(claim: Claim) -> bool:
        try:
            return not selecting or depends_on(claim, selecting, SELECT)
        except NoSuchSignal:
            return True

    decision = decide(subject, netlist.equations_with(mutant), seconds, is_reached)
    if decision.outcome == "refuted":
        return MutantVerdict(mutant, "killed by proof", decision.theorem, decision.values)
    if decision.outcome == "equivalent" and not target.say_all:
        return MutantVerdict(mutant, "undecided", f"outputs may differ, and no theorem about {subject} is refuted")
    if decision.outcome == "equivalent":
        proved = f"{counted(len(theorems), 'theorem')} proved with it in place"
        return MutantVerdict(mutant, "equivalent", proved, evidence={"theorems": theorems})
    return MutantVerdict(mutant, "undecided", f"{decision.theorem}: {decision.reason}")
