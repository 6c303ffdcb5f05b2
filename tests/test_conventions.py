"""The registry of conventions: what each record says, and that it says all of it."""

from __future__ import annotations

import doctest
import json
import re
from itertools import combinations

import pytest
from typer.testing import CliRunner

from sim import cli
from sim.golden import (
    addition,
    bounds,
    byte_rounding,
    factor_product,
    gemm_offsets,
    shift_direction,
    tail_lanes,
)
from sim.golden.convention_record import Convention, Family
from sim.golden.conventions import CONVENTIONS, convention_named

NUMBERED = [str(number) for number in range(1, 20)]
LETTERED = ["1b", "1c", "3b", "6b", "6c", "6d", "8b", "9b", "9c", "10b", "10c", "10d", "10e", "10f"]
ROWS = {*NUMBERED, *LETTERED}
"""The rows of spec/known_differences.md that concern arithmetic: all of them."""


def documented(value: int) -> int:
    """Halve a number. It loses its last bit.

    Formula, with y = x - 1: floor(y / 2). It is always small.
    Used by a house and another 1.2 (spec/known_differences.md, rows 3b and 10). Rows 1, 1b.

    >>> documented(3)
    1
    """
    return (value - 1) // 2


EXAMPLE = Convention(Family("halving", ()), documented)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("name", "documented"),
        ("summary", "Halve a number. It loses its last bit."),
        ("formula", "floor(y / 2), with y = x - 1"),
        ("users", "a house and another 1.2"),
        ("rows", ("3b", "10", "1", "1b")),
        ("example", ">>> documented(3)\n1"),
    ],
)
def test_a_part_is_read_from_the_docstring(part: str, expected: object) -> None:
    assert getattr(EXAMPLE, part) == expected


@pytest.mark.parametrize("part", ["summary", "formula", "users", "example"])
@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_docstring_has_all_parts(name: str, part: str) -> None:
    assert getattr(CONVENTIONS[name], part) != ""


def test_every_arithmetic_row_has_a_convention_but_the_one_that_only_counts() -> None:
    named = {row for convention in CONVENTIONS.values() for row in convention.rows}
    assert ROWS - named == {"1c"}


def test_no_convention_names_a_row_that_does_not_exist() -> None:
    assert {row for convention in CONVENTIONS.values() for row in convention.rows} - ROWS == set()


@pytest.mark.parametrize(
    "module", [addition, bounds, byte_rounding, factor_product, gemm_offsets, shift_direction, tail_lanes], ids=str
)
def test_every_docstring_example_runs(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert (result.failed, result.attempted >= 1) == (0, True)


def test_names_are_as_unique_as_functions() -> None:
    assert all(one.function is not other.function for one, other in combinations(CONVENTIONS.values(), 2))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("double", "there is no convention 'double': the nearest are double_rounding, double_rounding_ties_up"),
        ("single_roundin", "there is no convention 'single_roundin': the nearest are single_rounding, "),
        ("shift_right_flor", "there is no convention 'shift_right_flor': the nearest are shift_right_floor"),
        ("%", "there is no convention '%': `lanewise conventions` lists them"),
        ("", "there is no convention '': `lanewise conventions` lists them"),
    ],
)
def test_an_unknown_name_is_refused_with_near_ones(name: str, sentence: str) -> None:
    with pytest.raises(LookupError) as refused:
        convention_named(name)
    assert refused.value.args[0].startswith(sentence)


def test_the_command_lists_every_convention_under_its_family() -> None:
    printed = CliRunner().invoke(cli.app, ["conventions"], env={"COLUMNS": "100"}).stdout
    listed = re.findall(r"^(?:  )?(\w[\w ]*?)(?: of |  rows? |$)", printed, re.MULTILINE)
    expected = []
    for convention in CONVENTIONS.values():
        expected += [convention.family.name] * (convention.family.name not in expected) + [convention.name]
    assert listed[: len(expected)] == expected


def test_the_command_prints_formula_users_and_rows() -> None:
    printed = CliRunner().invoke(cli.app, ["conventions"], env={"COLUMNS": "100"}).stdout.splitlines()
    at = printed.index("  shift_right_floor  rows 3b, 4")
    assert [line.strip() for line in printed[at + 1 : at + 3]] == [
        "floor(x / 2^n)",
        "used by ACL's public page and by ACL's QuantizeDownInt32ToUint8Scale",
    ]


def test_the_json_form_has_a_record_for_each() -> None:
    records = json.loads(CliRunner().invoke(cli.app, ["conventions", "--json"]).stdout)
    assert [record["name"] for record in records] == list(CONVENTIONS)


def test_a_record_of_the_json_form_is_plain_data() -> None:
    records = json.loads(CliRunner().invoke(cli.app, ["conventions", "--json"]).stdout)
    (record,) = [record for record in records if record["name"] == "integer_scale_floor"]
    assert (record["family"], record["operands"], record["rows"]) == (
        "integer scale", ["value", "offset", "multiplier", "shift"], ["4"],
    )  # fmt: skip
