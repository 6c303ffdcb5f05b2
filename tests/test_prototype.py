"""Signatures from the text of C prototypes."""

from __future__ import annotations

import pytest

from sim.kernels.prototype import LONGEST, PrototypeError, parse_prototype
from sim.kernels.signature import Argument, Pointer, ScalarArgument, Struct, VectorArgument, extents


def argument(text: str) -> Argument:
    """The first argument of a function that has this one and a number `n`."""
    return parse_prototype(f"void f({text}, size_t n)").signature.arguments[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int32_t a", ScalarArgument("a", "int32")),
        ("unsigned long long a", ScalarArgument("a", "uint64")),
        ("char a", ScalarArgument("a", "uint8")),
        ("float a", ScalarArgument("a", "float32")),
        ("__fp16 a", ScalarArgument("a", "float16")),
        ("const float *a[n]", Pointer("a", "float32", ("n",))),
        ("const float a[4][n]", Pointer("a", "float32", (4, "n"))),
        ("uint8_t *restrict a[n]", Pointer("a", "uint8", ("n",), direction="out")),
        ("inout int16_t a[0x10]", Pointer("a", "int16", (16,), direction="inout")),
        ("const int8_t *_Nullable a[n]", Pointer("a", "int8", ("n",), direction="in", nullable=True)),
        ("in int8_t a[2:n][4]", Pointer("a", "int8", (2, 4), direction="in", strides=("n", 1))),
        ("int32x4_t a", VectorArgument("a", "int32", 4)),
        ("float16x4_t a", VectorArgument("a", "float16", 4)),
        ("struct {int32_t low; uint8_t rest[3];} a", Struct("a", (("low", "int32"), ("rest", "(3,)uint8")))),
    ],
)
def test_an_argument_is_read(text: str, expected: Argument) -> None:
    assert argument(text) == expected


@pytest.mark.parametrize(("result", "dtype"), [("void", ""), ("int", "int32"), ("static inline double", "float64")])
def test_the_result_is_read(result: str, dtype: str) -> None:
    assert parse_prototype(f"{result} f(void);").signature.returns == dtype


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a type"),
        ("void f(int *a)", "has no extent: give one, as in a\\[length\\]"),
        ("void f(int a[m])", "names 'm', which is no scalar"),
        ("void f(int32x3_t a)", "must have 8 or 16"),
        ("void f(struct point a)", "expected '{'"),
        ("void f(struct {char a[5000];} s)", "1 to 4096 bytes"),
        ("void f(out int a)", "only a pointer can be 'out'"),
        ("void f(int a) int", "expected the end"),
        ("void f(int a, float a)", "names 'a' twice"),
        ("void f(wchar_t a)", "expected a type"),
        ("void f(int @)", "cannot have '@'"),
        ("float *f(void)", "a function may return a number or nothing"),
        ("void f(int a[2]", "expected '\\)'"),
        ("x" * (LONGEST + 1), "at most 10,000 characters"),
    ],
)
def test_what_is_no_prototype_is_refused(text: str, message: str) -> None:
    with pytest.raises(PrototypeError, match=message):
        parse_prototype(text)


@pytest.mark.parametrize(
    ("text", "shape", "value"),
    [
        ("n*2", ("n * 2",), (14,)),
        ("(n + 3) / 4 * 4", ("(n + 3) / 4 * 4",), (8,)),
        ("n % 4 - 1", ("n % 4 - 1",), (2,)),
        ("0x10 + n", ("16 + n",), (23,)),
        ("4 * 3", (12,), (12,)),
        ("2 * n:3 * n][4", ("2 * n", 4), (14, 4)),
    ],
)
def test_extents_are_computed_from_arguments(text: str, shape: tuple[int | str, ...], value: tuple[int, ...]) -> None:
    (array,) = parse_prototype(f"void f(int8_t a[{text}], size_t n)").signature.pointers
    assert (array.shape, extents(array, {"n": 7})) == (shape, value)


@pytest.mark.parametrize("text", ["n**2", "n(2)", "n.real", "n and 2", "-n", "(n", "n; 2", "f'x'", "n // 2", "1.5 * n"])
def test_what_is_no_arithmetic_of_sizes_is_refused(text: str) -> None:
    with pytest.raises(PrototypeError):
        parse_prototype(f"void f(int8_t a[{text}], size_t n)")


def test_an_extent_that_divides_by_zero_is_an_error_of_the_call() -> None:
    (array,) = parse_prototype("void f(int8_t a[8 / n], size_t n)").signature.pointers
    with pytest.raises(ValueError, match="the extent 8 / n divides by zero"):
        extents(array, {"n": 0})


def test_over_read_and_alignment_stand_behind_the_extents() -> None:
    first, second = parse_prototype(
        "void f(const int8_t a[n] over_read(16) aligned(32), int8_t b[n], size_t n)"
    ).signature.pointers
    assert (first.over_read, first.alignment, second.over_read, second.alignment) == (16, 32, 0, 1)


def test_a_structure_may_be_read_through_a_pointer() -> None:
    signature = parse_prototype("int f(const struct { int32_t zero; uint8_t bounds[2]; } *p, int n)").signature
    assert signature.arguments[0] == Struct("p", (("zero", "int32"), ("bounds", "(2,)uint8")), by_pointer=True)
    with pytest.raises(PrototypeError, match="a structure by pointer is only read"):
        parse_prototype("int f(struct { int32_t zero; } *p)")
