"""`lanewise model --cycles`: estimates beside whole layers that were timed, their sum, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tflite

from sim.cycles.cores import named_core
from sim.cycles.input import kernel_call
from sim.kernels import built_in_kernel
from sim.kernels.conv2d.golden import Geometry
from sim.kernels.conv2d.vectors import input_set
from sim.kernels.depthwise_conv2d.vectors import input_set as depthwise_input_set
from sim.kernels.fully_connected.vectors import random_parameters
from sim.timing.model.pipeline import schedule
from support.command import lanewise
from support.sampled import sampled, shown_too_by
from support.tflite_models import ModelWriter, small_net

CORE = "neoverse-n1"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("net") / "net.tflite"
    file.write_bytes(small_net(1, 6).content())
    return file


@pytest.mark.slow
@shown_too_by("test_model_cycles.py::test_an_estimate_of_a_depthwise_layer_is_near_the_whole_layer_and_in_the_sum")
def test_an_estimate_is_near_the_whole_layer_and_the_sum_is_that_of_the_layers(path: Path) -> None:
    """The net's first layer: 3 x 3, 4 channels to 8, 6 x 6 pixels, padded."""
    found = json.loads(lanewise("model", path, "--cycles", CORE, "--json").stdout)
    rng, mode = np.random.default_rng(1), "s8_double_rounding"
    parameters, around = random_parameters(rng, mode, 8), Geometry(1, 1, 1, 1, 1, 1)
    inputs = input_set(rng, (1, 6, 6, 4), (3, 3), around, parameters, mode, 8)
    whole = schedule(kernel_call(built_in_kernel("conv2d", mode), inputs).stream, named_core(CORE)).cycles
    first, *others = found["layers"]
    assert first["cycles"][CORE] == pytest.approx(whole, rel=0.05)
    assert first["multiply_accumulates"] == 6 * 6 * 8 * 3 * 3 * 4
    assert found["total"][CORE] == first["cycles"][CORE] + others[0]["cycles"][CORE] + others[-1]["cycles"][CORE]
    assert [layer["reason"] != "" for layer in found["layers"]] == [False, False, True, True, True, False]


@pytest.mark.slow
def test_an_estimate_of_a_depthwise_layer_is_near_the_whole_layer_and_in_the_sum(path: Path) -> None:
    """The second layer: 3 x 3, 8 channels, 6 x 6 pixels."""
    found = json.loads(lanewise("model", path, "--cycles", CORE, "--json").stdout)
    layer = found["layers"][1]
    rng, mode = np.random.default_rng(1), "s8_double_rounding"
    parameters, around = random_parameters(rng, mode, 8), Geometry(1, 1, 1, 1, 1, 1)
    inputs = depthwise_input_set(rng, (1, 6, 6, 8), (3, 3), around, parameters, mode)
    whole = schedule(kernel_call(built_in_kernel("depthwise_conv2d", mode), inputs).stream, named_core(CORE)).cycles
    assert layer["cycles"][CORE] == pytest.approx(whole, rel=0.05)
    assert (layer["kernel"], layer["multiply_accumulates"]) == ("depthwise_conv2d", 6 * 6 * 8 * 3 * 3)
    timed = [one["cycles"][CORE] for one in found["layers"] if not one["reason"]]
    assert (len(timed), found["total"][CORE]) == (3, sum(timed))


@pytest.mark.slow
@pytest.mark.parametrize(("channels", "windows"), sampled([(3, 10), (1, 8), (4, 3)], 3))
def test_an_estimate_of_several_windows_of_a_channel_is_near_the_whole_layer(
    channels: int, windows: int, tmp_path: Path
) -> None:
    rng, mode, made, columns = np.random.default_rng(2), "s8_double_rounding", ModelWriter(), channels * windows
    x, taps = made.tensor("x", "int8", (1, 6, 5, channels), 0.5), np.ones((1, 3, 3, columns), np.int8)
    y, weights = made.tensor("y", "int8", (1, 6, 5, columns), 0.5), made.tensor("w", "int8", taps.shape, 0.1, 0, taps)
    options = {"Padding": tflite.Padding.SAME, "StrideH": 1, "StrideW": 1, "DepthMultiplier": windows}
    made.layer("DEPTHWISE_CONV_2D", (x, weights), (y,), "DepthwiseConv2DOptions", **options)
    made.inputs, made.outputs = [x], [y]
    (tmp_path / "net.tflite").write_bytes(made.content())
    (layer,) = json.loads(lanewise("model", tmp_path / "net.tflite", "--cycles", CORE, "--json").stdout)["layers"]
    parameters = random_parameters(rng, mode, columns)
    image, around = (1, 6, 5, channels), Geometry(1, 1, 1, 1, 1, 1)
    inputs = depthwise_input_set(rng, image, (3, 3), around, parameters, mode, windows=windows)
    whole = schedule(kernel_call(built_in_kernel("depthwise_conv2d", mode), inputs).stream, named_core(CORE)).cycles
    assert layer["cycles"][CORE] == pytest.approx(whole, rel=0.05)
    assert layer["multiply_accumulates"] == 6 * 5 * columns * 3 * 3


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--cycles", "pentium"), "there is no core 'pentium'"),
        (("--cycles", CORE, "--against", "litert"), "--cycles is about the network alone"),
    ],
)
def test_what_cannot_be_estimated_is_refused(arguments: tuple[str, ...], sentence: str, path: Path) -> None:
    outcome = lanewise("model", path, *arguments)
    assert (outcome.exit_code, sentence in outcome.stderr, len(outcome.stderr.splitlines())) == (2, True, 1)
