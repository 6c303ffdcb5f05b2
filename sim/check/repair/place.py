"""The source lines of a fault: the lines of the smallest changes after which every lane is right.

C and C++ are compiled at -O0 for it, where every instruction belongs to one line and no two lines share one; where the
fault does not show there, and for what is compiled already, the build that was checked serves.  It serves too where no
change mends the -O0 build, but there only for one instruction that computes something else: where lines share
instructions, much is right by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from isa.lane import Place
from sim.call.kernel_image import open_kernel
from sim.check.check import Job
from sim.check.repair.alternative import FOLLOWS, MISSING, ONE_OFF, Alternative
from sim.check.repair.code import ExecutedCode
from sim.check.repair.fault import FaultLines
from sim.check.repair.search import find_repairs
from sim.check.repair.trials import RepairTrials
from sim.check.report import Outcome
from sim.check.vectors import Vectors
from sim.kernels.kernel import Kernel
from sim.toolchain.compilers import ToolchainError, is_source
from sim.toolchain.image import Image, ImageError

_CARRIERS: Final = ("movk", "dup", "fmov", "mov")
"""What takes a constant on to where it is used."""
MOST: Final = 4
"""Lines that a person looks through; of more, a list is no answer."""
TOLD: Final = 3
"""Repairs that are told of many."""


def with_faults(kernel: Kernel, jobs: Sequence[Job], vectors: Vectors, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes, those of builds that mismatch with the lines at fault, which are looked for once in each source.

    An interrupt leaves them as they are.
    """
    found: dict[Path, FaultLines] = {}
    told = list(outcomes)
    try:
        for number, (job, outcome) in enumerate(zip(jobs, outcomes, strict=False)):
            if job.source is not None and outcome.mismatch is not None:
                if job.source not in found:
                    found[job.source] = find_fault(kernel, job, vectors)
                told[number] = outcome.blaming(found[job.source])
    except KeyboardInterrupt:
        return told
    return told


def find_fault(kernel: Kernel, job: Job, vectors: Vectors) -> FaultLines:
    """The lines at fault of a source that one build has wrong."""
    assert job.source is not None
    plain = tuple("-O0" if flag.startswith("-O") else flag for flag in job.flags)
    unmended = False
    for flags in dict.fromkeys((plain, job.flags) if is_source(job.source) else (job.flags,)):
        try:
            image = open_kernel(kernel, job.source, *flags)
        except (ToolchainError, ImageError):
            continue
        build = next((flag for flag in flags if flag.startswith("-O")), "")
        fault = fault_of_build(image, kernel, vectors, build, one_computes=unmended)
        if fault is not None and fault.lines:
            return fault
        unmended = fault is not None
    return FaultLines()


def fault_of_build(
    image: Image, kernel: Kernel, vectors: Vectors, build: str, one_computes: bool = False
) -> FaultLines | None:
    """The lines at fault in one build; None where its lanes are right.

    With `one_computes` only one instruction is changed, to another that is easily mixed up with it, and no branch.
    """
    trials = RepairTrials(image, kernel, vectors)
    if not trials.failing:
        return None
    code = ExecutedCode(image, image.symbol(kernel.symbol).address, trials.instructions, trials.slots())
    repairs = find_repairs(code, trials, one_computes)
    changes = [change for repair in repairs for change in repair.changes if change.rank != FOLLOWS]
    suspects = _Lines(code)
    lines = tuple(dict.fromkeys(line for change in changes for line in suspects.suspects(change)))
    if len(lines) > MOST:
        return FaultLines()
    told = [" and ".join(map(str, repair.changes)) for repair in repairs]
    more = [f"{len(told) - TOLD} more"] if len(told) > TOLD else []
    return FaultLines(lines, changes[0].original.text if changes else "", (*told[:TOLD], *more), build if lines else "")


class _Lines:
    """The source lines that a changed instruction says to be at fault."""

    def __init__(self, code: ExecutedCode) -> None:
        self._code, self._instructions = code, code.instructions

    def suspects(self, change: Alternative) -> Iterator[str]:
        """The lines of a change, and where a number is changed before the instruction, the line that made it.

        Where a further step was left out, it may as well have to be on the next line that takes the number.
        """
        yield from self._lines(change.pc)
        if change.rank in (ONE_OFF, MISSING):
            user = self._code.user(change.pc)
            if user is not None:
                yield self._code.line(user)
        if change.before is not None:
            yield from self._makers(change.pc, change.before)

    def _makers(self, pc: int, register: Place) -> Iterator[str]:
        """The line that made what a register holds there; those of both addends, of a sum on the same line."""
        own, sources = self._code.line(pc), [source.pc for source in self._code.sources(pc, register)]
        made = next((source for source in sources if self._code.line(source) != own), None)
        if made is not None and not self._code.opens(made):
            yield self._code.line(made)
        elif made is None and sources and self._instructions[sources[-1]].form.mnemonic in ("add", "sub"):
            addends = self._instructions[sources[-1]].places_read
            lines = [line for each in addends for line in self._makers(sources[-1], each)]
            yield from lines if len(lines) == len(addends) else ()

    def _lines(self, pc: int, called_from: frozenset[int] = frozenset()) -> Iterator[str]:
        """Those of the instruction at an address, of the one line that calls the function that it is in, and so on up.

        `called_from` are the functions that are done, by address.
        """
        start = self._code.start(pc)
        for address in self._where_used(pc):
            yield self._code.line(address)
        calls = [at for at, i in self._instructions.items() if i.text == f"bl #{start:#x}"]
        lines = {self._code.line(at) for at in calls}
        if start != self._code.entry and len(lines) == 1 and start not in called_from:
            yield from self._lines(calls[0], called_from | {start})

    def _where_used(self, pc: int) -> list[int]:
        """The instruction itself; of a constant also those that compute with it, and they alone where functions open.

        A compiler makes a constant once for several lines.
        """
        instruction = self._instructions[pc]
        if instruction.places_read and instruction.form.mnemonic != "movk":
            return [pc]
        users = list(self._users(pc))
        return users if users and self._code.opens(pc) else [pc, *users]

    def _users(self, pc: int, is_fetched: bool = False) -> Iterator[int]:
        """The instructions that compute with a constant: it may be made, kept and fetched again far from its line."""
        for made in self._instructions[pc].places_written:
            for at in sorted(at for at in self._instructions if at > pc):
                instruction, access = self._instructions[at], self._code.accesses.get(at)
                if made in instruction.places_read:
                    if instruction.form.mnemonic in _CARRIERS:
                        yield from self._users(at, is_fetched)
                    elif not is_fetched and access is not None and not access.is_load:
                        for load, other in self._code.accesses.items():
                            if (
                                other.is_load
                                and other.slot == access.slot
                                and self._code.start(load) == self._code.start(at)
                            ):
                                yield from self._users(load, is_fetched=True)
                    else:
                        yield at
                if made in instruction.places_written:
                    break
