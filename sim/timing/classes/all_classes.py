"""Which class of instructions a form belongs to: the unit in which a core's latencies and throughputs are stated."""

from __future__ import annotations

from functools import cache

from isa.instruction import Form, Pattern
from sim.timing.classes import floating, integer, memory, scalar
from sim.timing.classes.row import CLAUSES, ClassRow

ROWS: tuple[ClassRow, ...] = (
    *scalar.ARITHMETIC,
    *scalar.CONTROL,
    *memory.SCALAR,
    *memory.VECTOR,
    *memory.STRUCTURES,
    *integer.ARITHMETIC,
    *integer.CRYPTOGRAPHY,
    *integer.MULTIPLIES,
    *integer.SHIFTS,
    *integer.MOVES,
    *floating.ARITHMETIC,
    *floating.CONVERSIONS,
    *floating.MOVES,
)
"""The class table.  Of the rows that take a form, the first whose clause is met counts."""
CLASSES: tuple[str, ...] = tuple(dict.fromkeys(row.name for row in ROWS))
"""The names of the classes, each once."""


@cache
def timing_class(pattern: Pattern) -> str:
    """The class of an instruction: one of `CLASSES`."""
    return next(row.name for row in _rows_of(pattern.form) if row.takes_text(pattern))


def classes_of(form: Form) -> tuple[str, ...]:
    """The classes that instructions of a form can be of, each once."""
    rows = _rows_of(form)
    last = next((number for number, row in enumerate(rows) if CLAUSES[row.clause].of_text is None), len(rows))
    return tuple(dict.fromkeys(row.name for row in rows[: last + 1]))


@cache
def _rows_of(form: Form) -> tuple[ClassRow, ...]:
    return tuple(row for row in ROWS if row.takes(form))
