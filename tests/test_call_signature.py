"""Arguments and results of every kind reach compiled functions: clang's code says where it looked for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.call.call import CompiledKernel
from sim.call.guards.findings import GuardError
from sim.check import check_kernel
from sim.kernels import Domain, Kernel, KernelError
from sim.kernels.prototype import parse_prototype
from sim.toolchain.compilers import build_text

HEAD = "#include <arm_neon.h>\n#include <stddef.h>\n#include <stdint.h>\n"


def called(prototype: str, text: str, arguments: Mapping[str, Any], level: str = "-O1") -> dict[str, Any]:
    """The outputs of one call, the same on both engines."""
    name, signature = parse_prototype(prototype)
    kernel = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=dict)
    result = CompiledKernel(build_text(HEAD + text, ".c", level), kernel).call(arguments, seed=2)
    assert result.divergence is None
    machine, emulator = ({n: a.tolist() for n, a in result.outputs[e].items()} for e in ("machine", "emulator"))
    assert machine == emulator
    return machine


STRUCTS = """
typedef struct { float x, y[2]; } floats;
typedef struct { int64_t a; int8_t b; } pair;
typedef struct { int8_t bytes[17]; } large;
typedef struct { float x; int32_t n; } mixed;
void f(int32_t *out, floats s, pair p, large l, mixed m, double d[1], int32_t a, int32_t b, pair q, floats t, floats u)
{
    const int32_t all[] = { (int32_t)s.x, (int32_t)s.y[1], (int32_t)p.a, p.b, l.bytes[0], l.bytes[16], (int32_t)m.x,
                            m.n, (int32_t)*d, a, b, (int32_t)q.a, q.b, (int32_t)t.y[0], (int32_t)u.x, (int32_t)u.y[1] };
    for (int i = 0; i < 16; ++i) out[i] = all[i];
}
"""
STRUCTS_PROTOTYPE = """void f(int32_t out[16], struct {float x; float y[2];} s, struct {int64_t a; int8_t b;} p,
    struct {int8_t bytes[17];} l, struct {float x; int32_t n;} m, const double d[1], int32_t a, int32_t b,
    struct {int64_t a; int8_t b;} q, struct {float x; float y[2];} t, struct {float x; float y[2];} u)"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_structures_arrive_by_their_layout(level: str) -> None:
    arguments = {
        "s": (1, [2, 3]), "p": {"a": 4, "b": -5}, "l": {"bytes": [6, *[0] * 15, 7]}, "m": (8, 9), "d": np.array([10.0]),
        "a": 11, "b": 12, "q": (13, 14), "t": (0, [15, 0]), "u": (16, [0, 17]),
    }  # fmt: skip
    expected = [1, 3, 4, -5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
    assert called(STRUCTS_PROTOTYPE, STRUCTS, arguments, level)["out"] == expected


def test_vectors_arrive_in_their_lanes() -> None:
    text = "void f(int32_t *out, int32x4_t a, int16x4_t b) { vst1q_s32(out, vaddw_s16(a, b)); }"
    arguments = {"a": np.array([1, 2, 3, 4]), "b": np.array([10, 20, 30, -40])}
    assert called("void f(int32_t out[4], int32x4_t a, int16x4_t b)", text, arguments)["out"] == [11, 22, 33, -36]


@pytest.mark.parametrize(
    ("result", "value"),
    [("int8_t", -3), ("uint64_t", 2**64 - 1), ("float", 0.5), ("double", -2.5), ("__fp16", 1.5)],
)
def test_a_result_comes_back(result: str, value: float) -> None:
    prototype = f"{result} f({result} a)"
    assert called(prototype, f"{prototype} {{ return a; }}", {"a": value})["returned"] == value


def test_rows_lie_as_far_apart_as_their_stride() -> None:
    text = "void f(const int8_t *a, int8_t *b, size_t s) { for (int i = 0; i < 3; ++i) b[i * 2] = a[i * s]; }"
    prototype = "void f(const int8_t a[3:s][2], int8_t b[3:2][1], size_t s)"
    arguments = {"a": np.array([[1, 2], [3, 4], [5, 6]], np.int8), "s": 7}
    assert called(prototype, text, arguments)["b"] == [[1], [3], [5]]


@pytest.mark.parametrize(
    ("value", "message"),
    [({"n": 300}, "'n' is no uint8"), ({}, "'n' is missing"), ({"n": "x"}, "'n' is no uint8"), ({"n": [1, 2]}, "one")],
)
def test_a_value_that_does_not_fit_is_refused(value: dict[str, Any], message: str) -> None:
    with pytest.raises(KernelError, match=message):
        called("void f(uint8_t n)", "void f(uint8_t n) {}", value)


SCRATCH = "void f(const int32_t a[4], int32_t out[4], scratch int32_t work[4])"
SCRATCH_TEXT = """void f(const int32_t *a, int32_t *out, int32_t *work)
{ for (int i = 0; i < 4; ++i) work[i] = 2 * a[i]; for (int i = 0; i < 4; ++i) out[i] = work[3 - i]; }"""


def test_what_is_left_in_a_scratch_array_is_no_output() -> None:
    assert called(SCRATCH, SCRATCH_TEXT, {"a": np.arange(4, dtype=np.int32)}) == {"out": [6, 4, 2, 0]}


ROWS = "void f(const uint8_t **rows[n][k], size_t n, size_t k, uint32_t sums[n], uint8_t **copies[n][k])"
ROWS_TEXT = """void f(const uint8_t *const *rows, size_t n, size_t k, uint32_t *sums, uint8_t **copies) {
    for (size_t i = 0; i < n; ++i) {
        sums[i] = 0;
        for (size_t j = 0; j < k; ++j) { sums[i] += rows[i][j]; copies[i][j] = rows[i][j] + 1; }
    }
}"""


def test_a_table_of_pointers_leads_to_rows_that_lie_apart() -> None:
    rows = np.arange(15, dtype=np.uint8).reshape(3, 5)
    made = called(ROWS, ROWS_TEXT, {"rows": rows, "n": 3, "k": 5})
    assert made == {"sums": rows.sum(axis=1).tolist(), "copies": (rows + 1).tolist()}


@pytest.mark.parametrize(
    ("old", "new", "kind", "says"),
    [
        (
            "j < k;",
            "j <= k;",
            "over-read",
            r"reads byte 5, past the end of 'rows\[0\]' \(5 bytes\); if it is meant: over_read\(1\) on 'rows'",
        ),
        ("rows[i][j];", "rows[i][j - 1];", "under-read", r"reads byte -1, before the start of 'rows\[0\]'"),
        ("copies[i][j] =", "copies[i][j + 5] =", "over-write", r"writes byte 5, past the end of 'copies\[0\]'"),
        (
            "copies[i][j] =",
            "((uint8_t *)rows[i])[j] =",
            "write to input",
            r"writes byte 0 of the input 'rows\[0\]'; if it is meant: inout",
        ),
        ("rows[i][j];", "rows[i + n][j];", "over-read", r"past the end of '\*rows' \(24 bytes\)"),
    ],
)
def test_what_goes_beyond_a_row_or_the_table_is_found(old: str, new: str, kind: str, says: str) -> None:
    assert old in ROWS_TEXT
    arguments = {"rows": np.arange(15, dtype=np.uint8).reshape(3, 5), "n": 3, "k": 5}
    with pytest.raises(GuardError, match=says) as stopped:
        called(ROWS, ROWS_TEXT.replace(old, new, 1), arguments)
    assert stopped.value.finding.kind == kind


def test_rows_may_be_over_read_where_that_is_declared() -> None:
    prototype = ROWS.replace("rows[n][k]", "rows[n][k] over_read(3)")
    text = ROWS_TEXT.replace("sums[i] = 0;", "sums[i] = 0; *(volatile const uint8_t *)(rows[i] + k + 2);")
    rows = np.ones((2, 4), np.uint8)
    assert called(prototype, text, {"rows": rows, "n": 2, "k": 4})["sums"] == [4, 4]


SHARED = """void f(const int8_t **rows[n][k] shared may_be(zero), const int8_t zero[k], int32_t sums[n], size_t n,
    size_t k)"""
SHARED_TEXT = """void f(const int8_t *const *rows, const int8_t *zero, int32_t *sums, size_t n, size_t k) {
    for (size_t i = 0; i < n; ++i) {
        sums[i] = rows[i] == zero ? 1000 : i && rows[i] == rows[i - 1] ? 2000 : 0;
        for (size_t j = 0; j < k; ++j) sums[i] += rows[i][j];
    }
}"""


def test_pointers_of_a_shared_table_may_be_the_same_and_another_input() -> None:
    rows, zero = np.array([[1, 2], [3, 4], [5, 6], [7, 8]], np.int8), np.array([20, 30], np.int8)
    given = {"rows": rows, "zero": zero, "n": 4, "k": 2}
    made = called(SHARED, SHARED_TEXT, {**given, "rows.rows": np.array([2, 2, 4, 0], np.uint32)})
    assert made["sums"] == [11, 2011, 1050, 3]
    for wrong in ([2, 2, 5, 0], [2, 2, -1, 0], [0, 1, 2]):
        with pytest.raises(KernelError, match="must be 4 numbers from 0 to 4"):
            called(SHARED, SHARED_TEXT, {**given, "rows.rows": np.array(wrong, np.int64)})


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
@pytest.mark.parametrize(("text", "passes"), [(SHARED_TEXT, True), (SHARED_TEXT.replace("== zero", "!= zero"), False)])
def test_a_shared_table_is_drawn_with_all_that_its_pointers_may_be(tmp_path: Path, text: str, passes: bool) -> None:
    def golden(inputs: Mapping[str, Any]) -> dict[str, Any]:
        among = inputs["rows.rows"].astype(int)
        arrays = np.concatenate([inputs["rows"], inputs["zero"][None]]).astype(np.int32)
        same = np.concatenate([[False], among[1:] == among[:-1]])[: len(among)]
        more = np.where(among == len(among), 1000, np.where(same, 2000, 0))
        return {"sums": (arrays[among].sum(axis=1) + more).astype(np.int32)}

    (tmp_path / "f.c").write_text(HEAD + text)
    name, signature = parse_prototype(SHARED)
    small = Domain(1, 9)
    kernel = Kernel(
        name=name, symbol=name, sources=(tmp_path / "f.c",), signature=signature, golden=golden,
        domain={"n": small, "k": small},
    )  # fmt: skip
    assert check_kernel(kernel, levels=("O1",), vectors=50).passed == passes


BLOCKS = (
    "void f(const struct { float16_t d; int8_t q[4]; } x[n], struct { float sum; int8_t first[2]; } y[n], size_t n)"
)
BLOCKS_TEXT = """typedef struct { float16_t d; int8_t q[4]; } in;
typedef struct { float sum; int8_t first[2]; } out;
void f(const in *x, out *y, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        y[i].sum = 0;
        for (int j = 0; j < 4; ++j) y[i].sum += (float)x[i].d * x[i].q[j];
        y[i].first[0] = x[i].q[0]; y[i].first[1] = x[i].q[1];
    }
}"""


def test_arrays_of_structures_go_in_and_come_back_by_their_fields() -> None:
    d, q = np.array([0.5, 2], np.float16), np.array([[1, 2, 3, 4], [-1, 0, 0, 5]], np.int8)
    made = called(BLOCKS, BLOCKS_TEXT, {"x": {"d": d, "q": q}, "n": 2})
    assert made == {"y.sum": [5.0, 8.0], "y.first": [[1, 2], [-1, 0]]}


CHANGED = "int32_t f(inout struct { int32_t count; struct { int16_t low; int16_t high; } range; } *s)"
CHANGED_TEXT = """struct s { int32_t count; struct { int16_t low; int16_t high; } range; };
int32_t f(struct s *s) { s->count += 1; s->range.low = s->range.high; return s->range.high; }"""


def test_a_structure_is_changed_in_place() -> None:
    made = called(CHANGED, CHANGED_TEXT, {"s": {"count": 6, "range": {"low": 1, "high": 9}}})
    assert made == {"s.count": 7, "s.range.low": 9, "s.range.high": 9, "returned": 9}


QUANTIZED = """void f(const struct { const int32_t *shift[n]; int32_t zero; void *buffer; } *q, const int32_t x[n],
    int32_t y[n], size_t n, struct { int32_t *sums[q.zero]; int32_t step; } work)"""
QUANTIZED_TEXT = """struct q { const int32_t *shift; int32_t zero; void *buffer; };
struct w { int32_t *sums; int32_t step; };
void f(const struct q *q, const int32_t *x, int32_t *y, size_t n, struct w work) {
    for (int32_t i = 0; i < q->zero; ++i) work.sums[i] += i * work.step;
    for (size_t i = 0; i < n; ++i) y[i] = (x[i] >> q->shift[i]) + q->zero + (q->buffer != 0);
}"""


def test_fields_that_point_to_arrays_are_inputs_and_outputs_of_their_own() -> None:
    shift, x, sums = (np.array(numbers, np.int32) for numbers in ([1, 2], [9, 9], [5, 5, 5]))
    arguments = {"q": {"zero": 3}, "q.shift": shift, "x": x, "n": 2, "work": {"step": 7}, "work.sums": sums}
    assert called(QUANTIZED, QUANTIZED_TEXT, arguments) == {"y": [7, 5], "work.sums": [5, 12, 19]}


APPLIED = "int32_t f(int32_t x, int32_t (*op)(int32_t) one_of(twice, minus, NULL))"
APPLIED_TEXT = """int32_t twice(int32_t x) { return 2 * x; }
int32_t minus(int32_t x) { return -x; }
int32_t f(int32_t x, int32_t (*op)(int32_t)) { return op ? op(x) : x; }"""


@pytest.mark.parametrize(("function", "expected"), [("twice", 14), ("minus", -7), (None, 7)])
def test_a_pointer_to_a_function_is_that_of_the_image(function: str | None, expected: int) -> None:
    assert called(APPLIED, APPLIED_TEXT, {"x": 7, "op": function})["returned"] == expected


def test_another_function_is_refused() -> None:
    with pytest.raises(KernelError, match="'op' is none of its functions: 'f'"):
        called(APPLIED, APPLIED_TEXT, {"x": 7, "op": "f"})


REVERSED = "void f(const int8_t x[n], int8_t y[n] may_be(x), size_t n)"
REVERSED_TEXT = "void f(const int8_t *x, int8_t *y, size_t n) { for (size_t i = 0; i < n; ++i) y[i] = x[n - 1 - i]; }"


@pytest.mark.parametrize(("same", "expected"), [({}, [4, 3, 2, 1]), ({"y": "x"}, [4, 3, 3, 4])])
def test_an_output_may_be_the_input(same: dict[str, str], expected: list[int]) -> None:
    x = np.array([1, 2, 3, 4], np.int8)
    assert called(REVERSED, REVERSED_TEXT, {"x": x, "n": 4, **same}, "-O0")["y"] == expected


def test_what_may_be_read_behind_an_input_may_be_in_its_place_too() -> None:
    prototype = "void f(const int8_t x[n] over_read(2), int8_t y[n] may_be(x), size_t n)"
    text = REVERSED_TEXT.replace("{ for", "{ *(volatile const int8_t *)(x + n + 1); for")
    assert called(prototype, text, {"x": np.array([5], np.int8), "n": 1, "y": "x"}, "-O0")["y"] == [5]


@pytest.mark.parametrize(("same", "array", "on"), [({"y": "x"}, "y", "x"), ({}, "x", "x")])
def test_what_is_read_behind_is_told_by_the_input_where_it_is_declared(
    same: dict[str, str], array: str, on: str
) -> None:
    text = REVERSED_TEXT.replace("{ for", "{ *(volatile const int8_t *)(x + n + 1); for")
    said = f"past the end of '{array}' .*; if it is meant: over_read.2. on '{on}'"
    with pytest.raises(GuardError, match=said):
        called(REVERSED, text, {"x": np.array([5], np.int8), "n": 1, **same}, "-O0")


def test_an_output_of_another_size_is_not_the_input() -> None:
    prototype = "void f(const int8_t x[n], int16_t y[n] may_be(x), size_t n)"
    with pytest.raises(KernelError, match="'y' cannot be 'x': they have 8 and 4 bytes"):
        called(
            prototype, "void f(const int8_t *x, int16_t *y, size_t n) {}", {"x": np.ones(4, np.int8), "n": 4, "y": "x"}
        )


def test_every_kind_is_drawn_from_its_domain() -> None:
    """Functions, enumerations, and whether an output is the input are drawn as numbers are."""
    prototype = """enum mode { off = 2, on = 5 };
        void f(enum mode m, int32_t (*op)(int32_t) one_of(a, b), const int8_t x[p.n], int8_t y[p.n] may_be(x),
               const struct { uint8_t n; int8_t *z[p.n]; } *p, const int8_t **rows[p.n][2])"""
    signature = parse_prototype(prototype).signature
    kernel = Kernel(name="f", symbol="f", sources=(), signature=signature, golden=dict)
    made = list(kernel.corners())
    assert {one["m"] for one in made} == {2, 5}
    assert {one["op"] for one in made} == {"a", "b"}
    assert {one.get("y") for one in made} == {None, "x"}
    assert all(len(one["x"]) == len(one["p.z"]) == len(one["rows"]) == one["p"]["n"] for one in made)
    assert set(range(49)) <= {one["p"]["n"] for one in made}


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
def test_a_wrong_field_of_a_structure_is_told_by_its_name(tmp_path: Path) -> None:
    """The golden reference gives structures as mappings; so do the conventions, of which one is followed here."""

    def golden(inputs: Mapping[str, Any]) -> dict[str, Any]:
        x = inputs["x"]
        sums = (x["d"].astype(np.float32)[:, None] * x["q"]).sum(axis=1, dtype=np.float32)
        return {"y": {"sum": sums, "first": x["q"][:, :2]}}

    def turned(inputs: Mapping[str, Any]) -> dict[str, Any]:
        right = golden(inputs)["y"]
        return {"y": {"sum": right["sum"], "first": right["first"][:, ::-1]}}

    wrong = BLOCKS_TEXT.replace(
        "first[0] = x[i].q[0]; y[i].first[1] = x[i].q[1]", "first[0] = x[i].q[1]; y[i].first[1] = x[i].q[0]"
    )
    assert wrong != BLOCKS_TEXT
    (tmp_path / "f.c").write_text(HEAD + wrong)
    name, signature = parse_prototype(BLOCKS)
    kernel = Kernel(
        name=name, symbol=name, sources=(tmp_path / "f.c",), signature=signature, golden=golden,
        conventions={"turned": turned}, domain={"n": Domain(0, 9), "x.d": Domain(choices=(0.5, 1, 2))},
    )  # fmt: skip
    (outcome,) = check_kernel(kernel, levels=("O1",), vectors=200).outcomes
    assert outcome.mismatch is not None
    assert (outcome.mismatch.output, outcome.mismatch.conventions) == ("y.first", ("turned",))


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
def test_what_comes_back_in_registers_and_in_memory_is_compared_by_its_fields(tmp_path: Path) -> None:
    text = """struct small { int16_t a; float b; }; struct large { int32_t v[6]; };
        struct small f(int16_t a, int16_t wrong) { struct small s = {a + (a == 77), wrong}; return s; }
        struct large g(int32_t a) { struct large s = {{a, 2, 3, 4, 5, a & 1}}; return s; }"""
    (tmp_path / "f.c").write_text(HEAD + text)
    outputs: dict[str, Callable[[Mapping[str, Any]], Any]] = {
        "struct { int16_t a; float b; } f(int16_t a, int16_t wrong)": lambda i: {
            "returned": {"a": np.int16(i["a"]), "b": np.float32(i["wrong"])}
        },
        "struct { int32_t v[6]; } g(int32_t a)": lambda i: {
            "returned": {"v": np.array([i["a"], 2, 3, 4, 5, i["a"] & 1], np.int32)}
        },
    }
    reports = []
    for prototype, golden in outputs.items():
        name, signature = parse_prototype(prototype)
        kernel = Kernel(
            name=name, symbol=name, sources=(tmp_path / "f.c",), signature=signature, golden=golden,
            domain={"a": Domain(0, 100)},
        )  # fmt: skip
        reports.append(check_kernel(kernel, levels=("O1",), vectors=2000))
    assert [report.passed for report in reports] == [False, True]
    mismatch = reports[0].outcomes[0].mismatch
    assert mismatch is not None
    assert (mismatch.output, mismatch.got, mismatch.expected) == ("returned.a", 78, 77)
