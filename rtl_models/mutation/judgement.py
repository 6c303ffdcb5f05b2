"""What becomes of each mutant of a module: benches first, proofs for what they leave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from isa.errors import MISMATCH, LanewiseError
from rtl_models.formal.equations.written import Subject
from rtl_models.mutation.mutants import Mutant
from rtl_models.mutation.netlist import Netlist, NetlistOrigin
from rtl_models.mutation.scenarios.scenario import Scenario
from rtl_models.mutation.simulator import Killed, killed_by
from rtl_models.mutation.survivors import by_proof
from rtl_models.mutation.targets import Target
from rtl_models.mutation.verdict import Fate, MutantVerdict
from rtl_models.tools.scratch import scratch_folder
from sim.view.sentences import counted


class WrongModule(LanewiseError):
    """The bench fails without any mutant: one sentence."""

    exit_code = MISMATCH


class NoSuchMutant(LanewiseError):
    """A module has fewer mutants: one sentence."""


@dataclass(frozen=True)
class Judgement:
    """The verdicts on the mutants of a module, of which the bench runs `rows` rows; `origin` is what they are of.

    `sources` has by file name the texts in which they are planted, where these are a user's.
    """

    subject: Subject
    rows: int
    verdicts: tuple[MutantVerdict, ...]
    origin: NetlistOrigin
    sources: Mapping[str, str] = field(default_factory=dict)

    def having(self, fate: Fate) -> list[MutantVerdict]:
        """The verdicts of one kind."""
        return [verdict for verdict in self.verdicts if verdict.fate == fate]

    @property
    def passed(self) -> bool:
        """Whether there are mutants, and each is killed or cannot be."""
        return bool(self.verdicts) and not self.having("undecided")


def judge(target: Target, count: int, seed: int, seconds: float, number: int | None = None) -> Judgement:
    """The verdicts on so many mutants, or on that one of them which has the number alone.

    The solver has so many seconds for each question.  Raises NoSuchMutant, WrongModule; YosysMissing, Refused,
    SolverMissing, SimulationUnavailable, ScratchUnusable, BuildError, OSError.
    """
    with scratch_folder() as directory:
        netlist = Netlist(target.design, directory)
        drawn = netlist.mutants(count, seed)
        mutants = [mutant for mutant in drawn if number in (None, mutant.number) and target.is_planted(mutant)]
        if number is not None and not mutants:
            there = counted(len(drawn), "mutant")
            raise NoSuchMutant(f"{target.subject} has {there} here: there is no number {number}")
        scenarios = target.scenarios(seed)
        of_bench = dict(_by_bench(target, netlist, mutants, scenarios))
        survivors = [mutant for mutant in mutants if mutant not in of_bench]
        of_proof = dict(by_proof(target, netlist, survivors, seconds))
    rows = sum(len(scenario.cycles) + len(scenario.beats) for scenario in scenarios)
    verdicts = tuple(_told_of(target, (of_bench | of_proof)[mutant]) for mutant in mutants)
    return Judgement(target.subject, rows, verdicts, netlist.origin, target.own.design.sources if target.own else {})


def _told_of(target: Target, verdict: MutantVerdict) -> MutantVerdict:
    """With the ports of a user's module."""
    words = target.own.in_its_words if target.own else str
    return replace(verdict, by=words(verdict.by), values={words(name): n for name, n in verdict.values.items()})


def _by_bench(
    target: Target, netlist: Netlist, mutants: Sequence[Mutant], scenarios: Sequence[Scenario]
) -> Iterator[tuple[Mutant, MutantVerdict]]:
    """The mutants that the bench kills; none, where there are no scenarios: its theorems say all of the module."""
    if not scenarios or not mutants:
        return
    numbers = [mutant.number for mutant in mutants]
    itself, *others = killed_by(target.subject.module, target.control, netlist.simulated(mutants), numbers, scenarios)
    if itself is not None:
        raise WrongModule(f"{target.subject} fails its own bench: {_found(itself, scenarios)}")
    for mutant, killed in zip(mutants, others, strict=True):
        if killed is not None:
            yield (
                mutant,
                MutantVerdict(mutant, "killed by bench", _found(killed, scenarios), killed.operands(scenarios)),
            )


def _found(killed: Killed, scenarios: Sequence[Scenario]) -> str:
    return f"{scenarios[killed.scenario].name}, row {killed.row}: {killed.rule}"
