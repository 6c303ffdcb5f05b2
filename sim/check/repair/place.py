"""The source lines of a fault: the lines of the smallest changes after which every lane is right.

C and C++ are compiled at -O0 for it, where every instruction belongs to one line and no two lines share one; where the
fault does not show there, and for what is compiled already, the build that was checked serves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from isa.instruction import Instruction
from isa.lane import Place
from sim.check.check import Job
from sim.check.repair.alternatives import Alternative
from sim.check.repair.fault import FaultLines
from sim.check.repair.search import find_repairs
from sim.check.repair.trials import RepairTrials
from sim.check.report import Outcome
from sim.check.vectors import Vectors
from sim.kernels.kernel import Kernel
from sim.toolchain.compilers import ToolchainError, is_source
from sim.toolchain.image import Image, ImageError
from sim.toolchain.objects import open_image

_CARRIERS: Final = ("movk", "dup", "fmov", "mov")
"""What takes a constant on to where it is used."""
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
    for flags in dict.fromkeys((plain, job.flags) if is_source(job.source) else (job.flags,)):
        try:
            image = open_image(job.source, kernel.symbol, *flags)
        except (ToolchainError, ImageError):
            continue
        fault = fault_of_build(image, kernel, vectors, next((flag for flag in flags if flag.startswith("-O")), ""))
        if fault is not None:
            return fault
    return FaultLines()


def fault_of_build(image: Image, kernel: Kernel, vectors: Vectors, build: str) -> FaultLines | None:
    """The lines at fault in one build; None where its lanes are right."""
    trials = RepairTrials(image, kernel, vectors)
    if not trials.failing:
        return None
    repairs = find_repairs(image, trials)
    changes = [change for repair in repairs for change in repair.changes]
    code = _Code(image, kernel, trials.instructions)
    lines = tuple(dict.fromkeys(line for change in changes for line in code.suspects(change)))
    told = [" and ".join(map(str, repair.changes)) for repair in repairs]
    more = [f"{len(told) - TOLD} more"] if len(told) > TOLD else []
    return FaultLines(lines, changes[0].original.text if changes else "", (*told[:TOLD], *more), build if lines else "")


def _kept(instruction: Instruction, slot: str) -> Place | None:
    """The register that an instruction stores at an address, given as text; None where it does something else."""
    stored = re.fullmatch(rf"stu?r ([bhsdqwx])(\d+), {re.escape(slot)}", instruction.text)
    return Place("x" if stored[1] in "wx" else "v", int(stored[2])) if stored else None


class _Code:
    """Executed instructions by address, and what their source lines are."""

    def __init__(self, image: Image, kernel: Kernel, instructions: Mapping[int, Instruction]) -> None:
        self._image, self._instructions = image, instructions
        self._entry = image.symbol(kernel.symbol).address

    def suspects(self, change: Alternative) -> Iterator[str]:
        """The lines of a change, and where a number is changed before the instruction, the line that made it."""
        yield from self.lines(change.pc)
        if change.before is not None:
            made = self._made(change.pc, change.before)
            if made is not None and not self._opens(made):
                yield self._image.place_of(made).removeprefix("near ")

    def _made(self, pc: int, register: Place) -> int | None:
        """The instruction of another line that made what a register holds at an address, through slots of the stack.

        Found by the order of addresses; None where that does not tell.
        """
        own, at = self._image.place_of(pc), pc
        start = self._start(pc)
        for before in sorted((p for p in self._instructions if start <= p < pc), reverse=True):
            instruction = self._instructions[before]
            if before >= at or register not in instruction.places_written:
                continue
            if self._image.place_of(before) != own:
                return before
            name, _, operands = instruction.text.partition(" ")
            if not name.startswith("ld"):
                return None
            slot = operands.partition(", ")[2]
            stores = [p for p, i in self._instructions.items() if start <= p < before and _kept(i, slot) is not None]
            if not stores:
                return None
            at = max(stores)
            if self._image.place_of(at) != own:
                return at
            kept = _kept(self._instructions[at], slot)
            assert kept is not None
            register = kept
        return None

    def lines(self, pc: int, called_from: frozenset[int] = frozenset()) -> Iterator[str]:
        """Those of the instruction at an address, and of the one call of the function that it is in, and so on up.

        `called_from` are the functions that are done, by address.
        """
        start = self._start(pc)
        for address in self._where_used(pc):
            yield self._image.place_of(address).removeprefix("near ")
        calls = [at for at, i in self._instructions.items() if i.text == f"bl #{start:#x}"]
        if start != self._entry and len(calls) == 1 and start not in called_from:
            yield from self.lines(calls[0], called_from | {start})

    def _start(self, pc: int) -> int:
        """Where the function begins that an instruction is in."""
        return max((s.address for s in self._image.symbols.values() if s.address <= pc), default=self._entry)

    def _opens(self, pc: int) -> bool:
        """Whether an instruction is of the line at which its function opens, where arguments and constants are kept."""
        return self._image.place_of(pc).removeprefix("near ") == self._image.place_of(self._start(pc))

    def _where_used(self, pc: int) -> list[int]:
        """The instruction itself; of a constant that is made where the function opens, those that compute with it."""
        instruction = self._instructions[pc]
        from_nothing = not instruction.places_read or instruction.form.mnemonic == "movk"
        return (list(self._users(pc)) if from_nothing and self._opens(pc) else []) or [pc]

    def _users(self, pc: int, is_fetched: bool = False) -> Iterator[int]:
        """The instructions that compute with a constant: it may be made, kept and fetched again far from its line."""
        for made in self._instructions[pc].places_written:
            for at in sorted(at for at in self._instructions if at > pc):
                instruction = self._instructions[at]
                name, _, operands = instruction.text.partition(" ")
                if made in instruction.places_read:
                    if name in _CARRIERS:
                        yield from self._users(at, is_fetched)
                    elif not is_fetched and instruction.stores and operands.partition(", ")[2].startswith("[sp"):
                        yield from self._fetched(operands.partition(", ")[2])
                    else:
                        yield at
                if made in instruction.places_written:
                    break

    def _fetched(self, slot: str) -> Iterator[int]:
        """What computes with a constant that is kept in a slot of the stack, given as the text of its address."""
        for at, instruction in self._instructions.items():
            if instruction.text.startswith("ldr ") and instruction.text.endswith(f", {slot}"):
                yield from self._users(at, is_fetched=True)
