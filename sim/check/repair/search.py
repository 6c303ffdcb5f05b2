"""The search for the smallest change of some code after which every lane is right."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from operator import itemgetter
from typing import Final

from isa.operands import Scalar
from sim.check.repair.alternative import FOLLOWS, MISSING, NEAR, ONE_OFF, STEP, Alternative, replaced
from sim.check.repair.alternatives import alternatives_of, other_registers
from sim.check.repair.callers import called_otherwise
from sim.check.repair.code import ExecutedCode
from sim.check.repair.numbers import other_numbers
from sim.check.repair.rounded_once import rounded_once
from sim.check.repair.steps import ELEMENTS, LEFT_OUT, SPOILT, operands_of, with_body, with_results
from sim.check.repair.tables import other_elements
from sim.check.repair.trials import RepairTrials
from sim.check.repair.variables import left_out_variables, other_values, parts_beside, swapped_loads
from sim.check.repair.wider import wider, wider_variables

WORK: Final = 8_000_000
"""Instructions that the search for repairs of one size may take: some seconds."""
ALL_WORK: Final = 30_000_000
"""And that for repairs of all sizes."""
MOST_LEFT_OUT: Final = 4
_SUM: Final = re.compile("add|sub")


@dataclass(frozen=True)
class Repair:
    """One instruction that is changed, or some, after which every lane is right."""

    changes: Sequence[Alternative]
    lines: set[str]


def find_repairs(code: ExecutedCode, trials: RepairTrials, one_computes: bool = False) -> list[Repair]:
    """The smallest changes after which every lane is right: all that are as small as the smallest.

    With `one_computes` these are only of one instruction that is no branch, to one that is easily mixed up with it.

    What is right because calls take another way, such as past a loop into the tail behind it, says nothing of the
    fault.
    """
    for candidates in [_near_alone(code, trials)] if one_computes else _by_size(code, trials):
        found, limit = list[Repair](), min(trials.spent + WORK, ALL_WORK)
        for changes in candidates:
            if trials.spent > limit + WORK // 2 * bool(found):  # what else is right matters more than what is
                break
            lines = {code.line(change.blamed) + change.beside.table for change in changes if change.rank != FOLLOWS}
            if any(repair.lines <= lines for repair in found):
                continue
            if trials.are_right_with(replaced(changes)):
                found.append(Repair(changes, lines))
        if found:
            return found
    return []


def _near_alone(code: ExecutedCode, trials: RepairTrials) -> Iterator[Sequence[Alternative]]:
    """One instruction each that computes something else that is near; a constant may be of another line there."""
    for pc in sorted(trials.reached):
        instruction = code.instructions[pc]
        if instruction.places_read and not instruction.is_branch and _matters(code, trials, pc):
            yield from ([change] for change in alternatives_of(pc, instruction) if change.rank == NEAR)


def _by_size(code: ExecutedCode, trials: RepairTrials) -> Iterator[Iterable[Sequence[Alternative]]]:
    """The changes to try, those of one size together, the smallest first.

    Left out is what cannot change the wrong lanes of the shortest failing call, and what passes on its line's own.
    """
    places = [pc for pc in sorted(trials.reached) if not code.only_passes_on(pc) and _matters(code, trials, pc)]
    others = [change for pc in places for change in alternatives_of(pc, code.instructions[pc])]
    values = [change for pc in places for change in other_values(code, pc)]
    registers = [change for pc in places for change in other_registers(code, pc)]
    steps, rest = [change for change in others if _is_a_step(change)], [each for each in others if not _is_a_step(each)]
    alone = others + values
    yield (*([change] for change in alone if change.rank == NEAR), *other_elements(code, trials))
    yield other_numbers(code, trials)
    yield (
        *([change] for change in _in_turn(steps) if change.rank == STEP),
        *(changes for pc in places for changes in wider(code, pc)),
        *wider_variables(code),
        *parts_beside(code, places),
        *([change] for change in _in_turn(values + rest, registers) if change.rank == STEP),
        *(changes for pc in places for changes in wider(code, pc, bounded=True)),
    )
    near = [change for change in _in_turn(alone) if change.rank in (NEAR, STEP)]
    yield ([change] for change in called_otherwise(code, near))
    by_line: dict[str, list[Alternative]] = {}
    for change in alone:
        if change.rank in (NEAR, STEP):
            by_line.setdefault(code.line(change.pc), []).append(change)
    yield (*rounded_once(code, places), *swapped_loads(code, sorted(trials.reached)), *_alike(by_line))
    yield _left_out(by_line)
    further = [change for change in alone if change.rank in (ONE_OFF, MISSING)]
    with_others = [change for pc in places for change in left_out_variables(code, pc, trials.reached)]
    yield _added_behind(code, alone, with_others)
    yield ([change] for change in _in_turn(with_others, further))
    yield _pairs(by_line)


def _in_turn(*kinds: Iterable[Alternative]) -> list[Alternative]:
    """The steps of the arithmetic, then what is any other instruction: of each address the first, then the second.

    So where the work ends early, it was on the likeliest of all.
    """
    places: list[tuple[bool, int, Alternative]] = []
    for changes in kinds:
        turns = defaultdict[tuple[int, int, bool], Iterator[int]](count)
        for change in changes:
            like = (change.pc, change.rank, _is_a_step(change))
            places.append((not _is_a_step(change), next(turns[like]), change))
    return [change for *_, change in sorted(places, key=itemgetter(0, 1))]


def _is_a_step(change: Alternative) -> bool:
    """Whether a change is one of the arithmetic, and not just any other instruction."""
    return change.instruction.text == change.original.text


def _matters(code: ExecutedCode, trials: RepairTrials, pc: int) -> bool:
    """Whether other results of an instruction change a lane that is wrong; branches and stores always may."""
    instruction = code.instructions[pc]
    if instruction.is_branch or instruction.stores or "sp" in instruction.text:
        return True
    is_load = instruction.form.mnemonic in ("ldr", "ldur") and isinstance(operands_of(instruction)[0], Scalar)
    spoilt = [
        with_body(instruction, with_results(instruction.form, change, bits))
        for bits in ((0, ELEMENTS[0]) if is_load else (0,))  # of a register that is loaded each element, too
        for change in SPOILT
    ]
    return any(trials.matters({pc: each}) for each in spoilt)


def _alike(by_line: Mapping[str, Sequence[Alternative]]) -> Iterator[Sequence[Alternative]]:
    """The same change of all instructions of a line that it can be made of."""
    for changes in by_line.values():
        same: dict[tuple[str, ...], dict[int, Alternative]] = {}
        for change in changes:
            same.setdefault(_slip(change), {}).setdefault(change.pc, change)
        yield from ([*some.values()] for some in same.values() if len(some) > 1)


def _slip(change: Alternative) -> tuple[str, ...]:
    """What a change is, wherever it is: each word that differs with the other in its place; of steps what it says."""
    before, after = (each.text.replace(",", "").split() for each in (change.original, change.instruction))
    if before == after or len(before) != len(after):
        return before[0], change.says
    return tuple(f"{word} {other}" for word, other in zip(before, after, strict=True) if word != other)


def _left_out(by_line: Mapping[str, Sequence[Alternative]]) -> Iterator[Sequence[Alternative]]:
    """Several steps of one line left out."""
    lines = [[change for change in some if change.says.startswith(LEFT_OUT)] for some in by_line.values()]
    for many in range(2, MOST_LEFT_OUT + 1):
        yield from (some for one in lines for some in combinations(one, many) if _are_apart(some))


def _pairs(by_line: Mapping[str, Sequence[Alternative]]) -> Iterator[Sequence[Alternative]]:
    """Two changes on one line: first of what is easily mixed up or left out, then of any kind."""
    near = {
        line: [change for change in some if change.rank == NEAR or change.says.startswith(LEFT_OUT)]
        for line, some in by_line.items()
    }
    for lines in (near, by_line):
        yield from (two for some in lines.values() for two in combinations(some, 2) if _are_apart(two))


def _added_behind(
    code: ExecutedCode, alone: Iterable[Alternative], with_others: Iterable[Alternative]
) -> Iterator[Sequence[Alternative]]:
    """A sum left out, and a variable added or taken away behind it on its line: not before the shift, but after."""
    by_line: dict[str, list[Alternative]] = {}
    for change in with_others:
        if change.says.startswith(("plus", "minus")):
            by_line.setdefault(code.line(change.pc), []).append(change)
    for one in alone:
        if one.says.startswith(LEFT_OUT) and _SUM.search(one.original.form.mnemonic):
            yield from ((one, other) for other in by_line.get(code.line(one.pc), ()) if other.pc > one.pc)


def _are_apart(changes: Sequence[Alternative]) -> bool:
    return len({change.pc for change in changes}) == len(changes)
