"""The arbiter's arithmetic against numpy (the processor's own) and against rational numbers rounded once."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any, cast

import numpy as np
import pytest

from isa.evaluate.floating import compute
from isa.floating import BF16, F16, F32, F64, Float, FloatOperation, Operation, Rounding
from isa.lane import Int
from support.floating_reference import (
    DZC,
    EXACT,
    IOC,
    IXC,
    MODES,
    OFC,
    UFC,
    Root,
    fused_differences,
    integral,
    rounded,
    signed,
)  # fmt: skip
from support.floating_values import FORMATS, decoded, encoded, halfway, is_nan, pair, specials, value

SEED = 4
PAIRS = 1500
ROUNDINGS: tuple[Rounding, ...] = (*MODES, "away", "odd")
UNSIGNED = {F16: np.uint16, F32: np.uint32, F64: np.uint64}
FLOATING = {F16: np.float16, F32: np.float32, F64: np.float64}
BINARY: dict[Operation, Callable[..., Any]] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
}  # fmt: skip
NUMPY_FLAGS = {8: IOC, 1: DZC, 2: OFC, 4: UFC}
"""Exceptions by the numbers that numpy gives its error call."""


def floats(bits: list[int], format: Float) -> Any:
    return np.array(bits, UNSIGNED[format]).view(FLOATING[format])


def numpy_result(function: Callable[..., Any], of: Float, to: Float, *operands: int) -> tuple[int, int]:
    """Bits and exceptions, but inexact, which numpy does not tell."""
    raised: list[int] = []
    with np.errstate(all="call", call=lambda _kind, flag: raised.append(flag)):
        result = function(*(floats([bits], of) for bits in operands))
    return int(result.view(UNSIGNED[to])[0]), sum({NUMPY_FLAGS[flag] for flag in raised})


def like_numpy(result: tuple[int, int], format: Float) -> tuple[object, int]:
    """A result as far as numpy can tell: NaNs alike, no inexact.

    The processor notices underflow after rounding, Arm before it: at the smallest normal number they may differ.
    """
    bits, raised = result
    edge = bits & (format.sign_bit - 1) == 1 << format.fraction_bits
    return "nan" if is_nan(bits, format) else bits, raised & ~(IXC | (UFC if edge else 0))


def differing(operation: FloatOperation, function: Callable[..., Any], cases: list[tuple[int, ...]]) -> list[str]:
    of, to, found = cast(Float, operation.of), cast(Float, operation.to), []
    for operands in cases:
        got = like_numpy(compute(operation, operands, 0), to)
        expected = like_numpy(numpy_result(function, of, to, *operands), to)
        if got != expected:
            found.append(f"{operation} {[hex(bits) for bits in operands]}: {got}, numpy {expected}; seed {SEED}")
    return found


@pytest.mark.parametrize("format", [F32, F64], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_sums_products_and_quotients_equal_numpy(name: Operation, format: Float) -> None:
    rng = Random(f"{SEED} {name} {format}")
    cases = [pair(rng, format) for _ in range(PAIRS)]
    assert not differing(FloatOperation(name, format, format), BINARY[name], list(cases))


@pytest.mark.parametrize("format", [F32, F64], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_special_operands_in_every_position_equal_numpy(name: Operation, format: Float) -> None:
    some = specials(format)[::3]
    cases = [(a, b) for a in some for b in some]
    assert not differing(FloatOperation(name, format, format), BINARY[name], list(cases))


@pytest.mark.parametrize("format", [F32, F64], ids=str)
def test_roots_equal_numpy(format: Float) -> None:
    rng = Random(SEED)
    cases = [(bits,) for bits in (*specials(format), *(value(rng, format) for _ in range(PAIRS)))]
    assert not differing(FloatOperation("square_root", format, format), np.sqrt, list(cases))


@pytest.mark.parametrize(("of", "to"), [(F32, F64), (F64, F32)], ids=str)
def test_conversions_equal_numpy(of: Float, to: Float) -> None:
    rng = Random(SEED)
    numbers = [bits for _ in range(PAIRS) for bits in (value(rng, of), *([halfway(rng, of, to)] if of == F64 else []))]
    cases = [(bits,) for bits in (*specials(of), *numbers)]
    assert not differing(FloatOperation("convert", of, to), lambda a: a.astype(FLOATING[to]), list(cases))


def exact_cases(name: str, format: Float, count: int) -> list[tuple[tuple[int, int], Fraction]]:
    """Pairs of finite numbers with their exact result, which is not zero."""
    rng = Random(f"{SEED} {name} {format}")
    cases: list[tuple[tuple[int, int], Fraction]] = []
    while len(cases) < count:
        a, b = pair(rng, format)
        if a & format.infinity != format.infinity != b & format.infinity and signed(b, format):
            exact = EXACT[name](signed(a, format), signed(b, format))
            if exact:
                cases.append(((a, b), exact))
    return cases


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("name", EXACT)
def test_every_rounding_takes_the_right_neighbour(name: Operation, format: Float, rounding: Rounding) -> None:
    operation = FloatOperation(name, format, format, rounding)
    found = []
    for operands, exact in exact_cases(name, format, 400):
        got, expected = compute(operation, operands, 0), rounded(exact, format, rounding)
        if got != expected:
            found.append(f"{[hex(bits) for bits in operands]}: {got}, exact {expected}; seed {SEED}")
    assert not found


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize(("of", "to"), [(F64, F32), (F64, F16), (F32, F16), (F32, BF16)], ids=str)
def test_narrowing_takes_the_right_neighbour(of: Float, to: Float, rounding: Rounding) -> None:
    """FCVT and FCVTN by the mode of FPCR, FCVTXN to odd, BFCVT."""
    operation, rng, found = FloatOperation("convert", of, to, rounding), Random(SEED), []
    for bits in (halfway(rng, of, to) for _ in range(600)):
        if bits & of.infinity != of.infinity and bits & of.sign_bit - 1:
            got, expected = compute(operation, (bits,), 0), rounded(signed(bits, of), to, rounding)
            found += [f"{bits:#x}: {got}, exact {expected}"] * (got != expected)
    assert not found


@pytest.mark.parametrize("rounding", MODES)
def test_the_mode_in_fpcr_is_the_rounding(rounding: Rounding) -> None:
    by_register, by_name = FloatOperation("add", F32, F32), FloatOperation("add", F32, F32, rounding)
    cases = [operands for operands, _ in exact_cases("add", F32, 200)]
    assert [compute(by_register, pair, MODES[rounding]) for pair in cases] == [compute(by_name, p, 0) for p in cases]


@pytest.mark.parametrize("rounding", MODES)
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_roots_take_the_right_neighbour(format: Float, rounding: Rounding) -> None:
    operation, rng, found = FloatOperation("square_root", format, format, rounding), Random(SEED), []
    for bits in (value(rng, format) & format.sign_bit - 1 for _ in range(800)):
        if 0 < bits < format.infinity:
            got, expected = compute(operation, (bits,), 0), rounded(Root(signed(bits, format)), format, rounding)
            found += [f"{bits:#x}: {got}, exact {expected}"] * (got != expected)
    assert not found


def square_roots(residue: int, bits: int) -> set[int]:
    """The odd numbers below 2^bits whose squares are `residue`, which is 1 modulo 8, modulo 2^bits."""
    root = 1
    for known in range(3, bits):
        root += (root * root - residue >> known & 1) << known - 1
    half = 1 << bits - 1
    return {sign * root + shift & (1 << bits) - 1 for sign in (1, -1) for shift in (0, half)}


def squares_beside_ties(format: Float) -> list[int]:
    """Numbers x whose root is beside t, half-way between two numbers: x 2^m = t^2 + k with a small k."""
    p, found = format.fraction_bits + 1, []
    for k in (7, -1, 15, -9, 23, -17, 31):
        for m in (p + 1, p + 2):
            for t in square_roots(-k % (1 << m), m):
                x = t * t + k >> m
                if t >> p == 1 and x < 1 << p:
                    found.append(encoded(float(x) * 2.0 ** (m - 2 * p), format))
    return found


@pytest.mark.parametrize("rounding", MODES)
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_roots_beside_ties_take_the_right_neighbour(format: Float, rounding: Rounding) -> None:
    operation = FloatOperation("square_root", format, format, rounding)
    expected = {bits: rounded(Root(signed(bits, format)), format, rounding) for bits in squares_beside_ties(format)}
    assert len(expected) > 5
    assert {bits: compute(operation, (bits,), 0) for bits in expected} == expected


@pytest.mark.parametrize("rounding", MODES)
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_results_below_the_normal_range_are_flushed(format: Float, rounding: Rounding) -> None:
    """FZ or FZ16 set: zero and UFC alone, decided before rounding; subnormal operands have counted as zero."""
    operation, found = FloatOperation("multiply", format, format, rounding), []
    for operands, exact in exact_cases("multiply", format, 400):
        if all(bits & format.infinity for bits in operands):
            got = compute(operation, operands, 1 << 24 | 1 << 19)
            expected = rounded(exact, format, rounding, flush=True)
            found += [f"{[hex(bits) for bits in operands]}: {got}, exact {expected}"] * (got != expected)
    assert not found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_a_fused_multiply_add_is_the_exact_sum_rounded_once(format: Float, mode: Rounding) -> None:
    """`make floating` does it on 1.2 million cases."""
    assert fused_differences(format, mode, SEED, 500) == []


@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize(("rounding", "sign"), [("even", 0), ("up", 0), ("zero", 0), ("down", 1)])
def test_what_cancels_exactly_is_minus_zero_only_when_rounding_down(
    format: Float, rounding: Rounding, sign: int
) -> None:
    one = encoded(1.0, format)
    sums = [
        compute(FloatOperation("add", format, format), (one, one | format.sign_bit), MODES[rounding]),
        compute(FloatOperation("subtract", format, format), (one, one), MODES[rounding]),
        compute(FloatOperation("multiply_add", format, format), (one | format.sign_bit, one, one), MODES[rounding]),
    ]
    assert sums == [(sign * format.sign_bit, 0)] * 3


@pytest.mark.parametrize("rounding", ["even", "up", "down", "zero", "away"])
@pytest.mark.parametrize("integer", [Int(32, True), Int(32, False), Int(64, True), Int(64, False)], ids=str)
@pytest.mark.parametrize("fraction_bits", [0, 1, 31])
def test_to_an_integer_rounds_then_saturates(integer: Int, rounding: Rounding, fraction_bits: int) -> None:
    operation = FloatOperation("to_integer", F64, integer, rounding, fraction_bits)
    rng, found = Random(SEED), []
    for bits in (*specials(F64), *(value(rng, F64) for _ in range(300))):
        if bits & F64.infinity != F64.infinity and abs(decoded(bits, F64)) < 2.0**900:
            number = decoded(bits, F64) * 2.0**fraction_bits
            exact = integral(number, rounding)
            clamped = min(max(exact, integer.low), integer.high)
            raised = IOC if clamped != exact else IXC if exact != number else 0
            if compute(operation, (bits,), 0) != (clamped, raised):
                found.append(f"{bits:#x}")
    assert not found


@pytest.mark.parametrize("rounding", MODES)
@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("fraction_bits", [0, 7, 64])
def test_from_an_integer_is_rounded_once(format: Float, rounding: Rounding, fraction_bits: int) -> None:
    operation = FloatOperation("from_integer", Int(64, True), format, fraction_bits=fraction_bits)
    rng, found = Random(SEED), []
    for _ in range(300):
        integer = rng.choice((-1, 1)) * ((1 << rng.randrange(63)) + (rng.randrange(-3, 4) << rng.randrange(40)))
        integer = min(max(integer, -(2**63)), 2**63 - 1)
        exact = Fraction(integer, 2**fraction_bits)
        expected = rounded(exact, format, rounding) if integer else (0, 0)
        found += [hex(integer)] * (compute(operation, (integer,), MODES[rounding]) != expected)
    assert not found
