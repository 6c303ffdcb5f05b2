"""A table of the program in which one element is another number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from isa.instruction import Form
from isa.lane import Int, Lane, Load, Write, select
from isa.semantics.elementwise import Body, Writes
from sim.check.repair.alternative import NEAR, Alternative, Beside
from sim.check.repair.code import ExecutedCode
from sim.check.repair.steps import with_body
from sim.check.repair.trials import RepairTrials
from sim.check.repair.variables import with_loads


def other_elements(code: ExecutedCode, trials: RepairTrials) -> Iterator[Sequence[Alternative]]:
    """For each element of a table that all failing calls load, the changes after which it is one more, or one less.

    Where several lines load it, those of one line alone come first.
    """
    places: dict[tuple[int, int], dict[str, list[int]]] = {}
    for pc, address, size in sorted(trials.data_read):
        if code.instructions[pc].places_written[0].file == "x" and code.data_at(address)[0]:
            places.setdefault((address, size), {}).setdefault(code.line(pc), []).append(pc)
    for (address, size), by_line in places.items():
        table, before = code.data_at(address)
        element = f"element {before // size} of {table}" if before % size == 0 else f"byte {before} of {table}"
        for by, says in ((1, "1 added to"), (-1, "1 taken from")):
            every = [pc for some in by_line.values() for pc in some]
            for some in [*by_line.values(), every] if len(by_line) > 1 else [every]:
                changes = []
                for pc in some:
                    instruction = code.instructions[pc]
                    changed = with_body(instruction, _other(instruction.form, address, size, by))
                    words = f"with {says} {element}"
                    changes.append(
                        Alternative(pc, NEAR, instruction, changed, words, Beside(table=table if some == every else ""))
                    )
                yield changes


@cache
def _other(form: Form, address: int, size: int, by: int) -> Body:
    """Loads another number from an address."""

    def instead(lane: Load) -> Lane:
        element = Int(8 * size, False)
        return element.wrap(lane + select(lane.address.equals(address), by, 0)) if lane.size == size else lane

    def body(*operands: Any) -> Writes:
        return tuple(
            Write(w.place, w.bits, [with_loads(lane, instead) for lane in w.lanes]) for w in form.body(*operands)
        )

    return body
