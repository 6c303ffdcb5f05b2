"""Schedules written down by hand, for views: what a pipeline would make of them does not matter."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from isa.rows import TABLE
from sim.timing.model.core import About, Core
from sim.timing.model.schedule import NO_STALL, Schedule, Stall, StallKind
from sim.timing.model.stream import Executed


class Row(NamedTuple):
    """An instruction: its times, in the order entered, available, issued, ready, retired; its pipes; its stalls."""

    text: str
    times: tuple[int, int, int, int, int]
    pipes: tuple[tuple[str, int, int], ...] = ()
    entry: Stall = NO_STALL
    operand: Stall = NO_STALL
    issue: Stall = NO_STALL


def core(order: Literal["in", "out"]) -> Core:
    """A core with three pipes and nothing else of interest."""
    return Core(
        name="hand",
        title="Core <by> hand",
        order=order,
        width=2,
        pipes=("V0", "V1", "L"),
        classes={},
        reorder_buffer=0,
        retire_width=2,
        queues={},
        address_delay=0,
        shifted_delay=0,
        writeback=1,
        structure_writeback_slots=0,
        in_turn=0,
        store_data_late=0,
        store_forward_scalar=Fraction(0),
        store_forward_vector=Fraction(0),
        unaligned_bytes=0,
        unaligned_cycles=0,
        mispredict=0,
        taken_branch_interval=Fraction(0),
        levels=(),
        about=About((), {}, (), ()),
    )


def scheduled(order: Literal["in", "out"], rows: Sequence[Row]) -> Schedule:
    """The schedule that these rows are."""
    return Schedule(
        core=core(order),
        stream=[_executed(row.text, 4 * number) for number, row in enumerate(rows)],
        classes=["any"] * len(rows),
        entered=[row.times[0] for row in rows],
        available=[row.times[1] for row in rows],
        issued=[row.times[2] for row in rows],
        ready=[row.times[3] for row in rows],
        retired=[row.times[4] for row in rows],
        entry_stall=[row.entry for row in rows],
        operand_stall=[row.operand for row in rows],
        issue_stall=[row.issue for row in rows],
        pipes=[row.pipes for row in rows],
        mispredicted=frozenset(),
        unmodelled={},
    )


def _executed(text: str, offset: int) -> Executed:
    mnemonic, _, operands = text.partition(" ")
    pc = 0x1000 + offset
    return Executed(pc, TABLE.instruction(mnemonic, operands), (), (), False, pc + 4)


OUT_OF_ORDER = scheduled(
    "out",
    [
        Row("mul v0.4s, v1.4s, v2.4s", (0, 0, 1, 5, 5), (("V0", 1, 3),)),
        Row(
            "add v3.4s, v0.4s, v0.4s",
            (0, 5, 5, 7, 7),
            (("V1", 5, 6),),
            operand=Stall(StallKind.OPERAND, 0, "v0"),
        ),
        Row(
            "mul v4.4s, v1.4s, v2.4s",
            (1, 2, 3, 7, 7),
            (("V0", 3, 5),),
            entry=Stall(StallKind.WIDTH),
            issue=Stall(StallKind.PIPE, 0, "V0"),
        ),
        Row(
            "str q3, [x0]",
            (5, 7, 7, 8, 8),
            (("L", 7, 8), ("V1", 7, 8)),
            entry=Stall(StallKind.REORDER, 0),
            operand=Stall(StallKind.OPERAND, 1, "v3"),
        ),
        Row("nop", (5, 5, 5, 5, 8)),
    ],
)
"""A chain, a busy pipe, a full reorder buffer, an instruction of two pipes and one of none."""

IN_ORDER = scheduled(
    "in",
    [
        Row("mul v0.4s, v1.4s, v2.4s", (0, 0, 0, 4, 4), (("V0", 0, 1), ("V1", 0, 1))),
        Row(
            "mla v3.4s, v0.4s, v0.4s",
            (4, 4, 4, 8, 8),
            (("V0", 4, 5), ("V1", 4, 5)),
            entry=Stall(StallKind.OPERAND, 0, "v0"),
        ),
        Row("add x0, x0, #16", (4, 4, 4, 5, 8)),
        Row("str q3, [x1]", (5, 5, 5, 6, 8), (("L", 5, 6),), entry=Stall(StallKind.WIDTH)),
    ],
)
"""A chain, a pair that issues together, and one that the width makes wait."""
