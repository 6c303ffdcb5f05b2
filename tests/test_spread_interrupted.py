"""Ctrl-C while other processes are waited for, where a lock of a future was just taken: everything comes to an end."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import ROOT

from sim.terminal.output import progress_bar

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Ctrl-C is held back by signal masks")
SCRIPT = """
import os
import signal
import sys
import time

from sim.processes import OwnProcess, do_apart, spread, spread_apart, spread_here


def slow(number):
    time.sleep(0.2)
    return number


def dies(number):
    os._exit(1)


WAYS = {
    "spread": lambda: spread(slow, range(4), 2, slow),
    "spread, what was lost again": lambda: spread(dies, [1], 2, slow),
    "spread_here": lambda: spread_here(slow, range(4), 2),
    "spread_apart": lambda: spread_apart(slow, range(4), 2, 30.0, 1),
    "do_apart": lambda: [do_apart(OwnProcess(slow, 1), 1, 30.0, 1)],
}


taken = 0


def interrupt(frame, event, function):
    global taken
    if event != "c_return" or function.__name__ not in ("acquire", "__enter__"):
        return
    of_futures = any(one.f_code.co_filename.endswith("concurrent/futures/_base.py") for one in (frame, frame.f_back))
    if of_futures and signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ()):
        taken += 1
        if taken == int(sys.argv[2]):
            sys.setprofile(None)
            raise KeyboardInterrupt


if __name__ == "__main__":
    sys.setprofile(interrupt)
    try:
        for _ in WAYS[sys.argv[1]]():
            pass
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.parametrize(
    ("way", "lock"),
    [("spread", 1), ("spread, what was lost again", 2), ("spread_here", 1), ("spread_apart", 1), ("do_apart", 1)],
)
def test_a_lock_that_an_interrupt_leaves_taken_is_waited_for_by_nobody(way: str, lock: int, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    ended = subprocess.run(
        [sys.executable, str(script), way, str(lock)], capture_output=True, text=True, check=False, timeout=60,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert (ended.returncode, ended.stdout in ("", "interrupted\n"), ended.stderr) == (0, True, "")


def test_the_thread_of_a_bar_of_progress_has_no_interrupts() -> None:
    """One that is held in the main thread would be dealt with there all the same."""
    with progress_bar() as unseen:
        assert unseen.disable  # here stderr is no terminal
    bar = progress_bar()
    bar.disable = False
    before = set(threading.enumerate())
    with bar:
        (thread,) = set(threading.enumerate()) - before
        status = Path(f"/proc/self/task/{thread.native_id}/status").read_text()
    blocked = int(next(line for line in status.splitlines() if line.startswith("SigBlk")).split()[1], 16)
    assert blocked >> signal.SIGINT - 1 & 1
