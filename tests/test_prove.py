"""One claim at a time: verdicts, the smallest counter-example, claims that say nothing."""

from __future__ import annotations

from itertools import product

import pytest

from isa.evaluate.exact import Evaluation
from isa.lane import S8, S16, S32, U8, Int, constant, divide, load, maximum
from sim.prove.claim import BrokenClaim, Claim, ClaimInputs, Range, prove, sides_of, tells_apart, with_qc
from sim.prove.steps import steps
from support.hard_claims import HARD


def test_equal_sides_are_proved() -> None:
    claim = Claim("commutes", {"x": S32, "y": S32}, lambda x, y: x + y, lambda x, y: y + x)
    assert prove(claim, 60).outcome == "proved"


def test_a_difference_on_one_input_of_4_billion_is_found() -> None:
    claim = Claim("needle", {"x": S32}, lambda x: x.equals(123_456_789), lambda _: constant(0))
    assert prove(claim, 60).values == {"x": 123_456_789}


def test_a_difference_in_qc_alone_is_found() -> None:
    claim = Claim("QC", {"x": S16}, lambda x: with_qc(S8.saturate(x)),
                  lambda x: {"value": S8.saturate(x), "QC": constant(0)})  # fmt: skip
    assert prove(claim, 60).values == {"x": 128}


def test_what_is_given_keeps_a_counter_example_out() -> None:
    claim = Claim("halves", {"x": S8}, lambda x: x >> 1, lambda x: divide(x, constant(2)), given=lambda x: x > -1)
    assert prove(claim, 60).outcome == "proved"


def test_a_claim_about_no_input_is_no_proof() -> None:
    claim = Claim("nothing", {"x": S8}, lambda x: x, lambda x: x, given=lambda x: x > 200)
    assert prove(claim, 60).reason == "no input at all fulfils what is given"


def test_a_claim_that_may_be_about_no_input_is_no_proof() -> None:
    sides = {"x": Range(2, 2**31), "y": Range(2, 2**31)}
    prime = Claim("prime", sides, lambda x, y: x, lambda x, y: x, given=lambda x, y: (x * y).equals(2**61 - 1))
    assert prove(prime, 0.1).outcome == "unknown"


def test_an_expression_without_bit_vectors_is_unknown_with_the_reason() -> None:
    finding = prove(Claim("memory", {"x": U8}, lambda x: load(x, 1), lambda x: x), 60)
    assert (finding.outcome, "memory" in finding.reason) == ("unknown", True)


def test_a_time_limit_ends_a_hard_claim() -> None:
    finding = prove(HARD, 0.3)
    assert (finding.outcome, finding.reason) == ("unknown", "the time limit was reached")


@pytest.mark.parametrize(("relation", "left", "supported"), [
    ("equal", 0, True), ("equal", 1, False), ("not equal", 0, False), ("not equal", 1, True),
])  # fmt: skip
def test_a_finding_supports_what_was_claimed(relation: str, left: int, supported: bool) -> None:
    claim = Claim(
        "c", {"x": S8}, lambda x: x + left, lambda x: x, relation="equal" if relation == "equal" else "not equal"
    )
    assert prove(claim, 60).supports(claim) is supported


SMALL: dict[str, Int | Range] = {"x": Int(6, signed=True), "y": Range(-9, 20)}
PAIRS = {
    "sum": (lambda x, y: x + y, lambda x, y: x | y),
    "halves": (lambda x, y: (x * y) >> 2, lambda x, y: divide(x * y, constant(4))),
    "saturation": (lambda x, y: S8.saturate(x * y * 3), lambda x, y: x * y * 3),
    "wrap": (lambda x, y: Int(5, signed=True).wrap(x + y), lambda x, y: x + y),
    "order": (lambda x, y: maximum(x, y * y), lambda x, y: maximum(x, y)),
    "one point": (lambda x, y: x.equals(-17) & y.equals(13), lambda x, y: constant(0)),
    "only negative": (lambda x, y: (x < -3) & (y < -5), lambda x, y: constant(0)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_counter_example_is_the_smallest_that_trying_all_inputs_gives(name: str) -> None:
    left, right = PAIRS[name]
    claim = Claim(name, SMALL, left, right)
    assert dict(prove(claim, 60).values) == smallest_by_trying(claim)


def smallest_by_trying(claim: Claim) -> dict[str, int]:
    sides = sides_of(claim)
    ranges = [range(kind.low, kind.high + 1) for kind in claim.inputs.values()]
    found = [c for c in product(*ranges) if tells_apart(sides, dict(zip(claim.inputs, c, strict=True)))]
    best = min(found, key=lambda c: (max(map(abs, c)), *((abs(v), v < 0) for v in c)))
    return dict(zip(claim.inputs, best, strict=True))


def test_an_input_that_no_side_uses_is_shown_as_the_number_nearest_to_zero() -> None:
    claim = Claim("c", {"x": S8, "y": Range(5, 9)}, lambda x, y: x, lambda x, y: x + 1)
    assert prove(claim, 60).values == {"x": 0, "y": 5}


def test_the_steps_of_a_side_are_what_the_exact_evaluator_computes() -> None:
    x = sides_of(Claim("c", {"x": S8}, lambda x: U8.saturate((x << 1) + 5), lambda x: x))
    assert steps(x.left, {"x": -7}) == (
        "t1 = x << 1 = -14",
        "t2 = t1 + 5 = -9",
        "t3 = saturate u8 t2 = 0",
        "value = t3 = 0",
    )


def test_the_steps_end_in_the_value_of_each_result() -> None:
    claim = Claim("c", {"x": S16}, lambda x: with_qc(S8.saturate(x)), lambda x: with_qc(S8.saturate(x)))
    left = sides_of(claim).left
    ends = [line.split(" = ") for line in steps(left, {"x": 300}) if line.startswith(("value", "QC"))]
    values = Evaluation(ClaimInputs({"x": 300}))
    assert [(end[0], int(end[-1])) for end in ends] == [(name, values.value(lane)) for name, lane in left.items()]


@pytest.mark.parametrize(("claim", "message"), [
    (Claim("c", {"x": S8}, lambda: constant(1), lambda x: x), "left raised TypeError"),
    (Claim("c", {"x": S8}, lambda x: x, lambda x: x << x), "right raised ValueError: a shift count"),
    (Claim("c", {"x": S8}, lambda x: "x", lambda x: x),  # type: ignore[arg-type, return-value]
     "left gives 'x': it must give a lane"),
    (Claim("c", {"x": S8}, lambda x: {}, lambda x: {}), "it must give a lane"),
    (Claim("c", {"x": S8}, lambda x: {"a": x}, lambda x: {"b": x}), "left gives a, right gives b"),
    (Claim("c", {"x": 8}, lambda x: x, lambda x: x), "give an Int such as S32"),  # type: ignore[dict-item]
    (Claim("c", {"x": Range(5, 4)}, lambda x: x, lambda x: x), "give an Int such as S32"),
    (Claim("c", {"x": S8}, lambda x: x, lambda x: x, given=lambda x: {"a": x}),  # type: ignore[arg-type, return-value]
     "given gives"),
    (Claim("c", {"x": S8, "n": S8}, lambda x, n: x - n, lambda n, x: x - n),
     "right takes n, x, and the inputs come as x, n: give them in one order"),
])  # fmt: skip
def test_a_claim_that_says_nothing_is_refused_with_a_sentence(claim: Claim, message: str) -> None:
    with pytest.raises(BrokenClaim, match=message.replace("(", r"\(")):
        prove(claim, 60)
