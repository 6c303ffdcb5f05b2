"""`lanewise model`: networks listed, compared with somebody's tensors, damaged, and asked for what is not there."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sim.golden import add_tflite, derive_tflite, double_rounding, double_rounding_ties_up, single_rounding
from sim.golden.addition import AddParameters, Quantization
from sim.models.compare import compared
from sim.models.computed import computed
from sim.models.forward import drawn_inputs, forward
from sim.models.layers import Added, Pooled, Requantized
from sim.models.network import ModelError, Network
from sim.models.report import ModelReport
from sim.models.tflite_file import read_tflite
from support.command import lanewise
from support.onnx_models import paired_net
from support.tflite_models import ModelWriter, small_net

Tensors = dict[int, npt.NDArray[Any]]
Scaling = Callable[[Any, int, int], Any]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("net") / "net.tflite"
    file.write_bytes(small_net(1, 16).content())
    return file


def device(network: Network, scaling: Scaling, wrong: Callable[[int, Any], Any] = lambda number, made: made) -> Tensors:
    """What a runtime with that scaling makes of a net, layer by layer; `wrong` spoils the sums of a layer."""
    given = {t.number: t.data for t in network.tensors if t.data is not None}
    rng = np.random.default_rng(5)
    given |= {n: rng.integers(-128, 128, network.tensors[n].shape).astype(np.int8) for n in network.inputs}
    for layer in network.layers:
        made: Any = computed(network, layer, given)
        if isinstance(made, Requantized):
            made = scaled(made, wrong(layer.number, made.accumulators), scaling)
        elif isinstance(made, Added):
            made = added(made)
        elif isinstance(made, Pooled):  # the largest
            made = made.sums.astype(np.int8)
        given[layer.outputs[0]] = made
    return {number: array for number, array in given.items() if network.tensors[number].data is None}


def scaled(made: Requantized, sums: Any, scaling: Scaling) -> Any:
    channels = np.broadcast_to(made.scale, sums.shape[-1:])
    columns = []
    for channel, factor in enumerate(channels):
        derived = derive_tflite(float(factor))
        columns.append(scaling(sums[..., channel], derived.multiplier, derived.left_shift))
    low = -128 if made.minimum is None else made.minimum
    high = 127 if made.maximum is None else made.maximum
    return np.clip(np.stack(columns, -1).astype(np.int64) + made.zero_point, low, high).astype(np.int8)


def added(made: Added) -> Any:
    """The golden reference takes uint8: int8 is 128 less, zero points and all."""
    a, b, output = (Quantization(float(scale.scales[0]), scale.zero_point + 128) for scale in made.scales)
    x, y = ((array.astype(np.int16) + 128).astype(np.uint8) for array in (made.a, made.b))
    return (add_tflite(x, y, AddParameters(a, b, output)).astype(np.int16) - 128).astype(np.int8)


def saved(network: Network, tensors: Tensors, folder: Path) -> Path:
    file = folder / "device.npz"
    arrays: dict[str, Any] = {network.tensors[number].name: array for number, array in tensors.items()}
    np.savez(file, **arrays)
    return file


def report(path: Path, *arguments: Any, exit_code: int) -> dict[str, Any]:
    outcome = lanewise("model", path, "--json", *arguments)
    assert outcome.exit_code == exit_code, outcome.output
    found: dict[str, Any] = json.loads(outcome.stdout)
    return found


@pytest.mark.parametrize(
    ("name", "scaling"), [("double_rounding", double_rounding), ("double_rounding_ties_up", double_rounding_ties_up)]
)
def test_the_convention_of_a_device_is_named(name: str, scaling: Scaling, path: Path, tmp_path: Path) -> None:
    network = read_tflite(path)
    found = report(path, "--against", saved(network, device(network, scaling), tmp_path), exit_code=0)
    assert [layer["outcome"] for layer in found["layers"]] == ["equal"] * 6
    assert f"{name} of derive_tflite" in found["common"]["scaling"]
    others = {"double_rounding", "double_rounding_ties_up", "single_rounding"} - {name}
    assert not any(f"{other} of derive_tflite" in found["common"]["scaling"] for other in others)


@pytest.mark.parametrize(
    ("ends", "told"),
    [((-90, None), "the lower bound -90 instead of -128"), ((None, 40), "the upper bound 40 instead of 127"),
     ((-90, 40), "the lower bound -90 instead of -128 and the upper bound 40 instead of 127")],
)  # fmt: skip
def test_bounds_that_are_off_are_told_once(ends: tuple[int | None, int | None], told: str, path: Path) -> None:
    """Where one end makes the numbers, that end and the largest or smallest of them would too: that is not told."""
    network = read_tflite(path)
    tensors = forward(network, drawn_inputs(network, 1), "double_rounding")
    number = network.layers[1].outputs[0]
    tensors[number] = np.clip(tensors[number], *ends)
    bounds = [cause.told for cause in compared(network, tensors)[1].causes if cause.kind == "bound"]
    assert [one.split(", double_rounding")[0] for one in bounds] == [f"with {told}"]


@pytest.mark.parametrize("number", [0, 1, 5])
def test_a_layer_that_parts_is_named_and_those_behind_it_are_right(number: int, path: Path, tmp_path: Path) -> None:
    network = read_tflite(path)
    sums = device(network, double_rounding, lambda at, made: made + 5000 * (at == number))
    found = report(path, "--against", saved(network, sums, tmp_path), exit_code=1)
    assert [layer["number"] for layer in found["layers"] if layer["outcome"] != "equal"] == [number]
    assert found["verdict"].startswith(f"layer {number}, {network.layers[number].operator} to ")


@pytest.mark.slow
def test_layers_that_depart_fail_where_that_is_asked_for(path: Path, tmp_path: Path) -> None:
    network, calls = read_tflite(path), count()
    shape = network.tensors[network.layers[0].outputs[0]].shape or ()

    def scaling(*given: Any) -> Any:
        return (single_rounding if next(calls) < shape[-1] else double_rounding)(*given)

    file = saved(network, device(network, scaling), tmp_path)
    outcomes = [layer["outcome"] for layer in report(path, "--against", file, exit_code=0)["layers"]]
    assert outcomes == ["departs", "departs", *["equal"] * 4]  # one as many as the other: both are told
    report(path, "--against", file, "--strict", exit_code=1)


def test_strict_without_layers_to_compare_is_refused(path: Path) -> None:
    outcome = lanewise("model", path, "--strict")
    assert (outcome.exit_code, "--strict is about the layers beside those of --against" in outcome.stderr) == (2, True)


def test_one_wrong_element_is_named(path: Path, tmp_path: Path) -> None:
    network = read_tflite(path)
    tensors = device(network, double_rounding)
    pooled = network.layers[3].outputs[0]
    tensors[pooled][0, 2, 3, 4] += 1
    found = report(path, "--against", saved(network, tensors, tmp_path), exit_code=1)
    apart = next(layer for layer in found["layers"] if layer["outcome"] == "differs")
    assert (apart["number"], apart["first"], apart["differing"]) == (3, [0, 2, 3, 4], 1)


def test_a_tensor_that_was_not_recorded_skips_its_layers(path: Path, tmp_path: Path) -> None:
    network = read_tflite(path)
    tensors = device(network, double_rounding)
    del tensors[network.layers[1].outputs[0]]
    found = report(path, "--against", saved(network, tensors, tmp_path), exit_code=0)
    outcomes = {layer["number"]: layer["reason"] for layer in found["layers"] if layer["outcome"] == "skipped"}
    missing = network.tensors[network.layers[1].outputs[0]].name
    told = f"input 1 is not there: {missing!r} is not among the tensors"
    assert outcomes == {1: "its output is not among the tensors", 2: told}


def test_it_is_told_how_many_conventions_the_numbers_do_not_tell_apart(path: Path, tmp_path: Path) -> None:
    network = read_tflite(path)
    tensors = device(network, double_rounding)
    saved(network, tensors, tmp_path)
    names = report(path, "--against", tmp_path / "device.npz", exit_code=0)["common"]["scaling"]
    said = " ".join(lanewise("model", path, "--against", tmp_path / "device.npz").stdout.split())
    assert (
        f"scaling: {len(names)} conventions give every layer, and these numbers do not tell them apart: {names[0]}"
        in said
    )
    assert "all 6 layers that were compared are reproduced" in said
    first = {number: tensors[number] for number in (*network.inputs, network.layers[0].outputs[0])}
    said = " ".join(lanewise("model", path, "--against", saved(network, first, tmp_path)).stdout.split())
    assert said.endswith(
        "the one layer that was compared is reproduced bit for bit; 1 of 6 layers was compared, 5 were skipped"
    )


def test_layers_of_real_numbers_alone_are_no_pass(tmp_path: Path) -> None:
    """What moves them keeps their bits, and says nothing of any arithmetic."""
    made = ModelWriter()
    made.inputs = [made.tensor("x", "float32", (2, 3))]
    moved, y = made.tensor("moved", "float32", (3, 2)), made.tensor("y", "float32", (3, 2))
    made.layer("RESHAPE", [*made.inputs, made.tensor("to", "int32", (2,), data=np.array([3, 2], np.int32))], [moved])
    made.layer("LOGISTIC", [moved], [y])
    made.outputs = [y]
    (tmp_path / "net.tflite").write_bytes(made.content())
    numbers = np.arange(6, dtype=np.float32)
    np.savez(tmp_path / "device.npz", x=numbers.reshape(2, 3), moved=numbers.reshape(3, 2))
    outcome = lanewise("model", tmp_path / "net.tflite", "--against", tmp_path / "device.npz")
    said = " ".join(outcome.stdout.split())
    assert outcome.exit_code == 3, outcome.output
    assert said.endswith("nothing quantized was compared; 1 of 2 layers was compared, 1 was skipped")
    np.savez(tmp_path / "device.npz", x=numbers.reshape(2, 3), moved=numbers.reshape(3, 2)[::-1])
    assert lanewise("model", tmp_path / "net.tflite", "--against", tmp_path / "device.npz").exit_code == 1


def test_a_network_is_listed_with_its_scales(path: Path) -> None:
    listed = " ".join(lanewise("model", path).stdout.split())
    assert "1 DEPTHWISE_CONV_2D int8[1,16,16,8] " in listed
    assert listed.endswith("6 layers, 14 tensors")
    found = report(path, exit_code=0)
    conv, weights = found["tensors"][1], found["tensors"][2]
    assert (conv["name"], conv["scales"], conv["zero_points"]) == ("conv", [float(np.float32(0.031))], [-11])
    assert (len(weights["scales"]), found["layers"][0]["options"]["FusedActivationFunction"]) == (8, "RELU")


@pytest.mark.parametrize(
    ("arrays", "said"),
    [({"convv": np.zeros((1, 16, 16, 8), np.int8)}, "net.tflite computes no tensor 'convv': it has conv"),
     ({"depthwse": np.zeros((1, 16, 16, 8), np.int8)}, "computes no tensor 'depthwse': it has depthwise"),
     ({"conv": np.zeros((1, 16, 16, 8), np.uint8)}, "conv is uint8[1, 16, 16, 8]: net.tflite has int8[1, 16, 16, 8]"),
     ({"conv": np.zeros((1, 16, 8, 8), np.int8)}, "conv is int8[1, 16, 8, 8]: net.tflite has int8[1, 16, 16, 8]")],
)  # fmt: skip
def test_tensors_that_are_not_of_the_network_are_refused(
    arrays: dict[str, Any], said: str, path: Path, tmp_path: Path
) -> None:
    np.savez(tmp_path / "device.npz", **arrays)
    outcome = lanewise("model", path, "--against", tmp_path / "device.npz")
    assert (outcome.exit_code, said in outcome.stderr) == (2, True), outcome.stderr


@pytest.mark.parametrize("more", [(), ("--against", "device.npz"), ("--cycles", "cortex-a55")])
def test_inputs_that_nothing_would_take_are_refused(more: tuple[str, ...], path: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "device.npz", x=np.zeros((1, 16, 16, 4), np.int8))
    given = [tmp_path / one if one.endswith(".npz") else one for one in more]
    outcome = lanewise("model", path, "--inputs", tmp_path / "device.npz", *given)
    assert (outcome.exit_code, "--inputs is what a runtime is given: name one" in outcome.stderr) == (2, True)


def test_nothing_to_compare_is_no_verdict(path: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "device.npz", x=np.zeros((1, 16, 16, 4), np.int8))
    outcome = lanewise("model", path, "--against", tmp_path / "device.npz")
    assert (outcome.exit_code, "no layer could be compared: 6 were skipped" in outcome.stdout) == (3, True)


def test_a_file_that_is_too_large_is_told_as_that(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.models.tflite_file.MAX_BYTES", 1000)
    outcome = lanewise("model", path)
    assert (outcome.exit_code, "has more than 1,000 bytes" in outcome.stderr) == (2, True), outcome.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "is no TensorFlow Lite model: it lacks the mark TFL3"), (b"\0\0\0\0TFL3", "has no subgraph"),
     (b"\xff" * 4 + b"TFL3" + b"\xff" * 64, "is damaged: ")],
)  # fmt: skip
def test_a_file_that_is_no_network_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "bad.tflite").write_bytes(content)
    outcome = lanewise("model", tmp_path / "bad.tflite")
    assert (outcome.exit_code, said in outcome.stderr) == (2, True), outcome.stderr


@pytest.mark.slow
def test_damaged_files_are_read_or_refused(path: Path) -> None:
    """Every cut and 300 files with a few bytes changed: a network or one sentence, whatever stands there."""
    content, rng, read = path.read_bytes(), np.random.default_rng(11), 0
    damaged = [content[:length] for length in range(8, len(content), len(content) // 60)]
    for _ in range(300):
        changed = bytearray(content)
        for place in rng.integers(8, len(content), int(rng.integers(1, 6))):
            changed[place] = int(rng.integers(0, 256))
        damaged.append(bytes(changed))
    for number, bad in enumerate(damaged):
        file = path.with_name(f"bad_{number}.tflite")
        file.write_bytes(bad)
        try:
            network = read_tflite(file)
        except ModelError:
            continue
        finally:
            file.unlink()
        read += 1
        for layer in network.layers:
            try:
                computed(network, layer, {t.number: t.data for t in network.tensors if t.data is not None})
            except ModelError:
                continue
    assert 100 < read < 360


@pytest.mark.parametrize(("suffix", "package"), [("tflite", "tflite"), ("onnx", "onnx")])
def test_a_reader_that_is_not_installed_is_missing_from_the_environment(
    suffix: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    file = tmp_path / f"net.{suffix}"
    file.write_bytes(b"")
    refused = lanewise("model", file)
    assert (refused.exit_code, f"needs the package {package}: " in refused.stderr) == (3, True), refused.output


@pytest.mark.parametrize(
    ("runtime", "package"),
    [("onnxruntime", "onnxruntime"), ("litert", "ai_edge_litert"), ("tflite-micro", "tflite_micro")],
)
def test_a_runtime_that_is_not_installed_is_missing_from_the_environment(
    runtime: str, package: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if runtime == "onnxruntime":
        path = tmp_path / "net.onnx"
        path.write_bytes(paired_net())
    for name in [package, *(name for name in sys.modules if name.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    refused = lanewise("model", path, "--against", runtime)
    assert (refused.exit_code, "is not there: " in refused.stderr) == (3, True), refused.output


class WithoutNumbers:
    """An interpreter that runs a network and has not kept what it computed."""

    def __getattr__(self, name: str) -> WithoutNumbers:
        return self

    def __call__(self, *_: object, **__: object) -> WithoutNumbers:
        return self

    def get_tensor(self, number: int, *_: int) -> None:
        raise ValueError(f"Tensor data of {number} is null")

    GetTensor = get_tensor


@pytest.mark.parametrize(
    ("runtime", "module", "said"),
    [("litert", "ai_edge_litert", "LiteRT"), ("tflite-micro", "tflite_micro", "TensorFlow Lite Micro")],
)
def test_a_runtime_that_has_no_numbers_of_a_tensor_is_told(
    runtime: str, module: str, said: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, SimpleNamespace(interpreter=WithoutNumbers(), runtime=WithoutNumbers()))
    refused = lanewise("model", path, "--against", runtime)
    assert (refused.exit_code, f"{said} refuses {path}: Tensor data of" in refused.stderr) == (2, True), refused.stderr


@pytest.mark.parametrize(
    ("runtime", "content", "suffix", "said"),
    [
        ("onnxruntime", small_net(1, 6).content(), "tflite",
         "onnxruntime runs .onnx files, and {} is none: give litert, litert-no-delegate, litert-reference, "),
        ("litert", paired_net(), "onnx", "litert runs .tflite files, and {} is none: give onnxruntime, onnx-reference"),
    ],
)  # fmt: skip
def test_a_runtime_of_the_other_format_is_told_with_those_of_this_one(
    runtime: str, content: bytes, suffix: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / f"net.{suffix}"
    file.write_bytes(content)
    refused = lanewise("model", file, "--against", runtime)
    assert (refused.exit_code, said.format(file) in refused.stderr) == (2, True), refused.stderr


def test_one_layer_is_listed_as_one(tmp_path: Path) -> None:
    made = ModelWriter()
    made.inputs, made.outputs = [made.tensor("x", "int8", (1, 4), 0.5)], [made.tensor("y", "int8", (4,), 0.5)]
    made.layer("RESHAPE", made.inputs, made.outputs)
    (tmp_path / "net.tflite").write_bytes(made.content())
    assert lanewise("model", tmp_path / "net.tflite").stdout.split("\n")[-2] == "1 layer, 2 tensors"


@pytest.mark.parametrize(
    ("runtime", "scaling", "addition"),
    [
        ("", "double_rounding of derive_tflite", "add_tflite"),
        ("litert", "product_xnnpack of scales_in_float64", "add_xnnpack"),
        ("litert-reference", "double_rounding of derive_tflite", "add_tflite"),
    ],
)
def test_conventions_of_a_runtime_come_before_those_of_its_libraries_and_others(
    runtime: str, scaling: str, addition: str, tmp_path: Path
) -> None:
    """Of XNNPACK's LiteRT has those in float32: they come before its fixed point."""
    (tmp_path / "net.tflite").write_bytes(small_net(1, 6).content())
    network = read_tflite(tmp_path / "net.tflite")
    tensors = forward(network, drawn_inputs(network, 1), "fp32")
    layers = compared(network, tensors, runtime)
    report = ModelReport(network=network, against="litert", seed=1, layers=layers)
    assert (report.common["scaling"][0], report.common["addition"][0]) == (scaling, addition)


@pytest.mark.parametrize(
    ("expected", "exit_code", "apart"),
    [("double_rounding", 0, []), ("double_rounding_ties_up", 1, [1]), ("add_tflite", 0, []), ("fp32", 1, [0, 1])],
)
def test_layers_that_are_not_the_expected_convention_depart(
    expected: str, exit_code: int, apart: list[int], path: Path, tmp_path: Path
) -> None:
    """Also where most are another one; what may not be that convention, a pool, is as it was."""
    network = read_tflite(path)
    file = saved(network, device(network, double_rounding), tmp_path)
    found = report(path, "--against", file, "--convention", expected, exit_code=exit_code)
    departing = [layer["number"] for layer in found["layers"] if layer["outcome"] == "departs"]
    assert departing[: len(apart)] == apart, found["verdict"]
    assert bool(departing) == bool(apart)
    if apart:
        assert "by another convention than what was expected: " in found["verdict"]
        assert found["layers"][1]["usual"].startswith("product_xnnpack" if expected == "fp32" else expected)


def test_an_expected_convention_that_there_is_not_is_refused(path: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "device.npz", x=np.zeros((1, 16, 16, 4), np.int8))
    refused = lanewise("model", path, "--against", tmp_path / "device.npz", "--convention", "double_roundin")
    told = "there is no convention 'double_roundin' that layers could be: the nearest are double_rounding, "
    assert (refused.exit_code, told in refused.stderr) == (2, True), refused.stderr
