"""The registry of conventions: what each record says, and that it says all of it."""

from __future__ import annotations

import doctest
import inspect
import json
import re
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from itertools import combinations
from pkgutil import walk_packages
from typing import Any

import pytest
from typer.testing import CliRunner

from sim import golden
from sim.command import app as cli
from sim.golden import (
    addition,
    bounds,
    byte_rounding,
    declaration,
    factor_product,
    gemm_offsets,
    shift_direction,
    tail_lanes,
)
from sim.golden.pytorch import addition as pytorch_addition
from sim.golden.pytorch import real_bias
from sim.golden.registry import conventions
from sim.golden.registry.conventions import CONVENTIONS, convention_named
from sim.golden.registry.families import TENTH, VALUE
from sim.golden.registry.record import Convention, Family
from sim.models.by_file import RUNTIMES
from sim.models.rules.conventions import layer_conventions

NUMBERED = [str(number) for number in range(1, 32)]
LETTERED = ["1b", "1c", "3b", "6b", "6c", "6d", "8b", "9b", "9c", "10b", "10c", "10d", "10e", "10f"]
ROWS = {*NUMBERED, *LETTERED}
"""The rows of docs/spec/known_differences.md that concern arithmetic: all of them."""


@declaration.convention(
    formula="floor(y / 2), with y = x - 1", users="a house and another 1.2", rows=("3b", "10", "1", "1b")
)
def documented(value: int) -> int:
    """Halve a number. It loses its last bit.

    It is always small.

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
def test_a_part_is_read_from_the_declaration_or_the_docstring(part: str, expected: object) -> None:
    assert getattr(EXAMPLE, part) == expected


@pytest.mark.parametrize("part", ["summary", "formula", "users", "example"])
@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_convention_has_all_parts(name: str, part: str) -> None:
    assert getattr(CONVENTIONS[name], part) != ""


def test_a_function_that_declares_nothing_is_no_convention() -> None:
    with pytest.raises(LookupError, match="bounds_fault_19_08 is no convention: write @convention"):
        Convention(Family("nothing", ()), bounds.bounds_fault_19_08)


def test_every_function_that_is_declared_is_registered() -> None:
    found = walk_packages(golden.__path__, "sim.golden.")
    modules = [import_module(one.name) for one in found if not one.ispkg]
    functions = {value for module in modules for value in vars(module).values() if inspect.isfunction(value)}
    declared = {function.__name__ for function in functions if is_declared(function)}
    assert declared == set(CONVENTIONS)


def is_declared(function: Callable[..., Any]) -> bool:
    try:
        return bool(declaration.declaration_of(function))
    except LookupError:
        return False


def test_every_convention_is_exported() -> None:
    assert set(CONVENTIONS) - set(golden.__all__) == set()


def test_every_arithmetic_row_has_a_convention_but_the_one_that_only_counts() -> None:
    named = {row for convention in CONVENTIONS.values() for row in convention.rows}
    assert ROWS - named == {"1c"}


def test_no_convention_names_a_row_that_does_not_exist() -> None:
    assert {row for convention in CONVENTIONS.values() for row in convention.rows} - ROWS == set()


@pytest.mark.parametrize(
    "module",
    [
        addition,
        pytorch_addition,
        bounds,
        byte_rounding,
        factor_product,
        gemm_offsets,
        real_bias,
        shift_direction,
        tail_lanes,
    ],
    ids=lambda module: module.__name__,
)
def test_every_docstring_example_runs(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert (result.failed, result.attempted >= 1) == (0, True)


@pytest.mark.parametrize("name", ["round_even_then_offset", "round_away_then_offset"])
def test_what_a_rounding_of_bytes_approximates_is_the_quotient_and_the_zero_point(name: str) -> None:
    exact = CONVENTIONS[name].family.exact
    assert exact is not None
    assert exact(1.75, 0.5, 10) == Fraction(7, 2) + 10


@pytest.mark.parametrize(
    ("family", "given", "exact"),
    [
        ("right shift", (5, 1), Fraction(5, 2)),
        ("right shift", (5, -2), 20),
        ("high multiply", (3, 1 << 30), Fraction(3, 2)),
        ("left shift", (5, 2), 20),
        ("scaling", (7, 3 << 29, -2), Fraction(21, 16)),
        ("scaling", (7, 3 << 29, 1), Fraction(21, 2)),
        ("integer scale", (5, 2, 3, 1), Fraction(21, 2)),
        ("scale and offset", (5, 3, 2, 1), Fraction(17, 2)),
        ("product by a factor", (5, 0.25), Fraction(5, 4)),
        ("scaling with a real bias", (5, 1.5, 0.5, 0.25, 2.0, 3), (5 * Fraction(1, 8) + Fraction(3, 2)) / 2 + 3),
        ("quantized add", (7, 4, 0.5, 2, 0.25, 1, 2.0, 10, False), Fraction(13, 8) + 10),
        ("quantized add", (0, 0, 0.5, 2, 0.25, 1, 2.0, 10, True), 10),
    ],
)
def test_what_conventions_of_a_family_approximate_is_the_real_number(
    family: str, given: tuple[Any, ...], exact: Fraction | int
) -> None:
    found = {one.family.name: one.family.exact for one in CONVENTIONS.values()}[family]
    assert found is not None
    assert found(*given) == exact


def test_the_multiplier_of_a_tenth_is_the_nearest_to_it() -> None:
    assert round(Fraction(1, 10) * 2 ** (31 + 3)) == TENTH


def test_corners_of_a_number_lie_in_its_range_its_ends_and_half_of_them_among_those_of_a_value() -> None:
    operands = [operand for one in CONVENTIONS.values() for operand in one.family.operands]
    assert all(operand.low <= corner <= operand.high for operand in operands for corner in operand.corners)
    assert {-(2**31), -(2**30), 0, 2**30, 2**31 - 1} < set(VALUE.corners)


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


def test_the_command_says_what_rows_are_without_the_sources() -> None:
    printed = CliRunner().invoke(cli.app, ["conventions"], env={"COLUMNS": "300"}).stdout.splitlines()
    assert printed[-1].endswith("`lanewise conventions --between ONE OTHER` gives the smallest case of any two")


def test_the_json_form_has_a_record_for_each() -> None:
    records = json.loads(CliRunner().invoke(cli.app, ["conventions", "--json"]).stdout)
    assert [record["name"] for record in records] == [*CONVENTIONS, *layer_conventions()]
    assert not {*CONVENTIONS} & {*layer_conventions()}


def test_a_record_of_the_json_form_is_plain_data() -> None:
    records = json.loads(CliRunner().invoke(cli.app, ["conventions", "--json"]).stdout)
    (record,) = [record for record in records if record["name"] == "integer_scale_floor"]
    assert (record["family"], record["operands"], record["rows"]) == (
        "integer scale", ["value", "offset", "multiplier", "shift"], ["4"],
    )  # fmt: skip


@pytest.mark.parametrize("whose", ["onnxruntime", "litert", "xnnpack", "CMSIS-NN"])
def test_the_command_lists_those_of_a_runtime_or_a_library(whose: str) -> None:
    records = json.loads(CliRunner().invoke(cli.app, ["conventions", whose, "--json"]).stdout)
    named = {"onnxruntime": "ONNX Runtime", "litert": "XNNPACK", "xnnpack": "XNNPACK"}.get(whose, whose)
    assert [record["name"] for record in records if record["name"] in CONVENTIONS] == [
        name for name, one in CONVENTIONS.items() if named in one.users or (whose == "litert" and "LiteRT" in one.users)
    ]
    assert len(records) > 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nobody"], "no convention is told to be used by 'nobody': give litert, litert-no-delegate, "),
        (["ACL", "--between", "add", "sub"], "--between is of two conventions: name no user"),
    ],
)
def test_users_that_none_has_are_refused(words: list[str], sentence: str) -> None:
    result = CliRunner().invoke(cli.app, ["conventions", *words], env={"COLUMNS": "300"})
    assert (result.exit_code, sentence in result.output) == (2, True), result.output


def test_every_runtime_that_a_model_is_compared_with_has_conventions() -> None:
    assert set(conventions.RUNTIMES) == set(RUNTIMES)
    assert all(conventions.conventions_of(name) for name in RUNTIMES)
