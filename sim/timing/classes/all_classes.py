"""Which class of instructions a form belongs to: the unit in which a core's latencies and throughputs are stated."""

from __future__ import annotations

from functools import cache

from isa.instruction import Form, Pattern
from sim.timing.classes import floating as class_rows_floating
from sim.timing.classes import integer as class_rows_integer
from sim.timing.classes import memory as class_rows_memory
from sim.timing.classes import scalar as class_rows_scalar
from sim.timing.classes.row import ClassRow

ROWS: tuple[ClassRow, ...] = (
    *class_rows_scalar.ARITHMETIC,
    *class_rows_scalar.CONTROL,
    *class_rows_memory.SCALAR,
    *class_rows_memory.VECTOR,
    *class_rows_memory.STRUCTURES,
    *class_rows_integer.ARITHMETIC,
    *class_rows_integer.CRYPTOGRAPHY,
    *class_rows_integer.MULTIPLIES,
    *class_rows_integer.SHIFTS,
    *class_rows_integer.MOVES,
    *class_rows_floating.ARITHMETIC,
    *class_rows_floating.CONVERSIONS,
    *class_rows_floating.MOVES,
)
"""The class table.  Of the rows that take a form, the first whose clause is met counts."""
CLASSES: tuple[str, ...] = tuple(dict.fromkeys(row.name for row in ROWS))
"""The names of the classes, each once."""


@cache
def timing_class(pattern: Pattern) -> str:
    """The class of an instruction: one of `CLASSES`."""
    return next(row.name for row in _rows_of(pattern.form) if row.takes_text(pattern))


@cache
def _rows_of(form: Form) -> tuple[ClassRow, ...]:
    return tuple(row for row in ROWS if row.takes(form))
