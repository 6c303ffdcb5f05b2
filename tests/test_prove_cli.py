"""`lanewise prove` as a user meets it: tables, JSON, exit codes, a file of claims, errors in one sentence."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import sim.command.app

HEAD = "from isa.lane import S8, S32, U8, constant\nfrom sim.prove.claim import Claim, Range\n"
GOOD = (
    HEAD
    + """
CLAIMS = [Claim("doubled", {"x": S32, "n": Range(0, 3)}, lambda x, n: (x + x) << n, lambda x, n: x << (n + 1))]
"""
)
WRONG = GOOD.replace("(n + 1)", "(n + n)")
EXPECTED = WRONG.replace(")]", ', relation="not equal")]')


def run(*arguments: str) -> Result:
    return CliRunner().invoke(sim.command.app.app, ["prove", *arguments])


def written(tmp_path: Path, text: str) -> str:
    file = tmp_path / "claims.py"
    file.write_text(text)
    return str(file)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANEWISE_CACHE", str(tmp_path / "cache"))


def test_claims_by_name_are_proved() -> None:
    result = run("sqadd .b")
    assert (result.exit_code, "1 claim decided as claimed" in result.stdout) == (0, True)


def test_a_form_names_the_claim_that_covers_it() -> None:
    assert "sqxtn .b,.h" in run("sqxtn2 .16b,.8h").stdout


@pytest.mark.slow
def test_a_claim_with_parentheses_in_its_name_is_no_prototype() -> None:
    assert "1 claim decided as claimed" in run("max then min is max(min, min(max, x))").stdout


def test_an_expected_counter_example_passes() -> None:
    assert run("plain SRSHL is not half away").exit_code == 0


def test_the_results_of_both_sides_end_their_computations() -> None:
    shown = run("plain SRSHL is not half away").stdout.splitlines()
    results = [line.split()[-1] for line in shown if " value = " in line]
    assert results == ["0", "-1"]


@pytest.mark.parametrize(("text", "code"), [(GOOD, 0), (WRONG, 1), (EXPECTED, 0)])
def test_a_file_of_claims_decides_the_exit_code(text: str, code: int, tmp_path: Path) -> None:
    assert run(written(tmp_path, text)).exit_code == code


def test_a_refuted_claim_shows_the_smallest_inputs(tmp_path: Path) -> None:
    assert "counter-example: x 1, n 0" in run(written(tmp_path, WRONG)).stdout


NO_INPUT = 'Claim("none", {"x": S8}, lambda x: x, lambda x: x, given=lambda x: x > 200)'


@pytest.mark.parametrize(("more", "code"), [("", 3), (', Claim("wrong", {"x": S8}, lambda x: x, lambda x: x + 1)', 1)])
def test_a_claim_without_an_answer_fails_with_the_reason(more: str, code: int, tmp_path: Path) -> None:
    result = run(written(tmp_path, f"{HEAD}CLAIMS = [{NO_INPUT}{more}]"))
    assert (result.exit_code, "no input at all" in " ".join(result.stdout.split())) == (code, True)


def test_json_has_verdict_and_both_computations(tmp_path: Path) -> None:
    report: dict[str, Any] = json.loads(run(written(tmp_path, WRONG), "--json").stdout)
    (finding,) = report["findings"]
    facts = (report["passed"], finding["outcome"], finding["inputs"], finding["left"][-1], finding["right"][-1])
    assert facts == (False, "counter-example", {"x": 1, "n": 0}, "value = t2 = 2", "value = t2 = 1")


def test_a_second_run_takes_the_answer_of_the_first_and_reports_the_same(tmp_path: Path) -> None:
    file = written(tmp_path, GOOD)
    runs = [run(file, "--json", *more) for more in ([], [], ["--no-cache"])]
    assert [done.stderr.split()[-1] for done in runs] == ["0", "1", "0"]
    assert {done.stdout for done in runs} == {runs[0].stdout}


def test_the_list_proves_nothing_and_names_every_claim() -> None:
    result = run("--list", "--json")
    names = {row["claim"] for row in json.loads(result.stdout)}
    assert {"fix-up shift is half away", "sqadd .b,.b,.b", "sqrshrun .s,.d,#"} <= names


BROKEN = {
    "def": "line 1: SyntaxError",
    "1 / 0": "line 1: ZeroDivisionError",
    "import no_such_module": "line 1: ModuleNotFoundError",
    "raise SystemExit(0)": "SystemExit",
    "open('no such file')": "line 1: FileNotFoundError",
    "raise ValueError('no\\nand more')": "line 1: ValueError: no",
    "CLAIMS = []": "must have a list named CLAIMS",
    "CLAIMS = [1]": "must have a list named CLAIMS",
    "X = 1": "must have a list named CLAIMS",
    HEAD + "c = Claim('c', {'x': S8}, lambda x: x, lambda x: x)\nCLAIMS = [c, c]": "two claims named 'c'",
    HEAD + "CLAIMS = [Claim('c', {'x': S8}, lambda: 1, lambda x: x)]": "left raised TypeError",
    HEAD + "CLAIMS = [Claim('c', {'x': S8}, lambda x: x << x, lambda x: x)]": "a shift count must stay in",
    HEAD + "CLAIMS = [Claim('c', {'x': 8}, lambda x: x, lambda x: x)]": "give an Int such as S32",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_file_gets_one_sentence(text: str, tmp_path: Path) -> None:
    result = run(written(tmp_path, text))
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert (result.exit_code, len(lines), BROKEN[text] in lines[0]) == (2, 1, True), result.stderr


@pytest.mark.parametrize(
    "arguments", [("no/such/file.py",), ("nothing like this",), ("--timeout", "0"), ("--jobs", "0")]
)
def test_wrong_usage_exits_with_2(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_a_missing_solver_exits_with_3_and_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bitwuzla", None)
    result = run("sqadd .b")
    assert (result.exit_code, "run: pip install bitwuzla" in result.stderr) == (3, True)
