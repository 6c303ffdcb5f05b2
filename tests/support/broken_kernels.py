"""Twelve broken kernels and their correct originals: a broken one is its original with one text replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sim.kernels import Inputs, Kernel, Pointer, ScalarArgument, Signature
from sim.kernels.kernel import Outputs

NARROW_C = """#include <arm_neon.h>
#include <stddef.h>
void narrow(const int16_t *in, uint8_t *out, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const int16x8_t added = vqaddq_s16(vld1q_s16(in + i), vdupq_n_s16(1000));
        const int16x8_t rounded = vrshrq_n_s16(added, 4);
        vst1_u8(out + i, vqmovun_s16(rounded));
    }
    for (; i < n; ++i) {
        const int added = in[i] + 1000;
        const int rounded = ((added > 32767 ? 32767 : added) + 8) >> 4;
        out[i] = rounded < 0 ? 0 : rounded > 255 ? 255 : rounded;
    }
}
"""
NEIGHBOURS_C = """#include <stddef.h>
#include <stdint.h>
void neighbours(const uint32_t *in, uint32_t *out, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        uint32_t sum = in[i];
        if (i > 0)
            sum += in[i - 1];
        if (i + 1 < n)
            sum += in[i + 1];
        out[i] = sum;
    }
}
"""
ROWS_CPP = """#include <stddef.h>
#include <stdint.h>
template <typename T> static const T *row(const T *first, size_t number, size_t stride)
{
    return first + number * stride;
}
extern "C" void rows(const int16_t *in, int16_t *out, size_t height, size_t width, size_t stride)
{
    for (size_t y = 0; y < height; ++y)
        for (size_t x = 0; x < width; ++x)
            out[y * width + x] = row(in, y, stride)[x] ^ 1;
}
"""
DOT_S = """    .text
    .global dot
    .type dot, %function
dot:
    movi v0.4s, #0
    cbz x3, 2f
1:
    ldr q16, [x0], #16
    ldr q17, [x1], #16
    mla v0.4s, v16.4s, v17.4s
    sub x9, x3, #1
    mov x3, x9
    cbnz x3, 1b
2:
    str q0, [x2]
    ret
    .size dot, . - dot
"""
BLOCKS_C = """#include <stddef.h>
#include <stdint.h>
void blocks(const uint8_t *in, uint8_t *out, size_t n)
{
    const size_t block = n < 4 ? n : n / 4;
    for (size_t i = 0; i < n; i += block)
        for (size_t k = i; k < i + block && k < n; ++k)
            out[k] = in[k] ^ 0x80;
}
"""


def narrow_steps(inputs: Inputs) -> dict[str, np.ndarray]:
    added = np.minimum(inputs["in"].astype(np.int64) + 1000, 32767)
    rounded = (added + 8) >> 4
    return {"in": inputs["in"], "added": added, "rounded": rounded, "clamped": np.clip(rounded, 0, 255)}


def narrow(inputs: Inputs) -> Outputs:
    return {"out": narrow_steps(inputs)["clamped"].astype(np.uint8)}


def neighbours(inputs: Inputs) -> Outputs:
    padded = np.pad(inputs["in"], 1)
    return {"out": padded[:-2] + padded[1:-1] + padded[2:]}


def rows(inputs: Inputs) -> Outputs:
    return {"out": inputs["in"] ^ 1}


def dot(inputs: Inputs) -> Outputs:
    products = (inputs["a"] * inputs["b"]).reshape(-1, 4)
    return {"out": products.sum(axis=0, dtype=np.int32)}


def blocks(inputs: Inputs) -> Outputs:
    return {"out": inputs["in"] ^ 0x80}


LENGTHS = (3, 8, 21, 16, 1, 5)


def narrow_inputs(rng: np.random.Generator) -> Inputs:
    n = int(rng.choice(LENGTHS))
    return {"in": rng.integers(-(2**15), 2**15, n).astype(np.int16), "n": n}


def neighbours_inputs(rng: np.random.Generator) -> Inputs:
    n = int(rng.choice(LENGTHS))
    return {"in": rng.integers(0, 2**32, n).astype(np.uint32), "n": n}


def rows_inputs(rng: np.random.Generator) -> Inputs:
    height, width = (int(size) for size in rng.integers(2, 12, 2))
    values = rng.integers(-(2**15), 2**15, (height, width)).astype(np.int16)
    return {"in": values, "height": height, "width": width, "stride": width + 3}


def dot_inputs(rng: np.random.Generator) -> Inputs:
    n = int(rng.choice(LENGTHS))
    a, b = (rng.integers(-1000, 1000, 4 * n).astype(np.int32) for _ in range(2))
    return {"a": a, "b": b, "n": n, "numbers": 4 * n}


def blocks_inputs(rng: np.random.Generator) -> Inputs:
    n = int(rng.choice(LENGTHS))
    return {"in": rng.integers(0, 256, n).astype(np.uint8), "n": n}


@dataclass(frozen=True)
class Original:
    """A correct kernel: its source, and how it is called and judged."""

    name: str
    suffix: str
    text: str
    signature: Signature
    golden: Callable[[Inputs], Outputs]
    sample: Callable[[np.random.Generator], Inputs]
    steps: Callable[[Inputs], Mapping[str, np.ndarray]] | None = None

    @property
    def levels(self) -> tuple[str, ...]:
        """The optimisation levels it is built at; assembly is the same at all."""
        return ("O0",) if self.suffix == ".s" else ("O0", "O1", "O2", "O3", "Os")

    def kernel(self) -> Kernel:
        """Its record; the corners are the first of its samples, since every length is among them."""

        def corners() -> Iterator[Inputs]:
            rng = np.random.default_rng(7)
            yield from (self.sample(rng) for _ in range(16))

        return Kernel(
            name=self.name, symbol=self.name, sources=(), signature=self.signature, golden=self.golden,
            steps=self.steps or (lambda inputs: {}), arguments=dict, corners=corners, sample=self.sample,
        )  # fmt: skip


def one_row(dtype: str, result: str) -> Signature:
    return Signature(
        (Pointer("in", dtype, ("n",)), Pointer("out", result, ("n",), direction="out"), ScalarArgument("n", "uint64"))
    )


NARROW = Original("narrow", ".c", NARROW_C, one_row("int16", "uint8"), narrow, narrow_inputs, narrow_steps)
NEIGHBOURS = Original("neighbours", ".c", NEIGHBOURS_C, one_row("uint32", "uint32"), neighbours, neighbours_inputs)
BLOCKS = Original("blocks", ".c", BLOCKS_C, one_row("uint8", "uint8"), blocks, blocks_inputs)
ROWS = Original(
    "rows", ".cpp", ROWS_CPP,
    Signature((
        Pointer("in", "int16", ("height", "width"), strides=("stride", 1)),
        Pointer("out", "int16", ("height", "width"), direction="out"),
        ScalarArgument("height", "uint64"), ScalarArgument("width", "uint64"), ScalarArgument("stride", "uint64"),
    )),
    rows, rows_inputs,
)  # fmt: skip
DOT = Original(
    "dot", ".s", DOT_S,
    Signature((
        Pointer("a", "int32", ("numbers",)), Pointer("b", "int32", ("numbers",)),
        Pointer("out", "int32", (4,), direction="out"),
        ScalarArgument("n", "uint64"), ScalarArgument("numbers", "uint64"),
    )),
    dot, dot_inputs,
)  # fmt: skip
ORIGINALS = (NARROW, NEIGHBOURS, ROWS, DOT, BLOCKS)


@dataclass(frozen=True)
class Broken:
    """An original with one text replaced.

    `blamed` is a text of the line that must be named; of several, between bars, where compilers make one instruction
    of two lines.
    """

    name: str
    original: Original
    old: str
    new: str
    blamed: str = ""

    @property
    def text(self) -> str:
        assert self.original.text.count(self.old) == 1, f"{self.name} replaces a text that is not there just once"
        return self.original.text.replace(self.old, self.new)

    @property
    def places(self) -> set[str]:
        """The source lines that may be named, such as "narrow.c:8"."""
        lines = list(enumerate(self.text.splitlines(), 1))
        numbers = [number for text in self.blamed.split("|") for number, line in lines if text in line]
        return {f"{self.original.name}{self.original.suffix}:{number}" for number in numbers}

    def written_to(self, folder: Path) -> Path:
        source = folder / f"{self.original.name}{self.original.suffix}"
        source.write_text(self.text)
        return source


MISSING_TAIL = Broken("missing tail", NARROW, "for (; i < n; ++i)", "for (; i < 0; ++i)")
OVER_READ = Broken("over-read by 1", NEIGHBOURS, "if (i + 1 < n)", "if (i < n)", "sum += in[i + 1]")
UNDER_READ = Broken("under-read by 1", NEIGHBOURS, "if (i > 0)", "if (i + 1 > 0)", "sum += in[i - 1]|sum = in[i]")
OVER_WRITE = Broken("over-write by 1", BLOCKS, "\n}", "\n    out[n] = 0;\n}", "out[n] = 0;")
WRONG_ROUNDING = Broken("wrong rounding", NARROW, "vrshrq_n_s16", "vshrq_n_s16", "vshrq_n_s16|vqmovun_s16")
MISSING_SATURATION = Broken("missing saturation", NARROW, "vqaddq_s16", "vaddq_s16", "vaddq_s16")
CLOBBERED_D8 = Broken(
    "clobbered d8", DOT, "ldr q17, [x1], #16\n    mla v0.4s, v16.4s, v17.4s",
    "ldr q8, [x1], #16\n    mla v0.4s, v16.4s, v8.4s", "ldr q8",
)  # fmt: skip
CLOBBERED_X19 = Broken(
    "clobbered x19", DOT, "sub x9, x3, #1\n    mov x3, x9", "sub x19, x3, #1\n    mov x3, x19", "sub x19"
)
UNINITIALISED_LANE = Broken(
    "uninitialised accumulator lane", DOT, "movi v0.4s, #0",
    "mov v0.s[0], wzr\n    mov v0.s[1], wzr\n    mov v0.s[2], wzr", "mla v0.4s",
)  # fmt: skip
WRONG_STRIDE = Broken("wrong stride", ROWS, "row(in, y, stride)", "row(in, y, stride - 1)", "row(in, y, stride - 1)")
WRITE_TO_INPUT = Broken("write to input", BLOCKS, "in[k] ^ 0x80", "((uint8_t *)in)[k] ^= 0x80", "out[k] =")
ENDLESS_LOOP = Broken("endless loop", BLOCKS, "n < 4 ? n : n / 4", "n / 4", "for (size_t i = 0")
BROKEN = (
    MISSING_TAIL, OVER_READ, UNDER_READ, OVER_WRITE, WRONG_ROUNDING, MISSING_SATURATION, CLOBBERED_D8, CLOBBERED_X19,
    UNINITIALISED_LANE, WRONG_STRIDE, WRITE_TO_INPUT, ENDLESS_LOOP,
)  # fmt: skip
