"""Arm's rules for what is no ordinary number, in tables written from the Arm manual (shared pseudocode: FP*)."""

from __future__ import annotations

import pytest

from isa.evaluate.floating import compute
from isa.floating import F16, F32, F64, Float, FloatOperation, Operation, Rounding
from isa.lane import U1, Int
from support.floating_reference import AHP, DN, DZC, FZ, FZ16, IDC, IOC, IXC, MODES, OFC, UFC

U4 = Int(4, False)
NAMES = {
    "-inf": 0xFF800000, "-1": 0xBF800000, "-0": 0x80000000, "+0": 0, "+1": 0x3F800000, "+inf": 0x7F800000,
    "q": 0x7FC00005, "s": 0xFF800003, "S": 0xFFC00003, "nan": 0x7FC00000,
}  # fmt: skip
"""Single-precision numbers; `q` a quiet NaN, `s` a signalling one, `S` that made quiet, `nan` the default NaN."""
COLUMNS = ("-inf", "-1", "-0", "+0", "+1", "+inf", "q", "s")
NO_NAN = {
    "maximum": """
        -inf -1 -0 +0 +1 +inf
        -1 -1 -0 +0 +1 +inf
        -0 -0 -0 +0 +1 +inf
        +0 +0 +0 +0 +1 +inf
        +1 +1 +1 +1 +1 +inf
        +inf +inf +inf +inf +inf +inf
    """,
    "minimum": """
        -inf -inf -inf -inf -inf -inf
        -inf -1 -1 -1 -1 -1
        -inf -1 -0 -0 -0 -0
        -inf -1 -0 +0 +0 +0
        -inf -1 -0 +0 +1 +1
        -inf -1 -0 +0 +1 +inf
    """,
}
"""Rows are the first operand, columns the second, in the order of `COLUMNS` (FPMax, FPMin)."""


def rows_of(name: str) -> list[list[str]]:
    return [line.split() for line in NO_NAN[name].strip().splitlines()]


def table(name: str) -> dict[tuple[str, str], str]:
    """Every pair; a number beats a quiet NaN only in the `_number` operations (FPMaxNum, FPMinNum)."""
    numbers = COLUMNS[:6]
    rows = rows_of(name.removesuffix("_number"))
    filled = {(a, b): rows[i][j] for i, a in enumerate(numbers) for j, b in enumerate(numbers)}
    for number in numbers:
        filled[number, "q"] = filled["q", number] = number if name.endswith("_number") else "q"
    filled["q", "q"] = "q"
    return filled | {pair: "S" for other in COLUMNS for pair in ((other, "s"), ("s", other))}


@pytest.mark.parametrize("name", ["maximum", "minimum", "maximum_number", "minimum_number"])
def test_the_larger_and_the_smaller_of_special_values(name: Operation) -> None:
    operation = FloatOperation(name, F32, F32)
    got = {(a, b): compute(operation, (NAMES[a], NAMES[b]), 0) for a in COLUMNS for b in COLUMNS}
    assert got == {pair: (NAMES[of], IOC if "s" in pair else 0) for pair, of in table(name).items()}


ORDER = {"-inf": 0, "-1": 1, "-0": 2, "+0": 2, "+1": 3, "+inf": 4}


@pytest.mark.parametrize(("name", "quiet_raises"), [("compare", 0), ("compare_signalling", IOC)])
def test_comparisons_set_the_flags(name: Operation, quiet_raises: int) -> None:
    """NZCV: 0011 unordered, 0110 equal, 1000 less, 0010 greater (FPCompare)."""
    operation, expected = FloatOperation(name, F32, U4), {}
    for a, b in ((a, b) for a in COLUMNS for b in COLUMNS):
        if "s" in (a, b) or "q" in (a, b):
            expected[a, b] = 0b0011, IOC if "s" in (a, b) else quiet_raises
        else:
            expected[a, b] = (0b0110 if ORDER[a] == ORDER[b] else 0b1000 if ORDER[a] < ORDER[b] else 0b0010), 0
    assert {pair: compute(operation, (NAMES[pair[0]], NAMES[pair[1]]), 0) for pair in expected} == expected


@pytest.mark.parametrize(("name", "quiet_raises"), [("equal", 0), ("greater", IOC), ("greater_or_equal", IOC)])
def test_comparisons_hold_of_ordered_operands_only(name: Operation, quiet_raises: int) -> None:
    operation, expected = FloatOperation(name, F32, U1), {}
    for a, b in ((a, b) for a in COLUMNS for b in COLUMNS):
        if "s" in (a, b) or "q" in (a, b):
            expected[a, b] = 0, IOC if "s" in (a, b) else quiet_raises
        else:
            x, y = ORDER[a], ORDER[b]
            expected[a, b] = int({"equal": x == y, "greater": x > y, "greater_or_equal": x >= y}[name]), 0
    assert {pair: compute(operation, (NAMES[pair[0]], NAMES[pair[1]]), 0) for pair in expected} == expected


Q1, Q2, Q3, S1, S2, S3 = 0x7FC00011, 0xFFC00022, 0x7FC00033, 0x7F800011, 0xFF800022, 0x7F800033
QUIET, ONE, INF, DEFAULT = 0x00400000, 0x3F800000, 0x7F800000, 0x7FC00000


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "multiply_extended", "divide", "maximum", "minimum"])
@pytest.mark.parametrize(
    ("a", "b", "result", "raised"),
    [
        (Q1, Q2, Q1, 0), (ONE, Q2, Q2, 0), (Q1, ONE, Q1, 0), (S1, Q2, S1 | QUIET, IOC), (Q1, S2, S2 | QUIET, IOC),
        (S1, S2, S1 | QUIET, IOC), (INF, S2, S2 | QUIET, IOC), (Q2, INF, Q2, 0),
    ],
)  # fmt: skip
def test_the_first_signalling_nan_wins_then_the_first_quiet_one(
    name: Operation, a: int, b: int, result: int, raised: int
) -> None:
    operation = FloatOperation(name, F32, F32)
    assert compute(operation, (a, b), 0) == (result, raised)
    assert compute(operation, (a, b), DN) == (DEFAULT, raised)


@pytest.mark.parametrize(
    ("addend", "a", "b", "result", "raised"),
    [
        (Q1, Q2, Q3, Q1, 0), (ONE, Q2, Q3, Q2, 0), (ONE, ONE, Q3, Q3, 0), (Q1, Q2, S3, S3 | QUIET, IOC),
        (Q1, S2, S3, S2 | QUIET, IOC), (S1, S2, S3, S1 | QUIET, IOC), (Q1, ONE, ONE, Q1, 0),
        (Q1, 0, INF, DEFAULT, IOC), (Q1, INF, 0, DEFAULT, IOC), (S1, 0, INF, S1 | QUIET, IOC),
        (ONE, 0, INF, DEFAULT, IOC), (INF, INF, 0xBF800000, DEFAULT, IOC), (INF, INF, ONE, INF, 0),
        (Q1, 0, 0xFF800000, DEFAULT, IOC),
    ],
)  # fmt: skip
def test_nans_of_fused_multiply_adds(addend: int, a: int, b: int, result: int, raised: int) -> None:
    """The addend comes first; zero times infinity is invalid even with a quiet NaN as addend (FPMulAdd)."""
    assert compute(FloatOperation("multiply_add", F32, F32), (addend, a, b), 0) == (result, raised)


@pytest.mark.parametrize(
    ("name", "a", "b", "result", "raised"),
    [
        ("divide", 0, 0, DEFAULT, IOC), ("divide", INF, INF, DEFAULT, IOC), ("divide", INF, 0, INF, 0),
        ("divide", ONE, 0x80000000, 0xFF800000, DZC), ("multiply", 0, INF, DEFAULT, IOC),
        ("multiply_extended", 0x80000000, INF, 0xC0000000, 0),
        ("multiply_extended", 0, INF, 0x40000000, 0), ("reciprocal_step", 0, INF, 0x40000000, 0),
        ("reciprocal_root_step", INF, 0, 0x3FC00000, 0), ("reciprocal_step", ONE, ONE, ONE, 0),
        ("reciprocal_root_step", ONE, ONE, ONE, 0), ("reciprocal_step", INF, ONE, 0xFF800000, 0),
        ("reciprocal_step", Q1, ONE, Q1 | 0x80000000, 0), ("reciprocal_step", ONE, Q1, Q1, 0),
        ("subtract", INF, INF, DEFAULT, IOC), ("add", INF, 0xFF800000, DEFAULT, IOC),
    ],
)  # fmt: skip
def test_zeros_and_infinities(name: Operation, a: int, b: int, result: int, raised: int) -> None:
    """FRECPS and FRSQRTS turn the sign of the first operand, that of a NaN too."""
    assert compute(FloatOperation(name, F32, F32), (a, b), 0) == (result, raised)


@pytest.mark.parametrize("rounding", MODES)
def test_minus_zero_has_a_root_and_minus_one_has_none(rounding: Rounding) -> None:
    root = FloatOperation("square_root", F32, F32)
    modes = MODES[rounding]
    assert compute(root, (0x80000000,), modes) == (0x80000000, 0)
    assert compute(root, (0xBF800000,), modes) == (DEFAULT, IOC)


@pytest.mark.parametrize(
    ("format", "fpcr", "operands", "result", "raised"),
    [
        (F32, FZ, (0x00000001, ONE), ONE, IDC), (F32, FZ, (0x80000001, 0x80000000), 0x80000000, IDC),
        (F32, FZ, (0x00800001, 0x80800000), 0, UFC), (F32, 0, (0x00800001, 0x80800000), 1, 0),
        (F32, FZ16, (0x00000001, 0), 1, 0), (F64, FZ, (1, 1), 0, IDC), (F64, FZ16, (1, 1), 2, 0),
        (F16, FZ16, (0x0001, 0x3C00), 0x3C00, 0), (F16, FZ16, (0x0401, 0x8400), 0, UFC), (F16, FZ, (1, 1), 2, 0),
        (F32, FZ, (1, Q1), Q1, IDC),
    ],
)  # fmt: skip
def test_what_is_flushed(format: Float, fpcr: int, operands: tuple[int, int], result: int, raised: int) -> None:
    """FZ for single and double, raising IDC for operands; FZ16 for half, raising only UFC for results."""
    assert compute(FloatOperation("add", format, format), operands, fpcr) == (result, raised)


@pytest.mark.parametrize(
    ("of", "to", "fpcr", "bits", "result", "raised"),
    [
        (F16, F32, FZ16, 1, 0x33800000, 0), (F32, F16, FZ16, 0x33800000, 1, 0), (F32, F16, FZ, 1, 0, IDC),
        (F64, F32, FZ, 0x3690000000000000, 0, UFC), (F64, F32, 0, 0x36A0000000000000, 1, 0),
        (F16, F32, AHP, 0x7C00, 0x47800000, 0), (F16, F32, AHP, 0xFFFF, 0xC7FFE000, 0), (F16, F32, 0, 0x7C00, INF, 0),
        (F32, F16, AHP, INF, 0x7FFF, IOC), (F32, F16, AHP, Q2, 0x8000, IOC), (F32, F16, AHP, 0x48000000, 0x7FFF, IOC),
        (F32, F16, AHP, 0x47800000, 0x7C00, 0), (F32, F16, 0, 0x47800000, 0x7C00, OFC | IXC),
        (F32, F64, 0, S2, 0xFFF8000440000000, IOC), (F64, F32, 0, 0x7FF0000020000000, 0x7FC00001, IOC),
        (F64, F16, DN, 0xFFF8000000000001, 0x7E00, 0), (F16, F64, 0, 0xFD01, 0xFFFC040000000000, IOC),
    ],
)  # fmt: skip
def test_conversions_of_special_values(of: Float, to: Float, fpcr: int, bits: int, result: int, raised: int) -> None:
    """FPConvert: FZ16 does not count, the alternative half precision has neither infinities nor NaNs."""
    assert compute(FloatOperation("convert", of, to), (bits,), fpcr) == (result, raised)
