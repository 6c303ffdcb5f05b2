"""Cores small enough to schedule by hand, and streams of a few instructions for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

from isa.rows import TABLE
from sim.timing.classes.all_classes import CLASSES
from sim.timing.model.core import About, ClassTiming, Core, parse_uses
from sim.timing.model.stream import Executed

ADD, MULTIPLY, ACCUMULATE = "ASIMD add/sub 128", "ASIMD multiply 4S", "ASIMD multiply-accumulate 4S"
LOAD, STORE, SCALAR = "load vector 128 (ldr q)", "store vector 128 (str q)", "scalar ALU add imm"
PIPES = ("A", "B", "M", "L", "S")


Fields = Mapping[str, Mapping[str, Any]]
_USUAL = ClassTiming(
    name="",
    latency=Fraction(1),
    throughput=Fraction(1),
    uses=parse_uses("A|B", PIPES),
    accumulate=None,
    group="",
    merge=None,
    slots=1,
    first=False,
    merges=True,
    basis="assumed",
    source="",
    status="modelled",
)


def small_core(
    order: Literal["in", "out"] = "in", width: int = 2, classes: Fields | None = None, **parameters: Any
) -> Core:
    """A core of five pipes on which every class takes one cycle on A or B, but for the fields given by class."""
    made = {name: replace(_USUAL, name=name) for name in CLASSES}
    for name, fields in (classes or {}).items():
        made[name] = replace(made[name], **{key: _field(key, value) for key, value in fields.items()})
    core = Core(
        name="small", title="A small core", order=order, width=width, pipes=PIPES, classes=made, reorder_buffer=0,
        retire_width=0, queues={}, address_delay=0, shifted_delay=0, writeback=1, structure_writeback_slots=0,
        store_data_late=0,
        store_forward_scalar=Fraction(0), store_forward_vector=Fraction(0), unaligned_bytes=0, unaligned_cycles=0,
        mispredict=0, in_turn=0,
        taken_branch_interval=Fraction(0), levels=(), about=About((), {}, (), ()),
    )  # fmt: skip
    return replace(core, **parameters)


def _field(key: str, value: Any) -> Any:
    if key == "uses":
        return parse_uses(value, PIPES)
    return Fraction(str(value)) if key in ("latency", "accumulate", "merge") else value


def stream_of(
    *texts: str, loads: Mapping[int, int] | None = None, stores: Mapping[int, int] | None = None
) -> list[Executed]:
    """Instructions in a straight line; `loads` and `stores` give the address of 16 bytes by number."""
    return [
        Executed(
            0x1000 + 4 * number, TABLE.instruction(*text.split(" ", 1)),
            (((loads or {})[number], 16),) if number in (loads or {}) else (),
            (((stores or {})[number], 16),) if number in (stores or {}) else (),
            False, 0x1004 + 4 * number,
        )
        for number, text in enumerate(texts)
    ]  # fmt: skip
