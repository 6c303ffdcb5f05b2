"""The `lanewise` command as a user meets it: text, JSON, exit codes, errors in one sentence."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import count, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

import sim.check.repair.place
import sim.command.app
import sim.command.options
import sim.command.running.check
import sim.toolchain.objects
from sim.check import vectors
from sim.check.aim.kept import aimed_or_kept
from sim.check.check import begin_job
from sim.check.repair.fault import FaultLines
from sim.command.app import foreign_commands
from sim.kernels import quantized_multiplier
from sim.kernels.kernel import Kernel
from sim.kernels.quantize_down import KERNEL
from sim.toolchain.tools import CacheUnusable, ToolchainUnavailable, ToolMissing

pytestmark = pytest.mark.usefixtures("nothing_aimed")
SMALL = ("check", "quantized_multiplier", "--vectors", "50", "--opt", "O1,O2")
QUICK = ("check", "quantized_multiplier", "--vectors", "50", "--opt", "O2")
LANEWISE = str(Path(sys.executable).with_name("lanewise"))
NEGATING = """
from pathlib import Path
from sim.kernels import Kernel, parse_prototype

NAME, SIGNATURE = parse_prototype("void negate(const int32_t x[1], int32_t output[1])")
KERNEL = Kernel(name=NAME, symbol=NAME, sources=(Path("negate.c"),), signature=SIGNATURE,
                golden=lambda inputs: {"output": -inputs["x"].clip(-(2**31) + 1)})
"""


def run(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(sim.command.app.app, list(arguments), env=environment)


@pytest.fixture(scope="module")
def negating(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """A check of two builds that is over in half the time of others: of one lane, which is negated and may saturate."""
    folder = tmp_path_factory.mktemp("negating")
    source = "#include <arm_neon.h>\nvoid negate(const int32_t *x, int32_t *output) { *output = vqnegs_s32(*x); }"
    (folder / "negate.c").write_text(source)
    (folder / "negate.py").write_text(NEGATING)
    return ("check", str(folder / "negate.py"), "--vectors", "20", "--opt", "O1,O2")


@cache
def small_check() -> Result:
    return run(*SMALL)


@cache
def small_report() -> dict[str, Any]:
    report: dict[str, Any] = json.loads(run(*SMALL, "--json").stdout)
    return report


@pytest.mark.slow
def test_a_check_that_agrees_exits_with_0() -> None:
    assert small_check().exit_code == 0


@pytest.mark.slow
def test_the_table_names_every_implementation() -> None:
    shown = small_check().stdout
    names = ("kernel.c -O1", "kernel.c -O2", "kernel_plain.c -O1", "kernel_plain.c -O2", "program")
    assert all(name in shown for name in names)


@pytest.mark.slow
def test_json_counts_a_comparison_for_each_engine() -> None:
    report = small_report()
    assert report["lanes_compared"] == report["vectors_compared"] * (2 * 4 + 1)


@pytest.mark.slow
def test_json_has_the_names_of_the_design() -> None:
    names = {"vectors_compared", "lanes_compared", "instruction_forms", "first_divergence", "seed", "reproduce"}
    assert names <= small_report().keys()


def test_json_states_compiler_and_flags() -> None:
    report = small_report()
    assert report["compiler"].startswith("clang ")
    assert report["flags"] == ["-O1", "-O2"]
    assert {"--target=aarch64-linux-gnu", "-g", "-ffp-contract=off", "-fno-pic"} <= set(report["common_flags"])


def test_json_counts_instructions_that_set_qc(negating: tuple[str, ...]) -> None:
    report = json.loads(run(*negating, "--json").stdout)
    assert (report["passed"], report["qc_events"] > 0) == (True, True)


@pytest.mark.slow
def test_the_reproduction_line_repeats_the_report() -> None:
    words = small_report()["reproduce"].split()[1:]
    assert json.loads(run(*words, "--json").stdout) == small_report()


@pytest.mark.slow
def test_another_seed_gives_other_random_vectors() -> None:
    other = json.loads(run(*SMALL, "--seed", "2", "--json").stdout)
    assert other["vectors_compared"] != small_report()["vectors_compared"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("check", "nothing"),
            "there is no kernel 'nothing': the kernels are activation_table, arithmetic_addition, ",
        ),
        (("check", "quantize_down", "--opt", "O9"), "--opt takes some of O0,O1,O2,O3,Os,Oz, not 'O9'"),
        (("check", "quantize_down", "--opt", ","), "--opt takes some of"),
        (("check", "quantize_down", "--vectors", "-1"), "--vectors"),
        (
            ("check", "quantize_down", "--vectors", "10000001"),
            "--vectors takes at most 10,000,000 lanes, not 10,000,001",
        ),
        (("check", f"{'k' * 300}.py"), f"{'k' * 300}.py"),
        (("model", f"{'k' * 300}.tflite"), f"{'k' * 300}.tflite"),
        (("exhaust", f"{'k' * 300}.py"), f"{'k' * 300}.py"),
        (("check",), "kernel"),
        (("chek",), "No such command 'chek' (did you mean check?)."),
        (("rtl", "tset"), "No such command 'tset' (did you mean test?)."),
        (("nothing-like-it",), "No such command 'nothing-like-it'."),
        (("check", "quantise_down"), "there is no kernel 'quantise_down' (did you mean quantize_down?): the kernels"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_2(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_random_lanes_beyond_the_limit_of_input_sets_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "MAX_SETS", 300)
    monkeypatch.setattr(sim.command.options, "MAX_SETS", 300)
    result = run("check", "quantize_down", "--vectors", "1000000", "--opt", "O1")
    assert result.exit_code == 2
    assert "--vectors 1,000,000 needs more than the 300 input sets" in result.stderr


@pytest.mark.parametrize("error", [ToolMissing, ToolchainUnavailable])
def test_a_compiler_that_cannot_be_used_is_one_sentence_and_exit_3(
    monkeypatch: pytest.MonkeyPatch, error: type[ToolchainUnavailable]
) -> None:
    def unavailable() -> str:
        raise error("no AArch64 compiler: run: pip install ziglang")

    monkeypatch.setattr(sim.toolchain.objects, "compiler_version", unavailable)
    result = run(*SMALL)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == "lanewise: no AArch64 compiler: run: pip install ziglang\n"


@pytest.mark.slow
@pytest.mark.usefixtures("cache", "verdict_alone")
def test_without_a_terminal_it_is_said_once_that_nothing_was_compiled_before() -> None:
    told = [
        run("check", "transpose1xw", "--opt", "O1", "--vectors", "1", "--jobs", "1").stderr.splitlines()[0]
        for _ in range(2)
    ]
    assert told[0] == "nothing was compiled here before: the first builds take longest"
    assert told[1].endswith(" lanes, agrees")


@pytest.mark.parametrize("place", ["/proc/nope", "file"])
def test_an_unusable_cache_is_one_sentence_and_exit_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LANEWISE_CACHE", str(tmp_path / place))
    result = run(*SMALL)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (3, "", 1)
    assert "set LANEWISE_CACHE to a directory that can be written" in result.stderr


def off_by_one(inputs: Any) -> dict[str, np.ndarray]:
    return {name: lanes ^ 1 for name, lanes in quantized_multiplier.KERNEL.golden(inputs).items()}


@cache
def of_a_wrong_golden(*options: str) -> Result:
    """What a check comes to whose golden reference nobody agrees with: no line is at fault, and none is looked for."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sim.command.running.check, "with_faults", lambda kernel, jobs, vectors, outcomes: outcomes)
        wrong = replace(quantized_multiplier.KERNEL, golden=off_by_one)
        patched.setattr(sim.command.options, "built_in_kernel", lambda name, mode: wrong)
        return run(*QUICK, *options)


@pytest.mark.slow
def test_a_mismatch_exits_with_1() -> None:
    assert of_a_wrong_golden().exit_code == 1


@pytest.mark.slow
def test_a_mismatch_is_shown_with_lane_and_both_values() -> None:
    shown = of_a_wrong_golden().stdout
    assert "FAILED kernel.c -O2" in shown
    assert "machine" in shown
    assert "golden" in shown


@pytest.mark.slow
def test_a_mismatch_is_the_first_divergence_of_the_json_report() -> None:
    report = json.loads(of_a_wrong_golden("--json").stdout)
    assert report["first_divergence"].startswith("kernel.c -O2: products[")


def test_a_kernel_without_vectors_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = replace(KERNEL, corners=lambda: iter(()))
    monkeypatch.setattr(sim.command.options, "built_in_kernel", lambda name, mode: empty)
    result = run("check", "quantize_down", "--vectors", "0", "--opt", "O1")
    assert result.exit_code == 1
    assert "nothing was compared" in result.stdout


def interrupted_at(call: int, calls: Iterator[int]) -> Kernel:
    """The kernel, interrupted when its arguments are asked for and the next of `calls` is that number."""

    def arguments(inputs: Any) -> Any:
        if next(calls) == call:
            raise KeyboardInterrupt
        return quantized_multiplier.KERNEL.arguments(inputs)

    return replace(quantized_multiplier.KERNEL, arguments=arguments)


def test_an_interrupt_before_the_first_run_says_so_and_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sim.command.options, "built_in_kernel", lambda name, mode: interrupted_at(5, count()))
    result = run("check", "quantized_multiplier", "--vectors", "0")
    assert (result.exit_code, "interrupted before anything was compared" in result.stderr) == (130, True)


@pytest.mark.slow
def test_an_interrupt_keeps_what_was_compared_and_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty calls after inputs were aimed: the first of a compared build."""
    to_come: list[Iterator[int]] = [repeat(-1)]

    def then_compared(*arguments: Any) -> Any:
        found = aimed_or_kept(*arguments)
        to_come[0] = count()
        return found

    def calls() -> Iterator[int]:
        while True:
            yield next(to_come[0])

    monkeypatch.setattr(sim.command.running.check, "aimed_or_kept", then_compared)
    monkeypatch.setattr(sim.command.options, "built_in_kernel", lambda name, mode: interrupted_at(20, calls()))
    result = run("check", "quantized_multiplier", "--vectors", "0", "--json", "--jobs", "1")
    report = json.loads(result.stdout)
    assert (result.exit_code, report["interrupted"], len(report["implementations"])) == (130, True, 1)
    assert report["lanes_compared"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("work", ["with_faults", "shrink"])
def test_an_interrupt_while_a_mismatch_is_explained_is_no_verdict(monkeypatch: pytest.MonkeyPatch, work: str) -> None:
    """What failed is told, but the check did not come to its end."""

    def interrupted(*_: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(sim.check.repair.place, "find_fault", interrupted if work == "with_faults" else no_lines)
    monkeypatch.setattr(sim.command.running.check, "shrink", interrupted)
    wrong = replace(quantized_multiplier.KERNEL, golden=off_by_one)
    monkeypatch.setattr(sim.command.options, "built_in_kernel", lambda name, mode: wrong)
    result = run(*QUICK)
    last = next(line for line in result.stdout.splitlines() if "until then" in line)
    assert (result.exit_code, last) == (130, "INTERRUPTED: until then 3 of 3 implementations failed")
    assert "FAILED kernel.c -O2" in result.stdout
    assert ("not shrunk, as it was interrupted: input set 0" in result.stdout) == (work == "shrink")


def no_lines(*_: Any) -> FaultLines:
    return FaultLines()


@pytest.mark.parametrize("error", [CacheUnusable("the disk is full"), MemoryError(), OSError(28, "No space left")])
def test_a_full_disk_keeps_what_was_compared_and_exits_with_3(
    monkeypatch: pytest.MonkeyPatch, error: Exception, negating: tuple[str, ...]
) -> None:
    left = iter([None, error])

    def hindered(*arguments: Any, **options: Any) -> Any:
        if stop := next(left):
            raise stop
        return begin_job(*arguments, **options)

    monkeypatch.setattr(sim.command.running.check, "begin_job", hindered)
    result = run(*negating, "--json", "--jobs", "1")
    report = json.loads(result.stdout)
    assert (result.exit_code, report["passed"], len(report["implementations"])) == (3, False, 1)
    assert (report["first_divergence"], bool(report["hindrance"])) == ("", True)


@pytest.mark.slow
def test_a_report_for_machines_that_cannot_be_written_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, negating: tuple[str, ...]
) -> None:
    """A limit of the size of files, as a full disk, hinders all that is written, but not stdout, a pipe."""
    monkeypatch.chdir(tmp_path)
    run(*negating)  # what is compiled is kept

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    command = [LANEWISE, *negating, "--junit", "report.xml"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # CPython 3.11.2 keeps what it could write a part of
    ended = subprocess.run(
        command, cwd=tmp_path, env=environment, preexec_fn=limit, capture_output=True, text=True, check=False
    )
    said = "lanewise: cannot write report.xml: File too large"
    assert (ended.returncode, "PASSED" in ended.stdout, ended.stderr.splitlines()[-1]) == (3, True, said)
    assert list(tmp_path.iterdir()) == []


def test_commands_of_other_packages_arrive_through_entry_points(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    extra = typer.Typer()

    @extra.command()
    def hello() -> None:
        """Say hello."""
        typer.echo("hello from extra")

    class Entry:
        name = "extra"

        def load(self) -> typer.Typer:
            return extra

    def found(group: str) -> list[Entry]:
        return [Entry()] if group == "lanewise.commands" else []

    monkeypatch.setattr("sim.command.app.entry_points", found)
    foreign_commands.cache_clear()
    try:
        assert run("extra", "hello").stdout == "hello from extra\n"
    finally:
        foreign_commands.cache_clear()


@pytest.mark.parametrize("asked", [("extra",), ("extra", "go", "--fast"), ("extra", "--help"), ("--help",)])
def test_a_command_of_another_package_that_cannot_be_loaded_is_a_sentence(
    asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Entry:
        name = "extra"
        value = "elsewhere.command:app"

        def load(self) -> typer.Typer:
            raise ModuleNotFoundError("No module named 'elsewhere'")

    monkeypatch.setattr("sim.command.app.entry_points", lambda group: [Entry()])
    foreign_commands.cache_clear()
    try:
        done = run(*asked)
    finally:
        foreign_commands.cache_clear()
    assert done.exit_code == (0 if asked == ("--help",) else 3)
    said = " ".join(re.sub("[│╭╮╰╯─]", " ", done.output).split())
    assert "elsewhere.command:app cannot be loaded: ModuleNotFoundError: No module named 'elsewhere'" in said
    assert "Traceback" not in said


def test_without_a_terminal_progress_is_a_line_of_stderr_for_each_job(negating: tuple[str, ...]) -> None:
    done = run(*negating, "--json")
    outcomes = json.loads(done.stdout)["implementations"]
    titles = [f"{outcome['implementation']} {outcome['flags']}".strip() for outcome in outcomes]
    lanes = [outcome["lanes_compared"] for outcome in outcomes]
    said = {f"{title}: {n:,} lanes, agrees" for title, n in zip(titles, lanes, strict=True)}
    assert (len(done.stderr.splitlines()), set(done.stderr.splitlines())) == (len(titles), said)


def test_no_color_is_respected(negating: tuple[str, ...]) -> None:
    shown = run(*negating, NO_COLOR="1", FORCE_COLOR="1").stdout
    assert "PASSED" in shown
    assert "\x1b[3" not in shown


def test_colours_can_be_asked_for(monkeypatch: pytest.MonkeyPatch, negating: tuple[str, ...]) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[32mPASSED" in run(*negating, FORCE_COLOR="1", TERM="xterm").stdout


def closed_pipe() -> int:
    """The end to write to of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@pytest.mark.slow
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_reader_that_went_away_ends_the_output_quietly(
    tmp_path: Path, form: tuple[str, ...], negating: tuple[str, ...]
) -> None:
    with os.fdopen(closed_pipe()) as stdout:
        done = subprocess.run(
            [LANEWISE, *negating, *form], stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=tmp_path
        )
    assert done.returncode == 0
    assert {line.split(", ")[-1] for line in done.stderr.splitlines()} == {"agrees"}


@pytest.mark.parametrize("asked", [("--help",), ("check", "--help"), ("isa", "--help"), ("isa", "verify", "--help")])
def test_a_reader_of_help_may_go_away(tmp_path: Path, asked: tuple[str, ...]) -> None:
    with os.fdopen(closed_pipe()) as stdout:
        done = subprocess.run([LANEWISE, *asked], stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_progress_that_nobody_reads_stops_nothing(tmp_path: Path, negating: tuple[str, ...]) -> None:
    with os.fdopen(closed_pipe()) as stderr:
        done = subprocess.run([LANEWISE, *negating], stdout=subprocess.PIPE, stderr=stderr, text=True, cwd=tmp_path)
    assert done.returncode == 0
    assert "PASSED" in done.stdout


@pytest.mark.slow
def test_a_report_that_cannot_be_written_is_one_sentence_and_exit_3(tmp_path: Path, negating: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as stdout:
        done = subprocess.run([LANEWISE, *negating], stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == "lanewise: cannot write the report: No space left on device"
