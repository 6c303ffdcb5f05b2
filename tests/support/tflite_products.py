"""Small .tflite files of one layer whose sums are neither those of windows nor of rows."""

from __future__ import annotations

import numpy as np
import tflite

from support.tflite_models import ModelWriter

_OUTPUTS = [(2, 7, 9, 5), (1, 8, 6, 4), (1, 5, 5, 1), (2, 9, 4, 8), (1, 6, 6, 3), (1, 12, 3, 16)]
_WINDOWS = [((3, 3), (2, 2)), ((2, 2), (2, 2)), ((1, 2), (1, 1)), ((3, 2), (3, 1)), ((5, 4), (2, 3)), ((2, 3), (4, 1))]
_STACKS = [((5, 7), (7, 3)), ((2, 5, 7), (2, 7, 3)), ((3, 2, 4, 6), (3, 2, 6, 5)), ((2, 3, 4, 6), (1, 3, 6, 8)),
           ((4, 9), (3, 9, 2)), ((1, 16, 32), (1, 32, 16))]  # fmt: skip


def transposed_net(seed: int, dtype: str = "int8") -> ModelWriter:
    """TRANSPOSE_CONV of seeded weights, with scales for each channel or one, SAME or VALID, with a bias or without."""
    rng, made = np.random.default_rng(seed), ModelWriter()
    output, (size, strides) = _OUTPUTS[seed % 6], _WINDOWS[seed // 2 % 6]
    is_same, channels = bool(seed % 2), int(rng.integers(1, 9))
    of = [
        -(-(length - (0 if is_same else width - 1)) // stride)
        for length, width, stride in zip(output[1:3], size, strides, strict=True)
    ]
    scale = np.float32(rng.uniform(0.01, 0.05) if dtype == "int8" else rng.uniform(0.0001, 0.001))
    zeros = [int(zero) for zero in rng.integers(-100, 100, 2)] if dtype == "int8" else [0, 0]
    kernel = rng.integers(-127, 128, (output[3], *size, channels)).astype(np.int8)
    scales = (rng.uniform(0.5, 1.5, output[3] if seed % 3 else 1) / 127).astype(np.float32)
    shape = made.tensor("shape", "int32", (4,), data=np.array(output, np.int32))
    weights = made.tensor("weights", "int8", kernel.shape, scales, 0, kernel)
    x = made.tensor("x", dtype, (output[0], *of, channels), scale, zeros[0])
    spread = float(np.sqrt(kernel[0].size) * (60 if dtype == "int8" else 15_000) * scale)
    y = made.tensor("y", dtype, output, np.float32(spread / (100 if dtype == "int8" else 25_000)), zeros[1])
    inputs = [shape, weights, x]
    if seed % 4:
        wide = "int32" if dtype == "int8" else "int64"
        bias = rng.integers(-3000, 3000, output[3]).astype(wide)
        inputs.append(made.tensor("bias", wide, bias.shape, scale * scales, 0, bias))
    made.layer(
        "TRANSPOSE_CONV", inputs, (y,), "TransposeConvOptions", StrideH=strides[0], StrideW=strides[1],
        Padding=tflite.Padding.SAME if is_same else tflite.Padding.VALID,
        FusedActivationFunction=seed // 3 % 2,
    )  # fmt: skip
    made.inputs, made.outputs = [x], [y]
    return made


def stacked_net(seed: int, dtype: str = "int8") -> ModelWriter:
    """BATCH_MATMUL of two inputs, stacks of matrices that are broadcast, either of them transposed or not."""
    rng, made = np.random.default_rng(seed), ModelWriter()
    of_a, of_b = _STACKS[seed % 6]
    turns = [bool(seed // 6 & 1), bool(seed // 12 & 1)]
    stated = [(*one[:-2], one[-1], one[-2]) if turned else one for one, turned in zip((of_a, of_b), turns, strict=True)]
    zeros = [int(zero) for zero in rng.integers(-100, 100, 3)] if dtype == "int8" else [0, 0, 0]
    zeros[1] *= seed % 2
    scales = [np.float32(one) for one in rng.uniform(0.01, 0.05, 2) / (1 if dtype == "int8" else 100)]
    most = 60 if dtype == "int8" else 15_000
    to = np.float32(scales[0] * scales[1] * np.sqrt(of_a[-1]) * most / 1.5)
    a, b = (
        made.tensor(name, dtype, shape, scale, zero)
        for name, shape, scale, zero in zip("ab", stated, scales, zeros, strict=False)
    )
    shape = (*np.broadcast_shapes(of_a[:-2], of_b[:-2]), of_a[-2], of_b[-1])
    y = made.tensor("y", dtype, shape, to, zeros[2])
    made.layer("BATCH_MATMUL", (a, b), (y,), "BatchMatMulOptions", AdjX=turns[0], AdjY=turns[1])
    made.inputs, made.outputs = [a, b], [y]
    return made
