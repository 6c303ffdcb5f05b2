"""Signatures from the text of C prototypes."""

from __future__ import annotations

import pytest

from sim.kernels.prototype import LONGEST, PrototypeError, parse_prototype
from sim.kernels.signature import (
    Argument,
    FunctionArgument,
    Pointer,
    ScalarArgument,
    Struct,
    VectorArgument,
    extents,
)


def argument(text: str) -> Argument:
    """The first argument of a function that has this one and a number `n`."""
    return parse_prototype(f"void f({text}, size_t n)").signature.arguments[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int32_t a", ScalarArgument("a", "int32")),
        ("unsigned long long a", ScalarArgument("a", "uint64")),
        ("long unsigned int a", ScalarArgument("a", "uint64")),
        ("short int a", ScalarArgument("a", "int16")),
        ("int unsigned a", ScalarArgument("a", "uint32")),
        ("char signed a", ScalarArgument("a", "int8")),
        ("const int8_t a[010]", Pointer("a", "int8", (8,), direction="in")),
        ("const int8_t a[n + 010]", Pointer("a", "int8", ("n + 8",), direction="in")),
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
        ("void f(long double a)", "'long double' is no type that can be passed"),
        ("void f(int8_t a[09])", "09 is no octal number"),
        ("void f(" + "struct {" * 1000, "too deep in each other"),
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
        ("void f(int a[2]", "expected ',' or '\\)' after '\\[ 2 \\]', not its end"),
        ("void f(int a[2] int n)", "expected ',' or '\\)' after '\\[ 2 \\]', not 'int'"),
        ("x" * (LONGEST + 1), "at most 10,000 characters"),
        ("int f(const char *format[9], ...)", "variable arguments cannot be called"),
        ("void f(const int8_t **a[n], size_t n)", "needs|no extent: give one for each \\*"),
        ("void f(int (*op)(int))", "needs functions: write one_of"),
        ("void f(enum mode m)", "enum mode is not defined"),
        ("void f(int8_t a[n] may_be(b), size_t n)", "'a' cannot be 'b'"),
        ("void f(struct { int a; float a; } s)", "a structure names 'a' twice"),
        ("void f(struct { int a[4294967296]; } *s)", "a structure must have 1 to 4096 bytes"),
        ("__bf16 f(void)", "a function may return a number or nothing"),
        ("typedef int8_t row[4]; void f(row a)", "write it where it is used"),
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


DEFINED = """
    typedef float weight;                 // comments are read over
    enum mode { off, on = 4, automatic };
    union params { struct { int32_t zero; float scale; } neon; uint8_t all[12]; };
    struct point { int16_t x; int32_t y; };
    struct point f(const union params *p, enum mode m, const weight **rows[n][4], inout struct point q[n],
                   size_t n, int8_t (*clamp)(int8_t) one_of(relu, NULL),
                   struct { const int32_t *shift[n]; void *none; } s, const void *bytes[p.neon.zero],
                   int8_t out[n] may_be(in), const int8_t in[n], int8x16x2_t v, __bf16 b)
"""


def test_types_are_defined_before_the_function() -> None:
    """Sizes are those of AAPCS64: a union is as large as its largest member, and its first one is given numbers."""
    p, m, rows, q, n, clamp, s, data, out, _, v, b = parse_prototype(DEFINED).signature.arguments
    assert isinstance(p, Struct)
    assert (p.fields, p.type.itemsize, p.by_pointer, p.direction) == (
        (("neon.zero", "int32"), ("neon.scale", "float32")), 12, True, "in",
    )  # fmt: skip
    assert m == ScalarArgument("m", "uint32", choices=(0, 4, 5))
    assert rows == Pointer("rows", "float32", ("n", 4), indirect=True)
    assert q == Struct("q", (("x", "int16"), ("y", "int32")), by_pointer=True, direction="inout", shape=("n",))
    assert (n, clamp) == (ScalarArgument("n", "uint64"), FunctionArgument("clamp", ("relu", None)))
    assert isinstance(s, Struct)
    assert s.pointers == ((0, Pointer("s.shift", "int32", ("n",))), (8, None))
    assert data == Pointer("bytes", "uint8", ("p.neon.zero",))
    assert out == Pointer("out", "int8", ("n",), direction="out", may_be="in")
    assert (v, b) == (VectorArgument("v", "int8", 16, 2), ScalarArgument("b", "uint16", in_vector=True))


def test_what_is_returned_is_an_output_by_its_fields() -> None:
    outputs = parse_prototype(DEFINED).signature.outputs
    assert [one.name for one in outputs] == ["out", "q.x", "q.y", "returned.x", "returned.y"]
