"""What is started by hand beside `lanewise`: help, a wrong option and what is missing are told, without a traceback."""

from __future__ import annotations

import ast
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sim.terminal.script import at_least_one, parser_of, run_by_hand
from sim.toolchain.tools import ToolMissing

ROOT = Path(__file__).parents[1]
SECONDS = 60
"""That a script may take to read its arguments: one that does not read them runs for longer."""


def is_started(file: Path) -> bool:
    """Whether it has `if __name__ == "__main__":` at its top, not in a text."""
    text = file.read_text()
    return "__main__" in text and any(
        isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'" for node in ast.parse(text).body
    )


SCRIPTS = [
    str(file.relative_to(ROOT))
    for folder in ("docs", "isa", "sim", "rtl_models", "tests")
    for file in sorted((ROOT / folder).rglob("*.py"))
    if "node_modules" not in file.parts and is_started(file)
]


def test_the_scripts_are_found() -> None:
    assert {"docs/pictures.py", "sim/command/main.py", "tests/long/mutants.py", "isa/word_search.py"} <= set(SCRIPTS)
    assert len(SCRIPTS) > 40


def ended(script: str, argument: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of a script with one argument, in this process, which has most of its modules already."""

    def too_late(number: int, frame: object) -> None:
        pytest.fail(f"{script} {argument} runs, where it should end at once")

    monkeypatch.setattr(sys, "argv", [script, argument])
    before = signal.signal(signal.SIGALRM, too_late)
    interrupt = signal.getsignal(signal.SIGINT)
    signal.alarm(SECONDS)
    try:
        with pytest.raises(SystemExit) as end:
            runpy.run_path(str(ROOT / script), run_name="__main__")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        signal.signal(signal.SIGINT, interrupt)
    return int(end.value.code or 0)


@pytest.mark.slow
@pytest.mark.parametrize("script", [one for one in SCRIPTS if one != "sim/command/main.py"])
def test_help_and_a_wrong_option_end_at_once(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(script, "--help", monkeypatch) == 0
    said = capsys.readouterr()
    assert (said.out.startswith("usage:"), said.err) == (True, "")
    assert ended(script, "--no-such-option", monkeypatch) == 2
    said = capsys.readouterr()
    assert (said.out, "no-such-option" in said.err or "arguments are required" in said.err) == ("", True)


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "", "x", "\u0663"])
def test_a_count_of_nothing_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    parser = parser_of("")
    parser.add_argument("--count", type=at_least_one)
    assert parser.parse_args(["--count=2"]).count == 2
    with pytest.raises(SystemExit) as end:
        parser.parse_args([f"--count={text}"])
    assert (end.value.code, f"{text!r} is not a whole number from 1 on" in capsys.readouterr().err) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "argument"),
    [
        ("core128", "0"), ("core128_mutants", "0"), ("core128_rows", "0"), ("schedules", "0"),
        ("interrupts", "--count=0"), ("proofs", "--faults=0"), ("streams", "--instructions=0"),
        ("symbolic", "--states=0"), ("symbolic", "--instructions=0"), ("text_mutations", "--count=0"),
    ],
)  # fmt: skip
def test_a_long_run_that_would_try_nothing_does_not_begin(
    script: str, argument: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(f"tests/long/{script}.py", argument, monkeypatch) == 2
    assert "'0' is not a whole number from 1 on" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (ToolMissing("there is no simulator"), 3, "lanewise: there is no simulator\n"),
        (ModuleNotFoundError("No module", name="onnx"), 3, "lanewise: onnx is not installed, which this needs: "),
        (FileNotFoundError(2, "No such file or directory", "objdump"), 3, "lanewise: [Errno 2] "),
        (KeyboardInterrupt(), 130, "lanewise: interrupted\n"),
    ],
)
def test_what_hinders_a_script_is_a_sentence(
    error: BaseException, code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def main() -> int:
        raise error

    with pytest.raises(SystemExit) as end:
        run_by_hand(main)
    said = capsys.readouterr().err
    assert (end.value.code, said.startswith(sentence), said.count("\n")) == (code, True, 1)


def test_the_docstring_of_a_script_is_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser_of("Whether 98 % are found.\n\n    make it\n").parse_args(["--help"])
    assert "Whether 98 % are found.\n\n    make it\n" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("gdb",), 3, "the picture of lanewise gdb needs gdb-multiarch: install the Debian package gdb-multiarch"),
        (("dubug",), 2, "there is no picture 'dubug' (did you mean debug?)"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_told(arguments: tuple[str, ...], code: int, sentence: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs/pictures.py", *arguments],
        env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, sentence in done.stderr, "Traceback" in done.stderr) == (code, True, False)
