"""Layers in hardware: what `gemm_core` is given of an input set, what it gives, and the compiled layer on `core128`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import pytest

import rtl_models.cores.core128.backend
import sim.check.external
from rtl_models.backend import build_hardware
from rtl_models.cores.core128.backend import build_core128
from rtl_models.cores.core128.configuration import configurations
from rtl_models.cores.gemm import GemmCore
from rtl_models.cores.layers import LAYERS, MODES, layer_on_core
from rtl_models.cores.layers_run import LayersRun
from rtl_models.session import WentWrong
from sim.check.external import NotMadeFor, Outside, check_external_backend, load_backends
from sim.check.vectors import Vectors, make_vectors
from sim.kernels.conv2d.golden import Geometry
from sim.kernels.fully_connected.golden import Parameters
from sim.kernels.kernel import Inputs, Kernel, built_in_kernel
from sim.kernels.requantize.golden import Channels
from support.rtl_faults import planted

rtl = pytest.mark.rtl
FULLY_CONNECTED, CONV2D = (built_in_kernel(name, MODES[0]) for name in LAYERS)
CORE = GemmCore()
TIES_UP = ("scale_rounded", "(|right) & ~rounding[0]", "1'b0")


def dense(rows: Any = ((3, 5),), weights: Any = ((1, 2), (0, -3)), **changed: Any) -> Inputs:
    """Products halved twice, of an input whose zero point is 1: 2 * 1 + 4 * 2 = 10 and 4 * -3 = -12."""
    given = {"factors": Channels((1 << 30,), (-1,)), "input_zero": 1, "minimum": -128, "maximum": 127}
    parameters = Parameters(**{**given, **changed})
    arrays = (np.array(rows, np.int8), np.array(weights, np.int8))
    return {"input": arrays[0], "weights": arrays[1], "bias": None, "parameters": parameters}


def window(size: int, geometry: Geometry, image: tuple[int, ...] = (2, 3, 4, 5)) -> Inputs:
    rng = np.random.default_rng(1)
    weights = rng.integers(-128, 128, (3, size, size, image[3]), np.int8)
    numbers = rng.integers(-128, 128, image, np.int8)
    return {**dense(), "input": numbers, "weights": weights, "geometry": geometry}


def vectors_of(kernel: Kernel, *inputs: Inputs) -> Vectors:
    return Vectors(list(inputs), [kernel.expected(one) for one in inputs], 1)


@cache
def some_vectors(name: str, mode: str) -> Vectors:
    """Every sixth input set."""
    kernel = built_in_kernel(name, mode)
    return vectors_of(kernel, *make_vectors(kernel, 200, seed=1).inputs[::6])


def test_a_layer_is_a_product_with_the_settings_of_its_parameters() -> None:
    made = layer_on_core(FULLY_CONNECTED, dense(output_zero=-7), CORE)
    (product,) = made.products
    assert {name: product.settings[name] for name in ("a_offset", "b_offset", "offset", "minimum", "signed")} == {
        "a_offset": -1, "b_offset": 0, "offset": -7, "minimum": -128, "signed": 1,
    }  # fmt: skip
    assert [product.settings[f"shift[{channel}]"] for channel in (0, 1)] == [1, 1]
    assert (product.a.tolist(), product.b.tolist()) == ([[3, 5]], [[1, 0], [2, 253]])
    assert made.output([product.results()]).tolist() == [[3 - 7, -3 - 7]]  # 2.5 and -3 with two roundings


def test_more_columns_than_the_core_has_channels_are_products_side_by_side() -> None:
    made = layer_on_core(FULLY_CONNECTED, dense(weights=[[column % 128, 0] for column in range(130)]), CORE)
    assert [product.shape.n for product in made.products] == [64, 64, 2]
    assert made.output([product.results() for product in made.products]).shape == (1, 130)


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        (dense(factors=Channels((1 << 30,), (30,))), ""),
        (dense([[0] * 256], [[0] * 256]), ""),
        (dense([[0] * 257], [[0] * 257]), "depth lies above 256"),
        (dense(np.zeros((1, 0)), np.zeros((2, 0))), ""),
        (dense(np.zeros((0, 3)), np.zeros((2, 3))), ""),
        (dense(np.zeros((65536, 1)), [[1]]), "height lies outside of 1..65535"),
    ],
)
def test_what_the_core_lacks_is_a_reason(inputs: Inputs, reason: str) -> None:
    found = layer_on_core(FULLY_CONNECTED, inputs, CORE).reason
    assert (found.startswith(reason), found == "") == (True, reason == "")


@pytest.mark.parametrize(
    ("size", "geometry", "products"),
    [
        (1, Geometry(), 1),
        (1, Geometry(2, 3), 1),
        (1, Geometry(1, 1, 0, 0, 0, 1), 2),
        (2, Geometry(), 2),
        (3, Geometry(2, 2, 1, 1, 1, 1), 2),
    ],
)
def test_a_convolution_is_a_product_of_pixels_or_one_of_windows_for_each_image(
    size: int, geometry: Geometry, products: int
) -> None:
    inputs = window(size, geometry)
    made = layer_on_core(CONV2D, inputs, CORE)
    assert (made.reason, len(made.products)) == ("", products)
    results = [product.results() for product in made.products]
    assert np.array_equal(made.output(results), CONV2D.expected(inputs)["output"])


def test_columns_of_windows_beyond_the_channels_are_products_side_by_side() -> None:
    inputs = window(2, Geometry())
    made = layer_on_core(CONV2D, inputs, replace(CORE, channels=2))
    assert (made.across, [product.shape.n for product in made.products]) == (2, [2, 1, 2, 1])
    results = [product.results() for product in made.products]
    assert np.array_equal(made.output(results), CONV2D.expected(inputs)["output"])


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        (window(2, Geometry(), (1, 64, 64, 1)), "an image has more than 1,024 words of four channels"),
        (window(2, Geometry(left=16)), "left lies outside of 0..15"),
        (window(3, Geometry(top=2), (1, 3, 3, 29)), "depth lies above 256"),
    ],
)
def test_what_the_core_lacks_for_windows_is_a_reason(inputs: Inputs, reason: str) -> None:
    assert layer_on_core(CONV2D, inputs, CORE).reason == reason


@pytest.mark.parametrize("mode", MODES)
def test_a_layer_without_depth_is_one_of_a_number_that_counts_for_nothing(mode: str) -> None:
    kernel, dtype = built_in_kernel("fully_connected", mode), "int8" if mode.startswith("s8") else "uint8"
    nothing = {"input": np.zeros((2, 0), dtype), "weights": np.zeros((3, 0), dtype), "bias": np.arange(3, dtype="i4")}
    inputs = {**dense(input_zero=9, minimum=0, output_zero=2, factors=Channels((1 << 30,), (1,))), **nothing}
    made = layer_on_core(kernel, inputs, CORE)
    assert made.output([product.results() for product in made.products]).tolist() == [[2, 3, 4]] * 2


@pytest.mark.slow
@rtl
@pytest.mark.parametrize(("name", "mode"), [(name, mode) for name in LAYERS for mode in MODES])
def test_the_core_agrees_with_the_golden_reference_of_every_layer(name: str, mode: str) -> None:
    kernel, some = built_in_kernel(name, mode), some_vectors(name, mode)
    outcome = check_external_backend(kernel, build_hardware(kernel), some)
    assert (outcome.failure, outcome.lanes_compared + sum(outcome.outside.values())) == ("", some.count)
    assert not outcome.outside


@pytest.mark.slow
@rtl
def test_a_beat_in_another_cycle_than_is_predicted_is_noticed() -> None:
    run = LayersRun(CORE)
    run._core = replace(CORE, deep=True)  # whose results come later
    with pytest.raises(WentWrong, match=r"a layer GemmShape\(m=1, k=2, n=2, image=0\): cycles of there"):
        run.results(layer_on_core(FULLY_CONNECTED, dense(), CORE).products)


@pytest.mark.slow
@rtl
def test_a_fault_of_the_core_is_found_in_the_lane_of_the_negative_tie() -> None:
    """(6 * -1, 4 * -1) / 2 / 2 = -1.5 and -1; the first goes away from zero."""
    inputs = dense([[7], [5]], [[-1]])
    hardware = build_hardware(FULLY_CONNECTED, {"modules": str(planted(*TIES_UP))})
    found = check_external_backend(FULLY_CONNECTED, hardware, vectors_of(FULLY_CONNECTED, inputs)).mismatch
    assert found is not None
    assert (found.lane, found.got, found.expected) == ((0, 0), -1, -2)


@pytest.mark.slow
@rtl
@pytest.mark.parametrize("kernel", [FULLY_CONNECTED, CONV2D], ids=lambda kernel: kernel.name)
def test_the_compiled_layer_on_core128_gives_the_golden_bytes(kernel: Kernel) -> None:
    """Left shifts and windows of any size too."""
    inputs = dense(factors=Channels((1 << 30,), (1,))) if kernel is FULLY_CONNECTED else window(2, Geometry(1, 2, 1))
    outcome = check_external_backend(kernel, build_core128(kernel), vectors_of(kernel, inputs))
    assert (outcome.failure, outcome.outside) == ("", {})
    assert outcome.made_as.startswith("kernel.c -O2 as lane128, ")


@rtl
def test_a_cycle_of_core128_that_is_not_predicted_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = build_core128(FULLY_CONNECTED)
    monkeypatch.setattr(rtl_models.cores.core128.backend, "load_core", lambda _: configurations()["uneven"])
    outcome = check_external_backend(FULLY_CONNECTED, compiled, vectors_of(FULLY_CONNECTED, dense()))
    assert ("issues at" in outcome.failure, outcome.made_as) == (True, "kernel.c -O2 as lane128")


@rtl
def test_what_core128_lacks_for_a_layer_is_a_reason() -> None:
    by_float = built_in_kernel("fully_connected", "s8_fp32")
    (inputs, *_) = make_vectors(by_float, 0, seed=1).inputs
    (found,) = build_core128(by_float).run([inputs])
    assert isinstance(found, Outside)
    assert (found.reason[:9], found.reason[-29:]) == ("it needs ", ", which core128 does not have")


def test_core128_is_beside_layers_only() -> None:
    with pytest.raises(NotMadeFor, match="core128 is beside fully_connected, conv2d only"):
        build_core128(built_in_kernel("quantize_down"))


def test_backends_beside_another_come_after_it_where_they_have_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> object:
        raise NotMadeFor("not this one")

    made: dict[str, Callable[..., object]] = {
        "rtl": lambda *_: "first", "rtl.b": lambda *_: "third", "rtl.a": lambda *_: "second", "rtl.c": refuse,
        "other": lambda *_: "none of them",
    }  # fmt: skip
    entries = [EntryPoint(name, "no.module:at_all", "lanewise.backends") for name in made]
    monkeypatch.setattr(sim.check.external, "entry_points", lambda **_: entries)
    monkeypatch.setattr(EntryPoint, "load", lambda point: made[point.name])
    assert list(map(str, load_backends("rtl", CONV2D, {}))) == ["first", "second", "third"]
    monkeypatch.setitem(made, "rtl", refuse)
    with pytest.raises(NotMadeFor):
        load_backends("rtl", CONV2D, {})
