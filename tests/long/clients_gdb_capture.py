"""`lanewise-capture` in gdb, on programs that qemu runs: what is captured replays bit for bit, and nothing is lost.

`make test-clients`; needs gdb-multiarch, qemu-aarch64 and aarch64-linux-gnu-gcc.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

NEEDED = {
    "gdb-multiarch": "gdb-multiarch",
    "qemu-aarch64": "qemu-user",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu and libc6-dev-arm64-cross",
}
PROGRAM = r"""
#include <arm_neon.h>
#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define FUNCTION __attribute__((noinline, noclone))
static int8_t in[9000], out[9000];
static float numbers[64];
static volatile int running = 1, shared;
static jmp_buf away;

FUNCTION void scale(const int8_t *a, int8_t *o, size_t n, int8_t by) {
  size_t i = 0;
  for (; i + 16 <= n; i += 16) vst1q_s8(o + i, vqaddq_s8(vld1q_s8(a + i), vdupq_n_s8(by)));
  for (; i < n; i++) { int s = a[i] + by; o[i] = s > 127 ? 127 : s < -128 ? -128 : s; }
}
FUNCTION float third(float *x, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) { x[i] = x[i] / 3.0f; sum += x[i]; }
  return sum;
}
FUNCTION int nested(int n) { return n <= 0 ? shared : n + nested(n - 1) * 3; }
FUNCTION void copies(int8_t *to, const int8_t *from, size_t n) { memcpy(to, from, n); to[0] ^= 1; }
FUNCTION int asks(const char *text) { return (int)write(1, text, strlen(text)); }
FUNCTION int reads(const int *p) { return *p + 1; }
FUNCTION void leaves(void) { longjmp(away, 1); }
FUNCTION void ends(int code) { if (code >= 0) _exit(code); }
FUNCTION void waits(void) { while (running) { } }

static void *other(void *nothing) {
  for (int k = 0; k < 6; k++) scale(in + k, out + 5000, 700, (int8_t)k);
  return nothing;
}

int main(int count, char **words) {
  const char *what = count > 1 ? words[1] : "calls";
  for (int i = 0; i < 9000; i++) in[i] = (int8_t)(i * 7);
  for (int i = 0; i < 64; i++) numbers[i] = i * 1.25f;
  if (!strcmp(what, "threads")) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    pthread_join(thread, 0);
  } else if (!strcmp(what, "ever")) {
    for (int k = 0;; k++) { scale(in, out, 64, (int8_t)k); usleep(1000); }
  } else if (!strcmp(what, "crash")) {
    scale(in, out, 100, 1);
    shared = reads((const int *)(uintptr_t)(count > 2 ? 0 : 8));
  } else if (!strcmp(what, "leaves")) {
    if (!setjmp(away)) leaves();
  } else if (!strcmp(what, "waits")) {
    waits();
  } else if (!strcmp(what, "ends")) {
    ends(-1);
    ends(7);
  } else {
    for (int k = 0; k < 5; k++) scale(in + k, out, 4000 + k * 100, (int8_t)(k * 30));
    third(numbers, 64);
    third(numbers, 64);
    shared = nested(5);
    copies(out, in, 333);
    asks("hello\n");
  }
  return 0;
}
"""


@pytest.fixture(scope="session", autouse=True)
def _clients() -> None:
    for tool, package in NEEDED.items():
        assert shutil.which(tool), f"{tool} is not installed: on Debian, apt-get install {package}"


@pytest.fixture(scope="session", params=["static", "dynamic", "static-pie"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "program.c").write_text(PROGRAM)
    how = {"static": ["-static"], "dynamic": ["-pie", "-fPIE"], "static-pie": ["-static-pie", "-fPIE"]}[request.param]
    command = ["aarch64-linux-gnu-gcc", "-O2", "-g", "-pthread", *how, "program.c", "-o", "program"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "program"


class Debugged:
    """A gdb that is connected to a program under qemu."""

    def __init__(self, program: Path, folder: Path, *arguments: str) -> None:
        socket = folder / "gdb"
        self.folder = folder
        prefix = "/usr/aarch64-linux-gnu"
        command = ["qemu-aarch64", "-L", prefix, "-g", str(socket), str(program), *arguments]
        self.qemu = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        while not socket.exists():
            assert self.qemu.poll() is None, "qemu has ended"
            time.sleep(0.02)
        self._start = ["-ex", f"set sysroot {prefix}", "-ex", f"target remote {socket}", str(program)]

    def command(self, *commands: str) -> list[str]:
        lanewise = [sys.executable, "-m", "sim", "capture", "--gdb"]
        script = subprocess.run(lanewise, capture_output=True, text=True, check=True).stdout.strip()
        asked = [word for text in commands for word in ("-ex", text)]
        return ["gdb-multiarch", "-q", "-nx", "-batch", "-x", script, *self._start, *asked]

    def start(self, *commands: str) -> subprocess.Popen[str]:
        """gdb with these commands; on its stdout is what it and lanewise say."""
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        return subprocess.Popen(
            self.command(*commands), cwd=self.folder, env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def interrupt(self, running: subprocess.Popen[str]) -> str:
        """Press Ctrl-C until gdb has ended, as one does under qemu, which may not hear it; what is said then."""
        while True:
            running.send_signal(signal.SIGINT)
            try:
                return running.communicate(timeout=5)[0]
            except subprocess.TimeoutExpired:
                continue

    def run(self, *commands: str) -> str:
        """What gdb and lanewise say."""
        running = self.start(*commands)
        try:
            said = running.communicate(timeout=120)[0]
        finally:
            running.kill()
        assert "Traceback" not in said
        return said


@pytest.fixture
def debugged(program: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Debugged]:
    """The program with the arguments of the mark `given`, by which the test is run with one."""
    found = Debugged(program, tmp_path, *getattr(request, "param", ()))
    yield found
    found.qemu.kill()
    found.qemu.wait()


def given(*arguments: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("debugged", [arguments], indirect=True, ids=[" ".join(arguments)])


def replayed(folder: Path, name: str = "c.jsonl") -> dict[str, int]:
    """How many calls came to what in a replay."""
    command = [sys.executable, "-m", "sim", "replay", str(folder / name), "--json"]
    report = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    return dict(report["kinds"])


@pytest.mark.parametrize(
    ("function", "calls"), [("scale", 5), ("third", 2), ("nested", 1), ("copies", 1)], ids=lambda value: str(value)
)
def test_captured_calls_replay_bit_for_bit(debugged: Debugged, function: str, calls: int) -> None:
    said = debugged.run(f"lanewise-capture {function} c.jsonl --calls {calls}")
    assert f"{calls} calls captured" in said
    assert replayed(debugged.folder) == {"passed": calls}


def test_what_is_recorded_is_what_the_process_left(debugged: Debugged) -> None:
    """A result that is changed in the process, at the return, is in the record, and not what the machine foresaw."""
    function = "python capture = __import__('__main__')._capture_call"
    changed = "python _run_to = (lambda run: lambda at: (run(at), gdb.execute('set $x0 = 12345')))(_run_to)"
    debugged.run(function, changed, "lanewise-capture *&nested c.jsonl")
    (call,) = map(json.loads, (debugged.folder / "c.jsonl").read_text().splitlines())
    assert call["final"]["x"][0] == 12345
    assert replayed(debugged.folder) == {"output mismatch": 1}


def test_a_condition_and_calls_that_are_skipped_choose_calls(debugged: Debugged) -> None:
    debugged.run("lanewise-capture scale c.jsonl --if '$x3 > 0' --skip 1 --calls 2")
    calls = [json.loads(line) for line in (debugged.folder / "c.jsonl").read_text().splitlines()]
    assert [call["regs"]["x3"] for call in calls] == [60, 90]


def test_a_call_within_the_call_is_part_of_it(debugged: Debugged) -> None:
    """There is one call of `nested` from outside, with five within."""
    said = debugged.run("lanewise-capture nested c.jsonl --calls 3")
    assert ("the process has ended" in said, "1 calls captured" in said) == (True, True)


def test_a_call_that_asks_the_system_is_refused_and_the_process_goes_on(debugged: Debugged) -> None:
    said = debugged.run("lanewise-capture asks c.jsonl", "continue")
    assert "asks 0 is not recorded: the lane machine cannot run the call" in said
    assert "svc" in said
    assert "exited normally" in said
    assert not (debugged.folder / "c.jsonl").exists()


@given("threads")
def test_a_thread_that_is_not_the_first_is_followed(debugged: Debugged) -> None:
    """The first one waits for it; qemu's stub does not hold threads that run."""
    assert "5 calls captured" in debugged.run("lanewise-capture scale c.jsonl --calls 5", "kill")
    assert replayed(debugged.folder) == {"passed": 5}


@given("crash")
def test_a_call_that_crashes_is_recorded_up_to_there(debugged: Debugged) -> None:
    said = debugged.run("lanewise-capture reads c.jsonl")
    assert "by SIGSEGV: it is recorded without results" in said
    assert replayed(debugged.folder) == {"memory fault": 1}


@given("leaves")
def test_a_call_that_does_not_return_is_not_recorded(debugged: Debugged) -> None:
    said = debugged.run("lanewise-capture leaves c.jsonl")
    assert "0 calls captured" in said
    assert not (debugged.folder / "c.jsonl").exists()


@given("ends")
def test_what_is_captured_before_the_process_ends_is_written(debugged: Debugged) -> None:
    said = debugged.run("lanewise-capture ends c.jsonl --calls 9")
    assert "1 calls captured" in said
    assert replayed(debugged.folder) == {"passed": 1}


@given("waits")
def test_a_call_that_takes_too_long_for_the_machine_is_refused(debugged: Debugged) -> None:
    running = debugged.start("lanewise-capture waits c.jsonl --limit 2000")
    assert running.stdout is not None
    said = next(line for line in running.stdout if "waits 0" in line)
    said += debugged.interrupt(running)
    assert "did not come to its return within 2,000 instructions" in said
    assert ("Traceback" in said, "0 calls captured" in said) == (False, True)


@given("ever")
def test_what_is_captured_before_an_interrupt_is_written(debugged: Debugged) -> None:
    running = debugged.start("lanewise-capture scale c.jsonl --calls 1000000")
    assert running.stdout is not None
    seen = list(islice((line for line in running.stdout if "captured" in line), 12))
    rest = debugged.interrupt(running)
    captured = len(seen) + rest.count("captured scale")
    assert "Traceback" not in rest
    found = replayed(debugged.folder)
    assert found in ({"passed": captured}, {"passed": captured + 1})  # one may be written, and not be said yet


@given("ever")
def test_a_gdb_that_is_killed_leaves_what_was_captured(debugged: Debugged) -> None:
    running = debugged.start("lanewise-capture scale c.jsonl --calls 1000000")
    assert running.stdout is not None
    seen = list(islice((line for line in running.stdout if "captured" in line), 12))
    running.kill()
    running.wait()
    running.stdout.read()  # until lanewise has ended too
    assert sum(replayed(debugged.folder).values()) >= len(seen)


def test_a_full_disk_is_told_and_leaves_no_half_file(debugged: Debugged) -> None:
    limited = "python import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
    said = debugged.run(limited, "lanewise-capture scale c.jsonl --calls 2")
    assert "cannot write c.jsonl" in said
    assert [path.name for path in debugged.folder.iterdir() if path.name.startswith("c.")] == []


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("lanewise-capture none c.jsonl", "no file that the process has loaded has a symbol none"),
        ("lanewise-capture memcpy@ c.jsonl", "memcpy@ is no address"),
        ("lanewise-capture scale c.txt", "ends in .jsonl"),
        ("lanewise-capture scale /none/c.jsonl", "there is no such folder"),
        ("lanewise-capture scale", "the following arguments are required: file; usage: lanewise-capture"),
        ("lanewise-capture scale c.jsonl --calls 0", "--calls and --limit are at least 1"),
        ("lanewise-capture scale c.jsonl --calls many", "invalid int value: 'many'"),
        ("lanewise-capture scale c.jsonl --if '$x0 >'", "$x0 > is no condition"),
    ],
)
def test_what_cannot_be_is_one_sentence(debugged: Debugged, command: str, says: str) -> None:
    assert says in debugged.run(command)


def test_a_file_that_is_there_is_not_overwritten(debugged: Debugged) -> None:
    (debugged.folder / "c.jsonl").write_text("mine")
    assert "c.jsonl is there already" in debugged.run("lanewise-capture scale c.jsonl")
    assert (debugged.folder / "c.jsonl").read_text() == "mine"
