"""`lanewise check` in several processes: the same report as in one, and no verdict where one of them is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import conftest
import pytest

import sim.processes
from sim.check.aim.aiming import Aimed
from sim.check.aim.power import Power
from sim.check.vectors import make_vectors
from sim.kernels import quantized_multiplier
from sim.processes import LostProcess, spread_here
from support.command import lanewise

START = [sys.executable, "-m", "sim"]
STEPS = "def steps(inputs: Mapping[str, Any]) -> dict[str, Any]:\n"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are no copies of a process that are safe")


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """What `lanewise init kernel` writes, with a fault in its source: its steps are asked for when lanes differ."""
    assert lanewise("init", "kernel", "product", "--folder", tmp_path).exit_code == 0
    source = tmp_path / "product.c"
    source.write_text(source.read_text().replace("+ 64", "+ 63"))
    return tmp_path / "product.py"


def command(example: Path, statement: str) -> list[str]:
    """The command, where a process that the check has started executes a statement when it asks for steps."""
    text = example.read_text()
    told = f"    import os\n    if os.getppid() != {os.getpid()} and FIRST != os.getpid():\n        {statement}\n"
    changed = text.replace(STEPS, STEPS + told).replace(
        "NAME, SIGNATURE", "import os\n\nFIRST = os.getpid()\nNAME, SIGNATURE"
    )
    example.write_text(changed)
    return [*START, "check", str(example), "--opt", "O1,O2", "--vectors", "10", "--jobs", "2"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement", ["os._exit(0)", "os._exit(1)", "os.kill(os.getpid(), 9)", "__import__('ctypes').string_at(0)"]
)
def test_a_process_that_is_lost_gives_no_verdict(example: Path, statement: str) -> None:
    ended = subprocess.run(command(example, statement), capture_output=True, text=True, check=False)
    said = "lanewise: stopped, without a verdict: a process that did a part of the work was ended, by what it ran"
    assert (ended.returncode, ended.stdout, ended.stderr.startswith(said)) == (3, "", True), ended.stderr


@pytest.mark.slow
def test_an_interrupt_ends_all_processes_without_a_verdict(example: Path, tmp_path: Path) -> None:
    met, copies = tmp_path / "met", tmp_path / "copies"
    words = command(example, f"open({str(met)!r}, 'w').close(); __import__('time').sleep(60)")
    told = f"open({str(copies)!r}, 'a').write(f'{{os.getpid()}} ')"
    example.write_text(f"{example.read_text()}\nos.register_at_fork(after_in_child=lambda: {told})\n")
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not met.exists() or len(numbers := copies.read_text().split()) < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, "PASSED" in stdout, "FAILED" in stdout, "Traceback" in stderr) == (
        130,
        False,
        False,
        False,
    ), stderr
    assert [Path(f"/proc/{number}").exists() for number in numbers] == [False, False]


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
@pytest.mark.parametrize("jobs", [1, 2])
def test_every_build_is_compared_on_what_is_aimed_behind_the_rest(monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    """Of which the golden reference is made wrong here, and of nothing else."""
    made = make_vectors(quantized_multiplier.KERNEL, 50, 1)
    wrong = {name: lanes ^ 1 for name, lanes in made.golden[-1].items()}
    aimed = Aimed([made.inputs[-1]], [wrong], Power())
    monkeypatch.setattr("sim.command.running.check.aimed_or_kept", lambda *_: aimed)
    words = ("quantized_multiplier", "--vectors", 50, "--opt", "O1,O2", "--jobs", jobs)
    report = json.loads(lanewise("check", *words, "--json").stdout)
    lanes = sum(array.size for array in wrong.values())
    assert report["vectors_compared"] == made.count + lanes
    found = [each["mismatch"]["lanes_different"] for each in report["implementations"]]
    assert found == [lanes] * 5


def ends_at_two(number: int) -> int:
    if number == 2:
        os._exit(0)
    return number


def test_work_in_copies_of_this_process_needs_no_pickle() -> None:
    factor = 3
    assert sorted(spread_here(lambda number: factor * number, range(5), 2)) == [0, 3, 6, 9, 12]


def test_an_item_that_ends_its_process_is_not_done_again() -> None:
    with pytest.raises(LostProcess):
        list(spread_here(ends_at_two, range(4), 2))


def test_a_worker_of_the_suite_counts_as_one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has one, as long as the others have theirs."""
    monkeypatch.setattr(sim.processes, "processors", lambda: 9)
    monkeypatch.setenv("PATH", os.environ["PATH"])
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    conftest.pytest_configure()
    assert sim.processes.processors() == 1


def test_what_a_process_raises_is_raised() -> None:
    def fails(number: int) -> Iterator[int]:
        raise ValueError(number)

    with pytest.raises(ValueError, match="7"):
        list(spread_here(fails, [7, 7], 2))


@pytest.mark.slow
def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    program = (
        "import os, time\n"
        "from sim.processes import spread_here\n"
        f"def work(n): open({str(tmp_path / 'met')!r}, 'a').write(f'{{os.getpid()}} '); time.sleep(60)\n"
        "list(spread_here(work, [1, 2], 2))\n"
    )
    process, met = subprocess.Popen([sys.executable, "-c", program]), tmp_path / "met"
    while not met.exists() or len(met.read_text().split()) < 2:
        time.sleep(0.01)
    process.kill()
    process.wait()
    for _ in range(500):
        if not any(Path(f"/proc/{number}").exists() for number in met.read_text().split()):
            return
        time.sleep(0.01)
    pytest.fail("they go on")
