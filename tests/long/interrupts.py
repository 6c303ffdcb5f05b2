"""The long run of interrupts: every command is sent SIGINT at random moments, its start and its end included.

    PYTHONPATH=tests .venv/bin/python -m long.interrupts [--count N] [--seed S] [--only PART]

An interrupted command ends with 130, or with 3 where it says what stopped it; it gives no verdict of its own making and
no traceback.  One that has its whole result already may end as if nothing had been sent; while Python itself starts,
before the first line of lanewise, Python's own message ends it, which is counted apart.  Half of the interrupts go to
the process that was started, half to all of its processes.  Ends with 1 where a command did otherwise.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random, randrange

from isa.errors import INTERRUPTED, MISSING
from sim.terminal.script import at_least_one, parser_of, run_by_hand

START = [str(Path(sys.executable).with_name("lanewise"))]
FEW = ("--opt", "O2", "--vectors", "50")
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "check": ("check", "quantize_down", *FEW),
    "check of a file": ("check", "product.py", *FEW, "--json"),
    "check with JUnit": ("check", "requantize", *FEW, "--junit", "report.xml"),
    "check with coverage": ("check", "product.py", *FEW, "--coverage"),
    "check of the machine alone": ("check", "quantized_multiplier", *FEW, "--engine", "machine"),
    "check of hardware": ("check", "quantize_down", "--rtl", *FEW),
    "capture": ("capture", "quantize_down", "new.jsonl", "--vectors", "300"),
    "replay": ("replay", "calls.jsonl", "--jobs", "2"),
    "replay in one process": ("replay", "calls.jsonl", "--jobs", "1"),
    "prove": ("prove", "sqrdmulh*", "--no-cache"),
    "prove of a kernel": ("prove", "quantize_down", "--lengths", "0..5", "--no-cache"),
    "cycles": ("cycles", "quantize_down"),
    "conventions": ("conventions", "--between", "double_rounding", "single_rounding"),
    "explain": ("explain", "--accumulators", "accumulators.csv:int32", "--output", "output.csv:int8",
                "--multiplier", "1583594044", "--shift", "9"),
    "run": ("run", "product.c", "product", "1,2", "3,4", "zeros:2", "2"),
    "doctor": ("doctor",),
    "cache": ("cache",),
    "kernels": ("kernels", "show", "requantize"),
    "init": ("init", "kernel", "other", "--folder", "new"),
    "exhaust": ("exhaust", "sqrdmulh .8h,.8h,.8h", "--anew"),
    "isa verify": ("isa", "verify", "sqrdmulh"),
    "isa show": ("isa", "show", "sqrdmulh v0.4s, v1.4s, v2.s[1]"),
    "rtl list": ("rtl", "list"),
    "rtl test": ("rtl", "test", "sqrdmulh", "--widths", "8"),
    "rtl prove": ("rtl", "prove", "sqadd"),
}  # fmt: skip
VERDICT = re.compile(r"\b(PASSED|FAILED|differs|diverges)\b|Traceback|Exception ignored|Aborted")
LONGEST = 120.0
"""Seconds after an interrupt in which a command has to end."""


@dataclass(frozen=True)
class Whole:
    """A command that nobody interrupted: how long it took and what it said."""

    seconds: float
    code: int
    output: str


def started(words: tuple[str, ...], folder: Path) -> subprocess.Popen[str]:
    """The command, in a session of its own, so that all of its processes can be sent a signal."""
    return subprocess.Popen(
        [*START, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


def clean(folder: Path) -> None:
    """Without what a run writes and the next one would not overwrite."""
    for file in (folder / "new").glob("*"):
        file.unlink()


def run_whole(words: tuple[str, ...], folder: Path) -> Whole:
    clean(folder)
    begun = time.monotonic()
    process = started(words, folder)
    output, errors = process.communicate()
    if process.returncode:
        sys.exit(f"lanewise {' '.join(words)} ends with {process.returncode} by itself:\n{errors}")
    return Whole(time.monotonic() - begun, process.returncode, output)


def interrupted(words: tuple[str, ...], folder: Path, whole: Whole, moment: float, to_all: bool) -> tuple[str, str]:
    """What became of a command that was sent SIGINT after so many seconds: one word, and all that it wrote."""
    clean(folder)
    process = started(words, folder)
    try:
        output, errors = process.communicate(timeout=moment)
        return "ended before", output + errors
    except subprocess.TimeoutExpired:
        (os.killpg if to_all else os.kill)(process.pid, signal.SIGINT)
    try:
        output, errors = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return "WENT ON", "".join(process.communicate())
    if output == whole.output and process.returncode in (whole.code, INTERRUPTED):
        return "was done already", output + errors
    of_python = process.returncode == -signal.SIGINT or "Fatal Python error: init" in errors
    if of_python and not output and "command/main.py" not in errors:
        return "was not lanewise yet", output + errors
    if process.returncode not in (INTERRUPTED, MISSING):
        return f"VERDICT, exit code {process.returncode}", output + errors
    if found := VERDICT.search(output + errors.replace("agrees\n", "")):
        return f"SAID {found[0]}", output + errors
    return f"stopped with {process.returncode}", output + errors


def prepare(folder: Path) -> None:
    """The files that the commands read."""
    (folder / "accumulators.csv").write_text("7984,-7984,4513,88526")
    (folder / "output.csv").write_text("11,-11,6,127")
    (folder / "new").mkdir()
    run_whole(("init", "kernel", "product"), folder)
    run_whole(("capture", "quantize_down", "calls.jsonl", "--vectors", "300"), folder)


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--count", type=at_least_one, default=300, help="interrupts that reach a running command")
    parser.add_argument("--seed", type=int, default=randrange(1 << 32))
    parser.add_argument("--only", default="", help="commands whose name has this part")
    options = parser.parse_args()
    chosen = {name: words for name, words in COMMANDS.items() if options.only in name}
    if not chosen:
        parser.error(f"no command has {options.only!r} in its name: {', '.join(COMMANDS)}")
    print(f"seed {options.seed}", flush=True)
    random, told = Random(options.seed), Counter[str]()
    wrong = sent = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        prepare(folder)
        whole: dict[str, Whole] = {}
        while sent < options.count:
            for name, words in chosen.items():
                if name not in whole:
                    whole[name] = run_whole(words, folder)
                moment, to_all = random.uniform(0, whole[name].seconds), random.random() < 0.5
                became, said = interrupted(words, folder, whole[name], moment, to_all)
                told[became] += 1
                sent += became != "ended before"
                if became[:2].isupper():
                    wrong += 1
                    where = "all its processes" if to_all else "its first process"
                    print(f"{name}: {where} interrupted after {moment:.3f} s: {became}\n{said}", flush=True)
                print(f"{sent} of {options.count} interrupts, {wrong} wrong; {name}", flush=True)
                if sent >= options.count:
                    break
    for became, count in told.most_common():
        print(f"{count:6} {became}")
    print(f"{sent} interrupts of {len(chosen)} commands, {wrong} wrong; seed {options.seed}")
    return int(wrong > 0)


if __name__ == "__main__":
    run_by_hand(main)
