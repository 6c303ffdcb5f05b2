"""The source lines of a fault: the lines of the smallest changes after which every lane is right.

C and C++ are compiled at -O0 for it, where every instruction belongs to one line and no two lines share one; where the
fault does not show there, and for what is compiled already, the build that was checked serves.  It serves too where no
change mends the -O0 build, but there only for one instruction that computes something else: where lines share
instructions, much is right by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from isa.instruction import Instruction
from isa.lane import Place
from isa.operands import General, Vector
from sim.call.guards.findings import IN_FRONT
from sim.call.kernel_image import open_kernel
from sim.check.check import Job
from sim.check.repair.alternative import FOLLOWS, MISSING, ONE_OFF, Alternative, replaced
from sim.check.repair.callers import WORD_BYTES, Calls, calls_by_line, only_from
from sim.check.repair.code import ExecutedCode
from sim.check.repair.fault import FaultLines
from sim.check.repair.macros import macros_used
from sim.check.repair.search import Repair, find_repairs
from sim.check.repair.steps import operands_of, taking, with_body
from sim.check.repair.trials import RepairTrials
from sim.check.repair.variables import holding
from sim.check.report import Outcome
from sim.check.vectors import Vectors
from sim.kernels.kernel import Kernel
from sim.toolchain.compilers import is_source
from sim.toolchain.image import Image, ImageError
from sim.toolchain.tools import ToolchainError

_CARRIERS: Final = ("movk", "dup", "fmov", "mov")
"""What takes a constant on to where it is used."""
_SUMS: Final = ("add", "adds", "sub", "subs", "neg", "negs", "sxtw", "uxtw", "dup")
"""What passes a constant on that is more in one of its operands,"""
_ADDED_TO: Final = ("madd", "msub", "smaddl", "smsubl", "umaddl", "umsubl")
"""and what does so in the last one."""
_WIDER_SUM: Final = re.compile("[su](?:add|sub)w2?")
"""What does so in the first one."""
_IMMEDIATE: Final = re.compile(r"#(-?(?:0x[0-9a-f]+|\d+))")
DEEPEST: Final = 3
"""Functions that call each other which are gone through from a changed one up."""
MOST: Final = 4
"""Lines that a person looks through; of more, a list is no answer."""
TOLD: Final = 3
"""Repairs that are told of many."""


def with_faults(kernel: Kernel, jobs: Sequence[Job], vectors: Vectors, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes, those of builds that mismatch with the lines at fault, which are looked for once in each source.

    An interrupt ends it, and is told in the outcome whose fault was looked for.
    """
    found: dict[Path, FaultLines] = {}
    told = list(outcomes)
    for number, (job, outcome) in enumerate(zip(jobs, outcomes, strict=False)):
        if job.source is not None and outcome.mismatch is not None:
            if job.source not in found:
                try:
                    found[job.source] = find_fault(kernel, job, vectors)
                except KeyboardInterrupt:
                    told[number] = replace(outcome, interrupted=True)
                    break
            told[number] = outcome.blaming(found[job.source])
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
        build = next((flag for flag in flags if flag.startswith("-O")), "") if _has_levels(job.source) else ""
        fault = fault_of_build(image, kernel, vectors, build, one_computes=unmended)
        if fault is not None and fault.repairs:
            used = (macro for line in fault.lines for macro in macros_used(line, job.source))
            return replace(fault, macros=tuple(dict.fromkeys(used)) if is_source(job.source) else ())
        unmended = fault is not None
    return FaultLines()


def _has_levels(source: Path) -> bool:
    """Whether the level makes another program of a source: not of assembly, unless it asks the preprocessor for it."""
    return source.suffix not in (".s", ".S") or b"__OPTIMIZE" in source.read_bytes()


def fault_of_build(image: Image, kernel: Kernel, vectors: Vectors, build: str, one_computes: bool) -> FaultLines | None:
    """The lines at fault in one build; None where its lanes are right.

    With `one_computes` only one instruction is changed, to another that is easily mixed up with it, and no branch.
    """
    trials = RepairTrials(image, kernel, vectors)
    if not trials.failing:
        return None
    code = ExecutedCode(image, image.symbol(kernel.symbol).address, trials.instructions, trials.slots())
    repairs = find_repairs(code, trials, one_computes)
    suspects = _Lines(code, trials, repairs)
    lines = tuple(dict.fromkeys(line for repair in repairs for line in suspects.of(repair)))
    told = []
    for repair in repairs:
        words = []
        for change in repair.changes:
            variables, place = code.told(change.pc), f" at {code.line(change.pc)}" if len(lines) > MOST else ""
            words.append(code.with_targets(str(change)) + (f" ({variables})" if variables else "") + place)
        told.append(" and ".join(words))
    more = [f"{len(told) - TOLD} more"] if len(told) > TOLD else []
    first = code.with_targets(repairs[0].changes[0].original.text) if repairs else ""
    changed = dict.fromkeys(code.address(repair.changes[0].pc) for repair in repairs[:TOLD])
    pcs = [change.pc for repair in repairs for change in repair.changes]
    shown = lines if len(lines) <= MOST else ()
    return FaultLines(
        lines=shown, instruction=first, repairs=(*told[:TOLD], *more), build=build if lines else "",
        addresses=() if any(":" in line for line in lines) else tuple(changed),
        inlined=tuple(code.inlined(line, pcs) for line in shown),
        roles=suspects.roles(shown, is_optimized=build != "-O0"),
    )  # fmt: skip


class _Use(NamedTuple):
    """An instruction that keeps a constant or computes with it, in that register; its number, if it is known.

    Of a constant that is kept, what loads it.
    """

    pc: int
    register: Place
    load: int | None
    number: int | None


class _Lines:
    """The source lines that changed instructions say to be at fault."""

    def __init__(self, code: ExecutedCode, trials: RepairTrials, repairs: Sequence[Repair]) -> None:
        self._code, self._instructions, self._trials = code, code.instructions, trials
        changes = (change for repair in repairs for change in repair.changes)
        self._moved = {code.line(change.pc) for change in changes if _may_be_behind(change)}
        self._roles = dict[str, dict[str, None]]()
        changed = {change.pc for repair in repairs for change in repair.changes if change.rank != FOLLOWS}
        self._before_loops = {code.line(pc) for pc in changed if code.is_before_loop(pc)}

    def of(self, repair: Repair) -> Iterator[str]:
        """The lines of a repair; of a function that is changed, also those that call it, where they may be at fault."""
        for change in repair.changes:
            if change.rank != FOLLOWS:
                how = "calls" if change.beside.calls else "in"
                for line in self._suspects(repair, change):
                    if line != change.beside.table:
                        self._note(line, how, change.pc)
                    yield line
                below = [change.beside.calls] if change.beside.calls else []
                yield from self._callers(repair, self._code.start(change.pc), below)

    def roles(self, lines: Sequence[str], is_optimized: bool) -> tuple[str, ...]:
        """Of lines that were told, which are in a function and which call it, where one is told for a call; and which
        are those of a loop that what was changed stands in front of.
        """
        calls = any(role.startswith("calls ") for line in lines for role in self._roles.get(line, ()))
        told = tuple(
            "; ".join(
                [
                    *([" and ".join(self._roles.get(line, ()))] if calls else []),
                    *([IN_FRONT] if is_optimized and line in self._before_loops else []),
                ]
            )
            for line in lines
        )
        return told if any(told) else ()

    def _note(self, line: str, how: str, pc: int) -> None:
        """That a line is told for being in, or for calling, the function that an instruction is in."""
        if name := self._code.function(pc):
            self._roles.setdefault(line, {})[f"{how} {name}"] = None

    def _suspects(self, repair: Repair, change: Alternative) -> Iterator[str]:
        """The lines of a change, and where a number is changed before the instruction, the line that made it.

        Where a further step was left out, or a bound, it may as well have to be on the next line that takes the number,
        or before it: where a line that takes it can be repaired so too, both are told anyway.
        """
        if change.beside.calls:
            yield self._code.line(change.blamed)
            return
        if change.beside.table:
            yield change.beside.table
            if len({self._code.line(each.pc) for each in repair.changes}) > 1:
                return
        for address in (*self._where_used(repair, change), *self._put_in_place(change)):
            yield self._code.line(address)
        if _may_be_behind(change):
            users = [self._code.line(user) for user in self._code.users(change.pc)]
            yield from users[:1] if self._moved.isdisjoint(users) else ()
        if change.beside.before is not None and change.beside.is_more:
            behind = WORD_BYTES if change.rank == MISSING else 0
            yield from self._addends(change.pc + behind, change.beside.before)
        elif change.beside.before is not None:
            yield from self._makers(change.pc, change.beside.before)

    def _makers(self, pc: int, register: Place) -> Iterator[str]:
        """The line that made what a register holds there; those of both addends, of a sum on the same line."""
        own, sources = self._code.line(pc), [source.pc for source in self._code.sources(pc, register)]
        made = next((source for source in sources if self._code.line(source) != own), None)
        if made is not None and not self._code.opens(made):
            yield self._code.line(made)
        elif made is None and sources:
            *_, last = sources
            addends = self._instructions[last].places_read
            if self._instructions[last].form.mnemonic in ("add", "sub"):
                lines = [line for each in addends for line in self._makers(last, each)]
                yield from lines if len(lines) == len(addends) else ()

    def _addends(self, pc: int, register: Place) -> Iterator[str]:
        """The lines that made what a register holds there, and further back along sums those of each addend."""
        pending, done = [(pc, register)], set[tuple[int, Place]]()
        while pending:
            at = pending.pop(0)
            if at not in done:
                done.add(at)
                sources = [source.pc for source in self._code.sources(*at)]
                yield from (self._code.line(source) for source in sources if not self._code.opens(source))
                for last in sources[-1:]:
                    pending += [(last, each) for each in _addends_of(self._instructions[last])]

    def _callers(self, repair: Repair, changed: int, below: Sequence[Calls]) -> Iterator[str]:
        """The lines that call a changed function, whose address is given, and those that call what these are in.

        `below` are the calls that were gone through.  Of several lines those are told of which it is enough that they
        find the repair; others call it as they should.
        """
        called = below[-1][0] if below else changed
        by_line = calls_by_line(self._code, self._code.start(called))
        for line, calls in by_line.items() if len(below) < DEEPEST else ():
            callers = [*below, calls]
            if len(by_line) == 1 or self._is_right_from(repair, changed, callers):
                self._note(line, "calls", called)
                yield line
                yield from self._callers(repair, changed, callers)

    def _is_right_from(self, repair: Repair, changed: int, callers: Sequence[Calls]) -> bool:
        """Whether every lane is right if only these calls find the repair; as if so where that cannot be tried."""
        instead = replaced(repair.changes)
        for change in repair.changes:
            if self._code.start(change.pc) == changed:
                some = only_from(self._code, change, callers)
                if some is None:
                    return True
                instead[change.pc] = some.instruction
        return self._trials.are_right_with(instead)

    def _where_used(self, repair: Repair, change: Alternative) -> list[int]:
        """The instruction itself; of a constant also those that keep it or compute with it.

        They are told alone where functions open: a compiler makes a constant before, and once for several lines.  Of
        those of which the number is known, one is told only where its line alone needs another one.
        """
        pc, instruction = change.pc, change.original
        if change.beside.is_repeated:
            stores = {at for at, access in self._code.accesses.items() if not access.is_load}
            return [use.pc for use in self._users(pc) if use.pc not in stores] if self._code.opens(pc) else [pc]
        if change.beside.is_more and change.beside.before is None:
            return [pc, *self._sums_behind(pc)]
        if instruction.places_read and instruction.form.mnemonic != "movk" and not self._code.is_literal(pc):
            return [pc]
        users = list(self._users(pc))
        known = [use for use in users if use.number is not None]
        lines = {self._code.line(use.pc) for use in known}
        need = {line for line in lines if self._needs(repair, line, known)}
        told = [use.pc for use in users if use.number is None or not need or need == {self._code.line(use.pc)}]
        if self._code.opens(pc):
            return told or [use.pc for use in users] or [pc]
        return [pc, *told]

    def _put_in_place(self, change: Alternative) -> Iterator[int]:
        """The stores of variables that nothing loads, of a number that the instruction has: a compiler put it there."""
        pc, behind = change.pc, change.pc + WORD_BYTES
        numbers = {int(number, 0) for number in _IMMEDIATE.findall(change.original.text)}
        if not change.original.places_read or change.original.form.mnemonic == "movk":
            made = change.original.places_written
            while (more := self._instructions.get(behind)) and (more.form.mnemonic, more.places_written) == (
                "movk",
                made,
            ):
                behind += WORD_BYTES
            held = (self._trials.held(behind, place) for place in made)
            numbers |= {number for number in held if number is not None}
        among = {sign * number % 2**32 for number in numbers for sign in (1, -1)}
        for store, kept in self._code.accesses.items():
            is_near = self._code.start(store) == self._code.start(pc) and self._code.line(store) != self._code.line(pc)
            if is_near and not kept.is_load and kept.register and not self._code.accesses_of(store)[1]:
                number = self._trials.held(store, kept.register)
                if number is not None and number % 2**32 in among:
                    yield store

    def _needs(self, repair: Repair, line: str, uses: Sequence[_Use]) -> bool:
        """Whether lanes are wrong where a line finds the number that there was before the repair."""
        held: dict[int, Instruction] = {}
        for use in (use for use in uses if self._code.line(use.pc) == line):
            assert use.number is not None
            if use.load is None:
                held[use.pc] = taking(self._instructions[use.pc], use.register, use.number)
            else:
                loads = [load for load in self._code.accesses_of(use.load)[1] if self._code.line(load) == line]
                for load, form in ((load, self._instructions[load].form) for load in loads):
                    held[load] = with_body(self._instructions[load], holding(form, use.number))
        return not self._trials.are_right_with({**replaced(repair.changes), **held})

    def _users(self, pc: int, load: int | None = None, number: int | None = None) -> Iterator[_Use]:
        """The instructions that keep a constant and compute with it: it may be made and fetched far from its line."""
        for made in self._instructions[pc].places_written:
            for at in sorted(at for at in self._instructions if at > pc):
                instruction, access = self._instructions[at], self._code.accesses.get(at)
                if made in instruction.places_read:
                    if instruction.form.mnemonic in _CARRIERS:
                        yield from self._users(at, load, number)
                    elif load is None and access is not None and not access.is_load:
                        yield _Use(at, made, None, None)
                        yield from self._fetched(at, self._trials.held(at, made))
                    else:
                        is_known = load is None and made.file == "x"
                        yield _Use(at, made, load, self._trials.held(at, made) if is_known else number)
                if made in instruction.places_written:
                    break

    def _fetched(self, store: int, number: int | None) -> Iterator[_Use]:
        """The instructions that compute with a kept constant; its number is that of a variable with no other store."""
        stores, loads = self._code.accesses_of(store)
        for load in loads:
            yield from self._users(load, load, number if len(stores) == 1 else None)

    def _sums_behind(self, pc: int) -> list[int]:
        """The instructions behind that keep a constant, or pass on in a sum what is more in it."""
        found, pending = dict[int, None](), [pc]
        while pending:
            at = pending.pop()
            if at in found:
                continue
            found[at] = None
            access = self._code.accesses.get(at)
            if access is not None and not access.is_load:
                pending += self._code.accesses_of(at)[1]
            for made in self._instructions[at].places_written:
                for user in sorted(user for user in self._instructions if user > at):
                    instruction, kept = self._instructions[user], self._code.accesses.get(user)
                    is_sum = made in _addends_of(instruction) or instruction.form.mnemonic in _CARRIERS
                    if made in instruction.places_read and (is_sum or (kept is not None and not kept.is_load)):
                        pending.append(user)
                    if made in instruction.places_written:
                        break
        return [*found]


def _may_be_behind(change: Alternative) -> bool:
    """Whether what was changed comes to the same on the next line that takes the number."""
    return change.rank in (ONE_OFF, MISSING) or change.beside.is_bounded


def _addends_of(instruction: Instruction) -> Sequence[Place]:
    """The registers of which an instruction passes on what is more in them."""
    name, places = instruction.form.mnemonic, instruction.places_read
    if _WIDER_SUM.fullmatch(name):
        _, first, _ = operands_of(instruction)
        return [first.place] if isinstance(first, Vector) else []
    if name in _ADDED_TO:
        last = operands_of(instruction)[-1]
        return [last.place] if isinstance(last, General) else []
    return places if name in _SUMS else ()
