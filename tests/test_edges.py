"""What no usual day has: names, texts, files and terminals at the edge of what there can be."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import zipfile
from contextlib import suppress
from io import StringIO
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import ROOT, Write

from rtl_models.tools.environment import SimulationUnavailable, cocotb_folder
from sim.call.captured import MAX_LINE, CaptureError, read_lines
from sim.call.guards.findings import GuardFinding
from sim.check.report import Outcome, Report
from sim.kernels import parse_prototype
from sim.kernels.signature import ArrayTooLarge, extents
from sim.models import read_network, run_network
from sim.models.forward import drawn_inputs
from sim.terminal.output import PlainConsole, progress_bar
from sim.toolchain import compilers, tools
from sim.toolchain.compilers import build
from sim.toolchain.shell import typed
from sim.toolchain.tools import ToolchainUnavailable
from sim.view.junit import render_junit
from sim.view.report import show_report
from sim.view.sentences import visible
from support.command import lanewise
from support.tflite_models import small_net

START = [sys.executable, "-m", "sim"]
NO_TEXT = os.fsdecode(b"name\xff")
"""A name with a byte that is not UTF-8, as Python has it."""
ADD = "int add(int a, int b) { return a + b; }\n"


def started(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    """The command as a user starts it."""
    return subprocess.run([*START, *words], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


def outcome(title: str, flags: str, *findings: GuardFinding) -> Outcome:
    return Outcome(
        implementation=title, flags=flags, vectors=1, lanes_compared=2, instructions=3, forms=frozenset(), qc_events=0,
        code="0" * 64, findings=findings,
    )  # fmt: skip


def shown(*outcomes: Outcome) -> str:
    report = Report(kernel="k", compiler="clang", seed=1, outcomes=outcomes, reproduce="lanewise check k")
    console = PlainConsole()
    console.file = StringIO()
    show_report(report, console)
    return console.file.getvalue()


def test_a_message_of_the_compiler_has_no_emoji(write: Write) -> None:
    said = lanewise("run", write("x.c", "void f(void) { :x: }\n"), "f").stderr
    assert ":x:" in said


def test_a_report_has_no_emoji() -> None:
    assert ":x:.c" in shown(outcome(":x:.c", ""))


@pytest.mark.parametrize("text", ["\x1b[31mred", "\x9b31mred", "\x07", "\r", "\x7f", "\u202eder", "\u2066der"])
def test_an_escape_sequence_is_shown_not_obeyed(text: str) -> None:
    plain = visible(f"a\t{text}\n")
    assert all(letter.isprintable() or letter in "\t\n" for letter in plain)
    assert "\\x" in plain or "\\u" in plain


def test_the_name_of_a_captured_call_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    call = {"id": "\x1b]0;title\x07\x9b31m", "entry": 0, "ret": 4, "maps": [[4096, 4096, "rx"]], "mem": []}
    (tmp_path / "calls.jsonl").write_text(json.dumps(call))
    zipfile.ZipFile(tmp_path / "calls.npz", "w").close()
    said = lanewise("replay", tmp_path / "calls.jsonl").stdout
    assert (r"\x1b]0;title\x07\x9b31m" in said, "\x1b" in said, "\x9b" in said) == (True, False, False)


def test_a_source_whose_name_is_no_text_is_run(tmp_path: Path) -> None:
    (tmp_path / f"{NO_TEXT}.c").write_text(ADD)
    ended = lanewise("run", tmp_path / f"{NO_TEXT}.c", "add", 1, 2)
    assert (ended.exit_code, ended.stdout.splitlines()[0]) == (0, "returned = 3")


def test_a_name_that_is_no_text_is_in_reports() -> None:
    assert r"name\udcff.c" in shown(outcome(f"{NO_TEXT}.c", ""))


@pytest.mark.parametrize(
    "name", [NO_TEXT, f"it's \\ {NO_TEXT}", "a\x1b[31m", "\u202eab", "two\nlines", "plain", "$a b"]
)
def test_a_command_can_be_pasted_whatever_a_name_holds(name: str) -> None:
    shown = typed(["printf", "%s", name])
    assert visible(shown) == shown
    pasted = subprocess.run(["bash", "-c", shown], capture_output=True, check=True)
    assert pasted.stdout == os.fsencode(name)


def test_a_name_that_is_no_text_is_in_junit() -> None:
    report = Report(kernel=NO_TEXT, compiler="", seed=1, outcomes=[outcome(f"\x1b{NO_TEXT}.c", "")], reproduce="")
    cases = ElementTree.fromstring(render_junit(report)).iter("testcase")
    assert [case.get("name") for case in cases] == [r"name\udcff.c"]


@pytest.mark.parametrize(
    "words",
    [("check", "{}.py"), ("run", "{}.c", "f"), ("cycles", "{}.c", "f"), ("check", "quantize_down", "--junit", "{}.xml"),
     ("capture", "quantize_down", "{}.jsonl"), ("replay", "{}.jsonl"), ("prove", "{}.py"), ("check", "{}"),
     ("explain", "--accumulators", "{}.csv:int32", "--output", "{}.csv:int8", "--multiplier", "1", "--shift", "0")],
    ids=" ".join,
)  # fmt: skip
def test_a_name_that_is_too_long_is_a_sentence(words: tuple[str, ...]) -> None:
    ended = lanewise(*(word.format("x" * 300) for word in words))
    assert (ended.exit_code in (2, 3), ended.stdout, len(ended.stderr.splitlines())) == (True, "", 1)


@pytest.mark.slow
@pytest.mark.parametrize("words", [("check", "quantize_down"), ("rtl", "test", "sqadd")])
def test_a_working_directory_that_is_gone_is_a_sentence(tmp_path: Path, words: tuple[str, ...]) -> None:
    def leave() -> None:
        os.mkdir(tmp_path / "gone")
        os.chdir(tmp_path / "gone")
        os.rmdir(tmp_path / "gone")

    program = [sys.executable, "-P", "-c", "from sim.command.main import main; main()"]
    ended = subprocess.run([*program, *words], preexec_fn=leave, capture_output=True, text=True, check=False)
    said = "lanewise: the working directory is there no more: change to one that is\n"
    assert (ended.returncode, ended.stderr) == (3, said)


def test_a_line_that_never_ends_is_refused() -> None:
    with pytest.raises(CaptureError, match=f"line 1 of /dev/zero has more than {MAX_LINE} characters"):
        list(read_lines(Path("/dev/zero")))


def test_an_array_that_nobody_means_is_refused() -> None:
    _, signature = parse_prototype("void f(int8_t z[4000000000])")
    with pytest.raises(ArrayTooLarge, match=r"z\[4000000000\] of int8 is too large; at most 256 MiB"):
        extents(signature.pointers[0], {})


@pytest.mark.slow
def test_a_compiler_that_does_not_end_is_stopped(write: Write, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "LONGEST", 0.5)
    monkeypatch.setattr(compilers, "clang_command", lambda *_: [sys.executable, "-c", "while True: pass", "clang"])
    with pytest.raises(ToolchainUnavailable, match=r"does not end: it was stopped after 0\.5 s"):
        build(write("add.c", ADD))


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["1", "7"])
def test_on_a_narrow_terminal_words_stay_whole(columns: str) -> None:
    words = ("kernels", "show", "quantize_down")
    shown = started(*words, env={**os.environ, "COLUMNS": columns}).stdout
    assert "quantize_down" in shown
    assert shown == started(*words, env={**os.environ, "COLUMNS": "20"}).stdout


@pytest.mark.slow
def test_a_terminal_that_does_not_know_its_width_is_written_to() -> None:
    said = started("kernels", env={**os.environ, "COLUMNS": "0"}).stdout
    assert "quantize_down" in said


X18 = GuardFinding(kind="platform register", says="writes x18", pc=4, source="k.c:1", harmless=True)


@pytest.mark.parametrize(
    ("outcomes", "note"),
    [
        ([outcome("k.c", "-O1", X18), outcome("k.c", "-O2", X18)], ""),
        ([outcome("k.o", "", X18)], "1 build writes x18"),
        ([outcome("k.o", "", X18), outcome("l.o", "", X18)], "2 builds write x18"),
        ([outcome("k.c", "-O1 --target=aarch64-windows", X18)], "1 build writes x18"),
    ],
    ids=["for Linux", "one", "two", "another target"],
)
def test_the_platform_register_is_noted_where_a_platform_may_reserve_it(outcomes: list[Outcome], note: str) -> None:
    said = shown(*outcomes)
    assert (note in said, "x18" in said) == (True, bool(note))


def test_what_brings_cocotb_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
    with pytest.raises(SimulationUnavailable, match=r"run: pip install 'lanewise\[rtl\]'"):
        cocotb_folder()


def test_a_bar_of_progress_tells_the_share() -> None:
    with progress_bar() as progress:
        progress.add_task("[x] :x:", total=8, completed=2)
        task = progress.tasks[0]
        rendered = [getattr(column, "render", lambda _: "")(task) for column in progress.columns]
    assert {"[x] :x:", " 25%"} <= {str(one) for one in rendered}


@pytest.mark.parametrize("columns", [60, 100, 200])
def test_help_is_wrapped_once(columns: int) -> None:
    """A line of a paragraph ends where its next word would not fit, and nowhere else."""
    lines = lanewise("check", "--help", columns=columns).stdout.splitlines()
    first = next(number for number, line in enumerate(lines) if line.strip().startswith("Each build runs"))
    paragraph = []
    for line in lines[first:]:
        if not line.strip():
            break
        paragraph.append(line.split())
    widths = [len(" ".join([*line, following[0]])) for line, following in pairwise(paragraph)]
    assert (paragraph[-1][-1], min(widths, default=columns) > columns - 3) == ("does.", True)


@pytest.mark.parametrize(
    "words",
    [("capture", "quantize_down", "none/calls.jsonl"), ("capture", "quantize_down", "calls.txt"),
     ("run", "add.c", "add", "1", "2", "--capture", "none/calls.jsonl")],
    ids=" ".join,
)  # fmt: skip
def test_calls_that_cannot_be_written_are_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("add.c").write_text(ADD)
    monkeypatch.setattr("sim.call.call.CompiledKernel.capture", lambda *_: pytest.fail("a call is made"))
    ended = lanewise(*words)
    assert (ended.exit_code, ended.stdout, len(ended.stderr.splitlines())) == (2, "", 1)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with modules that have the names of ours, of Python's and of others."""
    for name in ("sim", "isa", "rtl_models", "ziglang"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('not ours')\n")
    for name in ("random", "numpy", "signal", "platform", "cocotb"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not ours')\n")
    (tmp_path / "add.c").write_text(ADD)
    return tmp_path


COMMAND = str(Path(sys.executable).with_name("lanewise"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [("run", "add.c", "add", "1", "2"), ("prove", "SQADD*", "--jobs", "2", "--no-cache"), ("isa", "list", "sqadd"),
     ("rtl", "list"), pytest.param(("rtl", "test", "sqadd", "--widths", "8"), marks=pytest.mark.rtl)],
    ids=" ".join,
)  # fmt: skip
def test_a_command_does_not_take_modules_from_the_working_directory(hostile: Path, words: tuple[str, ...]) -> None:
    environment = {**os.environ, "LANEWISE_CACHE": str(hostile / "cache")} if words[0] == "run" else None
    ended = subprocess.run([COMMAND, *words], cwd=hostile, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, "not ours" in ended.stdout + ended.stderr) == (0, False), ended.stderr


def test_a_program_does_not_start_a_compiler_of_the_working_directory(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.setenv("LANEWISE_CACHE", str(hostile / "cache"))
    assert "add" in build(Path("add.c"), "-O1").symbols


def test_the_module_does_not_take_modules_from_the_working_directory_where_python_is_told_so(hostile: Path) -> None:
    ended = subprocess.run([sys.executable, "-P", "-m", "sim", "--version"], cwd=hostile, capture_output=True)
    assert (ended.returncode, ended.stdout[:9], ended.stderr) == (0, b"lanewise ", b"")


FAKE_PYTHON = """#!/bin/sh
test "$2" = venv && mkdir -p "$3/bin" && cp "$0" "$3/bin/python"
test "$2 $3" = "pip install" && echo "$*" >> installed
true
"""


@pytest.mark.parametrize(("made", "locks"), [("installed", ["requirements"]), ("tested", ["requirements", "test"])])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_set_up_shows_what_is_fetched_where_a_terminal_watches(
    is_terminal: bool, made: str, locks: list[str], tmp_path: Path
) -> None:
    for name in ("Makefile", "requirements.lock", "test.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / "python"
    python.write_text(FAKE_PYTHON)
    python.chmod(0o755)
    ours, theirs = pty.openpty() if is_terminal else os.pipe()
    subprocess.run(["make", f"PYTHON={python}", f".venv/.{made}"], cwd=tmp_path, stdout=theirs, check=True)
    os.close(theirs)
    os.close(ours)
    asked = (tmp_path / "installed").read_text().splitlines()
    assert [re.findall(r"(\w+)\.lock", line) for line in asked if ".lock" in line] == [[lock] for lock in locks]
    assert {"--quiet" in line for line in asked} == {not is_terminal}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_have_its_completion(shell: str) -> None:
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    ended = subprocess.run(
        [COMMAND, "--show-completion", shell], env=environment, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, "_LANEWISE_COMPLETE" in ended.stdout) == (0, True), ended.stderr


@pytest.mark.parametrize(("words", "found"), [("lanewise ch", "check"), ("lanewise check --jun", "--junit")])
def test_words_are_completed(words: str, found: str) -> None:
    environment = {
        **os.environ, "_LANEWISE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))
    }  # fmt: skip
    ended = subprocess.run([COMMAND], env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.split()) == (0, [found])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("cycles", "transpose1xw"), "executing transpose1xw"),
        (("model", "net.tflite", "--cycles", "cortex-a55"), "timing net.tflite"),
        (("model", "net.tflite", "--layer", "0", "--kernel", "conv2d"), "running conv2d, mode .* as layer 0"),
        (("model", "net.tflite", "--against", "device.npz"), "comparing net.tflite"),
    ],
)
def test_what_takes_seconds_says_on_a_terminal_what_it_does(
    arguments: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    (tmp_path / "net.tflite").write_bytes(small_net(1, 8).content())
    network = read_network(tmp_path / "net.tflite")
    inputs = {network.tensors[number].name: array for number, array in drawn_inputs(network, 1).items()}
    np.savez(tmp_path / "device.npz", allow_pickle=False, **inputs, **run_network(network, inputs))
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    said = b""
    with subprocess.Popen(
        [COMMAND, *arguments], cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=theirs
    ):
        os.close(theirs)
        with suppress(OSError):  # that nobody writes any more
            while part := os.read(ours, 1 << 16):
                said += part
    os.close(ours)
    assert re.search(told, said.decode())
