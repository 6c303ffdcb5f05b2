"""Campaigns at size: killed at random and resumed, their overhead, and a Dask cluster of processes on loopback.

`make test-campaign`.  Figures are printed; costs are of processors' time, which hangs little on what else there is.
"""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

KILLS, JOBS, SEED = 20, 10_000, 26
CHECKS = '[[check]]\nkernels = ["quantized_multiplier"]\nlevels = ["O1", "O2"]\nvectors = 100\n'
COMMAND = [sys.executable, "-P", "-m", "sim", "campaign"]


def rows(store: Path) -> list[tuple[Any, ...]]:
    """All that does not hang on time."""
    with closing(sqlite3.connect(store)) as db:
        return db.execute(
            "SELECT jobs.hash, kind, kernel, source, level, seed, verdict, lanes, instructions, place, code, failure"
            " FROM results JOIN jobs ON jobs.id = results.job JOIN cases ON cases.id = asked ORDER BY jobs.hash"
        ).fetchall()


def campaign(file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, str(file), *options], capture_output=True, text=True, check=False)


def children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_ten_thousand_jobs_killed_twenty_times_leave_what_an_undisturbed_run_does(tmp_path: Path) -> None:
    file, rng = tmp_path / "c.toml", random.Random(SEED)
    file.write_text(f"[[idle]]\njobs = {JOBS}\nseconds = 0.002\n{CHECKS}")
    whole = campaign(file, "--store", str(tmp_path / "whole.sqlite"))
    assert whole.returncode == 0, whole.stderr
    store, kills, seen = tmp_path / "killed.sqlite", 0, 0
    while kills < KILLS:
        running = subprocess.Popen([*COMMAND, str(file), "--store", str(store)], start_new_session=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        goal = seen + rng.randrange(1, JOBS // KILLS)
        while running.poll() is None and count(store) < goal:
            time.sleep(0.05)
        assert running.poll() is None, f"it came to its end after {kills} kills"
        target = (
            running.pid if kills % 2 else int(subprocess.check_output(["pgrep", "-P", str(running.pid)]).split()[0])
        )
        os.kill(target, signal.SIGKILL)  # the watcher, or the campaign under it
        running.wait()
        time.sleep(0.2)
        kills, before, seen = kills + 1, seen, len(rows(store))
        assert seen >= before
    assert campaign(file, "--store", str(store)).returncode == 0
    assert rows(store) == rows(tmp_path / "whole.sqlite")
    print(f"\n{KILLS} kills: the same {count(store):,} rows, {store.stat().st_size / count(store):.0f} bytes a job")


def test_a_job_costs_little_on_one_machine_and_nothing_the_second_time(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(f"[[idle]]\njobs = {JOBS}\n")
    took = {}
    for name in ("first", "second"):
        cpu, begun = children_cpu(), time.monotonic()
        assert campaign(tmp_path / "c.toml", "--jobs", "1").returncode == 0
        took[name] = (time.monotonic() - begun, children_cpu() - cpu)
    each = 1000 * (took["first"][1] - took["second"][1]) / JOBS
    print(f"\n{each:.2f} ms of CPU a job; first {took['first']}, second {took['second']} s (clock, CPU)")
    assert each < 3
    assert took["second"][1] < 2


def count(store: Path) -> int:
    return len(rows(store)) if store.exists() else 0


def test_two_workers_do_nearly_twice_as_much(tmp_path: Path) -> None:
    """From the tenth result to the last but ten: processes have started, and none waits for another."""
    (tmp_path / "c.toml").write_text("[[idle]]\njobs = 200\nseconds = 0.15\n")
    took = []
    for jobs in ("1", "2"):
        store = tmp_path / f"{jobs}.sqlite"
        running = subprocess.Popen([*COMMAND, str(tmp_path / "c.toml"), "--jobs", jobs, "--store", str(store)])
        times = []
        for goal in (10, 190):
            while running.poll() is None and count(store) < goal:
                time.sleep(0.02)
            times.append(time.monotonic())
        assert running.wait() == 0
        took.append(times[1] - times[0])
    print(f"\n180 jobs: one worker {took[0]:.2f} s, two {took[1]:.2f} s: {took[0] / took[1]:.2f} times as fast")
    assert took[0] / took[1] >= 1.8


@contextmanager
def cluster(
    tmp_path: Path, workers: int, environment: dict[str, str] | None = None, protocol: str = "tcp"
) -> Iterator[tuple[str, Any, Any]]:
    """A scheduler and worker processes with nannies; they end with the test."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        host, port = f"{protocol}://127.0.0.1", str(free.getsockname()[1])
    address = f"{host}:{port}"
    log, variables = (tmp_path / "cluster.log").open("a"), {**os.environ, **(environment or {})}
    variables["DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES"] = "1"
    begin = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", host, "--port", port, "--no-dashboard"]
    work = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
    work += ["--memory-limit", "1GiB"]
    started = [
        subprocess.Popen(command, stdout=log, stderr=log, env=variables, cwd=tmp_path, start_new_session=True)
        for command in (begin, *[work] * workers)
    ]
    try:
        yield address, started[0], started[1:]
    finally:
        for process in started:
            process.terminate()
        for process in started:  # a nanny whose worker is just starting waits, for ever, for the scheduler that is gone
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.close()


def test_a_cluster_gives_the_same_rows_also_when_a_worker_is_killed(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(f"[[idle]]\njobs = 2000\nseconds = 0.005\n{CHECKS}")
    assert campaign(tmp_path / "c.toml").returncode == 0
    with cluster(tmp_path, 2) as (address, _, workers):
        store = tmp_path / "dask.sqlite"
        running = subprocess.Popen([*COMMAND, str(tmp_path / "c.toml"), "--scheduler", address, "--store", str(store)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
        while running.poll() is None and count(store) < 200:
            time.sleep(0.05)
        children = subprocess.check_output(["pgrep", "-P", str(workers[0].pid)]).split()
        os.kill(int(children[-1]), signal.SIGKILL)  # the worker under its nanny
        out, err = running.communicate(timeout=600)
        assert running.returncode == 0, (out, err)
    assert rows(store) == rows(tmp_path / "c.sqlite")


def kernel(file: Path, does: str) -> None:
    """A kernel file whose golden reference does something first."""
    (file.parent / "k.c").write_text("void k(const int *a, int *y) { *y = *a; }\n")
    file.write_text(
        "import os, time\nfrom pathlib import Path\nfrom sim.kernels import Kernel, parse_prototype\n"
        'NAME, SIGNATURE = parse_prototype("void k(const int32_t a[1], int32_t y[1])")\n'
        f"def golden(inputs):\n    {does}\n    return {{'y': inputs['a']}}\n"
        "KERNEL = Kernel(name=NAME, symbol=NAME, sources=(Path('k.c'),), signature=SIGNATURE, golden=golden)\n"
    )


def test_a_job_that_ends_or_hangs_its_worker_is_tried_again_and_then_told(tmp_path: Path) -> None:
    for name, does in (
        ("dies", "os._exit(3)"),
        ("hangs", "time.sleep(1000)"),
        ("eats", "whole = [b'x' * (2**24 + n) for n in range(2**20)]"),
        ("sound", "pass"),
    ):
        kernel(tmp_path / f"{name}.py", does)
    (tmp_path / "c.toml").write_text('timeout = 25\n[[check]]\nkernels = "*.py"\nvectors = 3\n')
    with cluster(tmp_path, 2) as (address, _, _):
        done = campaign(tmp_path / "c.toml", "--scheduler", address)
    assert done.returncode == 3, done.stderr
    found = {row[2]: (row[6], row[11]) for row in rows(tmp_path / "c.sqlite")}
    assert {kernel: verdict for kernel, (verdict, _) in found.items()} == {
        "dies.py": "stopped", "eats.py": "stopped", "hangs.py": "stopped", "sound.py": "agrees",
    }  # fmt: skip
    assert {kernel: why for kernel, (verdict, why) in found.items() if verdict == "stopped"} == {
        "dies.py": "no result in 2 attempts: its process was ended with exit code 3, by what it ran",
        "eats.py": "the golden reference of k fails: MemoryError: ",
        "hangs.py": "no result in 2 attempts: it took more than 25 s",
    }


def test_a_job_that_ends_whole_workers_is_found_among_those_that_went_with_it(tmp_path: Path) -> None:
    """It ends the worker above its own process: of the portion nobody knows which one it was."""
    kernel(tmp_path / "kills.py", "os.kill(os.getppid(), 9)")
    (tmp_path / "c.toml").write_text('[[check]]\nkernels = "kills.py"\nvectors = 3\n[[idle]]\njobs = 300\n')
    with cluster(tmp_path, 2) as (address, _, _):
        done = campaign(tmp_path / "c.toml", "--scheduler", address)
    assert done.returncode == 3, done.stderr
    found = {(row[2], row[5]): (row[6], row[11]) for row in rows(tmp_path / "c.sqlite")}
    assert len(found) == 301
    (lost,) = (why for verdict, why in found.values() if verdict != "agrees")
    assert lost == "no result in 2 attempts: 2 workers were lost, one after the other, that had it"
    assert [name for (name, _), (verdict, _) in found.items() if verdict == "stopped"] == ["kills.py"]


def test_jobs_that_take_longer_than_guessed_are_not_kept_from_a_worker_that_is_idle(tmp_path: Path) -> None:
    """Eight of two seconds each (59 calls), guessed at a tenth: one portion, of which the first worker leaves some."""
    kernel(tmp_path / "slow.py", f"open({str(tmp_path / 'log')!r}, 'a').write(f'{{os.getpid()}}\\n'); time.sleep(0.03)")
    (tmp_path / "c.toml").write_text('[[check]]\nkernels = "slow.py"\nvectors = 1\nlevels = "O1"\nseeds = "1..8"\n')
    with cluster(tmp_path, 2) as (address, _, _):
        assert campaign(tmp_path / "c.toml", "--scheduler", address).returncode == 0
    assert len(set((tmp_path / "log").read_text().split())) == 2


def test_a_worker_of_another_version_is_refused_and_nothing_is_done(tmp_path: Path) -> None:
    other = tmp_path / "other"
    root = Path(__file__).parents[2]
    for package in ("isa", "sim", "rtl_models"):
        shutil.copytree(root / package, other / package, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
    (other / "sim/golden/scaling.py").open("a").write("\n# another version\n")
    (tmp_path / "c.toml").write_text("[[idle]]\njobs = 10\n")
    with cluster(tmp_path, 1, {"PYTHONPATH": str(other)}) as (address, _, _):
        done = campaign(tmp_path / "c.toml", "--scheduler", address)
    assert done.returncode == 3
    assert re.search(r"the worker tcp://\S+ is not what this campaign is", done.stderr)
    assert not (tmp_path / "c.sqlite").exists() or rows(tmp_path / "c.sqlite") == []


def test_a_scheduler_that_is_gone_is_a_sentence_and_another_one_goes_on(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("[[idle]]\njobs = 1000\nseconds = 0.02\n")
    with cluster(tmp_path, 2) as (address, scheduler, _):
        running = subprocess.Popen([*COMMAND, str(tmp_path / "c.toml"), "--scheduler", address],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
        while running.poll() is None and count(tmp_path / "c.sqlite") < 100:
            time.sleep(0.05)
        scheduler.kill()
        _, err = running.communicate(timeout=300)
    assert (running.returncode, "Traceback" in err) == (3, False), err
    assert "what was done is kept, and the same command goes on" in err
    kept = rows(tmp_path / "c.sqlite")
    assert len(kept) >= 100
    with cluster(tmp_path, 2) as (address, _, _):
        assert campaign(tmp_path / "c.toml", "--scheduler", address).returncode == 0
    assert len(rows(tmp_path / "c.sqlite")) == 1000
    assert set(kept) <= set(rows(tmp_path / "c.sqlite"))


def test_ctrl_c_in_a_terminal_ends_a_local_cluster_without_a_traceback(tmp_path: Path) -> None:
    """There it goes to every process of the group, workers and theirs too."""
    (tmp_path / "c.toml").write_text("[[idle]]\njobs = 2000\nseconds = 0.05\n")
    command = [*COMMAND, str(tmp_path / "c.toml"), "--scheduler", "local", "--jobs", "2"]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while running.poll() is None and count(tmp_path / "c.sqlite") < 50:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert (running.returncode, "Traceback" in out + err, " left\n" in out) == (130, False, True), err
    assert count(tmp_path / "c.sqlite") >= 50


def test_no_scheduler_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("[[idle]]\njobs = 1\n")
    for address in ("tcp://127.0.0.1:9", "nowhere", "tcp://", "tcp://127.0.0.1:99999"):
        done = campaign(tmp_path / "c.toml", "--scheduler", address)
        assert done.returncode == 3
        assert f"no Dask scheduler answers at {address}" in done.stderr
        assert "Traceback" not in done.stderr


def certified(folder: Path, name: str) -> dict[str, str]:
    """Dask's configuration of TLS with a certificate of its own, which is trusted alone."""
    key, certificate = folder / f"{name}.key", folder / f"{name}.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
    subprocess.run([*made, "-keyout", key, "-out", certificate], capture_output=True, check=True)
    files = {f"{who}__{what}": file for who in ("CLIENT", "SCHEDULER", "WORKER")
             for what, file in (("CERT", certificate), ("KEY", key))}  # fmt: skip
    return {
        f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(file) for name, file in {**files, "CA_FILE": certificate}.items()
    }


def test_tls_is_as_dask_has_it_and_who_has_no_certificate_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "c.toml").write_text("[[idle]]\njobs = 20\n")
    ours = certified(tmp_path, "ours")
    with cluster(tmp_path, 1, ours, "tls") as (address, _, _):
        for configuration, code, told in (
            (ours, 0, ""),
            (certified(tmp_path, "theirs"), 3, "TLS certificate does not match"),
            (dict.fromkeys(ours, ""), 3, "Dask's configuration has no certificate for a client"),
        ):
            for name, value in configuration.items():
                monkeypatch.setenv(name, value)
            done = campaign(tmp_path / "c.toml", "--scheduler", address, "--store", str(tmp_path / f"{code}.sqlite"))
            assert (done.returncode, told in done.stderr, "Traceback" in done.stderr) == (code, True, False), (
                done.stderr
            )
    assert count(tmp_path / "0.sqlite") == 20


def test_a_job_over_dask_costs_less_than_ten_milliseconds(tmp_path: Path) -> None:
    """Of all processes together: the campaign, the scheduler, two workers and their nannies."""
    used = []
    for jobs in (100, 5100):
        (tmp_path / "c.toml").write_text(f"name = 'c{jobs}'\n[[idle]]\njobs = {jobs}\n")
        cpu, begun = children_cpu(), time.monotonic()
        with cluster(tmp_path, 2) as (address, _, _):
            store = tmp_path / f"{jobs}.sqlite"
            assert campaign(tmp_path / "c.toml", "--scheduler", address, "--store", str(store)).returncode == 0
        used.append((children_cpu() - cpu, time.monotonic() - begun))
    each, clock = (1000 * (many - few) / 5000 for few, many in zip(*used, strict=True))
    print(f"\n{each:.2f} ms of CPU a job over Dask, {clock:.2f} ms by the clock at a load of {os.getloadavg()[0]:.1f}")
    assert each < 10


if shutil.which("pgrep") is None:
    pytestmark = pytest.mark.skip(reason="needs pgrep")
