"""A command whose process is ended by what it runs: one sentence and exit code 3, never a verdict."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sim.processes
from sim.processes import memory_limited
from support.command import lanewise

if not hasattr(signal, "sigwaitinfo"):
    pytest.skip("the system cannot watch", allow_module_level=True)

START = [sys.executable, "-m", "sim"]
ENDS = {
    "import os; os._exit(0)": (3, "ended its process by os._exit(0)"),
    "import os; os._exit(1)": (3, "ended its process by os._exit(1)"),
    "import ctypes; ctypes.string_at(0)": (3, "its process was ended by SIGSEGV"),
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": (3, "ended by SIGKILL, as a system does that has no"),
    "import os; os.kill(os.getpid(), 40)": (3, "its process was ended by signal 40;"),
    "import sys; sys.exit(0)": (2, "the golden reference of product fails: SystemExit: 0"),
    "raise MemoryError('all of it')": (2, "the golden reference of product fails: MemoryError: all of it"),
}
"""Statements of a golden reference, with the exit code and a part of the sentence."""


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """What `lanewise init kernel` writes."""
    assert lanewise("init", "kernel", "product", "--folder", tmp_path).exit_code == 0
    return tmp_path / "product.py"


def checked(example: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*START, "check", str(example), "--opt", "O1", "--vectors", "10", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(("statement", "said"), ENDS.items())
def test_a_golden_reference_that_ends_the_process_is_one_sentence(
    example: Path, statement: str, said: tuple[int, str]
) -> None:
    text = example.read_text()
    example.write_text(text.replace('    return {"output": steps', f'    {statement}\n    return {{"output": steps'))
    ended = checked(example)
    lines = ended.stderr.splitlines()
    assert (ended.returncode, ended.stdout, len(lines), said[1] in lines[-1]) == (said[0], "", 1, True), ended.stderr


@pytest.mark.slow
def test_steps_that_fail_are_one_sentence_with_the_line(example: Path) -> None:
    source, text = example.with_suffix(".c"), example.read_text()
    source.write_text(source.read_text().replace("+ 64", "+ 63"))
    example.write_text(text.replace("    steps=steps,", "    steps=lambda inputs: {'product': 1 // 0},"))
    line = 1 + text.splitlines().index("    steps=steps,")
    ended = checked(example)
    said = f"lanewise: steps of {example} fails, line {line}: ZeroDivisionError: integer division or modulo by zero"
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (2, said)


SWALLOWING = """
import os, signal, sys, time
from sim.terminal.watched import run_watched

class Dying:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)

def command():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        Dying()
        time.sleep(30)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)

run_watched(command)
"""


def test_an_interrupt_in_a_destructor_is_not_lost() -> None:
    ended = subprocess.run([sys.executable, "-c", SWALLOWING], capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (130, "")


@pytest.mark.slow
@pytest.mark.parametrize("signal_sent", [signal.SIGKILL, signal.SIGTERM])
def test_a_command_ends_with_the_process_that_was_started(tmp_path: Path, signal_sent: signal.Signals) -> None:
    """A caller that gives up kills the process that it knows."""
    program = f"import os, time; open({str(tmp_path / 'child')!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    watched = f"from sim.terminal.watched import run_watched\ndef command(): exec({program!r})\nrun_watched(command)"
    process = subprocess.Popen([sys.executable, "-c", watched])
    child = tmp_path / "child"
    while not child.exists() or not child.read_text():
        time.sleep(0.01)
    process.send_signal(signal_sent)
    process.wait()
    for _ in range(500):
        if not Path(f"/proc/{child.read_text()}").exists():
            return
        time.sleep(0.01)
    os.kill(int(child.read_text()), signal.SIGKILL)
    pytest.fail("the command goes on")


def test_an_endless_eater_of_memory_meets_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sim.processes, "_free_memory", lambda: 1 << 28)
    with memory_limited(), pytest.raises(MemoryError):
        bytearray(1 << 30)


@pytest.mark.slow
def test_a_limit_of_memory_ends_with_what_it_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sim.processes, "_free_memory", lambda: 1 << 28)
    with memory_limited():
        pass
    assert len(bytearray(1 << 29)) == 1 << 29


def test_a_limit_of_memory_inside_of_another_is_not_set_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with memory_limited():
        monkeypatch.setattr(sim.processes, "_free_memory", lambda: pytest.fail("it asks what memory there is"))
        with memory_limited():
            pass
