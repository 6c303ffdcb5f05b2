"""Bit-vectors against the exact evaluator, and what the solver says of them."""

from __future__ import annotations

import random
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from itertools import product

import pytest

from isa.evaluate.exact import Evaluation
from isa.evaluate.smt import Found, Impossible, Solver, SolverMissing, Undecided, solver_version
from isa.evaluate.smt_products import highest_corners, second_highest_product
from isa.evaluate.smt_terms import Untranslatable
from isa.floating import F32, FloatOperation
from isa.lane import S8, S16, S32, S64, U8, Int, Lane, constant, divide, load, maximum, minimum, pick
from sim.prove.claim import ClaimInputs, Range, input_lane
from support.hard_claims import FACTOR, is_product

SEED = 20
A, B = input_lane("a", S32), input_lane("b", Int(24, signed=False))
COUNT = input_lane("n", Range(0, 40))
OPERATIONS: dict[str, Lane] = {
    "add": A + B, "subtract": B - A, "multiply": A * B, "multiply by a constant": A * -3,
    "divide": divide(A, B - 5), "divide by a negative": divide(A, S8.field(A, 3)),
    "shift left": A << COUNT, "shift right": A >> COUNT, "constant shifted": constant(-7) >> COUNT,
    "and": A & B, "and of signed": A & -B, "or": A | B, "exclusive or": A ^ -B,
    "less": A < B, "greater": A > B - 2**20, "equal": (A & 3).equals(B & 3),
    "minimum": minimum(A, B), "maximum": maximum(A, -B), "invert": ~A,
    "field": S16.field(A, 5), "field past the top": U8.field(A, 28), "field of unsigned": S8.field(B, 20),
    "saturate": S16.saturate(A + B), "saturate unsigned": U8.saturate(A), "wrap": S8.wrap(A * A),
    "pick": pick(A & 7, [B, -3, A, COUNT], 99), "pick signed": pick(S8.field(A, 0), [1, 2, 3], A),
    "cubed": A * A * A, "wide": S64.saturate((A * B) << COUNT),
}  # fmt: skip


def values(name: str) -> list[dict[str, int]]:
    """Corner and random inputs."""
    rng = random.Random(f"{SEED} {name}")
    corners = [(S32.low, S32.high, 0, -1, 1), (0, 1, 5, 2**24 - 1), (0, 1, 31, 32, 40)]
    random_ones = [(rng.randint(S32.low, S32.high), rng.getrandbits(24), rng.randint(0, 40)) for _ in range(60)]
    return [dict(zip("abn", numbers, strict=True)) for numbers in (*product(*corners), *random_ones)]


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_term_is_the_number_that_the_exact_evaluator_computes(name: str) -> None:
    lane, terms = OPERATIONS[name], Solver(time.monotonic() + 600).terms
    terms.term(lane)
    for inputs in values(name):
        exact = Evaluation(ClaimInputs(inputs)).value(lane)
        assert terms.evaluated(lane, {place: inputs[place.file] for place in terms.inputs}) == exact, (SEED, inputs)


@pytest.mark.parametrize(
    ("lane", "reason"),
    [(load(A & 0, 4), "memory"), (FloatOperation("add", F32, F32)(1, 2, fpcr=0), "floating point")],
)
def test_what_has_no_bit_vector_is_refused_with_the_reason(lane: Lane, reason: str) -> None:
    with pytest.raises(Untranslatable, match=reason):
        solver().check(lane.equals(0))


def test_a_number_of_thousands_of_digits_is_a_term() -> None:
    """Such are the registers of a module with large tables, asked about together."""
    wide = Int(20_000, signed=False)
    lane = input_lane("a", wide)
    answer = solver().check(lane.equals(wide.high - 1))
    assert isinstance(answer, Found)
    assert answer.values[lane.place] == wide.high - 1


def test_one_input_with_two_ranges_is_refused() -> None:
    with pytest.raises(Untranslatable, match="a is read both"):
        solver().check(input_lane("a", S8).equals(input_lane("a", S16)))


def solver() -> Solver:
    return Solver(time.monotonic() + 600)


@pytest.mark.parametrize("kind", [Range(3, 5), Range(-4, 9), Range(-9, -4), Range(0, 0), Range(7, 7), S8, U8])
def test_an_input_takes_every_number_of_its_range_and_no_other(kind: Range | Int) -> None:
    lane = input_lane("a", kind)
    allowed = {k for k in range(-300, 300) if isinstance(solver().check(maximum(lane, -999).equals(k)), Found)}
    assert allowed == set(range(kind.low, kind.high + 1))


def test_a_found_answer_has_the_inputs() -> None:
    square = solver().check((B * B).equals(49))
    assert isinstance(square, Found)
    assert [(place.file, value) for place, value in square.values.items()] == [("b", 7)]


def test_no_square_ends_in_binary_ten() -> None:
    assert solver().check(((A * A) & 3).equals(2)) == Impossible()


def test_a_deadline_ends_a_hard_question() -> None:
    p, q = (input_lane(name, FACTOR) for name in "pq")
    hard = Solver(time.monotonic() + 0.3).check(is_product(p, q), p < q)
    assert hard == Undecided("the time limit was reached")


def test_a_solver_is_freed_with_the_last_of_its_users() -> None:
    asked = solver()
    assert isinstance(asked.check((A + 1).equals(3)), Found)
    gone = weakref.ref(asked)
    del asked
    assert gone() is None, "of thousands of questions a process would keep all terms"


@pytest.mark.slow
def test_an_interrupt_ends_a_hard_question() -> None:
    p, q = (input_lane(name, FACTOR) for name in "pq")
    main = threading.main_thread().ident
    assert main is not None

    threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        Solver(time.monotonic() + 600).check(is_product(p, q), p < q)


RANGES = [Range(low, high) for low in (-4, -1, 0, 2) for high in (2, 3, 7)] + [Range(-4, -2), Range(-1, 0)]


@pytest.mark.parametrize(("a", "b"), list(product(RANGES, RANGES)))
def test_off_its_highest_corners_a_product_stays_below_the_bound(a: Range, b: Range) -> None:
    lanes = input_lane("a", a), input_lane("b", b)
    corners, bound = highest_corners(*lanes), second_highest_product(*lanes)
    others = [x * y for x, y in points(a, b) if (x, y) not in corners]
    assert max(others, default=bound) <= bound


def points(a: Range, b: Range) -> list[tuple[int, int]]:
    return list(product(range(a.low, a.high + 1), range(b.low, b.high + 1)))


@pytest.mark.parametrize("kinds", [(S8, S8), (U8, S8), (U8, U8), (Range(-3, 9), Range(-7, 0))])
def test_what_is_said_of_products_excludes_no_pair_of_factors(kinds: tuple[Range | Int, Range | Int]) -> None:
    x, y = (input_lane(name, kind) for name, kind in zip("xy", kinds, strict=True))
    rng = random.Random(SEED)
    ends = [[k.low, k.low + 1, 0, k.high - 1, k.high, rng.randint(k.low, k.high)] for k in kinds]
    pairs = [(p, q) for p, q in product(*ends) if p <= kinds[0].high and q <= kinds[1].high]
    kept = solver()
    assert all(isinstance(kept.check((x * y).equals(p * q), x.equals(p), y.equals(q)), Found) for p, q in pairs)


def test_the_same_expression_on_another_type_is_another_text() -> None:
    texts = {solver().text(compare(input_lane("x", kind))) for kind in (S8, S16)}
    assert len(texts) == 2


def compare(x: Lane) -> Lane:
    return x.equals(0)


@pytest.mark.parametrize("ask", [solver_version, solver])
def test_without_the_solver_one_sentence_says_how_to_install_it(
    ask: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bitwuzla", None)
    with pytest.raises(SolverMissing, match="pip install bitwuzla"):
        ask()
