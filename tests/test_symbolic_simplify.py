"""Expressions that are equal become the same object."""

from __future__ import annotations

import pytest

from isa.evaluate.exact import Evaluation, Occurrence
from isa.lane import (
    S16,
    S32,
    U8,
    U32,
    Field,
    Lane,
    Place,
    Read,
    constant,
    lift,
    maximum,
    minimum,
    operands_first,
    rebuilt,
    select,
)
from isa.operands import Condition
from isa.rows import TABLE
from isa.semantics.base.conditional import holds
from isa.semantics.base.flags import difference_and_flags
from sim.symbolic.simplify import simplified

X, Y = (Read(Place(f"in.{name}"), S32.low, S32.high) for name in "xy")
BYTE = Read(Place("in.byte"), 0, 255)
PRODUCT = (X * Y + (1 << 30)) >> 31


def condition(name: str, a: Lane, b: Lane | int) -> Lane:
    """A condition of B.cond after CMP of 32-bit registers."""
    _, (write,) = difference_and_flags(U32, U32.wrap(a), U32.wrap(lift(b)), 0)
    made: dict[Lane, Lane] = {}
    for node in operands_first([holds(Condition(name))]):
        if isinstance(node, Field) and isinstance(node.operand, Read):
            made[node] = write.lanes[node.lsb]
        else:
            made[node] = rebuilt(node, [made[arg] for arg in node.args])
    return made[node]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (condition("lt", X, Y), X < Y),
        (condition("ge", X, Y), (X < Y).equals(0)),
        (condition("gt", X, Y), Y < X),
        (condition("le", X, Y), (Y < X).equals(0)),
        (condition("eq", X, Y), X.equals(Y)),
        (condition("hi", BYTE, 5), constant(5) < BYTE),
        (condition("lo", BYTE, 5), BYTE < 5),
        (S32.saturate(PRODUCT), minimum(PRODUCT, S32.high)),
        (S32.saturate(PRODUCT), select(X.equals(S32.low) & Y.equals(S32.low), S32.high, S32.wrap(PRODUCT))),
        (U8.saturate(S16.saturate(maximum(X, 0))), select(X < 0, 0, select(X > 255, 255, X))),
        (S32.wrap(U32.wrap(X) + U32.wrap(Y)), S32.wrap(Y + X)),
        (S32.field(U32.wrap(X) + (U32.wrap(Y) << 32), 32), Y),
    ],
)
def test_what_is_equal_becomes_the_same(one: Lane, other: Lane) -> None:
    assert simplified(one) is simplified(other)


def test_what_is_not_equal_stays_apart() -> None:
    assert simplified(S32.wrap(PRODUCT)) is not simplified(S32.saturate(PRODUCT))


def test_a_count_that_only_its_condition_keeps_in_range_stays_as_it_is() -> None:
    """`np.where(shift > 0, 1 << np.maximum(shift - 1, 0), 0)`: under the condition the count is `shift - 1`."""
    shift = Read(Place("in.shift"), 0, 20)
    half = simplified(select(constant(0) < shift, constant(1) << maximum(shift - 1, 0), 0))
    instruction = TABLE.instruction("nop", "")
    given = [Evaluation(Occurrence(instruction, {shift.place: number}, {})).value(half) for number in range(21)]
    assert given == [0, *(1 << number for number in range(20))]
