"""The mathematical functions of the runtime, against exact numbers rounded once."""

from __future__ import annotations

from fractions import Fraction
from math import copysign, isfinite, isinf, isnan
from random import Random

import pytest

from isa.floating import F32, F64, Float, Rounding
from support.floating_reference import MODES, Root, fused_sum, integral, rounded
from support.floating_values import decoded, encoded, specials, triple, value
from support.runtime_calls import CONVERTED, FIXED, FLOATED, ROUNDED, Runtime, whole_runtime

FORMATS = {"f": F32, "": F64}
DIRECTION: dict[str, Rounding] = {
    "round": "away", "rint": "even", "nearbyint": "even", "floor": "down", "ceil": "up", "trunc": "zero",
}  # fmt: skip
TIES = (
    0.5,
    1.5,
    2.5,
    -0.5,
    -1.5,
    -2.5,
    0.49999997,
    -0.49999997,
    8388607.5,
    4503599627370495.5,
    -0.0,
    2.0**62,
    -(2.0**63),
)
LARGEST = (1 << 63) - 1


@pytest.fixture(scope="module")
def runtime() -> Runtime:
    return Runtime(whole_runtime())


def operands(format: Float, name: str) -> list[int]:
    rng = Random(name)
    return [
        *specials(format),
        *(encoded(tie, format) for tie in TIES),
        *(encoded(rng.uniform(-100, 100), format) for _ in range(40)),
        *(value(rng, format) for _ in range(100)),
    ]


def same(got: int, expected: float, format: Float) -> bool:
    """Bits of the expected number, or of any quiet NaN."""
    return isnan(decoded(got, format)) if isnan(expected) else got == encoded(expected, format)


def whole(number: float, direction: Rounding) -> float:
    """The integer beside it, with its sign where that is zero; itself where there is none."""
    return copysign(integral(number, direction), number) if isfinite(number) else number


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("name", ROUNDED)
def test_rounding_to_an_integer(runtime: Runtime, name: str, suffix: str) -> None:
    format = FORMATS[suffix]
    for bits in operands(format, name):
        got = runtime.call(name + suffix, floating=(bits,)).v0
        assert same(got, whole(decoded(bits, format), DIRECTION[name]), format), hex(bits)


def saturated(number: float, direction: Rounding) -> int:
    """As FCVTZS and FCVTAS: what does not fit becomes the nearest that does, and NaN 0."""
    if isnan(number):
        return 0
    if isinf(number):
        return LARGEST if number > 0 else -LARGEST - 1
    return min(max(integral(number, direction), -LARGEST - 1), LARGEST)


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("name", CONVERTED)
def test_rounding_to_a_long(runtime: Runtime, name: str, suffix: str) -> None:
    format = FORMATS[suffix]
    direction: Rounding = "away" if name.endswith("round") else "even"
    for bits in operands(format, name):
        got = runtime.call(name + suffix, floating=(bits,)).x0
        assert got == saturated(decoded(bits, format), direction) & (1 << 64) - 1, hex(bits)


@pytest.mark.parametrize("mode", ["even", "up", "down", "zero"])
def test_rint_follows_the_rounding_mode(runtime: Runtime, mode: Rounding) -> None:
    runtime.machine.fpcr = MODES[mode]
    got = [runtime.call("lrint", floating=(encoded(tie, F64),)).x0 for tie in TIES[:6]]
    runtime.machine.fpcr = 0
    assert got == [integral(tie, mode) & (1 << 64) - 1 for tie in TIES[:6]]


@pytest.mark.parametrize("suffix", FORMATS)
def test_fma_rounds_once(runtime: Runtime, suffix: str) -> None:
    rng, format = Random(suffix), FORMATS[suffix]
    cases = [triple(rng, format) for _ in range(300)]
    exact = {case: total for case in cases if (total := fused_sum(format, case)) is not None}
    got = {(c, a, b): runtime.call("fma" + suffix, floating=(a, b, c)).v0 for c, a, b in exact}
    assert got == {case: rounded(total, format, "even")[0] for case, total in exact.items()}
    assert len(exact) > 100


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_square_root_is_the_nearest(runtime: Runtime, suffix: str) -> None:
    format = FORMATS[suffix]
    numbers = {bits: decoded(bits, format) for bits in operands(format, "sqrt")}
    exact = {bits: Root(Fraction(number)) for bits, number in numbers.items() if isfinite(number) and number > 0}
    got = {bits: runtime.call("sqrt" + suffix, floating=(bits,)).v0 for bits in exact}
    assert got == {bits: rounded(root, format, "even")[0] for bits, root in exact.items()}


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_square_root_of_a_negative_number_is_none(runtime: Runtime, suffix: str) -> None:
    got = runtime.call("sqrt" + suffix, floating=(encoded(-4.0, FORMATS[suffix]),)).v0
    assert isnan(decoded(got, FORMATS[suffix]))


@pytest.mark.parametrize("suffix", FORMATS)
def test_fabs_clears_the_sign(runtime: Runtime, suffix: str) -> None:
    format = FORMATS[suffix]
    for bits in operands(format, "fabs"):
        assert runtime.call("fabs" + suffix, floating=(bits,)).v0 == bits & ~format.sign_bit


PAIRS = ((1.0, 2.0), (-0.0, 0.0), (0.0, -0.0), (float("nan"), 3.0), (3.0, float("nan")), (float("-inf"), 1e30))


@pytest.mark.parametrize(("name", "expected"), [("fmin", (1.0, -0.0, -0.0, 3.0, 3.0, float("-inf"))),
                                                ("fmax", (2.0, 0.0, 0.0, 3.0, 3.0, 1e30))])  # fmt: skip
@pytest.mark.parametrize("suffix", FORMATS)
def test_the_smaller_and_the_larger_number_leave_nan_aside(
    runtime: Runtime, name: str, expected: tuple[float, ...], suffix: str
) -> None:
    format = FORMATS[suffix]
    given = [tuple(encoded(number, format) for number in pair) for pair in PAIRS]
    got = tuple(runtime.call(name + suffix, floating=pair).v0 for pair in given)
    assert got == tuple(encoded(number, format) for number in expected)


def wide_integers(name: str) -> list[int]:
    """Around every power of two and halfway between the numbers of each format, and at random."""
    rng = Random(name)
    near = [(1 << power) + step for power in range(128) for step in (-1, 0, 1)]
    ties = [(2 * rng.getrandbits(bits) + 1 << power) + step for bits in (24, 53) for power in (0, 40, 70)
            for step in (-1, 0, 1) for _ in range(5)]  # fmt: skip
    return [*near, *ties, *(rng.getrandbits(rng.randrange(1, 129)) for _ in range(50)), (1 << 128) - 1]


@pytest.mark.parametrize("mode", ["even", "up", "down", "zero"])
@pytest.mark.parametrize("name", FLOATED)
def test_a_wide_integer_is_rounded_once(runtime: Runtime, name: str, mode: Rounding) -> None:
    format = F32 if name.endswith("sf") else F64
    runtime.machine.fpcr = MODES[mode]
    for bits in wide_integers(name):
        number = bits if "un" in name else bits - (bits >> 127 << 128)
        expected = rounded(Fraction(number), format, mode)[0] if number else 0
        got = runtime.call(f"__{name}", bits & LARGEST * 2 + 1, bits >> 64).v0
        assert (number, got) == (number, expected)
    runtime.machine.fpcr = 0


def clamped(number: float, low: int, high: int) -> int:
    if isnan(number):
        return 0
    if isinf(number):
        return high if number > 0 else low
    return min(max(int(number), low), high)


@pytest.mark.parametrize("name", FIXED)
def test_a_float_is_truncated_to_a_wide_integer(runtime: Runtime, name: str) -> None:
    format = F32 if "sf" in name else F64
    low, high = (0, (1 << 128) - 1) if "uns" in name else (-(1 << 127), (1 << 127) - 1)
    powers = [
        encoded(sign * scale * 2.0**power, format) for power in range(128) for sign in (1, -1) for scale in (1, 1.75)
    ]
    for bits in (*operands(format, name), *powers):
        expected = clamped(decoded(bits, format), low, high) & (1 << 128) - 1
        assert (hex(bits), runtime.call(f"__{name}", floating=(bits,)).wide) == (hex(bits), expected)
