"""The parameters of `core128`, which are those of a core of `sim.timing`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Final

from isa.errors import LanewiseError
from rtl_models.cores.core128.decoder import classes_of, latencies, occupations
from rtl_models.cores.core128.rows import CoreRow
from rtl_models.cores.core128.units import GROUPS, units_of
from sim.timing.model.core import ClassTiming, Core
from sim.timing.model.core_file import load_core

DEPTH: Final = 17
"""Stages: a latency is at most one less."""
MOST_OCCUPIED: Final = 31
"""Cycles, in five bits."""
SLOWEST: Final = 32
"""Cycles from an instruction to the next, at most: those between taken branches, one less in five bits."""
_NOT_THERE: Final = (
    "address_delay", "shifted_delay", "structure_writeback_slots", "store_data_late", "unaligned_bytes",
)  # fmt: skip
"""Parameters of a core whose rules the hardware has not."""


class NotBuildable(LanewiseError):
    """A core of `sim.timing` that the hardware cannot be."""


@dataclass(frozen=True, kw_only=True)
class Core128:
    """A core in hardware: the core file it follows."""

    core: Core

    def parameters(self, rows: Sequence[CoreRow]) -> dict[str, str]:
        """As the module has them.  Raises NotBuildable."""
        core, names = self.core, classes_of(rows)
        groups = {group: {core.timing(row.timing) for row in rows if units_of(row) == (group,)} for group in GROUPS}
        times = {group: {(int(t.latency), int(t.accumulate or 0)) for t in found} for group, found in groups.items()}
        loads = {int(core.timing(row.timing).latency) for row in rows if row.load is not None}
        bits = 5 * len(names)
        if core.order != "in" or core.width != 1:
            raise NotBuildable(f"{core.name} is not in order, one instruction a cycle")
        if any(len(found) > 1 for found in times.values()):
            raise NotBuildable(
                "what adds to an accumulator must have one latency in a group, and one to the next of it"
            )
        if max(int(core.timing(name).latency) for name in names) >= DEPTH:
            raise NotBuildable(f"a latency is at most {DEPTH - 1} cycles")
        _check(core, names)
        if min(loads) < 2 or max(core.store_forward_scalar, core.store_forward_vector) > min(loads) + 1:
            raise NotBuildable(
                "a load takes 2 cycles or more, and forwarding from a store not longer than the next one"
            )
        pairs = {group: pair for group, (pair,) in times.items()}
        if any(not 0 < forward < latency for latency, forward in pairs.values()):
            raise NotBuildable("an accumulator must be taken later than the factors")
        return {
            "Latencies": f"{bits}'h{latencies(rows, core):x}", "Occupations": f"{bits}'h{occupations(rows, core):x}",
            "MlaLatency": str(pairs["mla"][0]), "MlaForward": str(pairs["mla"][1]),
            "SumLatency": str(pairs["accumulate"][0]), "SumForward": str(pairs["accumulate"][1]),
            "BaseLatency": str(core.writeback), "TakenBranch": str(int(core.taken_branch_interval)),
            "Depth": str(DEPTH),
        }  # fmt: skip


def configurations() -> dict[str, Core]:
    """Three cores by name: lane128 as its file has it, a quicker one, and one whose classes all take their own time."""
    lane128 = load_core("lane128")
    rng = Random(128)
    return {
        "lane128": lane128,
        "quick": _changed(lane128, lambda timing: min(int(timing.latency), 2), (2, 1), (2, 1), base=1, taken=1),
        "uneven": _changed(lane128, lambda _: rng.randrange(1, 10), (7, 3), (5, 2), base=4, taken=3),
    }


def _changed(
    core: Core,
    latency: Callable[[ClassTiming], int],
    mla: tuple[int, int],
    others: tuple[int, int],
    base: int,
    taken: int,
) -> Core:
    """The core with other latencies: loads take 2 cycles or more, what adds to an accumulator `mla` or `others`."""
    classes = {}
    for name, timing in core.classes.items():
        cycles, accumulate = latency(timing), timing.accumulate
        if "load" in name.lower() or name.startswith("LD"):
            cycles = max(cycles, 2)
        if timing.accumulate is not None:
            cycles, forward = mla if timing.group == "mla" else others
            accumulate = Fraction(forward)
        classes[name] = replace(timing, latency=Fraction(cycles), accumulate=accumulate)
    return replace(
        core, classes=classes, writeback=base, taken_branch_interval=Fraction(taken),
        store_forward_scalar=Fraction(3), store_forward_vector=Fraction(3),
    )  # fmt: skip


def _check(core: Core, names: Sequence[str]) -> None:
    """Raises NotBuildable where these classes, or what becomes of all instructions, is not as the hardware has it."""
    timings, own = [core.timing(name) for name in names], load_core("lane128")
    occupied = [sum(use.cycles for use in timing.uses) for timing in timings if timing.uses]
    latency = [timing.latency for timing in timings]
    accumulate = [timing.accumulate for timing in timings if timing.accumulate is not None]
    if max(occupied) > MOST_OCCUPIED:
        raise NotBuildable(f"a pipe is taken for {MOST_OCCUPIED} cycles at most")
    if any(cycles % 1 for cycles in (*occupied, *latency, *accumulate, core.taken_branch_interval)):
        raise NotBuildable("latencies, and how long pipes and branches are taken, are whole numbers of cycles")
    if min(*occupied, *latency, core.writeback, core.taken_branch_interval) < 1:
        raise NotBuildable("a result, a pipe, a base that moves and a taken branch take a cycle or more")
    if core.writeback >= DEPTH or core.taken_branch_interval > SLOWEST:
        raise NotBuildable(f"a base moves in {DEPTH - 1} cycles, a taken branch follows in {SLOWEST}, at most")
    if there := [name for name in _NOT_THERE if getattr(core, name)]:
        raise NotBuildable(f"it has no {', '.join(there)}")
    if others := [name for name in names if _rules(core.timing(name)) != _rules(own.timing(name))]:
        raise NotBuildable(f"{others[0]!r} has other pipes, slots, groups or merging than on lane128")


def _rules(timing: ClassTiming) -> tuple[object, ...]:
    """What a class has besides its cycles."""
    uses = [(use.pipes, use.start) for use in timing.uses]
    return uses, timing.slots, timing.first, timing.group, timing.merges, timing.merge
