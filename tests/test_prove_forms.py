"""The claims about instruction forms: which forms they cover, and that wrong semantics and wrong statements fail."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import assert_never

import pytest

from isa.catalogue import example
from isa.evaluate.batch.narrowing import grown
from isa.evaluate.smt import Found, Solver
from isa.instruction import Form
from isa.lane import (
    Binary,
    Constant,
    Field,
    Floating,
    Int,
    Lane,
    Load,
    Pick,
    Read,
    Saturate,
    constant,
    maximum,
    minimum,
    pick,
    walk,
)
from isa.rows import TABLE
from isa.semantics import arithmetic, multiply, narrow, shift
from isa.semantics.elementwise import SIGNED, UNSIGNED, Body, each, each_accumulating
from sim.prove.claim import Claim, Sides, prove, sides_of
from sim.prove.forms import STATEMENTS, form_claims

KINDS = re.compile(
    r"[su]q|suqadd|usqadd"  # saturating
    r"|[su]r?h(add|sub)"  # averaging
    r"|[su]ab[ad]l?2?$|abs|neg"  # absolute differences, magnitudes
    r"|[su]?r?sh[lr]|[su]r?sra|s[lr]i$|shll|[su]shll|xar"  # shifts
    r"|xtn|r?shrn|r?(add|sub)hn"  # narrowing
)
VECTOR_SHAPE = re.compile(r"(\.\d*)?[bhsd](\[i\])?(,.*)?")


@cache
def claims() -> tuple[Claim, ...]:
    return tuple(form_claims())


def covered() -> set[str]:
    return {form for claim in claims() for form in claim.covers}


def test_there_are_at_least_80_claims() -> None:
    assert len(claims()) >= 80


def test_every_form_of_the_kinds_that_are_stated_is_covered() -> None:
    vector_forms = [form for form in TABLE.forms.values() if VECTOR_SHAPE.fullmatch(form.shape)]
    assert {form.name for form in vector_forms if KINDS.match(form.mnemonic)} - covered() == set()


@pytest.mark.slow
def test_every_form_that_can_set_qc_is_covered() -> None:
    instructions = [instruction for form in TABLE.forms.values() if (instruction := example(form)) is not None]
    setting = {instruction.form.name for instruction in instructions if instruction.can_saturate}
    assert (setting - covered(), len(setting) > 200) == (set(), True)


def test_every_statement_is_of_some_form() -> None:
    assert {name.removesuffix(" #") for name in STATEMENTS} == {claim.name.split()[0] for claim in claims()}


def test_all_lanes_and_shapes_of_one_element_size_share_a_claim() -> None:
    (claim,) = [claim for claim in claims() if claim.name == "sqrdmulh .s,.s,.s"]
    vectors = {f"sqrdmulh {a},{a},{b}" for a in (".2s", ".4s") for b in (a, ".s[i]")}
    assert set(claim.covers) == vectors | {"sqrdmulh s,s,s", "sqrdmulh s,s,.s[i]"}


def test_an_immediate_shift_is_claimed_for_every_count_that_can_be_encoded() -> None:
    ranges = {
        c.name: c.inputs["shift"] for c in claims() if "shift" in c.inputs and c.name.endswith((".h,#", ".h,.s,#"))
    }
    bounds = {name.split()[0]: (kind.low, kind.high) for name, kind in ranges.items() if name.split()[1][:2] == ".h"}
    left = dict.fromkeys(("shl", "sli", "sqshl", "uqshl", "sqshlu"), (0, 15))
    right = dict.fromkeys(bounds.keys() - left.keys(), (1, 16))
    assert bounds == {**left, **right}


@pytest.mark.parametrize("claim", [c for c in form_claims() if ".d" not in c.name], ids=lambda claim: claim.name)
def test_a_form_computes_what_the_manual_states_for_all_inputs(claim: Claim) -> None:
    finding = prove(claim, 120)
    assert finding.outcome == "proved", finding


Function = Callable[..., Lane]
WRONG: dict[str, tuple[str, Body]] = {
    "SQADD wraps": ("sqadd .8h,.8h,.8h", each(SIGNED, arithmetic.add)),
    "SQADD subtracts": ("sqadd .16b,.16b,.16b", each(SIGNED, arithmetic.saturating_subtract)),
    "SQADD reads unsigned": ("sqadd .4s,.4s,.4s", each(UNSIGNED, arithmetic.saturating_add)),
    "UQSUB reads signed": ("uqsub .2d,.2d,.2d", each(SIGNED, arithmetic.saturating_subtract)),
    "SUQADD reads signed": ("suqadd .8h,.8h", each_accumulating(SIGNED, arithmetic.saturating_accumulate_mixed)),
    "USQADD adds unsigned": ("usqadd .8h,.8h", each_accumulating(UNSIGNED, arithmetic.saturating_accumulate_mixed)),
    "SHADD rounds": ("shadd .4s,.4s,.4s", each(SIGNED, arithmetic.rounding_halving_add)),
    "URHADD does not round": ("urhadd .8b,.8b,.8b", each(UNSIGNED, arithmetic.halving_add)),
    "UHSUB saturates": ("uhsub .8b,.8b,.8b", each(UNSIGNED, lambda t, a, b: t.saturate((a - b) >> 1))),
    "SQABS wraps": ("sqabs .2d,.2d", each(SIGNED, arithmetic.absolute)),
    "SQNEG wraps": ("sqneg .8h,.8h", each(SIGNED, arithmetic.negate)),
    "SABD wraps before": (
        "sabd .8h,.8h,.8h", each(SIGNED, lambda t, a, b: t.wrap(arithmetic.magnitude(t.wrap(a - b)))),
    ),
    "UABA overwrites": (
        "uaba .4s,.4s,.4s", each_accumulating(UNSIGNED, lambda t, d, a, b: arithmetic.absolute_difference(t, a, b)),
    ),
    "SQDMULH rounds": ("sqdmulh .4s,.4s,.4s", each(SIGNED, multiply.rounding_doubling_multiply_high)),
    "SQRDMULH rounds down": ("sqrdmulh .4s,.4s,.4s", each(SIGNED, multiply.doubling_multiply_high)),
    "SQRDMULH wraps": (
        "sqrdmulh .8h,.8h,.8h", each(SIGNED, lambda t, a, b: t.wrap(shift.rounding_shift_right(a * b, t.bits - 1))),
    ),
    "SQRDMLAH saturates twice": (
        "sqrdmlah .8h,.8h,.8h",
        each_accumulating(
            SIGNED, lambda t, d, a, b: t.saturate(d + multiply.rounding_doubling_multiply_high(t, a, b))
        ),
    ),
    "SQRDMLSH adds": (
        "sqrdmlsh .8h,.8h,.8h", each_accumulating(SIGNED, multiply.rounding_doubling_multiply_add_high),
    ),
    "SQDMLAL saturates once": (
        "sqdmlal .4s,.4h,.4h", each_accumulating(SIGNED, lambda t, d, a, b: t.saturate(d + a * b * 2)),
    ),
    "SQDMULL does not double": ("sqdmull .2d,.2s,.2s", each(SIGNED, multiply.multiply)),
    "SRSHR rounds down": ("srshr .4s,.4s,#", each(SIGNED, shift.shift_right)),
    "USRA overwrites": ("usra .8h,.8h,#", each_accumulating(UNSIGNED, lambda t, d, a, n: shift.shift_right(t, a, n))),
    "SLI clears below": ("sli .8b,.8b,#", each_accumulating(UNSIGNED, lambda t, d, a, n: t.wrap(a << n))),
    "SRI keeps one bit less": (
        "sri .8h,.8h,#",
        each_accumulating(UNSIGNED, lambda t, d, a, n: t.wrap((a >> n) | (((d >> 15) << 15) & shift_mask(t, n)))),
    ),
    "SQSHLU reads unsigned": ("sqshlu .8h,.8h,#", each(UNSIGNED, shift.saturating_shift_left)),
    "SRSHL does not round": ("srshl .4s,.4s,.4s", each(SIGNED, shift.shift_by_register)),
    "SQSHL by register wraps": ("sqshl .2d,.2d,.2d", each(SIGNED, shift.shift_by_register)),
    "USHL takes the whole count": (
        "ushl .8h,.8h,.8h", each(UNSIGNED, lambda t, a, c: t.wrap(a << minimum(maximum(t.wrap(c), 0), t.bits))),
    ),
    "SQXTUN saturates as signed": ("sqxtun .8b,.8h", each(SIGNED, narrow.saturate)),
    "SQRSHRN rounds down": ("sqrshrn .4h,.4s,#", each(SIGNED, narrow.saturating_shift_right_narrow)),
    "RADDHN rounds down": ("raddhn .8b,.8h,.8h", each(UNSIGNED, narrow.add_high_half)),
    "SUBHN adds": ("subhn .2s,.2d,.2d", each(UNSIGNED, narrow.add_high_half)),
    "XAR rotates the first only": ("xar .2d,.2d,.2d,#", each(UNSIGNED, lambda t, a, b, n: t.wrap((a >> n) | (b << 1)))),
}  # fmt: skip


def shift_mask(element: Int, count: Lane) -> Lane:
    return constant(-1) << (constant(element.bits) - count)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_semantics_are_refuted(name: str) -> None:
    form, body = WRONG[name]
    found = TABLE.named[form]
    assert any(is_refuted(sides_of(claim)) for claim in form_claims([Form(found.mnemonic, found.shape, body)]))


def test_a_lane_taken_from_elsewhere_is_refuted() -> None:
    def swapped(destination: object, *sources: object) -> object:
        (write,) = each(SIGNED, arithmetic.saturating_add)(destination, *sources)
        return (write._replace(lanes=[*write.lanes[1::-1], *write.lanes[2:]]),)

    claims_of_it = form_claims([Form("sqadd", ".4s,.4s,.4s", swapped)])  # type: ignore[arg-type]
    assert sorted(prove(claim, 60).outcome for claim in claims_of_it) == ["counter-example"] * 2 + ["proved"]


def smallest_claim_of(name: str) -> Claim:
    mnemonic, *immediate = name.split()
    found = [c for c in claims() if c.name.split()[0] == mnemonic and c.name.endswith("#") == bool(immediate)]
    return found[0]


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_mutated_statement_is_refuted(name: str) -> None:
    sides = sides_of(smallest_claim_of(name))
    mutants = (replace(sides, right={**sides.right, "value": wrong}) for wrong in mutated(sides.right["value"]))
    assert any(map(is_refuted, mutants))


def is_refuted(sides: Sides) -> bool:
    """Without shrinking, which takes most of the time."""
    return isinstance(Solver(time.monotonic() + 600).check(sides.given, sides.differ), Found)


def mutated(lane: Lane) -> Iterator[Lane]:
    """The expression with one node changed: a constant is higher, a sum a difference, left is right, one bit up."""
    for node in walk([lane]):
        try:
            if is_changeable(node):
                yield rebuilt(lane, node, {})
        except ValueError:  # a shift count left its range: no expression at all
            continue


def rebuilt(lane: Lane, at: Lane, known: dict[Lane, Lane]) -> Lane:
    if lane not in known:
        args = [rebuilt(arg, at, known) for arg in lane.args]
        known[lane] = changed(lane, *args) if lane is at else remade(lane, *args)
    return known[lane]


def is_changeable(node: Lane) -> bool:
    changeable = ("add", "subtract", "less", "shift_left", "shift_right")
    return isinstance(node, Constant | Field) or (isinstance(node, Binary) and node.operator in changeable)


def changed(lane: Lane, *args: Lane) -> Lane:
    match lane:
        case Constant(number):
            return constant(number + 1)
        case Field(_, lsb, element):
            return element.field(args[0], lsb + 1)
        case Binary("add"):
            return args[0] - args[1]
        case Binary("subtract"):
            return args[0] + args[1]
        case Binary("less"):
            return args[1] < args[0]
        case Binary("shift_left"):
            return args[0] >> args[1]
        case Binary("shift_right"):
            return args[0] << args[1]
    raise AssertionError(f"{lane} is not changeable")


def remade(lane: Lane, *args: Lane) -> Lane:
    """The node over other operands, with the range that they give it."""
    match lane:
        case Field(_, lsb, element):
            return element.field(args[0], lsb)
        case Pick():
            return pick(args[0], args[1:-1], args[-1])
        case Binary(operator):
            return grown(operator, *args)
        case Constant() | Read():
            return lane
        case Load() | Saturate() | Floating():
            raise AssertionError(f"{lane} is in no statement of the manual")
        case _:
            assert_never(lane)
