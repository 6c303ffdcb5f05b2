"""The results of a run as a Parquet file, with what made each of them: the one file that knows pyarrow."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

import pyarrow
import pyarrow.parquet

from sim.campaign.store import EXPORTED, Store, StoredRun

_A_GROUP: Final = 100_000
"""Rows of a row group: what is in memory at once, besides what is written."""
_NUMBERS: Final = {
    "seed": pyarrow.int64(), "lanes": pyarrow.int64(), "instructions": pyarrow.int64(), "cycles": pyarrow.float64(),
    "seconds": pyarrow.float64(), "attempts": pyarrow.int32(), "lane": pyarrow.int64(), "wrong": pyarrow.int64(),
}  # fmt: skip
"""Types of the store's columns; the others are texts."""
_OF_RUN: Final = {
    "run": pyarrow.int64(), "campaign": pyarrow.string(), "started": pyarrow.timestamp("ms", tz="UTC"),
}  # fmt: skip
"""Columns that are the same in every row, so that files of many runs can be read as one table."""
SCHEMA: Final = pyarrow.schema({**_OF_RUN, **{name: _NUMBERS.get(name, pyarrow.string()) for name in EXPORTED}})


def packed_results(store: Store, run: StoredRun) -> bytes:
    """A row for each result of a run, in the columns that docs/campaigns.md names.  Raises StoreError."""
    rows = store.exported(run.number)
    about: list[Any] = [run.number, run.name, round(1000 * run.started)]
    made = pyarrow.BufferOutputStream()
    with pyarrow.parquet.ParquetWriter(made, SCHEMA, compression="zstd") as writer:
        while some := [*islice(rows, _A_GROUP)]:
            columns = [[value] * len(some) for value in about] + [list(column) for column in zip(*some, strict=True)]
            writer.write_table(pyarrow.table(dict(zip(SCHEMA.names, columns, strict=True)), schema=SCHEMA))
    return bytes(made.getvalue().to_pybytes())
