"""`lanewise explain`: its exit codes, what it prints, and what it says of bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from sim.command import app as cli

HALF = str(1 << 30)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: accumulators, and a quarter of them with ties up, ties away and wrong."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    accumulators = np.arange(-300, 301, dtype=np.int32).reshape(1, 601)
    # the multiply by a half rounds up, then the shift by one bit: (x + 1) // 2, then + 1 and // 2
    up = ((accumulators + 1) // 2 + 1) // 2
    np.save("acc.npy", accumulators)
    np.save("up.npy", up.astype(np.int8))
    wrong = up.astype(np.int8)
    wrong[0, 7] += 9
    np.save("wrong.npy", wrong)
    np.savetxt("up.csv", up, fmt="%d", delimiter=",")
    np.savez("shifts.npz", shift=np.ones(601, np.int32))
    return tmp_path


def explain(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["explain", *arguments])


def quarter(output: str, *more: str) -> Result:
    return explain("--output", output, "--accumulators", "acc.npy", "--multiplier", HALF, *more)


def test_convention_is_named_and_the_exit_code_is_0() -> None:
    found = quarter("up.npy", "--shift", "1")
    assert found.exit_code == 0
    assert found.stdout.startswith("double_rounding_ties_up gives all 601 elements")


def test_exit_code_is_1_where_no_convention_gives_it() -> None:
    found = quarter("wrong.npy", "--shift", "1")
    assert found.exit_code == 1
    assert "element [0][7]: accumulator -293" in " ".join(found.stdout.split())


def test_shift_may_count_to_the_left() -> None:
    assert quarter("up.npy", "--shift", "-1", "--shift-left").stdout == quarter("up.npy", "--shift", "1").stdout


def test_parameters_come_from_files_too() -> None:
    found = quarter("up.npy", "--shift", "shifts.npz:shift")
    assert found.stdout.startswith("double_rounding_ties_up gives all 601 elements")


def test_json_form_is_the_whole_explanation() -> None:
    found = json.loads(quarter("up.npy", "--shift", "1", "--json").stdout)
    assert (found["explained"], found["matches"][0]["name"]) == (True, "double_rounding_ties_up")


def test_output_may_be_a_table() -> None:
    np.save("acc.npy", np.load("acc.npy").reshape(601))  # a row of a table has one axis
    assert quarter("up.csv:int8", "--shift", "1").exit_code == 0


def test_scale_takes_the_place_of_multiplier_and_shift() -> None:
    found = explain("--output", "up.npy", "--accumulators", "acc.npy", "--scale", "0.25")
    assert found.stdout.startswith("double_rounding_ties_up gives all 601 elements")


def test_lines_fit_80_columns() -> None:
    assert max(map(len, quarter("wrong.npy", "--shift", "1").stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--output", "none.npy", "--scale", "1"], "there is no file none.npy"),
        (["--output", "up.npy", "--accumulators", "acc.npy"], "give either multiplier and shift, or scale"),
        (["--output", "up.npy", "--scale", "1"], "give either accumulators, or a and b"),
        (["--output", "up.npy", "--accumulators", "acc.npy", "--scale", "0"], "the scale is 0.0: it must be finite"),
        (["--output", "up.npy", "--accumulators", "acc.npy", "--scale", "nan"], "the scale is nan"),
        (
            ["--output", "up.npy", "--accumulators", "acc.npy", "--scale", "x"],
            "'x' is no number of scale, and no file of such: there is no file x",
        ),
        (["--output", "acc.npy", "--a", "up.npy", "--b", "up.npy", "--scale", "1"], "a has 601 columns and b 1 rows"),
        (
            ["--output", "up.npy", "--accumulators", "acc.npy", "--multiplier", HALF, "--shift", "shifts.npz:no"],
            "has no key 'no'",
        ),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(arguments: list[str], sentence: str) -> None:
    found = explain(*arguments)
    assert found.exit_code == 2
    assert sentence in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1


def test_what_only_the_negated_shift_makes_undefined_is_not_printed() -> None:
    assert "not defined for these parameters" not in quarter("up.npy", "--shift", "1").output


def test_what_the_given_shift_makes_undefined_is_printed() -> None:
    output = quarter("up.npy", "--shift", "-1").output
    assert "integer_scale_floor" in output.partition("not defined for these parameters")[2]
