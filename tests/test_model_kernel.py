"""`lanewise model --layer --kernel`: a kernel in the place of a layer, and what it changes; nets under a convention."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from test_model_command import Scaling, added, scaled

from sim.golden import double_rounding, double_rounding_ties_up, single_rounding
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.kernel_in_layer import change_of
from sim.models.layers import Added, Pooled, Requantized
from sim.models.network import Network
from sim.models.tflite_file import read_tflite
from support.command import lanewise
from support.sampled import sampled
from support.tflite_models import small_net

CONVOLUTION, DEPTHWISE, CONNECTED = 0, 1, 5
Tensors = dict[int, npt.NDArray[Any]]

SOURCE = """
#include <stddef.h>
#include <stdint.h>

void mine(const int8_t *input, const int8_t *weights, const int32_t *bias, const float *scales, int8_t *output,
          size_t rows, size_t columns, size_t depth, int32_t input_zero, int32_t output_zero)
{
    for (size_t r = 0; r < rows; ++r)
        for (size_t j = 0; j < columns; ++j) {
            int32_t sum = bias[j];
            for (size_t k = 0; k < depth; ++k)
                sum += (input[r * depth + k] - input_zero) * weights[j * depth + k];
            const float scaled = __builtin_roundevenf((float)sum * scales[j]);
            const int32_t placed = (int32_t)scaled + output_zero;
            output[r * columns + j] = (int8_t)(placed < -128 ? -128 : placed > 127 ? 127 : placed);
        }
}
"""
RECORD = '''
from pathlib import Path
from sim.kernels import Kernel, parse_prototype

PROTOTYPE = parse_prototype("""
    void mine(const int8_t input[rows][depth], const int8_t weights[columns][depth], const int32_t bias[columns],
              const float scales[columns], int8_t output[rows][columns], size_t rows, size_t columns, size_t depth,
              int32_t input_zero, int32_t output_zero)""")
KERNEL = Kernel(name="mine", symbol="mine", sources=(Path("mine.c"),), signature=PROTOTYPE.signature, golden=dict)
'''


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("net") / "net.tflite"
    file.write_bytes(small_net(1, 16).content())
    return file


def run_by(network: Network, scaling_of: Callable[[int], Scaling], spoilt: int | None = None) -> Tensors:
    """The net layer by layer, each layer by a scaling of its own, written a second time here.

    What the spoilt layer gives is 3 too much.
    """
    given = {t.number: t.data for t in network.tensors if t.data is not None}
    rng = np.random.default_rng(5)
    given |= {n: rng.integers(-128, 128, network.tensors[n].shape).astype(np.int8) for n in network.inputs}
    for layer in network.layers:
        made: Any = computed(network, layer, given)
        if isinstance(made, Requantized):
            made = scaled(made, made.accumulators, scaling_of(layer.number))
        elif isinstance(made, Added):
            made = added(made)
        elif isinstance(made, Pooled):  # the largest
            made = made.sums.astype(np.int8)
        given[layer.outputs[0]] = made if layer.number != spoilt else np.minimum(made, 124) + np.int8(3)
    return {number: array for number, array in given.items() if network.tensors[number].data is None}


def saved(network: Network, tensors: Mapping[int, npt.NDArray[Any]], folder: Path) -> Path:
    file = folder / "device.npz"
    arrays: dict[str, Any] = {network.tensors[number].name: array for number, array in tensors.items()}
    np.savez(file, **arrays)
    return file


def report(path: Path, layer: int, kernel: Any, *arguments: Any, exit_code: int) -> dict[str, Any]:
    outcome = lanewise("model", path, "--layer", layer, "--kernel", kernel, "--json", *arguments)
    assert outcome.exit_code == exit_code, outcome.output
    found: dict[str, Any] = json.loads(outcome.stdout)
    return found


SCALINGS: dict[str, Scaling] = {
    "double_rounding": double_rounding,
    "double_rounding_ties_up": double_rounding_ties_up,
    "single_rounding": single_rounding,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCALINGS)
def test_a_net_is_run_under_a_convention(name: str, path: Path) -> None:
    network = read_tflite(path)
    expected = run_by(network, lambda _: SCALINGS[name])
    made = forward(network, {number: expected[number] for number in network.inputs}, name)
    assert {number for number in expected if not np.array_equal(made[number], expected[number])} == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layer", "kernel"),
    sampled([(CONVOLUTION, "conv2d"), (DEPTHWISE, "depthwise_conv2d"), (CONNECTED, "fully_connected")], 3),
)
def test_a_kernel_of_the_layers_arithmetic_changes_nothing(layer: int, kernel: str, path: Path) -> None:
    found = report(path, layer, kernel, "--mode", "s8_single_rounding", "--convention", "single_rounding", exit_code=0)
    assert (found["output"]["differing"], [one["differing"] for one in found["outputs"]]) == (0, [0])
    assert (found["instructions"] > 1000, found["failure"]) == (True, "")


@pytest.mark.slow
def test_what_another_rounding_changes_is_counted(path: Path, tmp_path: Path) -> None:
    network = read_tflite(path)
    theirs = run_by(network, lambda _: double_rounding)
    ours = run_by(network, lambda number: single_rounding if number == CONVOLUTION else double_rounding)
    found = report(
        path, CONVOLUTION, "conv2d", "--mode", "s8_single_rounding",
        "--against", saved(network, theirs, tmp_path), exit_code=1,
    )  # fmt: skip
    number, end = network.layers[CONVOLUTION].outputs[0], network.outputs[0]
    wrong = ours[number] != theirs[number]
    first = tuple(int(place) for place in np.argwhere(wrong)[0])
    assert found["output"]["differing"] == int(wrong.sum()) > 0
    assert tuple(found["output"]["first"]) == first
    assert found["output"]["numbers"] == [int(ours[number][first]), int(theirs[number][first])]
    assert found["outputs"][0]["differing"] == int((ours[end] != theirs[end]).sum())


@pytest.mark.slow
def test_what_a_layer_changes_is_followed_to_the_outputs(path: Path, tmp_path: Path) -> None:
    network = read_tflite(path)
    theirs, ours = (run_by(network, lambda _: double_rounding, spoilt) for spoilt in (CONVOLUTION, None))
    found = report(path, CONVOLUTION, "conv2d", "--against", saved(network, theirs, tmp_path), exit_code=1)
    end = network.outputs[0]
    assert found["outputs"][0]["differing"] == int((ours[end] != theirs[end]).sum()) > 0
    assert found["outputs"][0]["distance"] == int(np.abs(ours[end].astype(int) - theirs[end]).max())


def own_kernel(folder: Path, source: str = SOURCE, record: str = RECORD) -> Path:
    (folder / "mine.c").write_text(source)
    (folder / "mine.py").write_text(record)
    return folder / "mine.py"


@pytest.mark.slow
def test_a_kernel_of_ones_own_takes_its_arguments_by_name(path: Path, tmp_path: Path) -> None:
    found = report(path, CONNECTED, own_kernel(tmp_path), "--convention", "fp32", exit_code=0)
    assert (found["kernel"], found["output"]["differing"], found["output"]["elements"]) == ("mine", 0, 10)


@pytest.mark.slow
def test_a_wrong_kernel_of_ones_own_is_shown(path: Path, tmp_path: Path) -> None:
    kernel = own_kernel(tmp_path, SOURCE.replace("+ output_zero", "+ output_zero + 40 * (j == 7)"))
    outcome = lanewise("model", path, "--layer", CONNECTED, "--kernel", kernel, "--convention", "fp32")
    assert outcome.exit_code == 1
    text = " ".join(outcome.stdout.split())
    assert "output: 1 of 10 elements is another than that of the golden reference, fp32: first [0][7]" in text
    assert "by 40 at most" in text


@pytest.mark.slow
def test_a_kernel_that_reads_elsewhere_is_stopped(path: Path, tmp_path: Path) -> None:
    kernel = own_kernel(tmp_path, SOURCE.replace("k < depth", "k <= depth"))
    found = report(path, CONNECTED, kernel, exit_code=1)
    assert found["output"] is None
    assert "(mine.c:12) reads byte 512, past the end of 'input'" in found["failure"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--layer", "0"), "--layer and --kernel go together"),
        (("--kernel", "conv2d"), "--layer and --kernel go together"),
        (("--layer", "9", "--kernel", "conv2d"), "has no layer 9: its layers are 0..5"),
        (
            ("--layer", str(DEPTHWISE + 1), "--kernel", "conv2d"),
            "kernels are put in the place of FULLY_CONNECTED, CONV_2D, DEPTHWISE_CONV_2D",
        ),
        (("--layer", "0", "--kernel", "conv3d"), "there is no kernel 'conv3d'"),
        (("--layer", "0", "--kernel", "fully_connected"), "the layer has no 'rows', which fully_connected"),
        (("--layer", "0", "--kernel", "offset_contribution"), "must have one output to stand for a layer"),
        (
            ("--layer", "0", "--kernel", "conv2d", "--convention", "half_up"),
            "--convention takes one of double_rounding",
        ),
        (("--layer", "0", "--kernel", "conv2d", "--opt", "O9"), "--opt takes"),
    ],
)
def test_what_cannot_be_put_in_place_is_refused(arguments: tuple[str, ...], sentence: str, path: Path) -> None:
    outcome = lanewise("model", path, *arguments)
    assert (outcome.exit_code, sentence in outcome.stderr, len(outcome.stderr.splitlines())) == (2, True, 1)


@pytest.mark.slow
def test_a_layer_that_was_not_recorded_is_refused(path: Path, tmp_path: Path) -> None:
    network = read_tflite(path)
    tensors = run_by(network, lambda _: double_rounding)
    del tensors[network.layers[CONVOLUTION].outputs[0]]
    file = saved(network, tensors, tmp_path)
    outcome = lanewise("model", path, "--layer", "0", "--kernel", "conv2d", "--against", file)
    assert (outcome.exit_code, "the output of layer 0 is not among the tensors" in outcome.stderr) == (2, True)


@pytest.mark.parametrize(
    ("ours", "theirs", "numbers", "distance", "largest"),
    [
        ([0.25, 0.5, 3.0], [0.5, 0.5, 2.75], (0.25, 0.5), 0.25, None),
        ([np.nan, 1.0, 2.0], [np.nan, 1.5, np.nan], (1.0, 1.5), 0.5, None),
        (0.25, 0.5, (0.25, 0.5), 0.25, None),
    ],
)
def test_outputs_that_are_real_numbers_differ_by_their_fractions(
    ours: Any, theirs: Any, numbers: tuple[float, float], distance: float, largest: None
) -> None:
    change = change_of("y", np.array(ours, np.float32), np.array(theirs, np.float32))
    assert (change.numbers, change.distance, change.largest) == (numbers, distance, largest)


def test_an_output_of_one_integer_without_an_axis_is_compared() -> None:
    change = change_of("y", np.array(-128, np.int8), np.array(127, np.int8))
    assert (change.differing, change.first, change.numbers, change.distance) == (1, (), (-128, 127), 255)
