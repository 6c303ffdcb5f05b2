"""The smallest operands that tell two conventions apart, searched and printed."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from isa.evaluate import smt
from sim.command import app as cli
from sim.golden.registry.conventions import CONVENTIONS
from sim.golden.registry.families import INTEGER_SCALE
from sim.prove import separate_by_solver
from sim.prove import separation as module
from sim.prove.separation import NotComparable, separate, swept_values

HALF = 2**30
PAIRS = [pair for pair in combinations(CONVENTIONS.values(), 2) if pair[0].family is pair[1].family]
EQUAL = {("divide_by_power_of_two_ties_away", "vector_shift"), ("divide_by_power_of_two_ties_away", "tail_shift")}
"""What docs/spec/known_differences.md section 2 lists as equal for the shifts that all of them define."""


@pytest.mark.parametrize(
    ("one", "other", "operands", "results"),
    [
        ("double_rounding", "single_rounding", (1, HALF, -1), (1, 0)),
        ("double_rounding", "double_rounding_ties_up", (-2, HALF, -1), (-1, 0)),
        ("double_rounding_floor", "double_rounding", (1, HALF, -1), (0, 1)),
        ("integer_scale_floor", "integer_scale_ties_away", (1, 0, 1, 1), (0, 1)),
        (
            "doubling_high_multiply", "doubling_high_multiply_unsaturated", (-(2**31), -(2**31)), (2**31 - 1, -(2**31)),
        ),
        ("product_acl_20_02", "product_tflite", (25165824, 0.1), (2516583, 2516582)),
        ("double_rounding", "double_rounding_saturating_left", (2**30, HALF, 1), (-(2**30), 2**30)),
        ("shift_after_rounding_in_lanes", "shift_after_rounding_in_tail", (1, HALF, 1), (2, 0)),
        ("shift_after_rounding_in_lanes", "double_rounding", (1, HALF, 1), (2, 1)),
        ("add_base", "add_neon_ties_away", (0, 1, 0.01, 0, 0.01, 0, 0.02, 0, False), (0, 1)),
        ("add_page", "add_base", (2, 5, 0.01, 0, 0.01, 0, 0.02, 0, False), (3, 4)),
        ("add_base_x86", "add_avx2", (145, 112, 0.06571889, 171, 0.06253845, 195, 0.10072092, 98, False), (30, 29)),
        ("add_base", "add_tflite", (0, 1, 0.01, 0, 0.01, 0, 0.02, 0, False), (0, 1)),
        ("round_even_then_offset", "round_away_then_offset", (0.5, 1.0, 0), (0, 1)),
        ("single_rounding", "single_rounding_by_vector", (2**30, HALF, 0), (2**29, -(2**29))),
        ("completed_by_zeros", "completed_by_padding", (0, 1, 17, 17), (0, 1)),
    ],
)  # fmt: skip
def test_the_smallest_example_is_that_of_the_known_differences(
    one: str, other: str, operands: tuple[float, ...], results: tuple[int, int]
) -> None:
    separated = separate(one, other)
    assert (tuple(separated.operands.values()), separated.results) == (operands, results)


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=lambda convention: convention.name)
def test_conventions_of_a_family_are_told_apart_by_two_results_but_for_those_known_equal(one: Any, other: Any) -> None:
    separated = separate(one.name, other.name)
    assert separated.verdict == ("proved equal" if (one.name, other.name) in EQUAL else "apart")
    assert (separated.results[0] != separated.results[1]) == (separated.verdict == "apart")


@pytest.mark.parametrize(
    ("one", "other", "exact"),
    [
        ("divide_by_power_of_two_ties_away", "shift_right_floor", Fraction(1, 2)),
        ("doubling_high_multiply", "doubling_high_multiply_unsaturated", Fraction(2**31)),
        ("shift_left_wrap", "shift_left_saturate", Fraction(2**31)),
        ("double_rounding", "single_rounding", Fraction(1, 4)),
        ("derive_armnn", "derive_tflite", Fraction(0.1)),
        ("product_armnn", "product_tflite_single_rounding", Fraction(1, 4)),
        ("integer_scale_floor", "integer_scale_ties_away", Fraction(1, 2)),
        ("round_even_then_offset", "round_away_then_offset", Fraction(1, 2)),
        ("add_page", "add_base", Fraction(7, 2)),
        ("offsets_added", "zero_points_subtracted", None),
    ],
)
def test_the_exact_value_is_printed_where_there_is_one(one: str, other: str, exact: Fraction | None) -> None:
    assert separate(one, other).exact == exact


def test_a_refusal_tells_apart_only_where_no_number_does() -> None:
    separated = separate("product_armnn", "product_armnn_count_mod_32")
    assert (separated.operands["factor"], separated.results) == (2.0**-33, (None, 0))


def test_numbers_are_preferred_to_a_refusal() -> None:
    """ArmNN refuses the factor 1, which comes first; those of docs/spec/known_differences.md row 6b differ too."""
    separated = separate("product_acl_19_08", "product_armnn")
    assert (separated.operands["factor"], separated.results) == (9e-6, (0, 1))


def test_values_are_tried_by_magnitude_the_positive_one_first() -> None:
    (values,) = swept_values(CONVENTIONS["double_rounding"].family)
    assert values[:5].tolist() == [0, 1, -1, 2, -2]


def test_all_numbers_of_16_bits_and_the_ends_of_the_range_are_tried() -> None:
    (values,) = swept_values(CONVENTIONS["double_rounding"].family)
    assert set(range(-(2**15), 2**15)) | {-(2**31), 2**31 - 1} <= set(values.tolist())


def test_every_pair_of_bytes_is_tried_in_order_of_their_sum() -> None:
    a, b = swept_values(CONVENTIONS["add_base"].family)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert (len(set(pairs)), pairs[:4]) == (65536, [(0, 0), (0, 1), (1, 0), (0, 2)])


def test_signed_pairs_are_tried_by_magnitude_before_sign() -> None:
    a, b = swept_values(CONVENTIONS["offsets_added"].family)
    assert list(zip(a.tolist(), b.tolist(), strict=True))[5:13] == [
        (0, 2), (0, -2), (1, 1), (1, -1), (-1, 1), (-1, -1), (2, 0), (-2, 0),
    ]  # fmt: skip


def test_a_pair_that_the_search_misses_goes_to_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Left alone with the solver, wrap and saturate still part; its example is checked against the golden functions."""
    monkeypatch.setattr(module, "_searched", lambda one, other: (None, 0))
    separated = separate("shift_left_wrap", "shift_left_saturate")
    value, shift = (int(number) for number in separated.operands.values())
    assert (separated.note, abs(value << shift) >= 2**31) == ("found by the solver", True)


def test_without_a_lane_expression_the_solver_is_not_asked() -> None:
    with pytest.raises(separate_by_solver.NotWritten, match="add_base and add_page cannot be put to the solver"):
        separate_by_solver.solved("add_base", "add_page", 1)


def test_a_missing_solver_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise smt.SolverMissing("the solver is missing: install it")

    monkeypatch.setattr(module, "solved", missing)
    separated = separate("divide_by_power_of_two_ties_away", "tail_shift")
    assert (separated.verdict, separated.note) == ("not told apart", "the solver is missing: install it")


@pytest.mark.parametrize("name", separate_by_solver.WRITTEN)
def test_a_lane_expression_is_its_convention(name: str) -> None:
    """On the corners of the family and seeded values: the second writing agrees with the first."""
    lane, ranges = separate_by_solver.WRITTEN[name]
    convention, rng = CONVENTIONS[name], np.random.default_rng(6)
    for _ in range(300):
        operands = [int(rng.choice(_numbers(operand, kind, rng))) for operand, kind in _kinds(convention, ranges)]
        assert _evaluated(lane, operands) == int(convention.function(*operands)), operands


def _kinds(convention: Any, ranges: Any) -> list[tuple[Any, Any]]:
    return [(operand, ranges[operand.name]) for operand in convention.family.operands]


def _numbers(operand: Any, kind: Any, rng: np.random.Generator) -> list[int]:
    inside = [int(corner) for corner in operand.corners if kind.low <= corner <= kind.high]
    return [*inside, *(int(number) for number in rng.integers(kind.low, kind.high, 40, endpoint=True))]


def _evaluated(lane: Any, operands: list[int]) -> int:
    from isa.evaluate.exact import Evaluation
    from isa.lane import constant
    from sim.prove.claim import ClaimInputs

    return int(Evaluation(ClaimInputs({})).value(lane(*(constant(operand) for operand in operands))))


def test_conventions_of_two_families_are_refused() -> None:
    with pytest.raises(NotComparable, match=r"tail_shift \(right shift\) and add_base \(quantized add\) do not take"):
        separate("tail_shift", "add_base")


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(cli.app, ["conventions", "--between", *arguments], env={"COLUMNS": "200"})


def test_the_command_prints_operands_both_results_and_the_exact_value() -> None:
    assert invoke("double_rounding", "single_rounding").stdout.splitlines() == [
        "value 1, multiplier 1073741824, left_shift -1  (the smallest of 131,456 sets of operands)",
        "double_rounding  1",
        "single_rounding  0",
        "exact value      1/4 = 0.25",
    ]


def test_the_command_says_that_two_are_proved_equal() -> None:
    printed = invoke("divide_by_power_of_two_ties_away", "tail_shift").stdout
    assert printed == "proved equal; for all operands that both define, by the solver\n"


def test_the_command_says_how_far_it_searched() -> None:
    printed = invoke("add_base", "add_base").stdout
    assert printed.startswith("not told apart by 327,680 sets of operands: corners, and all numbers of 16 bits; ")


def test_the_exact_value_of_an_integer_scale_has_its_offset() -> None:
    assert INTEGER_SCALE.exact is not None
    assert INTEGER_SCALE.exact(5, 3, 7, 2) == Fraction(56, 4)


def test_a_refusal_is_printed_in_words() -> None:
    assert "product_armnn               refused" in invoke("product_armnn", "product_armnn_count_mod_32").stdout


def test_a_float32_is_printed_as_short_as_it_is() -> None:
    assert invoke("offset_then_round_even", "offset_then_round_even_fused").stdout.startswith("value -0.95, scale 0.1,")


def test_the_json_form_is_plain_data() -> None:
    data = json.loads(invoke("double_rounding", "single_rounding", "--json").stdout)
    assert (data["operands"], data["results"], data["exact"]) == (
        {"value": 1, "multiplier": HALF, "left_shift": -1}, [1, 0], "1/4",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (("doubl_rounding", "single_rounding"), "there is no convention 'doubl_rounding': the nearest are double_rou"),
        (("double_rounding", "nothing"), "there is no convention 'nothing'"),
        (("double_rounding", "tail_shift"), "do not take the same operands: give two conventions of one family"),
    ],
)
def test_wrong_names_are_one_sentence_and_exit_code_2(names: tuple[str, str], sentence: str) -> None:
    result = invoke(*names)
    assert (result.exit_code, sentence in result.stderr, result.stderr.count("\n")) == (2, True, 1)


def test_an_answer_and_a_convention_show_themselves_in_a_line() -> None:
    assert repr(separate("single_rounding", "double_rounding")) == (
        "Separated(single_rounding, double_rounding: apart at value 1, multiplier 1073741824, left_shift -1: 0 and 1)"
    )
    shown = [repr(convention) for convention in CONVENTIONS.values()]
    assert [text for text in shown if not text.startswith("Convention(") or "\n" in text or len(text) > 400] == []
