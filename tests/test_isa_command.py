"""`lanewise isa` as a user meets it: lists, explanations, the differential run, exit codes, errors in one sentence."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

import sim.command.app
import sim.command.asking.isa
from isa.catalogue import forms_called
from isa.encodings import EncodingRow, rows, space
from isa.rows import TABLE
from sim.verify import verify
from sim.verify.verification import Verification
from sim.verify.verify import FormResult
from sim.view.isa import show_mnemonics, show_verification
from support.sampled import sampled

LANEWISE = str(Path(sys.executable).with_name("lanewise"))
SHARES = 6
"""Of the mnemonics that are shown; they differ little."""
SMALL = ("isa", "verify", "sqadd", "--vectors", "32")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(sim.command.app.app, list(arguments), env={"COLUMNS": "80"})


def parsed(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


def test_the_list_has_every_form() -> None:
    assert [row["form"] for row in parsed("isa", "list")] == [form.name for form in TABLE.forms.values()]


def test_the_list_ends_with_a_count() -> None:
    assert run("isa", "list").stdout.splitlines()[-1] == f"{len(TABLE.forms):,} forms"


@pytest.mark.parametrize(
    ("pattern", "some", "none"),
    [
        ("sqrdmulh", "sqrdmulh .4s,.4s,.4s", "sqrdmlah .4s,.4s,.4s"),
        ("ld1*", "ld1r {1}.4s,[x]", "ld2 {2}.4s,[x]"),
        ("* .4s,.8h", "uaddlp .4s,.8h", "uaddlp .8h,.16b"),
        ("SQADD", "sqadd b,b,b", "uqadd b,b,b"),
    ],
)
def test_a_pattern_is_part_of_a_name_or_a_glob(pattern: str, some: str, none: str) -> None:
    listed = {row["form"] for row in parsed("isa", "list", pattern)}
    assert some in listed
    assert none not in listed


def test_one_extension_can_be_listed() -> None:
    listed = parsed("isa", "list", "--feature", "rdm")
    assert {row["form"].split()[0] for row in listed} == {"sqrdmlah", "sqrdmlsh"}
    assert {row["extension"] for row in listed} == {"rdm"}


def test_forms_without_an_extension_are_base() -> None:
    assert {row["extension"] for row in parsed("isa", "list", "sqrdmulh")} == {"base"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("isa", "list", "sqrdmulz"), "no form is called 'sqrdmulz': near it are sqrdmulh"),
        (("isa", "list", "sqadd", "--feature", "rdm"), "no form of rdm is called 'sqadd'"),
        (("isa", "list", "--feature", "sve"), "--feature takes one of rdm, dotprod"),
        (("isa", "show", "xyzzy"), "no form is called 'xyzzy': `lanewise isa list` names them all"),
        (("isa", "show", "sqrdmulh .16b,.16b,.16b"), "sqrdmulh has .4h,.4h,.4h; "),
        (("isa", "show", "sqrdmulh v0.16b, v1.16b, v2.16b"), "no form is called"),
        (("isa", "show", "add v_.4s, v1.4s, v2.4s"), "no form is called"),
        (("isa", "show", "ld1 {v_.4s, v_.4s}, [x0]"), "no form is called"),
        (("isa", "show", "add v32.4s, v1.4s, v2.4s"), "no form is called"),
        (("isa", "show", "add x31, x1, x2"), "no form is called"),
        (("isa", "show", "shl v0.4s, v1.4s, #-1"), "no form is called"),
        (("isa", "show", "fcmla v0.4s, v1.4s, v2.4s, #45"), "no form is called"),
        (("isa", "verify", "sqrdmulz"), "near it are sqrdmulh"),
        (("isa", "verify", "--vectors", "-1"), "--vectors"),
        (("isa", "verify", "--jobs", "0"), "--jobs"),
        (("isa", "show"), "name"),
        (("isa", "shw"), "shw"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_2(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_a_mnemonic_is_shown_once_for_each_distinct_text() -> None:
    shown = run("isa", "show", "sqrdmulh").stdout
    assert "v0.s[i] = saturate s32 ((s32 v1.s[i] * s32 v2.s[i] + 2^30) >> 31)  (i=0..3)" in shown
    assert shown.count("saturate") == 2 * 3  # vectors, by element, scalars; each with its line on QC


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sqrdmulh .8h,.8h,.8h", "sqrdmulh v0.8h, v1.8h, v2.8h"),
        ("SQRDMULH V0.4S, V1.4S, V2.S[1]", "(s32 v1.s[i] * s32 v2.s[1] + 2^30) >> 31"),
        ("sqrdmulh v3.4s,v1.4s,v2.4s", "v3.s[i] = saturate s32"),
        ("sqrdmulh", "SQRDMULH."),
        ("sqrdmulh", "sets QC where it saturates"),
        ("add", "never sets QC"),
        ("sqrdmlah", "extension rdm"),
        ("ldr x,[x,#]!", "reads x1, memory; writes x0, x1"),
        ("svc", "ends the run"),
        ("b.eq #0x1000", "pc = if Z then 2^12 else"),
        ("fabs s,s", "fabs s0, s1"),
    ],
)
def test_what_an_instruction_does_is_shown(name: str, text: str) -> None:
    assert text in run("isa", "show", name).stdout


@pytest.mark.slow
@pytest.mark.parametrize("share", sampled(range(SHARES), SHARES))
def test_every_mnemonic_can_be_shown(share: int) -> None:
    mnemonics = sorted({form.mnemonic for form in TABLE.forms.values()})[share::SHARES]
    assert [name for name in mnemonics if f"\n  {name}" not in shown_mnemonic(name) and "." not in name] == []


def shown_mnemonic(name: str) -> str:
    """What `lanewise isa show` prints, without the start of a command."""
    console = Console(width=80, no_color=True)
    with console.capture() as captured:
        show_mnemonics(forms_called(name), console)
    return captured.get()


def test_the_command_shows_what_is_shown_without_it() -> None:
    assert run("isa", "show", "sqrdmulh").stdout.rstrip() == shown_mnemonic("sqrdmulh").rstrip()


def test_the_json_of_a_form_has_its_statements() -> None:
    (form,) = parsed("isa", "show", "sqadd .4s,.4s,.4s")
    (example,) = form["examples"]
    statement = {"text": "v0.s[i] = saturate s32 (s32 v1.s[i] + s32 v2.s[i])", "where": [], "lanes": 4}
    assert (example["statements"], example["can_saturate"]) == ([statement], True)
    assert (example["reads"], example["writes"]) == (["v1", "v2"], ["v0"])


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("command", [("list", "sqrdmulh"), ("show", "clz"), ("show", "tbl")])
def test_no_line_is_wider_than_the_terminal(command: tuple[str, ...], width: int) -> None:
    shown = CliRunner().invoke(sim.command.app.app, ["isa", *command], env={"COLUMNS": str(width)}).stdout
    assert max(map(len, shown.splitlines())) <= width


def test_a_run_that_agrees_exits_with_0_and_counts() -> None:
    report = parsed(*SMALL)
    assert run(*SMALL).exit_code == 0
    assert report["instruction_forms"] == sum(form.mnemonic == "sqadd" for form in TABLE.forms.values())
    assert report["vectors_compared"] >= 32 * report["instruction_forms"]


def test_json_has_the_names_of_the_design() -> None:
    names = {"vectors_compared", "lanes_compared", "instruction_forms", "first_divergence", "seed", "reproduce"}
    assert names <= parsed(*SMALL).keys()


def test_the_reproduction_line_repeats_the_report() -> None:
    words = shlex.split(parsed(*SMALL)["reproduce"])
    assert words[0] == "lanewise"
    assert parsed(*words[1:]) == parsed(*SMALL)


def test_no_vectors_is_no_success() -> None:
    result = run("isa", "verify", "sqadd", "--vectors", "0")
    assert result.exit_code == 1
    assert "nothing was compared" in result.stdout


@cache
def rows_of_the_space() -> int:
    return len(rows(space()))


@pytest.mark.slow
def test_without_a_name_the_space_is_the_denominator(monkeypatch: pytest.MonkeyPatch) -> None:
    def verified(form: str, seed: int, vectors: int) -> FormResult:
        return FormResult(form=form, evidence="emulation", words=1, runs=1, faults=0, vectors=1)

    monkeypatch.setattr(verify, "verify_form", verified)
    result = run("isa", "verify", "--vectors", "1", "--jobs", "1", "--json")
    counts = json.loads(result.stdout)["rows"]
    assert counts["enumerated"] == counts["integer"] + counts["floating"] == rows_of_the_space()
    assert counts["supported"] == counts["enumerated"] - len(counts["unsupported"])


def test_a_difference_exits_with_1_and_says_how_to_reproduce_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def differs(form: str, seed: int, vectors: int) -> FormResult:
        return FormResult(
            form=form,
            evidence="emulation",
            words=1,
            runs=1,
            faults=0,
            vectors=1,
            difference=f"{form}: v0: machine 0x1, emulator 0x0",
        )

    monkeypatch.setattr(verify, "verify_form", differs)
    result = run("isa", "verify", "sqadd .4s,.4s,.4s", "--seed", "7")
    assert result.exit_code == 1
    assert "DIFFERENCE sqadd .4s,.4s,.4s: v0: machine 0x1, emulator 0x0\n" in result.stdout
    assert "  reproduce: lanewise isa verify 'sqadd .4s,.4s,.4s' --seed 7 --vectors 2000\n" in result.stdout


def test_an_interrupt_prints_what_was_compared_and_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    original, seen = verify.verify_form, []

    def interrupted(form: str, seed: int, vectors: int) -> FormResult:
        seen.append(form)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return original(form, seed, vectors)

    monkeypatch.setattr(verify, "verify_form", interrupted)
    result = run(*SMALL, "--json")
    report = json.loads(result.stdout)
    assert (result.exit_code, report["interrupted"], report["instruction_forms"]) == (130, True, 2)


def test_progress_is_on_stderr() -> None:
    result = run(*SMALL)
    assert "of 11 forms" not in result.stdout
    assert result.stderr.splitlines()[-1].startswith("11 of 11 forms: ")


@pytest.mark.slow
def test_a_reader_that_went_away_ends_the_output_quietly(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing) as stdout:
        command = [LANEWISE, "isa", "list"]
        done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def shown(report: Verification, width: int = 80) -> str:
    console = Console(width=width, no_color=True)
    with console.capture() as captured:
        show_verification(report, console)
    return captured.get()


def test_the_report_names_what_is_missing() -> None:
    made = (EncodingRow("fadd s,s,s", 1, 1), EncodingRow("fadd d,d,d", 2, 1), EncodingRow("aese .16b,.16b", 3, 1))
    lines = shown(Verification(asked=(), results=(), rows=made, supported=frozenset(), seed=1, vectors=10)).splitlines()
    assert lines[lines.index("not supported") + 1] == "  fadd (2)  aese"


def test_the_report_names_forms_that_only_the_arbiter_checked() -> None:
    result = FormResult(form="bfdot .2s,.4h,.4h", evidence="two evaluators", words=1, runs=5, faults=0, vectors=10)
    lines = shown(
        Verification(asked=(result.form,), results=(result,), rows=(), supported=frozenset(), seed=1, vectors=10)
    ).splitlines()
    assert lines[lines.index("compared with the exact evaluator only") + 1] == "  bfdot .2s,.4h,.4h"


PAGE = (Path(__file__).parent.parent / "docs" / "machine.md").read_text()
EXAMPLES = re.findall(r"<!-- output of: lanewise (isa .*?) -->\n```\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("command", "output"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_the_command_prints_what_the_readme_says(command: str, output: str) -> None:
    printed = [line.rstrip() for line in run(*shlex.split(command)).stdout.splitlines()]
    assert "\n".join(printed).strip() == output.strip()


def test_the_readme_has_examples_of_the_command() -> None:
    assert len(EXAMPLES) == 2


@pytest.mark.slow
def test_the_readme_states_the_number_of_rows() -> None:
    assert f"{rows_of_the_space():,} rows of mnemonic and operand shapes, all of them in the table" in PAGE
