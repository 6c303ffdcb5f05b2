"""The rows of the instruction table, one a family; see `isa.table` for the notation of mnemonics and shapes."""

from __future__ import annotations

from itertools import chain

from isa.rows import atomics, base, crypto, floating, loads_stores, moves, multiplies, narrow_widen, shifts, vector
from isa.table import Table

TABLE = Table(
    chain.from_iterable(
        row
        for module in (vector, multiplies, shifts, narrow_widen, moves, floating, crypto, loads_stores, atomics, base)
        for row in module.ROWS
    )
)  # fmt: skip
