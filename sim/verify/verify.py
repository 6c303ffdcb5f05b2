"""The differential run over the instruction table: every form, on at least so many lane vectors.

A lane vector is one input set of one output lane: a run of `add v0.16b, v1.16b, v2.16b` compares sixteen.  Each form
runs as generated Python, in the exact evaluator and in the emulator (see `sim.verify.differential`); what the emulator
lacks or gets wrong is compared with its definition (see `sim.call.definitions`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Literal

from isa.instruction import Form, Instruction, is_kept
from isa.rows import TABLE
from sim.call.definitions import EMULATED_WRONGLY, NOT_EMULATED, expected, is_defined
from sim.processes import spread
from sim.verify.differential import Bench, InstructionOutcome
from sim.verify.states import DATA, DATA_SIZE, States
from sim.verify.words import words_to_run

Evidence = Literal["emulation", "definition", "two evaluators", "no word"]
"""What a form was compared with.  "two evaluators": with each other only; "no word": with nothing."""

_FORMS_A_PROCESS = 16
"""So few forms are verified sooner than another process has started."""


@dataclass(frozen=True, kw_only=True)
class FormResult:
    """The outcome for one form: `vectors` lane vectors compared in `runs` runs of `words` machine words.

    `faults` of the runs ended in a memory fault, on every engine alike; they are no lane vectors.  `difference` is ""
    or names the word, the instruction, the state, the place and the values; it ends the form.
    """

    form: str
    evidence: Evidence
    words: int = 0
    runs: int = 0
    faults: int = 0
    vectors: int = 0
    difference: str = ""


def verify_form(form: str, seed: int, vectors: int) -> FormResult:
    """Compare one form on at least `vectors` lane vectors."""
    states = States(form, seed)
    words = words_to_run(form, states.rng, vectors)
    evidence = _evidence(TABLE.named[form])
    if not words:
        return FormResult(form=form, evidence="no word")
    return _Run(form, evidence, states, words, vectors).result()


def _evidence(form: Form) -> Evidence:
    if NOT_EMULATED.isdisjoint(form.features) and not EMULATED_WRONGLY.fullmatch(form.name):
        return "emulation"
    return "definition" if is_defined(form.name) else "two evaluators"


class _Run:
    """The runs of one form."""

    def __init__(self, form: str, evidence: Evidence, states: States, words: Sequence[int], vectors: int) -> None:
        self._form, self._evidence, self._states, self._words = form, evidence, states, words
        self._bench = Bench(states.data)
        self._wanted = vectors
        self._runs = self._faults = self._vectors = 0

    def result(self) -> FormResult:
        """Run each word in turn for its share of the vectors, up to the first difference."""
        numbers, difference = count(), ""
        for at, word in enumerate(self._words):
            if difference:
                break
            goal = -(-self._wanted * (at + 1) // len(self._words))
            if self._vectors >= goal:
                continue
            self._bench.set_word(word)
            lanes = lanes_written(self._bench.instruction)
            for _ in range(2 * (1 + (goal - self._vectors) // lanes)):
                if difference or self._vectors >= goal:
                    break
                difference = self._one(word, next(numbers), lanes)
        return FormResult(
            form=self._form,
            evidence=self._evidence,
            words=len(self._words),
            runs=self._runs,
            faults=self._faults,
            vectors=self._vectors,
            difference=difference,
        )

    def _one(self, word: int, number: int, lanes: int) -> str:
        bench = self._bench
        self._states.fill(bench.machine.registers, number, word)
        bench.set_monitor(opened=number % 2 == 1)
        try:
            if self._evidence == "definition":
                faulted, difference = self._against_definition(word)
            else:
                faulted, difference = bench.run(emulated=self._evidence == "emulation")
        except Exception as error:  # whatever an engine fails with is a difference of this form, not the end of the run
            faulted, difference = True, f"{type(error).__name__}: {error}"
            bench.give_up()
        self._runs += 1
        self._faults += faulted
        self._vectors += lanes * (not faulted)
        text = bench.instruction.text
        return f"{self._form}: {word:08x} {text}, state {number}: {difference}" if difference else ""

    def _against_definition(self, word: int) -> InstructionOutcome:
        machine = self._bench.machine
        base = machine.registers.general[word >> 5 & 31]
        near = base if DATA <= base <= DATA + DATA_SIZE - 16 else DATA
        wanted = expected(self._form, word, machine.registers, machine.memory.read(near, 16))
        faulted, difference = self._bench.run(emulated=False)
        if faulted or difference:
            return InstructionOutcome(faulted, difference)
        got = bytes(machine.registers.vectors), machine.memory.read(near, 16)
        for name, mine, other in zip(("vector registers", "memory"), got, wanted, strict=True):
            at = next((i for i in range(len(mine)) if mine[i] != other[i]), None)
            if at is not None:
                found = f"{name}, byte {at}: machine {mine[at]:#04x}, definition {other[at]:#04x}"
                return InstructionOutcome(False, found)
        return InstructionOutcome(False, "")


def lanes_written(instruction: Instruction) -> int:
    """The lanes that it computes: those that a write only keeps do not count; at least one."""
    return max(1, sum(not is_kept(write, at) for write in instruction.writes for at in range(len(write.lanes))))


def verify_all(forms: Sequence[str], seed: int, vectors: int, jobs: int, report: Callable[[FormResult], None]) -> bool:
    """Verify forms in so many processes; `report` gets each result as it comes.  Whether it was interrupted."""
    results = spread(
        partial(verify_form, seed=seed, vectors=vectors),
        forms,
        min(jobs, -(-len(forms) // _FORMS_A_PROCESS)),
        lambda form: FormResult(form=form, evidence="emulation", difference=f"{form}: the emulator ended its process"),
    )
    try:
        for result in results:
            report(result)
    except KeyboardInterrupt:
        return True
    return False
