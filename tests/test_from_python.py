"""What commands do as functions of the public modules: networks, proofs of kernels, captured calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isa.errors import LanewiseError
from sim.check import NoShape, capture_kernel, check_kernel, prove_kernel
from sim.kernels import Domain, Kernel, KernelError, built_in_kernel, parse_prototype
from sim.models import ModelError, compare_network, read_network, run_network
from sim.replay import CaptureError, ReplayError, replay_calls
from support.command import lanewise
from support.tflite_models import small_net

AVERAGE = """#include <stdint.h>
void average(const uint8_t *a, const uint8_t *b, uint8_t *out, int n) {
    for (int i = 0; i < n; i++) out[i] = (a[i] + b[i] + ROUND) >> 1;
}
"""


def average(folder: Path, rounding: int = 1) -> Kernel:
    """The rounded average of two rows, and C that adds `rounding` in its place."""
    (folder / "average.c").write_text(AVERAGE.replace("ROUND", str(rounding)))
    name, signature = parse_prototype("void average(const uint8_t a[n], const uint8_t b[n], uint8_t out[n], int n)")
    return Kernel(
        name=name, symbol=name, sources=(folder / "average.c",), signature=signature,
        domain={"a": Domain(0, 255), "b": Domain(0, 255), "n": Domain(0, 40)},
        golden=lambda inputs: {"out": ((inputs["a"].astype(int) + inputs["b"] + 1) // 2).astype(np.uint8)},
    )  # fmt: skip


@pytest.fixture
def net(tmp_path: Path) -> Path:
    (tmp_path / "net.tflite").write_bytes(small_net(1, 8).content())
    return tmp_path / "net.tflite"


def inputs_of(net: Path) -> dict[str, Any]:
    network = read_network(net)
    rng = np.random.default_rng(3)
    shapes = {network.tensors[number].name: network.tensors[number].shape for number in network.inputs}
    return {name: rng.integers(-128, 128, shape).astype(np.int8) for name, shape in shapes.items()}


@pytest.mark.slow
def test_a_network_is_compared_as_the_command_compares_it(net: Path) -> None:
    inputs = inputs_of(net)
    made = run_network(read_network(net), inputs, "single_rounding")
    report = compare_network(net, inputs | made)
    np.savez(net.with_suffix(".npz"), allow_pickle=False, **(inputs | made))
    printed = json.loads(lanewise("model", net, "--against", net.with_suffix(".npz"), "--json").stdout)
    assert [layer.as_json() for layer in report.layers] == printed["layers"]
    assert (report.first_apart, report.verdict) == (None, printed["verdict"])
    assert any("single_rounding" in name for layer in report.layers for name in layer.conventions)


@pytest.mark.slow
def test_a_layer_that_is_another_convention_than_the_expected_departs(net: Path) -> None:
    inputs = inputs_of(net)
    tensors = inputs | run_network(read_network(net), inputs, "single_rounding")
    assert not compare_network(net, tensors, convention="single_rounding").apart
    assert compare_network(net, tensors, convention="single_rounding_floor").apart


@pytest.mark.slow
def test_a_layer_that_was_spoilt_is_the_first_apart(net: Path) -> None:
    inputs = inputs_of(net)
    network = read_network(net)
    made = run_network(network, inputs)
    name = network.output_of(network.layers[1]).name
    made[name] = made[name].copy()
    made[name].flat[0] ^= 64
    report = compare_network(net, inputs | made)
    apart = report.first_apart
    assert apart is not None
    assert apart.layer.number == 1
    told = f"differs, 1 of {apart.elements:,} elements, {apart.usual}"
    assert repr(apart) == f"LayerReport(1, {apart.layer.operator}: {told})"
    assert repr(report) == f"ModelReport(net.tflite beside the given tensors: {report.verdict})"


@pytest.mark.slow
def test_several_pictures_are_compared_as_the_command_compares_them(net: Path) -> None:
    """Behind each other in arrays, and as files of a folder: a layer that parts in the second alone."""
    network, of = read_network(net), []
    for convention in ("double_rounding", "double_rounding"):
        inputs = inputs_of(net)
        of.append(inputs | {name: made.copy() for name, made in run_network(network, inputs, convention).items()})
    name = network.output_of(network.layers[1]).name
    of[1][name].flat[0] ^= 64
    folder = net.with_name("device")
    folder.mkdir()
    for at, arrays in enumerate(of):
        np.savez(folder / f"{at}.npz", allow_pickle=False, **arrays)
    printed = json.loads(lanewise("model", net, "--against", folder, "--json").stdout)
    several = (
        folder,
        sorted(folder.iterdir()),
        of,
        {name: np.concatenate([one[name] for one in of]) for name in of[0]},
    )
    reports = [compare_network(net, one) for one in several]
    assert all([layer.as_json() for layer in one.layers] == printed["layers"] for one in reports)
    assert [report.pictures for report in reports[:2]] == [["0.npz", "1.npz"]] * 2
    assert [report.first_apart is not None and report.first_apart.pictures for report in reports] == [(1,)] * 4


@pytest.mark.parametrize(("act", "sentence"), [
    (lambda net: read_network(net.with_name("none.tflite")), "there is no file "),
    (lambda net: run_network(read_network(net), {}), "inputs has no "),
    (lambda net: run_network(read_network(net), inputs_of(net), "half"), "no convention of layers is called 'half'"),
    (lambda net: run_network(read_network(net), {"none": np.zeros(1)}), "computes no tensor 'none'"),
    (lambda net: compare_network(net, {}, convention="half"), "there is no convention 'half' that layers could be"),
    (lambda net: compare_network(net, "somebody"), "somebody is neither a file nor one of litert"),
    (lambda net: compare_network(net, net.parent), "the folder .* has no .npz file"),
    (lambda net: compare_network(net, []), "nothing is given to compare with"),
    (lambda net: compare_network(net, ""), "nothing is given to compare with"),
    (lambda net: compare_network(net, ["litert", {}]), "litert is run here and the others were recorded"),
    (lambda net: compare_network(net, {}, inputs=inputs_of(net)), "inputs are what a runtime is given: "),
])  # fmt: skip
def test_what_is_not_of_a_network_is_refused_in_a_sentence(
    act: Callable[[Path], object], sentence: str, net: Path
) -> None:
    with pytest.raises(ModelError, match=sentence):
        act(net)


@pytest.mark.slow
def test_a_kernel_is_proved_and_a_wrong_one_refuted_by_an_input(tmp_path: Path) -> None:
    right = prove_kernel(average(tmp_path), levels=("O1", "O2"), lengths=(3, 17))
    assert (right.outcome, [build.build for build in right.builds]) == ("proved", ["average.c -O1", "average.c -O2"])
    wrong = prove_kernel(average(tmp_path, rounding=0), lengths=(3,))
    inputs = wrong.builds[0].failures[0].inputs
    assert wrong.outcome == "counter-example"
    assert inputs is not None
    assert any((inputs["a"].astype(int) + inputs["b"]) % 2)  # truncated and rounded part at odd sums, and there only


@pytest.mark.slow
def test_calls_are_captured_and_come_out_again(tmp_path: Path) -> None:
    count = capture_kernel(average(tmp_path), tmp_path / "calls.jsonl", vectors=50)
    report = replay_calls(tmp_path / "calls.jsonl")
    assert (report.passed, len(report.results)) == (True, count)
    lines = (tmp_path / "calls.jsonl").read_text().splitlines()
    call = json.loads(lines[1])
    call["final"]["x"][0] ^= 1
    (tmp_path / "calls.jsonl").write_text("\n".join([lines[0], json.dumps(call)]))
    assert [failure.line for failure in replay_calls(tmp_path / "calls.jsonl").failures] == [2]
    assert replay_calls(tmp_path / "calls.jsonl", engine="machine", line=1).passed


@pytest.mark.parametrize(("act", "error", "sentence"), [
    (lambda kernel, folder: prove_kernel("average"), KernelError,  # type: ignore[arg-type]  # what somebody gives
     "prove_kernel takes a Kernel, not 'average'"),
    (lambda kernel, folder: check_kernel("average"), KernelError,  # type: ignore[arg-type]
     "check_kernel takes a Kernel, not 'average'"),
    (lambda kernel, folder: capture_kernel("average", folder / "calls.jsonl"), KernelError,  # type: ignore[arg-type]
     "capture_kernel takes a Kernel, not 'average'"),
    (lambda kernel, folder: check_kernel(kernel, vectors=True), ValueError,
     "vectors takes a whole number of 0 or more, not True"),
    (lambda kernel, folder: check_kernel(kernel, seed=-1), ValueError,
     "seed takes a whole number of 0 or more, not -1"),
    (lambda kernel, folder: prove_kernel(kernel, levels=("O9",)), ValueError, "O9"),
    (lambda kernel, folder: prove_kernel(kernel, lengths=(99,)), NoShape, "99"),
    (lambda kernel, folder: prove_kernel(kernel, each={"scale": [1]}), KernelError,
     "average has no input 'scale'; it has a, b, n"),
    (lambda kernel, folder: prove_kernel(replace(kernel, sources=())), KernelError, "has no source"),
    (lambda kernel, folder: capture_kernel(kernel, folder / "calls.txt"), KernelError, "ends in .jsonl, not to "),
    (lambda kernel, folder: capture_kernel(kernel, folder / "calls.jsonl", vectors=-1), ValueError, "-1"),
    (lambda kernel, folder: replay_calls(folder / "none.jsonl"), CaptureError, "none.jsonl: No such file"),
    (lambda kernel, folder: replay_calls(folder / "average.c", engine="board"),  # type: ignore[arg-type]
     ReplayError,
     "no engine is called 'board': lockstep, machine, emulator"),
    (lambda kernel, folder: replay_calls(folder / "average.c", line=400), ReplayError, "has no call on line 400"),
])  # fmt: skip
def test_what_cannot_be_done_is_refused_in_a_sentence(
    act: Callable[[Kernel, Path], object], error: type[Exception], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=sentence):
        act(average(tmp_path), tmp_path)


def test_a_file_that_has_no_calls_does_not_pass(tmp_path: Path) -> None:
    (tmp_path / "calls.jsonl").write_text("")
    assert not replay_calls(tmp_path / "calls.jsonl").passed


@pytest.mark.slow
def test_a_built_in_kernel_is_proved_in_the_shapes_that_the_command_proves(tmp_path: Path) -> None:
    """Without its arguments the function asks what the command asks without its options."""
    proof = prove_kernel(built_in_kernel("transpose1xw"), lengths=(0, 16, 17))
    printed = json.loads(lanewise("prove", "transpose1xw", "--lengths", "0,16..17", "--json", "--jobs", "1").stdout)
    assert [shape.name for shape in proof.shapes] == printed["shapes"]
    assert [(one.build, one.outcome, one.elements) for one in proof.builds] == [
        (one["build"], one["outcome"], one["elements"]) for one in printed["builds"]
    ]


def test_the_errors_are_lanewise_errors() -> None:
    assert all(issubclass(error, LanewiseError) for error in (ModelError, NoShape, ReplayError, CaptureError))
