"""Nets in PyTorch, written as .onnx files of pairs beside their tensors: `lanewise model` names every convention.

What docs/models.md says to do with a net of PyTorch's, which reads neither of the formats: its integers are recorded in
an archive under the names that they have in the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sim.models.questions import is_one_of
from support.command import lanewise
from support.pytorch_models import PairedNet

pytestmark = pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")


def conv_net(net: PairedNet) -> str:
    x = net.input("x", (2, 8, 8, 8), 20)
    first = net.weighted("conv", x, 16, "first", size=3, relu=True)
    second = net.weighted("conv", first, 32, "second", size=3, stride=2, per_tensor=True)
    pooled = net.moved("MaxPool", second, "pooled")
    return net.weighted("linear", net.moved("Flatten", pooled, "row"), 24, "output")


def residual_net(net: PairedNet) -> str:
    x = net.input("x", (2, 16, 8, 8), 20)
    first = net.weighted("conv", x, 16, "first", size=3, relu=True)
    second = net.weighted("conv", first, 16, "second", size=3, bias=False)
    total = net.pair("add", first, second, "sum", relu=True)
    third = net.weighted("conv", total, 16, "third", size=3)
    again = net.pair("add", total, third, "again")
    gated = net.pair("mul", again, first, "gated")
    return net.weighted("linear", net.moved("Flatten", net.average(gated, "average"), "row"), 24, "output")


def separable_net(net: PairedNet) -> str:
    x = net.input("x", (2, 8, 9, 9), 20)
    first = net.weighted("conv", x, 16, "first", size=3, stride=2, relu=True)
    depthwise = net.weighted("conv", first, 16, "depthwise", size=3, groups=16, relu=True)
    point = net.weighted("conv", depthwise, 32, "point")
    again = net.weighted("conv", point, 32, "again", size=3, groups=32, stride=2)
    return net.weighted("linear", net.moved("Flatten", net.average(again, "average"), "row"), 24, "output")


def mlp(net: PairedNet) -> str:
    first = net.weighted("linear", net.input("x", (32, 24), 20), 48, "first", relu=True)
    second = net.weighted("linear", first, 48, "second", relu=True, per_tensor=True)
    return net.weighted("linear", net.pair("add", first, second, "sum"), 16, "output", bias=False)


NETS: dict[str, Callable[[PairedNet], str]] = {
    "conv": conv_net, "residual": residual_net, "separable": separable_net, "mlp": mlp
}  # fmt: skip
SEEDS = range(4)


def expected(engine: str, layer: dict[str, Any], is_per_tensor: bool) -> str | None:
    """The convention of a layer; None where numbers are only moved."""
    operator, is_matrix = layer["operator"], layer["operator"] == "Gemm"
    if operator in ("MaxPool", "Flatten"):
        return None
    if operator == "Add":
        return "add_qnnpack" if engine == "qnnpack" else "add_pytorch"
    if operator == "Mul":
        return "product_xnnpack of scales_by_reciprocal"
    if operator == "GlobalAveragePool":
        return "product_xnnpack" if engine == "qnnpack" else "offset_then_round_even"
    if engine == "qnnpack":
        return "bias_rounded"
    if engine == "onednn" or (engine == "x86" and not is_matrix):
        return "bias_in_reals_of_products" if is_matrix else "bias_in_reals"
    return "bias_by_reciprocal" if is_per_tensor else "bias_divided"


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("engine", ["fbgemm", "x86", "onednn", "qnnpack"])
def test_every_layer_of_a_net_is_named(engine: str, net: str, tmp_path: Path) -> None:
    torch.set_num_threads(1)
    torch.backends.quantized.engine = engine
    for seed in SEEDS:
        made = PairedNet(torch, seed, seed % 2 == 0)
        output = NETS[net](made)
        path, recorded = tmp_path / "net.onnx", tmp_path / "tensors.npz"
        path.write_bytes(made.content(output))
        np.savez(recorded, allow_pickle=False, **made.tensors)
        result = lanewise("model", path, "--against", recorded, "--json")
        assert result.exit_code == 0, result.output
        told = json.loads(result.output)
        assert len(told["layers"]) == len(made.tensors) - len(made.inputs)
        for layer, name in zip(told["layers"], list(made.tensors)[len(made.inputs) :], strict=True):
            assert layer["outcome"] in ("equal", "departs"), layer
            weighted = made.layers.get(name)
            own = expected(engine, layer, weighted is not None and weighted.scales.size == 1)
            names = [one for one in layer["conventions"] if " then " not in one]
            assert own is None or is_one_of(names, own), (name, layer)
