"""What simplification rules do, on all numbers of small inputs: each node that a rule replaced, and what by.

Expressions are drawn so that every rule is met.  A rule is right on what was met where both sides are the same number
for every combination of inputs, and in the range that the new node claims.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, assert_never

import numpy as np

from isa.evaluate.exact import Evaluation
from isa.floating import F32, F64, Float, Operation, Rounding
from isa.lane import (
    Binary,
    Constant,
    Field,
    Floating,
    FloatOperation,
    Int,
    Lane,
    Load,
    Pick,
    Place,
    Read,
    Saturate,
    constant,
    divide,
    maximum,
    minimum,
    pick,
    select,
    walk,
)
from sim.prove.claim import ClaimInputs
from sim.symbolic import simplify  # noqa: F401  # enters the rules
from sim.symbolic.nodes import RULES, SUM_RULES, Simplifier

Numbers = np.ndarray[Any, np.dtype[np.int64]]
RANGES = {"a": (-4, 3), "b": (-4, 3), "c": (0, 7), "d": (0, 1), "e": (-3, 6), "f": (0, 1)}
"""Types of three bits, conditions, and a range that is no type."""
INPUTS = {name: Read(Place(name), low, high) for name, (low, high) in RANGES.items()}
_AXES = np.meshgrid(*(np.arange(low, high + 1, dtype=np.int64) for low, high in RANGES.values()), indexing="ij")
POINTS: Mapping[str, Numbers] = {name: axis.ravel() for name, axis in zip(RANGES, _AXES, strict=True)}
"""Every combination of the inputs."""
A, B, C, D, E, F = INPUTS.values()
U3, S3 = Int(3, signed=False), Int(3, signed=True)
HALF_PRODUCT = (A * B + 2) >> 2

X, Y, Z = (Read(Place(name), 0, (1 << 32) - 1) for name in "xyz")
"""Bits of single precision."""


def _single(name: Operation, *operands: Lane | int, to: Float | Int = F32) -> Lane:
    return FloatOperation(name, F32, to)(*operands, fpcr=0)


U4 = Int(4, signed=False)
FROM_C = FloatOperation("from_integer", Int(32, signed=False), F32)(C, fpcr=0)
PRODUCTS = tuple(
    _single("multiply_add", _single("multiply", one, other), third, FROM_C)
    for one, other, third in itertools.permutations((X, Y, Z))
)
COMPARED = tuple(_single("compare", *operands, to=U4) for operands in itertools.permutations((X, Y, Z), 2))


def cut_quotient(a: Lane | int, divisor: int, rounding: Rounding = "zero", fpcr: int = 0) -> Lane:
    """a / divisor in single precision, of integers, rounded by `fpcr` and then to an integer, by default cut."""
    one, other = (FloatOperation("from_integer", Int(32, signed=True), F32)(n, fpcr=0) for n in (a, divisor))
    quotient = FloatOperation("divide", F32, F32)(one, other, fpcr=fpcr)
    return FloatOperation("to_integer", F32, Int(32, signed=True), rounding)(quotient, fpcr=0)


FLOATING: tuple[Lane, ...] = (
    *(cut_quotient(A, divisor) for divisor in (3, -2, 1)),
    FloatOperation("convert", F32, F64)(FROM_C, fpcr=0),
    *PRODUCTS,
    *(_single("add", FROM_C, X), _single("add", X, FROM_C), _single("multiply", 0xBF800000, X)),
    *(_single("multiply", X, 0xBF800000), _single("multiply", X, 0x7FC00001), _single("multiply", 0x7FC00001, X)),
    *(_single("to_integer", product, to=Int(32, signed=True)) for product in PRODUCTS),
    *(_single("to_integer", select(D, one, X), to=Int(32, signed=True)) for one in PRODUCTS),
    *(_single("subtract", X, number) for number in (0, 0x3F000000, 0x80000000, 0xFF800000, 0x7FC00001, 0xFF800001)),
    select(D, _single("add", X, 0x3F000000), _single("add", X, 0xBF000000)),
    select(D, _single("multiply_add", X, Y, Z), _single("multiply_add", X, FROM_C, Z)),
    *(_single("compare_signalling", X, Y, to=U4), _single("equal", X, Y, to=Int(1, signed=False))),
    *(_single("greater", X, Y, to=Int(1, signed=False)), _single("greater_or_equal", Y, X, to=Int(1, signed=False))),
    *(each.equals(order) for each in COMPARED for order in range(16)),
    *(each < limit for each in COMPARED for limit in range(16)),
    *(each >> count for each in COMPARED for count in range(4)),
    *(Int(bits, signed=False).field(each, 0) for each in COMPARED for bits in (1, 2, 3)),
)
NUMBERS: Sequence[int] = (
    *(0, 0x80000000, 1, 0x3F800000, 0xBF800000, 0x3F000000, 0x7F7FFFFF, 0x00800000, 0x40490FDB, 0x4B7FFFFF, 0x4F000000),
    *(0x7F800000, 0xFF800000, 0x7FC00000, 0x7FC00001, 0xFFC12345, 0x7F800001, 0xFF812345),
)
"""Zeros, the smallest and largest, infinities, NaNs of both kinds and signs with their payloads."""

DIRECTED: tuple[Lane, ...] = (
    select(A < B, U3.wrap(E + C + 1), U3.wrap(C + E)),
    select(S3.wrap(E + A) < 0, 0, U3.wrap(E + A)),
    select(A.equals(-4) & B.equals(-4), 3, S3.wrap(HALF_PRODUCT)),
    select(A < B, E, C) & select(A < B, C, A),
    Int(2, False).field(E, 0) + (Int(2, False).field(E, 2) << 2),
    FloatOperation("add", F32, F32)(0x3F800000, 0x40000000, fpcr=0),
    *FLOATING,
    S3.wrap(A - B).equals(A - B).equals(0) ^ (S3.wrap(A - B) < 0),
    maximum(minimum(E, 4), 1),
    S3.wrap(A - B).equals(0),
    (E >> 2) + ((E & 3) > (D + 1)),
    (E >> 2) - ((E & 3) < (D + 1)),
)
"""Expressions for the rules that chance rarely meets."""


def rule_names() -> set[str]:
    """All rules there are."""
    return {rule.__name__ for rules in RULES.values() for rule in rules} | {rule.__name__ for rule in SUM_RULES}


def random_expression(rng: Random, depth: int) -> Lane:
    """An expression over the inputs, of operations that simplification knows."""
    if depth == 0 or rng.random() < 0.08:
        return rng.choice(list(INPUTS.values())) if rng.random() < 0.8 else constant(rng.randrange(-9, 10))

    def some() -> Lane:
        return random_expression(rng, depth - 1)

    def number_or_some() -> Lane:
        return some() if rng.random() < 0.4 else constant(rng.randrange(-9, 16))

    def chosen() -> Lane:
        kind = rng.randrange(5)
        if kind == 0:
            return pick(Int(2, False).wrap(some()), [some() for _ in range(1 + rng.randrange(4))], some())
        if kind == 1:
            return select(some().equals(rng.randrange(-4, 4)), some(), some())
        return select(some() < number_or_some(), some(), some())

    makers = (
        lambda: some() + some(), lambda: some() + some(), lambda: some() - some(), lambda: some() - some(),
        lambda: some() * some(), lambda: some() << rng.randrange(3), lambda: some() >> rng.randrange(4),
        lambda: some() & number_or_some(), lambda: some() | number_or_some(), lambda: some() ^ number_or_some(),
        lambda: minimum(some(), number_or_some()), lambda: maximum(some(), number_or_some()),
        lambda: some() < number_or_some(), lambda: some().equals(number_or_some()),
        lambda: Int(1 + rng.randrange(4), rng.random() < 0.5).field(some(), rng.choice((0, 0, 0, 1, 2))),
        lambda: Int(1 + rng.randrange(4), rng.random() < 0.5).field(some(), 0),
        lambda: Int(1 + rng.randrange(4), rng.random() < 0.5).saturate(some()),
        lambda: divide(some(), constant(rng.choice((1, 2, 3, 4)))), chosen, chosen,
    )  # fmt: skip
    return rng.choice(makers)()


def replaced(seed: int, count: int, depth: int, most: int) -> dict[str, list[tuple[Lane, Lane]]]:
    """What rules did while expressions were simplified: at most so many nodes before and after, by rule."""
    found: dict[str, list[tuple[Lane, Lane]]] = defaultdict(list)

    def note(rule: str, before: Lane, after: Lane) -> None:
        if len(found[rule]) < most:
            found[rule].append((before, after))

    s, rng = Simplifier(note), Random(seed)
    for lane in (*DIRECTED, *(random_expression(rng, depth) for _ in range(count))):
        s.simplified(lane)
    return found


def disagreement(before: Lane, after: Lane) -> str:
    """Where two expressions are not the same number, or the second leaves its range; "" for nowhere."""
    if any(isinstance(node, Floating) for node in walk([before])):
        return _floating_disagreement(before, after)
    known: dict[Lane, Numbers] = {}
    one, other = _numbers(before, known), _numbers(after, known)
    wrong = np.flatnonzero(
        np.broadcast_to((one != other) | (other < after.low) | (other > after.high), POINTS["a"].shape)
    )
    if not wrong.size:
        return ""
    at = int(wrong[0])
    return ", ".join(f"{name} = {points[at]}" for name, points in POINTS.items())


def _floating_disagreement(before: Lane, after: Lane) -> str:
    """The same on every pair of special numbers, or on as many draws of more inputs."""
    rng = Random(5)
    leaves = {node.place.file: node for node in walk([before, after]) if isinstance(node, Read)}
    for _ in range(len(NUMBERS) ** min(2, len(leaves))):
        values = {name: rng.choice(NUMBERS) if leaf in (X, Y, Z) else rng.randint(leaf.low, leaf.high)
                  for name, leaf in leaves.items()}  # fmt: skip
        evaluation = Evaluation(ClaimInputs(values))
        one, other = evaluation.value(before), evaluation.value(after)
        if one != other or not after.low <= other <= after.high:
            return ", ".join(f"{name} = {value:#x}" for name, value in values.items())
    return ""


def _numbers(lane: Lane, known: dict[Lane, Numbers]) -> Numbers:
    if lane not in known:
        known[lane] = _computed(lane, [_numbers(arg, known) for arg in lane.args])
    return known[lane]


def _computed(lane: Lane, args: list[Numbers]) -> Numbers:
    match lane:
        case Constant(number):
            return np.int64(number) * np.ones(1, np.int64)
        case Read(place):
            return POINTS[place.file]
        case Field(_, lsb, element):
            low = (args[0] >> lsb) & ((1 << element.bits) - 1)
            return np.where(low > element.high, low - (1 << element.bits), low)
        case Saturate(_, element):
            return np.clip(args[0], element.low, element.high)
        case Pick():
            index, *items, result = args
            for number, item in enumerate(items):
                result = np.where(index == number, item, result)
            return result
        case Binary():
            return _binary(lane, *args)
        case Load() | Floating():
            raise AssertionError("no expression here has memory or floating point")
        case _:
            assert_never(lane)


def _binary(lane: Binary, a: Numbers, b: Numbers) -> Numbers:
    match lane.operator:
        case "add":
            return a + b
        case "subtract":
            return a - b
        case "multiply":
            return a * b
        case "divide":
            divisor = np.where(b == 0, 1, b)
            quotient: Numbers = np.where(b == 0, 0, np.sign(a) * np.sign(divisor) * (np.abs(a) // np.abs(divisor)))
            return quotient
        case "shift_left":
            return a << b
        case "shift_right":
            return a >> b
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "minimum":
            return np.where(a < b, a, b)
        case "maximum":
            return np.where(a < b, b, a)
        case "less":
            return np.where(a < b, 1, 0)
        case "equal":
            return np.where(a == b, 1, 0)
        case _:
            assert_never(lane.operator)
