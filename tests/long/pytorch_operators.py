"""Single quantized operators of PyTorch with seeded weights: each is one convention of the golden reference, 0 differ.

Engines: fbgemm; x86, which takes oneDNN for convolutions where the processor has VNNI, and fbgemm for the rest;
onednn; qnnpack.  Scales are fractions of small numbers, and biases make nearly a tie of an element of each channel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from sim.golden import (
    AddParameters,
    LayerScales,
    Quantization,
    add_pytorch,
    add_pytorch_tail,
    add_qnnpack,
    bias_by_reciprocal,
    bias_divided,
    bias_in_reals,
    bias_in_reals_of_products,
    bias_rounded,
    int8_offset_then_round_even_fused,
    offset_then_round_even_fused,
    product_xnnpack,
)
from support.pytorch_models import PairedNet, sums_of

ENGINES = ("fbgemm", "x86", "onednn", "qnnpack")
SEEDS = range(20)
WEIGHTED: dict[str, dict[str, Any]] = {
    "linear": {"kind": "linear"},
    "conv 3x3": {"kind": "conv", "size": 3},
    "conv 3x3, stride 2": {"kind": "conv", "size": 3, "stride": 2},
    "conv 1x1": {"kind": "conv", "size": 1},
    "conv 3x3, groups": {"kind": "conv", "size": 3, "groups": 2},
    "depthwise 3x3": {"kind": "conv", "size": 3, "groups": 16},
}
VECTOR = 64
"""Bytes of a vector of AVX-512, in which PyTorch adds."""


pytestmark = pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """What lies behind the last vector of a thread's part is computed otherwise."""
    torch.set_num_threads(1)


def convention_of(engine: str, kind: str, is_per_tensor: bool) -> Callable[..., Any]:
    if engine == "qnnpack":
        return bias_rounded
    if engine == "onednn" or (engine == "x86" and kind == "conv"):
        return bias_in_reals_of_products if kind == "linear" else bias_in_reals
    return bias_by_reciprocal if is_per_tensor else bias_divided


@pytest.mark.parametrize("is_per_tensor", [False, True], ids=["per channel", "per tensor"])
@pytest.mark.parametrize("operator", WEIGHTED)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_layer_with_weights_is_one_convention(engine: str, operator: str, is_per_tensor: bool) -> None:
    torch.backends.quantized.engine = engine
    given = WEIGHTED[operator]
    elements, apart = 0, dict.fromkeys((bias_divided, bias_by_reciprocal, bias_rounded, bias_in_reals), 0)
    own = convention_of(engine, given["kind"], is_per_tensor)
    apart[own] = 0
    for seed in SEEDS:
        net = PairedNet(torch, seed, seed % 2 == 0)
        x = net.input("x", (64, 16) if given["kind"] == "linear" else (2, 16, 7, 7), 20)
        net.weighted(**given, x=x, channels=32, name="y", per_tensor=is_per_tensor, relu=seed % 3 == 0)
        layer = net.layers["y"]
        sums = sums_of(net.tensors["x"], layer)
        moved = np.moveaxis(sums, 1, -1)
        scales = LayerScales(net.scales["x"][0], layer.scales, net.scales["y"][0])
        zero = net.scales["y"][1]
        for convention in apart:
            made = np.clip(convention(moved, layer.bias, scales, zero), zero if layer.relu else 0, 255)
            apart[convention] += int((made != np.moveaxis(net.tensors["y"], 1, -1).reshape(made.shape)).sum())
        elements += sums.size
    assert elements >= 20_000
    assert apart[own] == 0
    like = {own, bias_in_reals} if own is bias_in_reals_of_products else {own}
    assert all(count > 0 for convention, count in apart.items() if convention not in like), apart


def test_onednn_inverts_the_scales_of_weights_twice_in_matrix_products_alone() -> None:
    """The case of docs/spec/known_differences.md row 29: 3 * 3 * 7 / 2 = 31.5."""
    torch.backends.quantized.engine = "onednn"
    weights = torch._make_per_channel_quantized_tensor(
        torch.ones((16, 1), dtype=torch.int8), torch.full((16,), 7.0, dtype=torch.float64),
        torch.zeros(16, dtype=torch.int64), 0,
    )  # fmt: skip
    threes, operators = np.full((16, 1), 3, np.uint8), torch.ops.quantized
    x = quantized(threes, Quantization(3.0, 0))
    made = operators.linear(x, operators.linear_prepack(weights, None), 2.0, 0).int_repr().numpy()
    assert set(made.ravel()) == {31}
    square = torch._make_per_channel_quantized_tensor(
        torch.ones((16, 1, 1, 1), dtype=torch.int8), torch.full((16,), 7.0, dtype=torch.float64),
        torch.zeros(16, dtype=torch.int64), 0,
    )  # fmt: skip
    packed = operators.conv2d_prepack(square, None, [1, 1], [0, 0], [1, 1], 1)
    image = quantized(threes.reshape(16, 1, 1, 1), Quantization(3.0, 0))
    made = operators.conv2d(image, packed, 2.0, 0).int_repr().numpy()
    assert set(made.ravel()) == {32}


def pairs(seed: int) -> tuple[Any, Any, AddParameters]:
    """All pairs of bytes, and scales that make ties."""
    rng = np.random.default_rng(seed)
    of_sum = np.float32(rng.integers(1, 16) * 2.0**-7 if seed % 2 else rng.uniform(0.01, 0.1))
    of_a, of_b = (np.float32(of_sum * np.float32(rng.integers(1, 16) / 16)) for _ in range(2))
    zeros = [int(zero) for zero in rng.integers(0, 256, 3)]
    first, second, total = (Quantization(*one) for one in zip((of_a, of_b, of_sum), zeros, strict=True))
    parameters = AddParameters(first, second, total)
    a, b = (array.ravel().astype(np.uint8) for array in np.meshgrid(np.arange(256), np.arange(256)))
    return a, b, parameters


def quantized(numbers: Any, of: Quantization) -> Any:
    return torch._make_per_tensor_quantized_tensor(torch.from_numpy(numbers.copy()), float(of.scale), of.zero_point)


def added(a: Any, b: Any, parameters: AddParameters) -> Any:
    output = parameters.output
    operands = quantized(a, parameters.a), quantized(b, parameters.b)
    return torch.ops.quantized.add(*operands, float(output.scale), output.zero_point).int_repr().numpy()


@pytest.mark.parametrize("engine", ENGINES)
def test_an_addition_is_one_convention_in_vectors_and_another_behind_them(engine: str) -> None:
    torch.backends.quantized.engine = engine
    body, tail = (add_qnnpack,) * 2 if engine == "qnnpack" else (add_pytorch, add_pytorch_tail)
    apart = 0
    for seed in SEEDS:
        a, b, parameters = pairs(seed)
        np.testing.assert_array_equal(added(a, b, parameters), body(a, b, parameters))
        short = slice(seed * 1000, seed * 1000 + 5 * VECTOR + seed + 1)
        found, whole = added(a[short], b[short], parameters), 5 * VECTOR + (seed + 1) // VECTOR * VECTOR
        np.testing.assert_array_equal(found[:whole], body(a[short], b[short], parameters)[:whole])
        np.testing.assert_array_equal(found[whole:], tail(a[short], b[short], parameters)[whole:])
        apart += int((add_pytorch(a, b, parameters) != add_pytorch_tail(a, b, parameters)).sum())
    assert apart > 0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_product_is_scaled_in_float32_by_the_reciprocal_of_its_scale(engine: str) -> None:
    torch.backends.quantized.engine = engine
    for seed in SEEDS:
        a, b, by = pairs(seed)
        output = by.output
        made = torch.ops.quantized.mul(quantized(a, by.a), quantized(b, by.b), float(output.scale), output.zero_point)
        factor = np.float32(by.a.scale * by.b.scale) * (np.float32(1) / np.float32(output.scale))
        products = (a.astype(np.int64) - by.a.zero_point) * (b.astype(np.int64) - by.b.zero_point)
        ours = np.clip(product_xnnpack(products, factor).astype(np.int64) + output.zero_point, 0, 255)
        np.testing.assert_array_equal(made.int_repr().numpy(), ours)


@pytest.mark.parametrize("size", [5, 70_000])
@pytest.mark.parametrize("engine", ENGINES)
def test_real_numbers_become_bytes_by_a_fused_product_and_back_by_one_product(engine: str, size: int) -> None:
    """And those of one scale become those of another through real numbers: requantization."""
    torch.backends.quantized.engine = engine
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        scale, zero = np.float32(rng.choice([0.25, 0.1, rng.uniform(0.001, 0.1)])), int(rng.integers(0, 128))
        real = ((rng.integers(-300, 300, size) + rng.choice([0, 0.5], size)) * scale).astype(np.float32)
        for dtype, convention in ((torch.quint8, offset_then_round_even_fused),
                                  (torch.qint8, int8_offset_then_round_even_fused)):  # fmt: skip
            made = torch.quantize_per_tensor(torch.from_numpy(real), float(scale), zero, dtype)
            np.testing.assert_array_equal(made.int_repr().numpy(), convention(real, scale, zero))
            back = (made.int_repr().numpy().astype(np.float32) - np.float32(zero)) * scale
            np.testing.assert_array_equal(made.dequantize().numpy(), back)
            other = np.float32(scale * np.float32(0.75))
            again = torch.quantize_per_tensor(made.dequantize(), float(other), zero, dtype).int_repr().numpy()
            np.testing.assert_array_equal(again, convention(back, other, zero))
