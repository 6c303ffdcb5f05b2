"""Where the ways that part at a branch come together again: the postdominators of a function's code."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from isa.instruction import Instruction
from isa.lane import Constant, Pick, Place
from sim.machine.errors import ExecutionError

EXIT = -1
"""The end of a function, as a place in its code."""
MOST_CODE = 20_000
"""Instructions of a function that are looked at."""


class Flow:
    """The branches of code; `instruction_at` gives an instruction that is not executed for that."""

    def __init__(self, instruction_at: Callable[[int], Instruction]) -> None:
        self._instruction_at = instruction_at
        self._joins: dict[int, int] = {}

    def join(self, branch: int) -> int:
        """The first address that every way from a branch to the end of its function comes by; EXIT for its end."""
        if branch not in self._joins:
            self._joins |= _immediate_postdominators(self.following(branch))
        return self._joins.get(branch, EXIT)

    def following(self, start: int) -> dict[int, tuple[int, ...]]:
        """Where each instruction that can be reached from one leads."""
        found: dict[int, tuple[int, ...]] = {}
        pending = [start]
        while pending and len(found) < MOST_CODE:
            pc = pending.pop()
            if pc != EXIT and pc not in found:
                found[pc] = tuple(self._targets(pc))
                pending += found[pc]
        return found

    def _targets(self, pc: int) -> Iterator[int]:
        try:
            instruction = self._instruction_at(pc)
        except ExecutionError:  # what follows a call that does not return need not be code
            yield EXIT
            return
        target = next((w.lanes[0] for w in instruction.writes if w.place == Place("pc")), None)
        if target is None or instruction.is_call:
            yield pc + 4
            return
        if not isinstance(target, Pick):
            yield target.low if isinstance(target, Constant) else EXIT
            return
        for lane in (*target.items, target.otherwise):  # one of them is the next address
            yield lane.low if isinstance(lane, Constant) else pc + 4


def _immediate_postdominators(following: dict[int, tuple[int, ...]]) -> dict[int, int]:
    """By address (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm, on the reversed graph)."""
    preceding: dict[int, list[int]] = {EXIT: []}
    for pc, targets in following.items():
        for target in targets:
            preceding.setdefault(target, []).append(pc)
    order: dict[int, int] = {}
    seen, pending = {EXIT}, [(EXIT, iter(preceding[EXIT]))]
    while pending:
        node, rest = pending[-1]
        above = next((pc for pc in rest if pc not in seen), None)
        if above is None:
            pending.pop()
            order[node] = len(order)
        else:
            seen.add(above)
            pending.append((above, iter(preceding.get(above, ()))))
    found, changed = {EXIT: EXIT}, True
    while changed:
        changed = False
        for pc in sorted(order, key=lambda node: -order[node]):
            if pc == EXIT:
                continue
            known = [target for target in following[pc] if target in found]
            best = known[0]
            for target in known[1:]:
                while best != target:
                    while order[best] < order[target]:
                        best = found[best]
                    while order[target] < order[best]:
                        target = found[target]
            if found.get(pc) != best:
                found[pc], changed = best, True
    return found
