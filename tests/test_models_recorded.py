"""Recordings of several pictures, and beside a runtime: in how many pictures a layer parts, and in which first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sim.models.by_file import RUNTIMES
from sim.models.forward import drawn_inputs, forward
from sim.models.network import Network
from sim.models.tflite_file import read_tflite
from support.command import lanewise
from support.documents import compare
from support.tflite_models import small_net

Array = npt.NDArray[Any]
POOL, LAST = 3, 5


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("net") / "net.tflite"
    file.write_bytes(small_net(1, 16).content())
    return file


def pictures(path: Path, *conventions: str) -> list[dict[str, Any]]:
    """A picture by each convention, of other inputs."""
    network = read_tflite(path)
    found = []
    for seed, convention in enumerate(conventions):
        made = forward(network, drawn_inputs(network, seed), convention)
        found.append({network.tensors[key].name: made[key].copy() for key in (*network.inputs, *network.made)})
    return found


def output(path: Path, number: int) -> str:
    network = read_tflite(path)
    return network.tensors[network.layers[number].outputs[0]].name


def spoilt(of: list[dict[str, Any]], name: str, *which: int) -> list[dict[str, Any]]:
    for at in which:
        of[at][name].ravel()[7] ^= 1
    return of


def asked(path: Path, *arguments: Any, exit_code: int) -> tuple[dict[str, Any], str]:
    outcome = lanewise("model", path, *arguments, "--json")
    assert outcome.exit_code == exit_code, outcome.output
    found: dict[str, Any] = json.loads(outcome.stdout)
    return found, " ".join(lanewise("model", path, *arguments).stdout.split())


def behind(of: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: np.concatenate([one[name] for one in of]) for name in of[0]}


def stacked(of: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: np.stack([one[name] for one in of]) for name in of[0]}


@pytest.mark.slow
@pytest.mark.parametrize("joined", [behind, stacked])
@pytest.mark.parametrize(
    ("wrong", "said"),
    [((1,), ", in 1 of 3 pictures, picture 1 of device.npz"),
     ((1, 2), ", in 2 of 3 pictures, the first is picture 1 of device.npz")],
)  # fmt: skip
def test_it_is_told_in_how_many_pictures_a_layer_parts_and_in_which_first(
    joined: Callable[[list[dict[str, Any]]], dict[str, Any]], wrong: tuple[int, ...], said: str, path: Path,
    tmp_path: Path,
) -> None:  # fmt: skip
    name = output(path, POOL)
    np.savez(tmp_path / "device.npz", **joined(spoilt(pictures(path, *["double_rounding"] * 3), name, *wrong)))
    found, printed = asked(path, "--against", tmp_path / "device.npz", exit_code=1)
    apart = {one["number"]: one["pictures"] for one in found["layers"] if one["outcome"] == "differs"}
    assert apart[POOL] == list(wrong)
    assert found["verdict"].startswith(f"layer {POOL}, MAX_POOL_2D to {name}, is the first that no convention here")
    assert said in found["verdict"]
    assert found["pictures"] == [f"picture {at} of device.npz" for at in range(3)]
    assert ", 3 pictures" in printed  # behind a path that may be broken anywhere


@pytest.mark.slow
def test_files_and_folders_of_pictures_are_compared_each(path: Path, tmp_path: Path) -> None:
    of = spoilt(pictures(path, *["double_rounding"] * 3), output(path, LAST), 2)
    files = [tmp_path / f"{name}.npz" for name in "abc"]
    for file, arrays in zip(files, of, strict=True):
        np.savez(file, **arrays)
    several, _ = asked(path, "--against", files[0], *files[1:], exit_code=1)
    folder, _ = asked(path, "--against", tmp_path, exit_code=1)
    assert several == folder
    assert several["pictures"] == ["a.npz", "b.npz", "c.npz"]
    assert several["verdict"].endswith(", in 1 of 3 pictures, c.npz")
    right, _ = asked(path, "--against", files[0], files[1], exit_code=0)
    assert right["verdict"] == "all 6 layers that were compared are reproduced bit for bit in all 2 pictures"


@pytest.mark.slow
def test_a_layer_is_what_gives_it_in_every_picture(path: Path, tmp_path: Path) -> None:
    """One picture of a device that rounds otherwise: the layers that tell it depart there."""
    np.savez(tmp_path / "device.npz", **behind(pictures(path, "double_rounding", "double_rounding")))
    alike, _ = asked(path, "--against", tmp_path / "device.npz", exit_code=0)
    of = pictures(path, "double_rounding", "double_rounding", "double_rounding_ties_up")
    np.savez(tmp_path / "device.npz", **behind(of))
    other, _ = asked(path, "--against", tmp_path / "device.npz", exit_code=0)
    assert [one["outcome"] for one in alike["layers"]] == ["equal"] * 6
    apart = [one for one in other["layers"] if one["outcome"] == "departs"]
    assert apart
    assert all(one["usual"].startswith("double_rounding") and one["pictures"] == [2] for one in apart)


def test_pictures_of_which_a_tensor_lacks_some_are_refused(path: Path, tmp_path: Path) -> None:
    arrays = behind(pictures(path, *["double_rounding"] * 3))
    arrays["conv"] = arrays["conv"][:2]
    np.savez(tmp_path / "device.npz", **arrays)
    refused = lanewise("model", path, "--against", tmp_path / "device.npz")
    assert refused.exit_code == 2
    assert "device.npz has 2 of conv and 3 of " in refused.stderr
    assert ": record each tensor of every picture" in refused.stderr


def runtime(
    monkeypatch: pytest.MonkeyPatch, convention: str, wrong: Callable[[Network, dict[int, Array]], None]
) -> None:
    """A runtime that computes by that convention, and then something wrong."""

    def made(path: Path, network: Network, inputs: dict[int, Array]) -> dict[int, Array]:
        tensors = forward(network, inputs, convention)
        found = {key: tensors[key].copy() for key in (*network.inputs, *network.made)}
        wrong(network, found)
        return found

    monkeypatch.setitem(RUNTIMES, "litert", made)


@pytest.mark.slow
def test_a_recording_is_compared_with_a_runtime_on_its_own_inputs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime(monkeypatch, "double_rounding", lambda network, tensors: None)
    np.savez(tmp_path / "device.npz", **behind(pictures(path, "double_rounding", "double_rounding")))
    found, _ = asked(path, tmp_path / "device.npz", "--against", "litert", exit_code=0)
    compare("model-beside", found)
    assert [one["outcome"] for one in found["layers"]] == ["same"] * 6
    assert found["verdict"] == (
        f"{tmp_path / 'device.npz'} and litert have the same numbers in all 6 layers that were compared "
        "in all 2 pictures"
    )


@pytest.mark.slow
def test_the_layer_that_parts_both_is_told_with_what_it_is_on_either_side(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The layers behind it follow where one convention gives both sides from their own inputs."""

    def wrong(network: Network, tensors: dict[int, Array]) -> None:
        layer = network.layers[0]
        tensors[layer.outputs[0]].ravel()[7] ^= 64
        tensors.update(forward(network, tensors, "double_rounding", 1))

    runtime(monkeypatch, "double_rounding", wrong)
    (of,) = pictures(path, "double_rounding")
    np.savez(tmp_path / "device.npz", **of)
    found, printed = asked(path, "--against", "litert", tmp_path / "device.npz", exit_code=1)
    first, *others = found["layers"]
    there = int(of["conv"].ravel()[7])
    assert (first["outcome"], first["differing"], first["numbers"]) == ("parts", 1, [str(there), str(there ^ 64)])
    assert {one["outcome"] for one in others} <= {"follows", "same"}
    assert others[0]["outcome"] == "follows"
    assert found["verdict"].startswith(
        f"layer 0, CONV_2D to conv, is the first that parts {tmp_path / 'device.npz'} from litert: 1 of "
    )
    assert f", {there} for {there ^ 64}; {tmp_path / 'device.npz'} is double_rounding" in found["verdict"]
    assert "litert is no convention, 1 from " in found["verdict"]
    assert "parts" in printed


@pytest.mark.slow
def test_a_runtime_is_given_each_picture_of_its_inputs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes one at a time, and is wrong in the one whose first number is 7."""

    def wrong(network: Network, tensors: dict[int, Array]) -> None:
        tensors[network.layers[LAST].outputs[0]].ravel()[0] ^= int(tensors[network.inputs[0]].ravel()[0] == 7)

    runtime(monkeypatch, "double_rounding", wrong)
    network = read_tflite(path)
    inputs = [drawn_inputs(network, seed)[network.inputs[0]] for seed in range(3)]
    for at, given in enumerate(inputs):
        given.ravel()[0] = 7 * (at == 1)
    np.savez(tmp_path / "inputs.npz", x=np.concatenate(inputs))
    found, _ = asked(path, "--against", "litert", "--inputs", tmp_path / "inputs.npz", exit_code=1)
    assert [one["pictures"] for one in found["layers"] if one["outcome"] == "differs"] == [[1]]
    assert (found["seed"], len(found["pictures"])) == (None, 3)


@pytest.mark.parametrize("given", [("--inputs",), ("--against",)])
def test_a_kernel_is_run_on_one_picture(given: tuple[str], path: Path, tmp_path: Path) -> None:
    of = behind(pictures(path, "double_rounding", "double_rounding"))
    np.savez(tmp_path / "two.npz", **(of if given == ("--against",) else {"x": of["x"]}))
    replaced = ("--layer", LAST, "--kernel", "fully_connected")
    refused = lanewise("model", path, *replaced, *given, tmp_path / "two.npz")
    said = f"a kernel is run on one picture, and {tmp_path / 'two.npz'} has 2: give one of them"
    assert (refused.exit_code, said in refused.stderr) == (2, True), refused.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["RECORDED"], " is compared with what --against names: give that, and no --kernel"),
        (["RECORDED", "--against", "litert", "--strict"], "--html and --strict are about one side"),
        (["RECORDED", "--against", "litert", "--inputs", "RECORDED"], "the inputs are those that were recorded"),
        (["RECORDED", "--against", "litert"], "device.npz has no array 'x', which is an input of net.tflite"),
        (["--against", "EMPTY"], " has no .npz file"),
    ],
)
def test_recordings_that_cannot_be_compared_so_are_refused(
    arguments: list[str], said: str, path: Path, tmp_path: Path
) -> None:
    (of,) = pictures(path, "double_rounding")
    del of["x"]
    (tmp_path / "empty").mkdir()
    np.savez(tmp_path / "device.npz", **of)
    places = {"RECORDED": tmp_path / "device.npz", "EMPTY": tmp_path / "empty"}
    refused = lanewise("model", path, *(places.get(one, one) for one in arguments))
    assert (refused.exit_code, said in refused.stderr) == (2, True), refused.stderr
