"""ConvTranspose and Resize in ONNX Runtime, and Sub and PRelu with a Relu behind: every layer is named."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_models_onnx_of_two import SHAPES, divisors, network_of
from test_models_onnx_reals import COORDINATES, NEAREST, resized_net, transposed_net

from sim.models.compare import LayerReport, compared
from sim.models.forward import drawn_inputs
from sim.models.network import Network
from sim.models.onnx_file import read_onnx
from sim.models.runtimes.onnxruntime import onnxruntime_tensors
from support.onnx_layers import elements_onnx_net, mobile_onnx_net, own_onnx_net

NETS = 40
SIZES = [
    ((4, 5), (8, 10)), ((7, 3), (3, 11)), ((1, 6), (5, 6)), ((3, 4), (24, 32)), ((9, 9), (1, 1)), ((5, 2), (13, 7)),
    ((16, 16), (5, 9)),
]  # fmt: skip


def report_of(network: Network, x: np.ndarray, folder: Path) -> LayerReport:
    (report,) = compared(network, onnxruntime_tensors(folder / "net.onnx", network, {network.inputs[0]: x}))
    return report


@pytest.mark.parametrize("bias", ["none", "real", "integers"])
@pytest.mark.parametrize("relu", [False, True])
def test_every_transposed_convolution_is_named(relu: bool, bias: str, tmp_path: Path) -> None:
    """Up to 300 channels, groups, strides, dilations, pads and rows more; a bias of real numbers is rounded first, but
    with groups and a scale for each channel it stays as it is."""
    rng, told = np.random.default_rng(11), set()
    for number in range(NETS):
        group = (1, 2)[number % 5 == 3]
        channels = group * int(rng.integers(1, (9, 150)[number % 7 == 0]))
        out, size = int(rng.integers(1, 6)), rng.integers(1, 4, 2)
        strides, dilations = rng.integers(1, 4, 2), rng.integers(1, 3, 2)
        further = np.minimum(rng.integers(0, 2, 2), strides - 1)
        pads = np.minimum(rng.integers(0, 2, 4), np.tile((size - 1) * dilations, 2))
        options: dict[str, Any] = {
            name: numbers.tolist()
            for name, numbers in (
                ("strides", strides), ("dilations", dilations), ("output_padding", further), ("pads", pads),
            )
        }  # fmt: skip
        weights = rng.integers(-127, 128, (channels, out, *size)).astype(np.int8)
        scales = rng.uniform(0.001, 0.003, out).astype(np.float32) if number % 3 else np.float32(0.002)
        drawn = {
            "none": None,
            "real": rng.normal(size=out * group).astype(np.float32),
            "integers": rng.integers(-900, 901, out * group).astype(np.int32),
        }[bias]
        if bias == "integers" and group > 1:  # a scale for each channel of a group, of a bias of all groups
            continue
        image = (2, channels, *(int(length) for length in rng.integers(2, 8, 2)))
        to = float(np.sqrt(channels)) * 0.003
        network = transposed_net(tmp_path, weights, image, drawn, scales, relu, to, group=group, **options)
        report = report_of(network, rng.integers(0, 256, image).astype(np.uint8), tmp_path)
        stays = bias == "real" and group > 1 and number % 3 > 0
        name = "round_even_then_offset" + " of bias_in_reals" * stays
        assert name in report.conventions, (channels, group, options, report)
        both = {"round_even_then_offset", "round_even_then_offset of bias_in_reals"}
        told |= {stays} if not both <= set(report.conventions) else set()
    assert told == ({False, True} if bias == "real" else {False})


@pytest.mark.parametrize("relu", [False, True])
def test_images_of_one_pixel_are_named(relu: bool, tmp_path: Path) -> None:
    """Up to 300 channels, groups and strides; every other sum of small numbers is next to a tie, where order shows."""
    rng = np.random.default_rng(18)
    for number in range(60):
        group, is_small = (1, 2, 3)[number % 7 % 3], number % 2 == 0
        channels = group * int(rng.integers(1, 30 if is_small else 100))
        image, out, most = (2, channels, 1, 1), int(rng.integers(1, 9)), 9 if is_small else 127
        weights = rng.integers(-most, most + 1, (channels, out, *rng.integers(1, 5, 2))).astype(np.int8)
        options: dict[str, Any] = {"strides": rng.integers(1, 4, 2).tolist(), "group": group}
        scales = rng.uniform(0.001, 0.003, out).astype(np.float32) if number % 3 else np.float32(0.002)
        drawn = rng.normal(size=out * group).astype(np.float32) if number % 5 == 1 else None
        to = 0.031 * float(np.ravel(scales)[0]) * 2 if is_small else float(np.sqrt(channels)) * 0.003
        network = transposed_net(tmp_path, weights, image, drawn, scales, relu, to, **options)
        x = rng.integers(112, 129, image) if is_small else rng.integers(0, 256, image)
        report = report_of(network, x.astype(np.uint8), tmp_path)
        names = {"round_even_then_offset", "round_even_then_offset of bias_in_reals"}
        assert names & set(report.conventions), (channels, group, options, report)


def test_pads_that_are_a_word_or_the_outputs_shape_are_taken_as_there(tmp_path: Path) -> None:
    """Of every word with a shape and without, where the windows make as much or more; odd and even cuts."""
    rng = np.random.default_rng(14)
    for number in range(60):
        size, strides, lengths = rng.integers(1, 5, 2), rng.integers(1, 4, 2), rng.integers(2, 6, 2)
        word = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")[number % 4]
        options: dict[str, Any] = {"strides": strides.tolist(), "auto_pad": word}
        if word == "NOTSET" or number % 3 == 0:
            whole = (lengths - 1) * strides + size
            options["output_shape"] = np.maximum(whole - rng.integers(0, 4, 2), 1).tolist()
        weights, image = rng.integers(-127, 128, (3, 2, *size)).astype(np.int8), (1, 3, *map(int, lengths))
        network = transposed_net(tmp_path, weights, image, **options)
        report = report_of(network, rng.integers(0, 256, image).astype(np.uint8), tmp_path)
        assert "round_even_then_offset" in report.conventions, (size, lengths, options, report)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_every_image_between_four_numbers_is_named(coordinates: str, dtype: str, tmp_path: Path) -> None:
    """Between pairs of one scale and of two by real numbers, without pairs as bytes; by sizes and by scales."""
    rng, limits, told = np.random.default_rng(12), np.iinfo(dtype), set()
    options: dict[str, Any] = {"mode": "linear", "coordinate_transformation_mode": coordinates, "dtype": dtype}
    zeros = {"uint8": "xy", "int8": ""}[dtype]
    for before, behind in SIZES:
        x = rng.integers(limits.min, limits.max, (2, 3, *before), dtype, endpoint=True)
        scales = (1.0, 1.0, *(to / of * 1.03 for of, to in zip(before, behind, strict=True)))
        for sized in ({"sizes": (2, 3, *behind)}, {"scales": scales}):
            if sized == {"scales": scales} and min(int(s * of) for s, of in zip(scales[2:], before, strict=True)) < 1:
                continue
            for pairs in ("", *(("xx", "xy") if zeros else ())):
                network = resized_net(tmp_path, x.shape, **sized, pairs=pairs, **options)
                name = "round_even_then_offset" if pairs else "bilinear_in_float32_cut"
                report = report_of(network, x, tmp_path)
                assert name in report.conventions, (before, behind, sized, pairs, report)
                told |= {report.conventions}
    assert ("bilinear_in_float32_cut",) in told


@pytest.mark.parametrize("excludes", [0, 1])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_every_image_between_sixteen_numbers_is_named(coordinates: str, excludes: int, tmp_path: Path) -> None:
    """By sizes and by scales, of one scale and of two, and by two coefficients."""
    rng = np.random.default_rng(15)
    for number, (before, behind) in enumerate(SIZES):
        x = rng.integers(0, 256, (2, 3, *before)).astype(np.uint8)
        scales = (1.0, 1.0, *(max(to / of * 1.03, 1.0 / of) for of, to in zip(before, behind, strict=True)))
        options: dict[str, Any] = {"coordinate_transformation_mode": coordinates, "exclude_outside": excludes}
        options |= {"mode": "cubic", "cubic_coeff_a": (-0.75, -0.5)[number % 2]}
        for sized in ({"sizes": (2, 3, *behind)}, {"scales": scales}):
            for pairs in ("xx", "xy"):
                network = resized_net(tmp_path, x.shape, **sized, pairs=pairs, **options)
                report = report_of(network, x, tmp_path)
                assert "round_even_then_offset" in report.conventions, (before, behind, sized, pairs, report)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_every_part_that_is_cut_out_is_named(mode: str, tmp_path: Path) -> None:
    """Inside of the image and beyond it, with what is stated for that, and where it stays as large."""
    rng, outcomes = np.random.default_rng(16), set()
    for number, (before, behind) in enumerate([*SIZES, ((5, 4), (5, 4))] * 4):
        x = rng.integers(0, 256, (2, 3, *before)).astype(np.uint8)
        part = np.concatenate([np.zeros(2), rng.uniform(-0.3, 0.6, 2), np.ones(2), rng.uniform(0.4, 1.4, 2)])
        options: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize"}
        options |= {"extrapolation_value": (0.0, 0.9)[number % 2], "part": tuple(part.tolist())}
        for pairs in ("xx", "xy"):
            network = resized_net(tmp_path, x.shape, (2, 3, *behind), pairs=pairs, **options)
            report = report_of(network, x, tmp_path)
            outcomes.add(report.outcome)
            is_refused = report.outcome == "skipped" and "it reaches outside of the image" in report.reason
            assert report.outcome == "equal" or (is_refused and (mode, pairs) == ("nearest", "xx")), (part, report)
    assert "equal" in outcomes


@pytest.mark.parametrize(  # ONNX Runtime has no cubic of bytes alone
    ("mode", "pairs"), [*product(["nearest", "linear"], ["", "xx", "xy"]), ("cubic", "xx"), ("cubic", "xy")]
)
def test_what_stays_as_large_is_the_same(mode: str, pairs: str, tmp_path: Path) -> None:
    x = np.random.default_rng(17).integers(0, 256, (2, 3, 5, 4)).astype(np.uint8)
    network = resized_net(tmp_path, x.shape, scales=(1, 1, 1.1, 1.2), mode=mode, pairs=pairs)
    assert report_of(network, x, tmp_path).outcome == "equal"


@pytest.mark.parametrize("nearest", NEAREST)
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_every_nearest_number_is_taken(coordinates: str, nearest: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(13)
    options: dict[str, Any] = {
        "mode": "nearest",
        "coordinate_transformation_mode": coordinates,
        "nearest_mode": nearest,
    }
    for before, behind in SIZES:
        x = rng.integers(0, 256, (2, 3, *before)).astype(np.uint8)
        for pairs in ("", "xx", "xy"):
            report = report_of(resized_net(tmp_path, x.shape, (2, 3, *behind), pairs=pairs, **options), x, tmp_path)
            assert report.outcome == "equal", (before, behind, pairs, report)
            assert ("round_even_then_offset" if pairs == "xy" else "exact") in report.conventions


@pytest.mark.parametrize("operator", ["Sub", "Div", "PRelu"])
def test_what_a_relu_leaves_is_named(operator: str, tmp_path: Path) -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        first, second = (rng.integers(0, 256, shape).astype(np.uint8) for shape in SHAPES[operator])
        second = divisors(second) if operator == "Div" else second
        report = report_of(network_of(tmp_path, operator, second, relu=True), first, tmp_path)
        assert (report.outcome, "round_even_then_offset" in report.conventions) == ("equal", True), (seed, report)


@pytest.mark.parametrize("net", [elements_onnx_net, mobile_onnx_net, own_onnx_net])
def test_every_layer_of_nets_of_all_operators_is_named(net: Any, tmp_path: Path) -> None:
    for seed in range(8):
        path = tmp_path / "net.onnx"
        path.write_bytes(net(seed))
        network = read_onnx(path)
        reports = compared(network, onnxruntime_tensors(path, network, drawn_inputs(network, seed)))
        assert {report.outcome for report in reports} == {"equal"}, [
            (one.layer.operator, one.outcome, one.reason) for one in reports if one.outcome != "equal"
        ]
