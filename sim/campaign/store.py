"""The results of campaigns in one SQLite file, which only the process of a campaign opens; workers send it rows.

    versions(id, text)                     of lanewise and of what it stands on, as JSON
    runs(id, name, plan, started, ended)   a campaign as it was planned: `plan` is a digest of its jobs, times in UTC
    cases(id, hash, kind, ...)             what is asked: columns that results are grouped by, `more` as JSON
    jobs(id, hash, asked, versions, made_of)   a case of these versions and contents: `hash` is a digest of all of it
    planned(run, job)                      the jobs of a run
    results(job, ...)                      what came of a job: `sim.campaign.result.JobResult`

It is in WAL mode, and every result is a transaction of its own: whatever ends the process, what it was told is there.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, fields
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from isa.errors import MISSING, LanewiseError
from sim.campaign.case import JobCase, PlannedJob
from sim.campaign.result import JobResult

APPLICATION: Final = 0x6C616E65
"""Of SQLite's header: "lane"."""
PATIENCE: Final = 600.0
"""Seconds for which another process may hold the store: it writes a plan of a million jobs in some ten, or in minutes
where many others want the processor."""
_AT_ONCE: Final = 0.5
"""Of these the seconds in which Ctrl-C does not come through: SQLite waits for itself."""
IN_MEMORY: Final = 256 << 20
"""Bytes of a store that are held while it is written: digests come in no order, and with SQLite's own 2 MB the pages of
their indexes are written once for each few of them: 2.2 GB for two plans of 200,000 jobs, where these take 0.2 GB."""
LOOKED_THROUGH: Final = 64 << 20
"""Bytes of a store that is read whole for damage before anything is written; of a larger one its structure is."""
_RESULT: Final = tuple(field.name for field in fields(JobResult))
_CASE: Final = ("kind", "kernel", "mode", "source", "compiler", "level", "flags", "core", "seed")
EXPORTED: Final = ("job", *_CASE, "more", *_RESULT, "made_of", "versions")
"""What is known of a result: `job` is its job's hash as hexadecimal digits; `more`, `made_of`, `versions` are JSON."""
MIGRATIONS: Final[list[str]] = [
    """
    CREATE TABLE versions (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
    CREATE TABLE runs (id INTEGER PRIMARY KEY, name TEXT NOT NULL, plan BLOB NOT NULL, started REAL NOT NULL,
                       ended REAL);
    CREATE TABLE cases (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, kind TEXT NOT NULL, kernel TEXT NOT NULL,
                        mode TEXT NOT NULL, source TEXT NOT NULL, compiler TEXT NOT NULL, level TEXT NOT NULL,
                        flags TEXT NOT NULL, core TEXT NOT NULL, seed INTEGER, more TEXT NOT NULL);
    CREATE TABLE jobs (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, asked INTEGER NOT NULL REFERENCES cases,
                       versions INTEGER NOT NULL REFERENCES versions, made_of TEXT NOT NULL);
    CREATE TABLE planned (run INTEGER NOT NULL REFERENCES runs, job INTEGER NOT NULL REFERENCES jobs,
                          PRIMARY KEY (run, job)) WITHOUT ROWID;
    CREATE TABLE results (job INTEGER PRIMARY KEY REFERENCES jobs, verdict TEXT NOT NULL, lanes INTEGER NOT NULL,
                          instructions INTEGER NOT NULL, cycles REAL, seconds REAL NOT NULL,
                          attempts INTEGER NOT NULL, place TEXT NOT NULL, convention TEXT NOT NULL,
                          step TEXT NOT NULL, lane INTEGER, wrong INTEGER NOT NULL, code TEXT NOT NULL,
                          failure TEXT NOT NULL, smallest TEXT NOT NULL);
    """
]
"""What makes a store of version n + 1 of one of version n: its version is the length of this list."""


class StoreError(LanewiseError):
    """A store that cannot be used as it is, or is none; it was left as it was."""


class StoreStopped(LanewiseError):
    """A store that takes no more; what it has is kept."""

    exit_code = MISSING


class StoredRun(NamedTuple):
    """One run of a campaign: of so many jobs, of which some have a result.  Times are seconds since 1970."""

    number: int
    name: str
    started: float
    ended: float | None
    jobs: int
    results: int


class Store:
    """An open store; a context manager.

    With `reading` an existing one is read, and nothing is written; else it is made where there is none.  Raises
    StoreError, and leaves the file as it was, where it is damaged, of another program or of a newer lanewise.
    """

    def __init__(self, path: Path, *, reading: bool = False) -> None:
        self.path = path
        if not path.exists():
            if reading:
                raise StoreError(f"there is no store {path}: lanewise campaign FILE.toml makes one")
            _make(path)
        _require_own(path)
        with self._told():
            mode = "ro" if reading else "rw"
            if reading and not os.access(path.absolute().parent, os.W_OK) and not Path(f"{path}-wal").exists():
                mode += "&immutable=1"  # SQLite reads a WAL store beside which it cannot write only if that is said
            self._db = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=_AT_ONCE, isolation_level=None
            )
        try:
            with self._told():
                self._require_whole()
                if not reading:
                    self._db.execute("PRAGMA synchronous = NORMAL")
                    self._db.execute(f"PRAGMA cache_size = -{IN_MEMORY >> 10}")
                    self._migrate()
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def begin(self, name: str, versions: str, jobs: Sequence[PlannedJob], now: float | None = None) -> int:
        """The number of the run of these jobs: that of the campaign's last one where it had the same, else a new one.

        So a campaign that was stopped goes on with its run, and one that has not changed has no new one.
        """
        plan = sha256(b"".join(sorted(job.hash for job in jobs))).digest()[:16]
        with self._writing() as db:
            last = db.execute("SELECT id, plan FROM runs WHERE name = ? ORDER BY id DESC LIMIT 1", (name,)).fetchone()
            if last is not None and last[1] == plan:
                return int(last[0])
            db.execute("INSERT OR IGNORE INTO versions (text) VALUES (?)", (versions,))
            (made_by,) = db.execute("SELECT id FROM versions WHERE text = ?", (versions,)).fetchone()
            columns = ("hash", *_CASE, "more")
            db.executemany(
                f"INSERT OR IGNORE INTO cases ({', '.join(columns)}) VALUES ({_marks(columns)})",
                (_case_row(job.case) for job in jobs),
            )
            db.executemany(
                "INSERT OR IGNORE INTO jobs (hash, asked, versions, made_of)"
                " VALUES (?, (SELECT id FROM cases WHERE hash = ?), ?, ?)",
                ((job.hash, job.case.hash, made_by, job.made_of) for job in jobs),
            )
            began = db.execute(
                "INSERT INTO runs (name, plan, started) VALUES (?, ?, ?)", (name, plan, now or time.time())
            )
            db.executemany(
                "INSERT OR IGNORE INTO planned (run, job) SELECT ?, id FROM jobs WHERE hash = ?",
                ((began.lastrowid, job.hash) for job in jobs),
            )
            return int(began.lastrowid or 0)

    def kept(self, run: int) -> dict[bytes, str]:
        """Of the jobs of a run that have a result, the verdict by the job's hash."""
        rows = self._select(
            "SELECT hash, verdict FROM planned JOIN jobs ON id = planned.job JOIN results ON results.job = id"
            " WHERE run = ?", run
        )  # fmt: skip
        return {bytes(digest): str(verdict) for digest, verdict in rows}

    def earlier(self, name: str) -> dict[bytes, tuple[str, float]]:
        """By the hash of a case the verdict and the seconds of its last result in runs of a campaign."""
        rows = self._select(
            "SELECT cases.hash, verdict, results.seconds FROM runs JOIN planned ON run = runs.id"
            " JOIN jobs ON jobs.id = planned.job JOIN cases ON cases.id = asked JOIN results ON results.job = jobs.id"
            " WHERE runs.id IN (SELECT id FROM runs WHERE name = ? ORDER BY id DESC LIMIT 2) ORDER BY runs.id", name
        )  # fmt: skip
        return {bytes(digest): (str(verdict), float(seconds)) for digest, verdict, seconds in rows}

    def add(self, job: bytes, result: JobResult) -> None:
        """Keep the result of a planned job; one that is kept already stays, unless nobody came to its end."""
        columns = ", ".join(_RESULT)
        with self._told():
            self._execute(
                f"INSERT INTO results (job, {columns}) SELECT id, {_marks(_RESULT)} FROM jobs WHERE hash = ?"
                f" ON CONFLICT (job) DO UPDATE SET ({columns}) = ({', '.join(f'excluded.{one}' for one in _RESULT)})"
                " WHERE verdict = 'stopped'",
                (*astuple(result), job),
            )

    def add_smallest(self, job: bytes, text: str, place: str) -> None:
        """Keep what the failing case of a job was made to, and the line at fault where one was found."""
        with self._told():
            self._execute(
                "UPDATE results SET smallest = ?, place = CASE ? WHEN '' THEN place ELSE ? END"
                " WHERE job = (SELECT id FROM jobs WHERE hash = ?)", (text, place, place, job),
            )  # fmt: skip

    def end(self, run: int) -> None:
        """Note that every job of the run has a result, now, where none was noted before."""
        with self._told():
            self._execute("UPDATE runs SET ended = ? WHERE id = ? AND ended IS NULL", (time.time(), run))

    def names(self) -> dict[int, str]:
        """The campaigns of all runs by the runs' numbers, the oldest first."""
        return {int(number): str(name) for number, name in self._select("SELECT id, name FROM runs ORDER BY id")}

    def run(self, number: int) -> StoredRun:
        """A run that is there, with its jobs and results counted: that takes a second for a million of them."""
        (found,) = self._select(
            "SELECT runs.id, name, started, ended, count(planned.job), count(results.job) FROM runs"
            " LEFT JOIN planned ON run = runs.id LEFT JOIN results ON results.job = planned.job WHERE runs.id = ?"
            " GROUP BY runs.id", number
        )  # fmt: skip
        return StoredRun(*found)

    def rows(self, run: int) -> Iterator[tuple[JobCase, bytes, JobResult]]:
        """The results of a run: case, hash of the job, result; in the order of the cases."""
        case = ", ".join(f"cases.{one}" for one in _CASE)
        result = ", ".join(f"results.{one}" for one in _RESULT)
        found = self._select(
            f"SELECT jobs.hash, more, {case}, {result} FROM planned JOIN jobs ON jobs.id = planned.job"
            " JOIN cases ON cases.id = asked JOIN results ON results.job = jobs.id WHERE run = ? ORDER BY cases.id", run
        )  # fmt: skip
        for job, more, *values in found:
            asked = JobCase(**dict(zip(_CASE, values, strict=False)), more=json.loads(more))
            yield asked, bytes(job), JobResult(**dict(zip(_RESULT, values[len(_CASE) :], strict=True)))

    def exported(self, run: int) -> Iterator[tuple[Any, ...]]:
        """The results of a run in the columns `EXPORTED`, in the order of the cases."""
        columns = ["lower(hex(jobs.hash))", *(f"cases.{one}" for one in _CASE), "more",
                   *(f"results.{one}" for one in _RESULT), "made_of", "text"]  # fmt: skip
        return self._select(
            f"SELECT {', '.join(columns)} FROM planned JOIN jobs ON jobs.id = planned.job"
            " JOIN cases ON cases.id = asked JOIN results ON results.job = jobs.id"
            " JOIN versions ON versions.id = jobs.versions WHERE run = ? ORDER BY cases.id", run
        )  # fmt: skip

    def _select(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        with self._told():
            yield from self._execute(query, values)

    def _require_whole(self) -> None:
        """Refuse a damaged store, and one of a newer lanewise, before anything is written."""
        (version,) = self._execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            raise StoreError(
                f"{self.path} was made by a newer lanewise (its version is {version}, this one knows"
                f" {len(MIGRATIONS)}): use that one, or another --store"
            )
        if self.path.stat().st_size <= LOOKED_THROUGH:
            (found,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise StoreError(_damaged(self.path, str(found)))

    def _migrate(self) -> None:
        with self._writing() as db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            for statements in MIGRATIONS[version:]:
                for statement in statements.split(";"):
                    db.execute(statement)
            if version < len(MIGRATIONS):
                db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    def _execute(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """A statement, once no other process holds the store; Ctrl-C ends the waiting."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return self._db.execute(statement, values)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction."""
        with self._told():
            self._execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # some faults have rolled it back already
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What SQLite finds wrong in one sentence."""
        try:
            yield
        except sqlite3.Error as error:
            raise _in_words(self.path, error) from None


def _in_words(path: Path, error: sqlite3.Error) -> LanewiseError:
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return StoreStopped(
            f"{path} takes no more ({error}): what it has is kept; make room on its disk, and the same command goes on"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreStopped(f"another process has held {path} for {PATIENCE:g} s; what it has is kept")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
        return StoreError(_damaged(path, str(error)))
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
        return StoreStopped(f"cannot use the store {path} ({error}): it and its folder must be writable")
    return StoreStopped(f"cannot use the store {path}: {error}")


def _damaged(path: Path, how: str) -> str:
    how = how.splitlines()[-1]
    return f"the store {path} is damaged ({how}) and was left as it is: take a copy, or another --store"


def _make(path: Path) -> None:
    """A new store, whole or not at all: it is made in a folder beside and gets its name in one step."""
    try:
        with TemporaryDirectory(dir=path.absolute().parent, prefix=".lanewise-") as scratch:
            made = Path(scratch, path.name)
            with closing(sqlite3.connect(made, isolation_level=None)) as db:
                db.execute(f"PRAGMA application_id = {APPLICATION}")
                db.executescript(f"BEGIN; {''.join(MIGRATIONS)} PRAGMA user_version = {len(MIGRATIONS)}; COMMIT")
                db.execute("PRAGMA journal_mode = WAL")
            with suppress(FileExistsError):  # another campaign was faster
                os.link(made, path)
    except OSError as error:
        raise StoreStopped(f"cannot make the store {path}: {error.strerror}") from None
    except sqlite3.Error as error:
        raise _in_words(path, error) from None


def _require_own(path: Path) -> None:
    """Refuse what is no store, by its header, before SQLite opens it."""
    if not path.is_file():
        raise StoreError(f"the store {path} is no file: name another file")
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise StoreError(f"cannot read the store {path}: {error.strerror}") from None
    own = header[:16] == b"SQLite format 3\0" and header[68:72] == APPLICATION.to_bytes(4, "big")
    if not own or len(header) < 100:
        raise StoreError(f"{path} is no store of lanewise campaigns, and was left as it is: name another file")


def _case_row(case: JobCase) -> tuple[object, ...]:
    return (case.hash, *(getattr(case, name) for name in _CASE), json.dumps(case.more, sort_keys=True))


def _marks(columns: Iterable[str]) -> str:
    return ", ".join("?" for _ in columns)
