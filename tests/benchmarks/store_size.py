"""A store of campaigns with many rows: how large it is, how fast it takes results, how long questions to it take.

    python tests/benchmarks/store_size.py 10000000 /tmp/stores

Runs of a million jobs each are written by SQL, with digests in their order: four microseconds of a processor a row,
however many there are.  What is measured then goes by `Store`, as campaigns and results do, with digests in no order.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sim.campaign.case import JobCase, PlannedJob, digest_of
from sim.campaign.report import report_of
from sim.campaign.result import JobResult
from sim.campaign.store import Store
from sim.terminal.script import parser_of, run_by_hand

A_RUN = 1_000_000
MEASURED = 10_000
NUMBERS = "WITH RECURSIVE n (i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {last})"
FILLED = (
    "INSERT INTO cases SELECT i, digest(i), 'check', 'kernel_' || (i % 50) || '.py', '', 'kernel.c', '',"
    " 'O' || (i % 3), '', '', i, '{{\"engine\": \"lockstep\", \"vectors\": 1000}}' FROM n",
    'INSERT INTO jobs SELECT i, digest(i), i, 1, \'{{"kernel.c": "0123456789abcdef0123456789abcdef"}}\' FROM n',
    "INSERT INTO planned SELECT {run}, i FROM n",
    "INSERT INTO results SELECT i, iif(i % 100 = 0, 'differs', 'agrees'), 1000, 50000, NULL, 0.05, 1,"
    " iif(i % 100 = 0, 'kernel.c:' || (i % 7), ''), '', '', NULL, 0, '0123456789abcdef',"
    " iif(i % 100 = 0, 'y[3]: machine 1, golden 2', ''), '' FROM n",
)


@contextmanager
def timed(what: str) -> Iterator[None]:
    wall, cpu = time.monotonic(), time.process_time()
    yield
    print(f"{what}: {time.monotonic() - wall:.2f} s, {time.process_time() - cpu:.2f} s of a processor", flush=True)


def fill(path: Path, rows: int) -> None:
    with Store(path) as store:
        store.begin("first", "{}", [])
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        apart = 2**64 // (rows + 1)  # new digests, in no order, come between these
        db.create_function("digest", 1, lambda i: (i * apart).to_bytes(8, "big") + b"01234567", deterministic=True)
        for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -200000"):
            db.execute(f"PRAGMA {setting}")
        for run in range(2, 2 + rows // A_RUN):
            first = (run - 2) * A_RUN + 1
            with timed(f"run {run} of {A_RUN:,} jobs written"):
                db.execute("BEGIN")
                db.execute("INSERT INTO runs VALUES (?, 'night', randomblob(16), ?, ?)", (run, run, run + 1.0))
                for statement in FILLED:
                    numbers = NUMBERS.format(first=first, last=first + A_RUN - 1)
                    into, _, select = statement.format(run=run).partition(" SELECT ")
                    db.execute(f"{into} {numbers} SELECT {select}")
                db.execute("COMMIT")
        db.execute("PRAGMA journal_mode = WAL")
    print(f"{rows:,} rows: {path.stat().st_size / 1e9:.2f} GB, {path.stat().st_size / rows:.0f} bytes a row")


def measure(path: Path, rows: int) -> None:
    cases = [JobCase(kind="check", kernel="new.py", source="k.c", level="O2", seed=n, more={}) for n in range(MEASURED)]
    jobs = [PlannedJob(case, digest_of(case.hash.hex()), "{}", 1.0) for case in cases]
    with timed("opened"):
        store = Store(path)
    with store:
        with timed(f"a campaign of {MEASURED:,} jobs begun"):
            number = store.begin("other", "{}", jobs)
        with timed(f"{MEASURED:,} results taken, each a transaction"):
            for job in jobs:
                store.add(job.hash, JobResult(verdict="agrees", lanes=1000))
        with timed("what was kept and what was earlier, of that campaign"):
            store.kept(number)
            store.earlier("other")
        with timed("the results of that run"):
            report_of(store, number, None)
        with timed(f"the results of a run of {A_RUN:,}, against the one before"):
            print(f"{len(report_of(store, 1 + rows // A_RUN, None).groups)} groups")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("rows", type=int)
    parser.add_argument("folder", type=Path, help="where the store is written")
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    made = given.folder / f"{given.rows}.sqlite"
    made.unlink(missing_ok=True)
    fill(made, given.rows)
    measure(made, given.rows)


if __name__ == "__main__":
    run_by_hand(main)
