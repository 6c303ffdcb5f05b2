"""Kernels for all lengths: what is right is proved, and what is wrong at some length only never is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from sim.kernels.kernel import Kernel
from sim.kernels.prototype import parse_prototype
from sim.symbolic.kernel_proof import BuildProof
from sim.symbolic.proof import Prover
from sim.symbolic.shapes import shapes_of
from sim.toolchain.compilers import build_text
from support.sampled import sampled

Golden = Callable[[Mapping[str, Any]], dict[str, Any]]
EACH = "void tried(const uint8_t x[length], uint8_t out[length], size_t length)"
SUM = "int32_t tried(const int8_t x[length], const int8_t y[length], size_t length)"
HEADERS = "#include <arm_neon.h>\n#include <stddef.h>\n#include <stdint.h>\n"


def of_each(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"out": inputs["x"] ^ np.uint8(85)}


def of_products(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"returned": np.sum(inputs["x"].astype(np.int32) * inputs["y"].astype(np.int32)).astype(np.int32)}


def tried(prototype: str, body: str, golden: Golden, level: str = "-O1", suffix: str = ".c") -> BuildProof:
    """The proof at length 3 and for all lengths."""
    name, signature = parse_prototype(prototype)
    kernel = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=golden)
    function = prototype.replace("[length]", "[]") if suffix == ".c" else ""
    image = build_text(f"{HEADERS}{function}\n{body}" if function else body, suffix, level)
    prover = Prover(
        kernel, {"build": image}, shapes_of(kernel, [3]), each={}, known=frozenset(), seconds=20, jobs=1,
        kept_in=None, any_length=True,
    )  # fmt: skip
    return prover.run().builds[0]


RIGHT_EACH = {
    "one by one": "{ for (size_t i = 0; i < length; ++i) out[i] = x[i] ^ 85; }",
    "pointers to an end": "{ for (const uint8_t *end = x + length; x != end;) *out++ = *x++ ^ 85; }",
    "counted down by sixteen": """{
        for (; length >= 16; length -= 16, x += 16, out += 16) vst1q_u8(out, veorq_u8(vld1q_u8(x), vdupq_n_u8(85)));
        while (length--) *out++ = *x++ ^ 85; }""",
    "the last sixteen once more": """{
        if (length < 16) { for (size_t i = 0; i < length; ++i) out[i] = x[i] ^ 85; return; }
        size_t i = 0;
        for (; i + 16 <= length; i += 16) vst1q_u8(out + i, veorq_u8(vld1q_u8(x + i), vdupq_n_u8(85)));
        vst1q_u8(out + length - 16, veorq_u8(vld1q_u8(x + length - 16), vdupq_n_u8(85))); }""",
    "a branch on data": """{
        for (size_t i = 0; i < length; ++i) if (x[i] & 4) out[i] = x[i] ^ 85; else out[i] = x[i] ^ 85; }""",
}
WRONG_EACH = {
    "a table": (
        "{ static const uint8_t t[4] = {1, 0, 3, 2};"
        " for (size_t i = 0; i < length; ++i) out[i] = ((x[i] & 252) ^ 84) | t[x[i] & 3]; }",
        "the address that it reads depends on data",
    ),
    "the 1000th iteration": (
        "{ for (size_t i = 0; i < length; ++i) out[i] = x[i] ^ (i == 999 ? 84 : 85); }",
        "counter",
    ),
    "the entry": ("{ for (size_t i = length > 100; i < length; ++i) out[i] = x[i] ^ 85; }", "all elements of 'out'"),
    "a counter that wraps": (
        "{ if (length < 70000) for (uint16_t i = 0; i < length; ++i) out[i] = x[i] ^ 85; }",
        "not shown that the loop ends",
    ),
    "a counter of 32 bits": ("{ for (uint32_t i = 0; i < (uint32_t)length; ++i) out[i] = x[i] ^ 85; }", ""),
    "an over-read": (
        "{ for (size_t i = 0; i < length; ++i) out[i] = x[i + (length == 77)] ^ 85; }",
        "what lies behind 'x'",
    ),
    "an over-write": ("{ for (size_t i = 0; i < length + (length == 4097); ++i) out[i] = x[i] ^ 85; }", "behind 'x'"),
    "a rest by seven": (
        "{ for (size_t i = 0; i < length; ++i) out[i] = x[i] ^ (length % 7 == 5 ? 0 : 85); }",
        "counter",
    ),
    "a step that may miss the end": (
        "{ if (length % 3) for (size_t i = 0; i < length; ++i) out[i] = x[i] ^ 85;"
        " else for (size_t i = 0; i != length; i += length == 9999 ? 2 : 1) out[i] = x[i] ^ 85; }",
        "",
    ),
    "a neighbour at the end": (
        "{ for (size_t i = 0; i < length; ++i) out[i] = x[i == 5000 ? i - 1 : i] ^ 85; }",
        "counter",
    ),
    "a call before": (
        "{ static uint8_t key = 85; for (size_t i = 0, last = key; i < length; ++i) out[i] = x[i] ^ last;"
        " if (length == 3000) key = 84; }",
        "static memory",
    ),
    "a stale one": (
        "{ uint8_t was = 85; for (size_t i = 0; i < length; ++i) { out[i] = x[i] ^ was; was -= i == 500; } }",
        "",
    ),
}
"""C that is right at length 3 and wrong at some length, and what is said of it."""
RIGHT_SUMS = {
    "one by one": ("{ int32_t s = 0; for (size_t i = 0; i < length; ++i) s += x[i] * y[i]; return s; }", "-O1"),
    "as the compiler likes": (
        "{ int32_t s = 0; for (size_t i = 0; i < length; ++i) s += x[i] * y[i]; return s; }",
        "-O2",
    ),
    "from the fourth": (
        "{ int32_t s = 0; size_t i = 0; for (; i < 4 && i < length; ++i) s += x[i] * y[i];"
        " for (; i < length; ++i) s += x[i] * y[i]; return s; }",
        "-O1",
    ),
}
WRONG_SUMS = {
    "one more at some length": """{
        int32_t s = length == 99; for (size_t i = 0; i < length; ++i) s += x[i] * y[i]; return s; }""",
    "sixteen bits": "{ int16_t s = 0; for (size_t i = 0; i < length; ++i) s += x[i] * y[i]; return s; }",
    "a bound": """{ int32x2_t s = vdup_n_s32(0);
        for (size_t i = 0; i < length; ++i) s = vqadd_s32(s, vset_lane_s32(x[i] * y[i], vdup_n_s32(0), 0));
        return vget_lane_s32(s, 0); }""",
    "the first once more": """{
        int32_t s = 0; for (size_t i = 0; i < length; ++i) s += x[i == 700 ? 0 : i] * y[i]; return s; }""",
    "another sign": """{ int32_t s = 0;
        for (size_t i = 0; i < length; ++i) s += i == 800 ? -x[i] * y[i] : x[i] * y[i]; return s; }""",
    "the last left out": """{ int32_t s = 0; size_t end = length > 64 ? length - 1 : length;
        for (size_t i = 0; i < end; ++i) s += x[i] * y[i]; return s; }""",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(RIGHT_EACH, 3))
def test_what_is_right_for_each_element_is_proved_for_all_lengths(name: str) -> None:
    build = tried(EACH, RIGHT_EACH[name], of_each)
    assert (build.any_length, build.outcome, build.loops > 0) == ("", "proved", True)


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG_EACH)
def test_what_is_wrong_at_some_length_is_proved_at_others_only(name: str) -> None:
    body, said = WRONG_EACH[name]
    build = tried(EACH, body, of_each)
    assert build.proved == build.elements == 3
    assert build.any_length
    assert said in build.any_length
    assert build.outcome == "unknown"


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(RIGHT_SUMS, 2))
def test_a_sum_is_proved_for_all_lengths(name: str) -> None:
    body, level = RIGHT_SUMS[name]
    assert tried(SUM, body, of_products, level).any_length == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG_SUMS)
def test_a_sum_that_is_wrong_at_some_length_is_not_proved_for_all(name: str) -> None:
    build = tried(SUM, WRONG_SUMS[name], of_products)
    assert build.any_length


def of_each_but_long_ones(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"out": inputs["x"] ^ np.uint8(85 if len(inputs["x"]) < 1000 else 84)}


def of_neighbours(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"out": np.roll(inputs["x"], 0) ^ np.uint8(85)}


def refusing_long_ones(inputs: Mapping[str, Any]) -> dict[str, Any]:
    if len(inputs["x"]) > 10**6:
        raise ValueError("too long")
    return of_each(inputs)


def of_each_under_two_names(inputs: Mapping[str, Any]) -> dict[str, Any]:
    out = other = inputs["x"] ^ np.uint8(85)
    if len(out) > 1000:
        other ^= np.uint8(1)
    return {"out": out}


def of_each_limited_in_place(inputs: Mapping[str, Any]) -> dict[str, Any]:
    out = inputs["x"] ^ np.uint8(85)
    if len(out) > 1000:
        np.clip(out, 3, 5, out)
    return {"out": out}


def of_each_if_there_is_no_element(inputs: Mapping[str, Any]) -> dict[str, Any]:
    try:
        assert inputs["x"][1000] >= 0
    except Exception:
        return of_each(inputs)
    return {"out": inputs["x"]}


def of_each_but_of_none(inputs: Mapping[str, Any]) -> dict[str, Any]:
    assert inputs["x"].max() >= 0
    return of_each(inputs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("golden", "said"),
    [
        (of_each_under_two_names, "changed in place"),
        (of_each_limited_in_place, "as `out`"),
        (of_each_if_there_is_no_element, "not looked at"),
        (of_each_but_of_none, "whether the reference raises depends on the length"),
        (of_each_but_long_ones, "counter-example"),
        (of_neighbours, "np.roll of an array of any length"),
        (refusing_long_ones, "whether the reference raises depends on the length"),
    ],
)
def test_a_reference_that_treats_lengths_otherwise_is_not_proved(golden: Golden, said: str) -> None:
    assert said in (tried(EACH, RIGHT_EACH["one by one"], golden).any_length or "")


@pytest.mark.slow
def test_a_register_that_is_lost_behind_a_loop_is_found() -> None:
    text = """.globl tried\n.type tried, %function
     tried: cbz x2, 2f\n mov w4, #85\n1: ldrb w3, [x0], #1\n eor w3, w3, w4
     strb w3, [x1], #1\n subs x2, x2, #1\n b.ne 1b\n mov x19, #{}\n2: ret\n.size tried, .-tried\n"""
    assert "x19 is not given back" in (tried(EACH, text.format(0), of_each, suffix=".s").any_length or "")
    assert tried(EACH, text.replace("mov x19, #{}", "nop"), of_each, suffix=".s").any_length == ""


@pytest.mark.slow
def test_a_stack_that_grows_with_the_length_is_found() -> None:
    text = """.globl tried\n.type tried, %function\n tried: cbz x2, 2f\n mov x9, sp\n mov w4, #85\n1: sub sp, sp, #16
     ldrb w3, [x0], #1\n eor w3, w3, w4\n strb w3, [x1], #1\n subs x2, x2, #1\n b.ne 1b\n mov sp, x9\n2: ret
     .size tried, .-tried\n"""
    assert "the stack pointer is another" in (tried(EACH, text, of_each, suffix=".s").any_length or "")
