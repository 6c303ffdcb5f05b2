"""A network of 4.2 million parameters, as .tflite and as .onnx, of seeded weights: what a phone runs on a picture.

Convolutions of 1 x 1 and depthwise ones of 3 x 3 in turn, from 224 x 224 x 3 to 1,000 numbers; 569 million products.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import tflite
from onnx import helper

from support.onnx_models import OnnxWriter
from support.tflite_models import ModelWriter

SIZE, FIRST, LAST = 224, 32, 1000
BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1))
"""Channels and stride of each pair of layers."""
OF_X, OF_LAYERS, OF_OUTPUT = 0.02, 6 / 255, 0.05


def weights_of(
    rng: np.random.Generator, shape: tuple[int, ...], axis: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """With scales under which numbers neither die out nor all saturate, and a bias."""
    data, channels = rng.integers(-127, 128, shape, np.int8), shape[axis]
    scales = rng.uniform(1.5, 3.5, channels) / 127 / (data.size // channels) ** 0.5
    return data, scales.astype(np.float32), rng.integers(-500, 501, channels).astype(np.int32)


def large_tflite_net(seed: int = 1) -> bytes:
    """int8, scales of weights for each channel, RELU6 behind each convolution."""
    rng, made = np.random.default_rng(seed), ModelWriter()
    size, before = SIZE, made.tensor("x", "int8", (1, SIZE, SIZE, 3), OF_X, -3)
    made.inputs = [before]

    def weights(name: str, shape: tuple[int, ...], axis: int) -> tuple[int, int]:
        data, scales, added = weights_of(rng, shape, axis)
        of_source = made.tensors[before]["scales"][0]
        return (
            made.tensor(f"{name}_weights", "int8", shape, scales, 0, data, axis),
            made.tensor(f"{name}_bias", "int32", added.shape, scales * of_source, 0, added),
        )

    def convolution(name: str, shape: tuple[int, ...], axis: int, stride: int) -> int:
        output = made.tensor(name, "int8", (1, size, size, shape[axis]), OF_LAYERS, -128)
        more = {"DepthMultiplier": 1} if axis else {}
        made.layer(
            "DEPTHWISE_CONV_2D" if axis else "CONV_2D", (before, *weights(name, shape, axis)), (output,),
            "DepthwiseConv2DOptions" if axis else "Conv2DOptions", Padding=tflite.Padding.SAME, StrideH=stride,
            StrideW=stride, DilationHFactor=1, DilationWFactor=1, **more,
            FusedActivationFunction=tflite.ActivationFunctionType.RELU6,
        )  # fmt: skip
        return output

    size //= 2
    before, channels = convolution("first", (FIRST, 3, 3, 3), 0, 2), FIRST
    for number, (wider, stride) in enumerate(BLOCKS):
        size //= stride
        before = convolution(f"depthwise_{number}", (1, 3, 3, channels), 3, stride)
        before, channels = convolution(f"pointwise_{number}", (wider, 1, 1, channels), 0, 1), wider
    pooled = made.tensor("pooled", "int8", (1, 1, 1, channels), OF_LAYERS, -128)
    made.layer("AVERAGE_POOL_2D", (before,), (pooled,), "Pool2DOptions", Padding=tflite.Padding.VALID, StrideH=size,
               StrideW=size, FilterHeight=size, FilterWidth=size)  # fmt: skip
    shape = made.tensor("shape", "int32", (2,), data=np.array([1, channels], np.int32))
    before = made.tensor("row", "int8", (1, channels), OF_LAYERS, -128)
    made.layer("RESHAPE", (pooled, shape), (before,))
    data, scales, added = weights_of(rng, (LAST, channels), 0)
    kernel = made.tensor("scores_weights", "int8", data.shape, scales[:1], 0, data)
    bias = made.tensor("scores_bias", "int32", added.shape, scales[:1] * np.float32(OF_LAYERS), 0, added)
    output = made.tensor("scores", "int8", (1, LAST), OF_OUTPUT, 6)
    made.layer("FULLY_CONNECTED", (before, kernel, bias), (output,), "FullyConnectedOptions")
    made.outputs = [output]
    return made.content()


def large_onnx_net(seed: int = 1) -> bytes:
    """uint8 by int8, scales of weights for each channel; a zero point of 0 is the RELU."""
    rng, made = np.random.default_rng(seed), OnnxWriter()
    before = made.scale("x", OF_X, 125)

    def convolution(name: str, shape: tuple[int, ...], **options: Any) -> list[str]:
        data, scales, added = weights_of(rng, shape, 0)
        weights = made.scale(made.constant(f"{name}_weights", data), scales, np.zeros(len(scales)), "int8")
        output, bias = made.scale(name, OF_LAYERS, 0), made.constant(f"{name}_bias", added)
        made.nodes.append(helper.make_node("QLinearConv", [*before, *weights, *output[1:], bias], [name], **options))
        return output

    before, channels = convolution("first", (FIRST, 3, 3, 3), pads=[0, 0, 1, 1], strides=[2, 2]), FIRST
    for number, (wider, stride) in enumerate(BLOCKS):
        pads, strides = [2 - stride, 2 - stride, 1, 1], [stride, stride]
        before = convolution(
            f"depthwise_{number}", (channels, 1, 3, 3), pads=pads, strides=strides, group=channels
        )  # fmt: skip
        before, channels = convolution(f"pointwise_{number}", (wider, channels, 1, 1)), wider
    pooled = made.scale("pooled", OF_LAYERS, 0)
    made.nodes.append(
        helper.make_node(
            "QLinearGlobalAveragePool", [*before, *pooled[1:]], ["pooled"], channels_last=0, domain="com.microsoft"
        )
    )
    made.nodes.append(helper.make_node("Flatten", ["pooled"], ["row"]))
    data, scales, _ = weights_of(rng, (channels, LAST), 1)
    matrix, output = made.scale(made.constant("matrix", data), scales[0], 0, "int8"), made.scale("scores", OF_OUTPUT, 6)
    made.nodes.append(helper.make_node("QLinearMatMul", ["row", *pooled[1:], *matrix, *output[1:]], ["scores"]))
    return made.content((1, 3, SIZE, SIZE), "scores")
