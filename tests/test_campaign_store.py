"""The store of campaigns: what is kept of what is told, what is refused and left alone, and that others can read it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sim.campaign import store as store_module
from sim.campaign.case import JobCase, PlannedJob, digest_of
from sim.campaign.result import JobResult
from sim.campaign.store import MIGRATIONS, Store, StoreError, StoreStopped

VERSIONS = '{"lanewise": "1"}'


def job(number: int, versions: str = VERSIONS) -> PlannedJob:
    case = JobCase(kind="check", kernel="k", source="k.c", level="O2", seed=number, more={"vectors": 5})
    return PlannedJob(case, digest_of([case.hash.hex(), versions]), "{}", 1.0)


def result(number: int) -> JobResult:
    return JobResult(verdict="differs", lanes=number, seconds=0.5, place=f"k.c:{number}", failure="x", lane=3)


def filled(path: Path, count: int = 5) -> list[PlannedJob]:
    jobs = [job(number) for number in range(count)]
    with Store(path) as store:
        store.begin("night", VERSIONS, jobs)
        for number, one in enumerate(jobs):
            store.add(one.hash, result(number))
    return jobs


def test_what_was_told_comes_back(tmp_path: Path) -> None:
    jobs = filled(tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite", reading=True) as store:
        assert [*store.rows(1)] == [(one.case, one.hash, result(number)) for number, one in enumerate(jobs)]
        assert {row[-1] for row in store.exported(1)} == {VERSIONS}


def test_plain_sqlite_reads_it(tmp_path: Path) -> None:
    filled(tmp_path / "s.sqlite")
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as db:
        found = db.execute(
            "SELECT name, kernel, level, seed, place, lanes FROM runs JOIN planned ON run = runs.id"
            " JOIN jobs ON jobs.id = planned.job JOIN cases ON cases.id = asked JOIN results ON results.job = jobs.id"
            " WHERE seed = 3"
        ).fetchall()
    assert found == [("night", "k", "O2", 3, "k.c:3", 3)]


def test_the_same_plan_goes_on_with_its_run_and_another_has_a_new_one(tmp_path: Path) -> None:
    jobs = filled(tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        numbers = [store.begin("night", VERSIONS, chosen) for chosen in (jobs, jobs[::-1], jobs[1:], jobs)]
        numbers.append(store.begin("day", VERSIONS, jobs))
        assert numbers == [1, 1, 2, 3, 4]
        assert [run[-2:] for run in map(store.run, store.names())] == [(5, 5), (4, 4), (5, 5), (5, 5)]


def test_a_result_stays_as_it_came_first_unless_nobody_came_to_its_end(tmp_path: Path) -> None:
    jobs = [job(0), job(1)]
    with Store(tmp_path / "s.sqlite") as store:
        store.begin("night", VERSIONS, jobs)
        store.add(jobs[0].hash, JobResult(verdict="agrees"))
        store.add(jobs[1].hash, JobResult(verdict="stopped"))
        for one in jobs:
            store.add(one.hash, JobResult(verdict="differs"))
        assert store.kept(1) == {jobs[0].hash: "agrees", jobs[1].hash: "differs"}


def test_what_was_found_earlier_is_that_of_the_last_run(tmp_path: Path) -> None:
    new = job(0, "newer")
    filled(tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        store.begin("night", "newer", [new])
        store.add(new.hash, JobResult(verdict="agrees", seconds=2.0))
        earlier = store.earlier("night")
    assert earlier[job(0).case.hash] == ("agrees", 2.0)
    assert earlier[job(1).case.hash] == ("differs", 0.5)


def test_what_a_killed_process_was_told_is_there(tmp_path: Path) -> None:
    program = f"""
import os, signal, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_campaign_store import *
filled(Path({str(tmp_path / "s.sqlite")!r}), 7)
store = Store(Path({str(tmp_path / "s.sqlite")!r}))
store.add(job(6).hash, result(6))
store.begin("day", VERSIONS, [job(20)])
store.add(job(20).hash, result(20))
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False)
    assert ended.returncode == -signal.SIGKILL
    with Store(tmp_path / "s.sqlite") as store:
        assert [run[-2:] for run in map(store.run, store.names())] == [(7, 7), (1, 1)]


def test_a_store_is_made_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "MIGRATIONS", [*MIGRATIONS, "CREATE TABLE runs (id);"])
    with pytest.raises(StoreError, match="already exists"):
        Store(tmp_path / "s.sqlite")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda data: b"", "is no store of lanewise campaigns"),
        (lambda data: b"words, not a database\n" * 50, "is no store of lanewise campaigns"),
        (lambda data: data[:68] + b"GPKG" + data[72:], "is no store of lanewise campaigns"),
        (lambda data: data[:50], "is no store of lanewise campaigns"),
        (lambda data: data[: len(data) // 2], "is damaged"),
        (lambda data: data[: len(data) // 2] + b"\xa5" * 8192 + data[len(data) // 2 + 8192 :], "is damaged"),
        (lambda data: data[:100] + bytes(4000) + data[4100:], "is damaged"),
        (lambda data: data[:60] + (99).to_bytes(4, "big") + data[64:], "made by a newer lanewise"),
    ],
)
def test_what_is_no_sound_store_is_refused_and_left_as_it_was(tmp_path: Path, damage: object, said: str) -> None:
    file = tmp_path / "s.sqlite"
    filled(file, 100)
    assert callable(damage)
    file.write_bytes(damage(file.read_bytes()))
    before = file.read_bytes()
    for reading in (False, True):
        with pytest.raises(StoreError, match=said) as error:
            Store(file, reading=reading)
        assert str(file) in str(error.value)
        assert "\n" not in str(error.value)
    assert file.read_bytes() == before


def test_a_store_that_is_read_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        Store(tmp_path / "s.sqlite", reading=True)
    with pytest.raises(StoreStopped, match=r"cannot make the store .*: No such file or directory"):
        Store(tmp_path / "no" / "s.sqlite")
    assert [*tmp_path.iterdir()] == []


def test_an_older_store_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path / "s.sqlite")
    monkeypatch.setattr(store_module, "MIGRATIONS", [*MIGRATIONS, "ALTER TABLE runs ADD COLUMN host TEXT;"])
    for _ in range(2):
        with Store(tmp_path / "s.sqlite") as store:
            assert store.run(1).results == 5
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (2,)
        assert db.execute("SELECT host FROM runs").fetchall() == [(None,)]


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path / "s.sqlite")
    monkeypatch.setattr(store_module, "MIGRATIONS", [*MIGRATIONS, "CREATE TABLE more (id); CREATE TABLE runs (id);"])
    with pytest.raises(StoreError):
        Store(tmp_path / "s.sqlite")
    monkeypatch.undo()
    with Store(tmp_path / "s.sqlite") as store:
        assert store.run(1).results == 5


def test_a_full_disk_stops_in_a_sentence_and_what_is_there_is_kept(tmp_path: Path) -> None:
    jobs = [job(number) for number in range(3000)]
    with Store(tmp_path / "s.sqlite") as store:
        store.begin("night", VERSIONS, jobs)
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages + 3}")
        told = list[int]()

        def tell_all() -> None:
            for number, one in enumerate(jobs):
                store.add(one.hash, replace(result(number), failure="y" * 100))
                told.append(number)

        with pytest.raises(StoreStopped, match=r"takes no more \(database or disk is full\): what it has is kept"):
            tell_all()
    assert len(told) > 10
    with Store(tmp_path / "s.sqlite") as store:
        assert len(store.kept(1)) == len(told)


def test_two_campaigns_write_one_store_at_once(tmp_path: Path) -> None:
    """Both make it, plan the same and others, and tell all: every row is there, none twice."""
    errors = list[BaseException]()

    def campaign(name: str, first: int) -> None:
        try:
            jobs = [job(number) for number in range(first, first + 200)]
            with Store(tmp_path / "s.sqlite") as store:
                store.begin(name, VERSIONS, jobs)
                for one in jobs:
                    store.add(one.hash, result(one.case.seed or 0))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=campaign, args=(f"c{n % 3}", n % 3 * 100)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with Store(tmp_path / "s.sqlite", reading=True) as store:
        assert [(run.jobs, run.results) for run in map(store.run, store.names())] == [(200, 200)] * 3
        (total,) = store._db.execute("SELECT count(*) FROM results").fetchone()
    assert total == 400


@pytest.mark.slow
def test_a_store_that_another_process_holds_is_waited_for_until_ctrl_c(tmp_path: Path) -> None:
    """SQLite's own waiting lets no interrupt through; in pieces it does, and longer than a piece is waited too."""
    held, enough = threading.Event(), threading.Event()

    def hold() -> None:
        with closing(sqlite3.connect(tmp_path / "s.sqlite", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            held.set()
            enough.wait(2 * store_module.PATIENCE)
            other.execute("COMMIT")

    with Store(tmp_path / "s.sqlite") as store:
        one = job(1)
        run = store.begin("c", VERSIONS, [one])
        threading.Thread(target=hold).start()
        held.wait()
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        began = time.monotonic()
        try:
            with pytest.raises(KeyboardInterrupt):
                store.add(one.hash, result(1))
            assert time.monotonic() - began < 20
            threading.Timer(1.5, enough.set).start()
            store.add(one.hash, result(1))
        finally:
            enough.set()
            signal.signal(signal.SIGALRM, before)
        assert store.kept(run) == {one.hash: result(1).verdict}


def test_a_store_in_a_folder_that_lets_nothing_be_written_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path / "s.sqlite")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with Store(tmp_path / "s.sqlite", reading=True) as store:
        assert store.run(1).results == 5
        assert [one.name for one in tmp_path.iterdir()] == ["s.sqlite"]


def test_a_place_that_is_no_file_is_a_sentence(tmp_path: Path) -> None:
    """To open a pipe would wait for whoever writes to it."""
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(StoreError, match="is no file: name another file"):
            Store(place)
