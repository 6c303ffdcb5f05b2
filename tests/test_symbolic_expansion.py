"""Products multiplied out are equal, and equal polynomials have one form."""

from itertools import product
from random import Random

from isa.evaluate.exact import Evaluation
from isa.lane import S32, Int, Place, Read
from sim.prove.claim import ClaimInputs
from sim.symbolic.nodes import Simplifier
from sim.symbolic.rules.expansion import MOST_TERMS, expanded
from sim.symbolic.simplify import SIMPLIFIER, simplified
from support.symbolic_rules import INPUTS, RANGES, random_expression

A, B, C = (Read(Place(name), S32.low, S32.high) for name in "abc")


def test_equal_polynomials_have_one_form() -> None:
    one, other = (A + B * C) * (C - 3), A * C + C * (C * B) - A * 3 - (B * C) * 3
    assert simplified(one) is not simplified(other)
    assert expanded(SIMPLIFIER, simplified(one)) is expanded(SIMPLIFIER, simplified(other))
    wrapped = [S32.wrap(lane) for lane in (one, other)]
    assert expanded(SIMPLIFIER, simplified(wrapped[0])) is expanded(SIMPLIFIER, simplified(wrapped[1]))


def test_others_have_another_form() -> None:
    one, other = (A + B * C) * (C - 3), A * C + C * (C * B) - A * 3 - (B * C) * 2
    assert expanded(SIMPLIFIER, simplified(one)) is not expanded(SIMPLIFIER, simplified(other))


def test_what_is_multiplied_out_is_the_same_number() -> None:
    s, rng = Simplifier(), Random(3)
    for _ in range(150):
        lane = random_expression(rng, 3) * random_expression(rng, 3) + random_expression(rng, 2)
        made = expanded(s, s.simplified(lane))
        for _ in range(12):
            evaluation = Evaluation(ClaimInputs({name: rng.randint(*RANGES[name]) for name in INPUTS}))
            number = evaluation.value(lane)
            assert evaluation.value(made) == number
            assert made.low <= number <= made.high


def test_a_product_of_one_term_with_many_is_multiplied_out() -> None:
    terms = [Read(Place(f"t{at}"), S32.low, S32.high) for at in range(MOST_TERMS)]
    total, products = terms[0] + terms[1], terms[0] * A + terms[1] * A
    for term in terms[2:]:
        total, products = total + term, products + term * A
    assert expanded(SIMPLIFIER, simplified(total * A)) is expanded(SIMPLIFIER, simplified(products))
    assert expanded(SIMPLIFIER, simplified(total * B)) is not expanded(SIMPLIFIER, simplified(products))


def test_products_of_many_terms_stay() -> None:
    terms = [Int(8, signed=False).field(lane, 8 * at) for lane, at in product((A, B, C), range(3))]
    total = terms[0] + terms[1] + terms[2] + terms[3] + terms[4] + terms[5] + terms[6] + terms[7] + terms[8]
    assert (len(terms) + 1) ** 2 > MOST_TERMS
    assert expanded(SIMPLIFIER, simplified(total * (total + 1))) is simplified(total * (total + 1))
