"""LOGISTIC and TANH layers: which arithmetic made their bytes, what is not computed, and a network through them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sim.kernels.activation_table.golden import MODES, Parameters, activation_table
from sim.kernels.activation_table.vectors import TELLING
from sim.models.compare import compared
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.network import Network, NotComputed
from sim.models.rules.functions.activating import IN_FIXED_POINT, IN_FLOAT
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

SCALES = (0.05, 0.0123, *TELLING)
EVERY = {name: np.arange(256, dtype=np.uint8).view(name).reshape(1, 256) for name in ("int8", "uint8")}


def network_of(folder: Path, function: str, dtype: str, units: int = 0) -> tuple[Network, list[tuple[int, int]]]:
    """A network of one layer for each scale, with the numbers of their inputs and outputs; `units` moves the output."""
    made, pairs = ModelWriter(), []
    mode = MODES[f"{function}_{'s8' if dtype == 'int8' else 'u8'}"]
    for number, scale in enumerate(SCALES):
        x = made.tensor(f"x{number}", dtype, (1, 256), float(np.float32(scale)), 3)
        to = 2.0 ** (-8 if function == "logistic" else -7)
        y = made.tensor(f"y{number}", dtype, (1, 256), to, mode.output_zero + units)
        made.layer(function.upper(), (x,), (y,))
        pairs.append((x, y))
    made.inputs, made.outputs = [x for x, _ in pairs], [y for _, y in pairs]
    path = folder / "net.tflite"
    path.write_bytes(made.content())
    return read_tflite(path), pairs


def tensors_of(pairs: list[tuple[int, int]], mode: str) -> dict[int, np.ndarray]:
    """Every byte of each layer, by a mode of the kernel."""
    every = EVERY[MODES[mode].dtype.name]
    given = {x: every for x, _ in pairs}
    made = [activation_table(every, Parameters(np.float32(scale), 3), mode) for scale in SCALES]
    return given | {y: table for (_, y), table in zip(pairs, made, strict=True)}


@pytest.mark.parametrize(
    ("mode", "dtype", "name"),
    [
        ("logistic_s8", "int8", IN_FLOAT),
        ("tanh_u8", "uint8", IN_FLOAT),
        ("logistic_s8_fixed_point", "int8", IN_FIXED_POINT),
        ("tanh_s8_fixed_point", "int8", IN_FIXED_POINT),
    ],
)
def test_the_arithmetic_that_made_every_byte_is_named(mode: str, dtype: str, name: str, tmp_path: Path) -> None:
    network, pairs = network_of(tmp_path, mode.split("_")[0], dtype)
    reports = compared(network, tensors_of(pairs, mode))
    assert {(one.outcome, one.kind, name in one.conventions) for one in reports} == {("equal", "activation", True)}


def test_scales_next_to_ties_tell_the_arithmetics_apart(tmp_path: Path) -> None:
    network, pairs = network_of(tmp_path, "logistic", "int8")
    reports = compared(network, tensors_of(pairs, "logistic_s8"))
    assert {one.conventions for one in reports} >= {(IN_FLOAT,), (IN_FLOAT, IN_FIXED_POINT)}


def test_a_byte_that_neither_makes_is_traced(tmp_path: Path) -> None:
    network, pairs = network_of(tmp_path, "tanh", "int8")
    tensors = tensors_of(pairs, "tanh_s8")
    tensors[pairs[0][1]] = tensors[pairs[0][1]].copy()
    tensors[pairs[0][1]][0, 130] += 1
    first, *others = compared(network, tensors)
    assert (first.outcome, first.differing, first.first, first.usual) == ("differs", 1, (0, 130), IN_FLOAT)
    assert first.trace is not None
    assert (first.trace.inputs, first.trace.yours - first.trace.result) == ({"byte": -126}, 1)
    assert {one.outcome for one in others} == {"equal"}


def test_a_network_is_run_through_them(tmp_path: Path) -> None:
    network, pairs = network_of(tmp_path, "logistic", "uint8")
    tensors = tensors_of(pairs, "logistic_u8")
    made = forward(network, {x: tensors[x] for x, _ in pairs}, "double_rounding")
    assert all(np.array_equal(made[y], tensors[y]) for _, y in pairs)


def test_another_scale_than_the_prescribed_one_is_not_computed(tmp_path: Path) -> None:
    network, pairs = network_of(tmp_path, "logistic", "int8", units=1)
    with pytest.raises(NotComputed, match=r"its output has not the scale 0\.00390625 and zero point -128"):
        computed(network, network.layers[0], {pairs[0][0]: EVERY["int8"]})


def test_sixteen_bits_that_count_from_another_zero_are_refused(tmp_path: Path) -> None:
    network, pairs = network_of(tmp_path, "tanh", "int8")
    with pytest.raises(NotComputed, match="TANH of int16 with zero point 3, which TFLite refuses"):
        computed(network, network.layers[0], {pairs[0][0]: EVERY["int8"].astype(np.int16)})


def test_a_byte_far_below_the_zero_point_is_traced_to_the_end_of_the_function(tmp_path: Path) -> None:
    made, every = ModelWriter(), EVERY["uint8"]
    x, y = made.tensor("x", "uint8", (1, 256), 6.0, 255), made.tensor("y", "uint8", (1, 256), 2.0**-8, 0)
    made.layer("LOGISTIC", (x,), (y,))
    made.inputs, made.outputs = [x], [y]
    path = tmp_path / "far.tflite"
    path.write_bytes(made.content())
    (report,) = compared(read_tflite(path), {x: every, y: np.full_like(every, 3)})
    assert report.trace is not None
    assert (report.trace.steps[0].name, report.trace.result) == ("logistic of -1530", 0)
    assert 0 < report.trace.exact < 2**-900
