"""The search for the smallest change of some code after which every lane is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from isa.instruction import Instruction
from sim.check.repair.alternatives import LEFT_OUT, NEAR, STEP, Alternative, alternatives_of
from sim.check.repair.trials import RepairTrials
from sim.toolchain.image import Image

WORK: Final = 5_000_000
"""Instructions that the search for one changed instruction may take: some seconds."""
MORE_WORK: Final = 3_000_000
"""And that for several on one source line."""
MOST_LEFT_OUT: Final = 4


@dataclass(frozen=True)
class Repair:
    """One instruction that is changed, or some of one source line, after which every lane is right."""

    changes: Sequence[Alternative]

    @property
    def replaced(self) -> Mapping[int, Instruction]:
        return {change.pc: change.instruction for change in self.changes}


def find_repairs(image: Image, trials: RepairTrials) -> list[Repair]:
    """The smallest changes after which every lane is right: all that are as small as the smallest.

    Only where no change of one instruction does, several of a source line are tried.  What is right because calls take
    another way, such as past a loop into the tail behind it, says nothing of the fault.
    """
    changes = [change for pc, i in sorted(trials.instructions.items()) for change in alternatives_of(pc, i)]
    changes.sort(key=lambda change: change.rank)
    found: dict[int, list[Repair]] = {}
    for change in changes:
        if change.rank > min(found, default=change.rank) or trials.spent > WORK:
            break
        repair = Repair([change])
        if trials.are_right_with(repair.replaced) and not trials.goes_another_way_with(repair.replaced):
            found.setdefault(change.rank, []).append(repair)
    if not found:
        limit = trials.spent + MORE_WORK
        for some in _of_one_line(image, changes):
            if trials.spent > limit:
                break
            repair = Repair(some)
            if trials.are_right_with(repair.replaced) and not trials.goes_another_way_with(repair.replaced):
                found.setdefault(len(some), []).append(repair)
                break
    return found[min(found)] if found else []


def _of_one_line(image: Image, changes: Sequence[Alternative]) -> Iterator[Sequence[Alternative]]:
    """Several changes on one source line: first all that leave some steps out, then two of any kind."""
    by_line: dict[str, list[Alternative]] = {}
    for change in changes:
        if change.rank in (NEAR, STEP):
            by_line.setdefault(image.place_of(change.pc), []).append(change)
    left_out = [[change for change in some if change.says.startswith(LEFT_OUT)] for some in by_line.values()]
    for count in range(2, MOST_LEFT_OUT + 1):
        yield from (some for one in left_out for some in combinations(one, count) if _are_apart(some))
    yield from (some for one in by_line.values() for some in combinations(one, 2) if _are_apart(some))


def _are_apart(changes: Sequence[Alternative]) -> bool:
    return len({change.pc for change in changes}) == len(changes)
