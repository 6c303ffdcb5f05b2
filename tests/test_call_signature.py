"""Arguments and results of every kind reach compiled functions: clang's code says where it looked for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from sim.call.call import CompiledKernel
from sim.kernels import Kernel, KernelError
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
