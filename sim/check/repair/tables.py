"""A table of the program in which one element is another number, or two neighbours have changed places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from isa.instruction import Form
from isa.lane import U64, Lane, Load, Write, load, select
from isa.semantics.elementwise import Body, Writes
from sim.check.repair.alternative import NEAR, Alternative, Beside
from sim.check.repair.code import ExecutedCode
from sim.check.repair.steps import low_bits, with_body
from sim.check.repair.trials import RepairTrials
from sim.check.repair.variables import with_loads


def other_elements(code: ExecutedCode, trials: RepairTrials) -> Iterator[Sequence[Alternative]]:
    """For each element of a table that all failing calls load, the changes after which it is one more, or one less.

    Where several lines load it, those of one line alone come first.  Then for each two neighbours of which all failing
    calls load one those after which they have changed places.
    """
    places: dict[tuple[int, int], dict[str, list[int]]] = {}
    for pc, address, size in sorted(frozenset[tuple[int, int, int]]().union(*trials.data_reads)):
        if code.instructions[pc].places_written[0].file == "x" and code.data_at(address)[0]:
            places.setdefault((address, size), {}).setdefault(code.line(pc), []).append(pc)
    by_call = [{read[1:] for read in reads} for reads in trials.data_reads]
    for (address, size), by_line in places.items():
        if not all((address, size) in reads for reads in by_call):
            continue
        table, before = code.data_at(address)
        element = _element(table, before, size)
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

    for address, size in places:
        behind = address + size, size
        (table, before), beside = code.data_at(address), code.data_at(address + size)
        if table == beside[0] and all((address, size) in reads or behind in reads for reads in by_call):
            pcs = [pc for each in ((address, size), behind) for some in places.get(each, {}).values() for pc in some]
            says = f"with {_element(table, before, size)} and the next one in each other's place"
            yield [
                Alternative(
                    pc, NEAR, code.instructions[pc],
                    with_body(code.instructions[pc], _exchanged(code.instructions[pc].form, address, size)),
                    says, Beside(table=table),
                )
                for pc in dict.fromkeys(pcs)
            ]  # fmt: skip


def _element(table: str, before: int, size: int) -> str:
    return f"element {before // size} of {table}" if before % size == 0 else f"byte {before} of {table}"


@cache
def _exchanged(form: Form, address: int, size: int) -> Body:
    """Loads what lies behind an element in its place, and it in the place of that."""

    def instead(lane: Load) -> Lane:
        moved = select(lane.address.equals(address), size, 0) - select(lane.address.equals(address + size), size, 0)
        return load(U64.wrap(lane.address + moved), size) if lane.size == size else lane

    def body(*operands: Any) -> Writes:
        return tuple(
            Write(w.place, w.bits, [with_loads(lane, instead) for lane in w.lanes]) for w in form.body(*operands)
        )

    return body


@cache
def _other(form: Form, address: int, size: int, by: int) -> Body:
    """Loads another number from an address."""

    def instead(lane: Load) -> Lane:
        is_it = lane.address.equals(address)
        return low_bits(lane + select(is_it, by, 0), 8 * size) if lane.size == size else lane

    def body(*operands: Any) -> Writes:
        return tuple(
            Write(w.place, w.bits, [with_loads(lane, instead) for lane in w.lanes]) for w in form.body(*operands)
        )

    return body
