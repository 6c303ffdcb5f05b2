"""Equalities that hold are proved, those beside them are refuted, and what is not decided is unknown."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from operator import and_, or_
from pathlib import Path

import pytest

from isa.evaluate.exact import Evaluation
from isa.lane import S32, Lane, Place, Read, constant, maximum, minimum, select
from sim.prove.claim import ClaimInputs, Finding
from sim.prove.run import in_processes
from sim.symbolic import equality
from sim.symbolic.equality import ALL_TRIED, NO_INPUT, Answer, Equality, asked, decide_all, deciding_files, is_step
from sim.symbolic.simplify import simplified

X, Y, M = (Read(Place(name), S32.low, S32.high) for name in ("x", "y", "m"))
ALWAYS = constant(1)

ROOT = Path(__file__).parents[1]


def decided(questions: Mapping[str, Equality], seconds: float = 20, kept_in: Path | None = None) -> dict[str, Answer]:
    found: dict[str, Answer] = {}
    assert not decide_all(
        {name: Equality(*map(simplified, question)) for name, question in questions.items()},
        seconds, 1, kept_in, lambda name, answer: found.update({name: answer}),
    )  # fmt: skip
    return found


def high_product(x: Lane, m: Lane, half: int = 1 << 30) -> Lane:
    return S32.saturate((x * m + half) >> 31)


def divided(x: Lane, count: int, ties_up_from: int = 0) -> Lane:
    """x / 2^count, ties away from zero, but up from a number on: by the fix-up that instructions make."""
    fixed = S32.saturate(x + select(x < ties_up_from, -1, 0))
    return (fixed + (1 << count - 1)) >> count


def divided_by_magnitude(x: Lane, count: int) -> Lane:
    magnitude = (maximum(x, -x) + (1 << count - 1)) >> count
    return select(x < 0, -magnitude, magnitude)


PROVED = {
    "the form": Equality(X + Y, Y + X, ALWAYS),
    "a choice and a maximum": Equality(select(X < Y, Y, X), maximum(X, Y), ALWAYS),
    "a product in two steps": Equality(
        divided(high_product(S32.wrap(X + Y), M), 7), divided_by_magnitude(high_product(S32.wrap(Y + X), M), 7), ALWAYS
    ),
    "under a condition": Equality(minimum(maximum(X, Y), M), maximum(minimum(X, M), Y), Y < M),
    "a polynomial before a product": Equality(
        divided(high_product(S32.wrap(X * (Y - M)), M), 7),
        divided_by_magnitude(high_product(S32.wrap(X * Y - M * X), M), 7), ALWAYS,
    ),
}  # fmt: skip
REFUTED = {
    "the form": Equality(X + Y, Y + X + 1, ALWAYS),
    "a choice and a maximum": Equality(select(X < Y + 1, X, Y), maximum(X, Y), ALWAYS),
    "a product in two steps": Equality(
        divided(high_product(S32.wrap(X + Y), M), 7, ties_up_from=-64),
        divided_by_magnitude(high_product(S32.wrap(Y + X), M), 7), ALWAYS,
    ),
    "a polynomial before a product": Equality(
        divided(high_product(S32.wrap(X * (Y - M)), M), 7),
        divided_by_magnitude(high_product(S32.wrap(X * Y - M * Y), M), 7), ALWAYS,
    ),
    "another product": Equality(high_product(X, M), high_product(X, Y), ALWAYS),
    "another half": Equality(high_product(X, M), high_product(X, M, (1 << 30) - 1), ALWAYS),
    "under a condition": Equality(minimum(maximum(X, Y), M), maximum(minimum(X, M), Y), Y < M + 2),
}  # fmt: skip


@pytest.mark.parametrize("name", PROVED)
def test_what_holds_is_proved(name: str) -> None:
    assert decided({name: PROVED[name]})[name].finding.outcome == "proved"


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUTED)
def test_what_does_not_hold_is_refuted_by_numbers_that_differ(name: str) -> None:
    question = REFUTED[name]
    answer = decided({name: question})[name]
    assert answer.finding.outcome == "counter-example"
    values = {place.file: value for place, value in answer.values.items()}
    evaluation = Evaluation(ClaimInputs({"x": 0, "y": 0, "m": 0} | values))
    assert evaluation.value(question.given)
    assert evaluation.value(question.one) != evaluation.value(question.other)


@pytest.mark.parametrize(("join", "proved"), [(and_, True), (or_, False)])
def test_a_product_that_is_any_number_of_its_range_is_highest_where_its_factors_are(
    join: Callable[[Lane, Lane], Lane], proved: bool
) -> None:
    """Both sides have the product, which is cut out; one of them asks the opposite of a factor."""
    product = (S32.wrap(X + Y) * M + (1 << 30)) >> 31
    at_corner = join(simplified(S32.wrap(-X - Y).equals(S32.low)), simplified(M.equals(S32.low)))
    one, other = minimum(product, S32.high), product - at_corner
    assert is_step(one, other, ALWAYS, time.monotonic() + 20) is proved


def test_a_condition_that_no_input_fulfils_is_told() -> None:
    small = Read(Place("small"), 0, 7)
    answer = decided({"none": Equality(X, Y, (small * small).equals(3))})["none"]
    assert (answer.finding.outcome, answer.how) == ("proved", NO_INPUT)


BYTE, OTHER = Read(Place("byte"), -128, 127), Read(Place("other"), 0, 255)
SUM = (BYTE + OTHER).equals(382)
"""Of 65536 pairs of bytes that is so of the last alone: 127 and 255."""
TRIED = {
    "the first": (BYTE.equals(-128) & OTHER.equals(0), ALWAYS, (-128, 0)),
    "the last": (SUM, ALWAYS, (127, 255)),
    "one in the middle": (BYTE.equals(-77) & OTHER.equals(201), ALWAYS, (-77, 201)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIED)
def test_two_bytes_of_which_one_pair_differs_are_all_tried(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equality, "_TRIED", 0)  # by chance
    condition, given, pair = TRIED[name]
    answer = decided({"": Equality(BYTE + condition, BYTE, given)})[""]
    assert answer.finding.outcome == "counter-example"
    assert (answer.values[BYTE.place], answer.values[OTHER.place]) == pair


@pytest.mark.slow
def test_two_bytes_whose_one_pair_that_differs_is_not_given_are_all_tried_and_equal() -> None:
    answer = decided({"": Equality(SUM + (BYTE ^ 5), BYTE ^ 5, SUM.equals(0))})[""]
    assert (answer.finding.outcome, answer.how) == ("proved", ALL_TRIED)


@pytest.mark.slow
def test_of_two_bytes_and_a_bit_not_all_are_tried() -> None:
    bit = Read(Place("bit"), 0, 1)
    of_two, of_three = (
        Equality(maximum(BYTE, OTHER) + minimum(BYTE, OTHER) + more, BYTE + OTHER + more, ALWAYS)
        for more in (constant(1), bit)
    )
    assert [decided({"": question})[""].how == ALL_TRIED for question in (of_two, of_three)] == [True, False]


def test_a_condition_that_none_of_a_few_inputs_fulfils_is_told() -> None:
    answer = decided({"": Equality(BYTE, BYTE + 1, (BYTE * BYTE).equals(3))})[""]
    assert (answer.finding.outcome, answer.how) == ("proved", NO_INPUT)


@pytest.mark.slow
def test_inputs_that_could_not_all_be_tried_in_time_have_proved_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equality, "_SHARE", 0.0)
    assert decided({"": Equality(SUM + (BYTE ^ 5), BYTE ^ 5, SUM.equals(0))})[""].how != ALL_TRIED
    assert decided({"": Equality(BYTE + SUM, BYTE, ALWAYS)})[""].finding.outcome != "proved"


def test_questions_of_other_names_are_one() -> None:
    a, b, c = (Read(Place(f"in.{name}", 4), S32.low, S32.high) for name in "abc")
    other_names = Equality(high_product(a, b), high_product(a, c), ALWAYS)
    other_range = Read(Place("in.b", 4), S32.low, S32.high - 1)
    assert asked(other_names).key == asked(REFUTED["another product"]).key
    assert asked(other_names._replace(one=high_product(a, other_range))).key != asked(other_names).key
    assert asked(other_names._replace(other=high_product(a, b))).key != asked(other_names).key


@pytest.mark.slow
def test_what_the_solver_does_not_decide_in_time_is_unknown() -> None:
    a, b = (Read(Place(name), 2, 2**31 - 1) for name in "ab")
    prime = 2**61 - 1
    answer = decided({"factors": Equality((a * b).equals(prime), constant(0), ALWAYS)}, seconds=1)["factors"]
    assert answer.finding.outcome == "unknown"
    assert "time limit" in answer.finding.reason


def test_a_solver_that_dies_has_proved_nothing() -> None:
    found: list[Finding] = []
    dead = os._exit
    assert not in_processes([("dead", lambda: dead(7))], 5, 1, lambda _, finding: found.append(finding))
    assert found[0].outcome == "unknown"


@pytest.mark.slow
def test_answers_are_kept_and_those_that_were_tampered_with_are_not_believed(tmp_path: Path) -> None:
    name = "under a condition"
    decided({name: PROVED[name]}, kept_in=tmp_path)
    assert decided({name: PROVED[name]}, kept_in=tmp_path)[name].finding.cached
    decided({name: REFUTED[name]}, kept_in=tmp_path)
    for file in tmp_path.glob("equal-*.json"):
        answer = json.loads(file.read_text())
        answer["values"] = dict.fromkeys(answer["values"], 0)
        file.write_text(json.dumps(answer))
    again = decided({name: REFUTED[name]}, kept_in=tmp_path)[name].finding
    assert (again.outcome, again.cached) == ("counter-example", False)


def test_kept_answers_are_of_every_module_that_decides() -> None:
    """All that it loads of expressions, evaluators, claims and the simplifier; instructions are in what is asked."""
    rooms = ("isa.lane", "isa.floating", "isa.evaluate.", "sim.prove.", "sim.symbolic.")
    text = f"import sys, sim.symbolic.equality; print(*(name for name in sys.modules if name.startswith({rooms})))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, encoding="utf-8", check=True)
    deciding = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in deciding_files()
    }
    assert set(done.stdout.split()) <= deciding
    assert "isa.evaluate.batch.narrowing" in done.stdout.split()
