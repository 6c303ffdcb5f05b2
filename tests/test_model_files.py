"""Networks that are damaged, of floating point, or of sizes that nobody knows: a network, or one sentence."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sim.models.by_file import RUNTIMES
from sim.models.computed import OPERATORS
from sim.models.forward import drawn_inputs, forward
from sim.models.network import LARGEST, ModelError, NotComputed, require_size
from sim.models.tflite_file import read_tflite
from support.command import lanewise
from support.model_mutations import READERS, damaged_network_outcome, originals
from support.tflite_models import ModelWriter, small_net


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["tflite", "onnx"])
def test_damaged_networks_are_run_or_refused(suffix: str, tmp_path: Path) -> None:
    """tests/long/model_mutations.py is the long run."""
    outcomes = Counter(damaged_network_outcome(tmp_path, suffix, seed) for seed in range(60))
    assert set(outcomes) == {"run", "refused"}, outcomes


def test_every_operator_that_is_computed_is_among_those_that_are_damaged(tmp_path: Path) -> None:
    """And every layer of these files is computed: what is refused before it is damaged shows nothing."""
    found = set()
    for suffix, reader in READERS.items():
        for number, content in enumerate(originals(suffix)):
            path = tmp_path / f"{number}.{suffix}"
            path.write_bytes(content)
            network = reader(path)
            tensors = forward(network, drawn_inputs(network, 1), "double_rounding")
            assert [layer for layer in network.layers if layer.outputs[0] not in tensors] == [], path
            found |= {layer.operator for layer in network.layers}
    assert set(OPERATORS) - found == set()


def addition(dtype: str, shape: tuple[int, ...], scale: float | tuple[()] = 0.1, zero: int = 3) -> bytes:
    made = ModelWriter()
    a, b, total = (made.tensor(name, dtype, shape, scale, zero) for name in ("a", "b", "sum"))
    made.layer("ADD", (a, b), (total,), "AddOptions")
    made.inputs, made.outputs = [a, b], [total]
    return made.content()


@pytest.mark.parametrize(
    ("content", "exit_code", "said"),
    [(addition("float32", (1, 4), ()), 2, "the input a is float32[1,4]: give numbers for it with --inputs FILE.npz"),
     (addition("int8", (1, -1)), 2, "tensor 0 has a size that is not known"),
     (addition("int8", (1 << 20, 1 << 20)), 2, "it takes 1,099,511,627,776 numbers at a time, and 268,435,456 are"),
     (addition("int8", (1, 4), 0.1, 200), 2, "a tensor of int8 has a zero point that is not from -128 to 127"),
     (addition("int8", (1, 4), ()), 2, "the output of layer 0 is not among the tensors of the golden reference")],
)  # fmt: skip
def test_a_network_that_cannot_be_run_is_refused_in_a_sentence(
    content: bytes, exit_code: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "net.tflite").write_bytes(content)
    outcome = lanewise("model", tmp_path / "net.tflite", "--layer", 0, "--kernel", "fully_connected")
    assert (outcome.exit_code, said in " ".join(outcome.stderr.split())) == (exit_code, True), outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_a_network_in_floating_point_is_skipped_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "net.tflite").write_bytes(addition("float32", (1, 4), ()))
    numbers = np.zeros((1, 4), np.float32)
    np.savez(tmp_path / "device.npz", a=numbers, b=numbers, sum=numbers)
    outcome = lanewise("model", tmp_path / "net.tflite", "--against", tmp_path / "device.npz")
    assert (outcome.exit_code, "a is float32, not quantized" in " ".join(outcome.stdout.split())) == (3, True)


def test_an_array_that_would_fill_the_memory_is_refused() -> None:
    require_size((LARGEST,))
    with pytest.raises(NotComputed, match="it takes 268,435,457 numbers at a time"):
        require_size((1, LARGEST + 1))


def test_inputs_are_drawn_from_all_numbers_of_their_type(tmp_path: Path) -> None:
    (tmp_path / "net.tflite").write_bytes(small_net(1, 16).content())
    network = read_tflite(tmp_path / "net.tflite")
    (drawn,) = drawn_inputs(network, 1).values()
    assert (drawn.min(), drawn.max(), drawn.shape) == (-128, 127, (1, 16, 16, 4))
    assert len(forward(network, drawn_inputs(network, 1), "fp32")) == len(network.tensors)


def test_a_file_that_names_too_many_inputs_is_refused(tmp_path: Path) -> None:
    made = small_net(1, 8)
    made.inputs = [0, 99]
    (tmp_path / "net.tflite").write_bytes(made.content())
    with pytest.raises(ModelError, match=r"net.tflite is damaged: IndexError"):
        read_tflite(tmp_path / "net.tflite")


def test_scales_of_a_bias_lie_along_its_only_axis(tmp_path: Path) -> None:
    """TensorFlow's converter of 2020 states the axis of the weights: so does person_detect.tflite."""
    made = ModelWriter()
    made.tensor("bias", "int32", (4,), [0.1, 0.2, 0.3, 0.4], axis=3)
    (tmp_path / "net.tflite").write_bytes(made.content())
    scale = read_tflite(tmp_path / "net.tflite").tensors[0].scale
    assert scale is not None
    assert scale.axis == 0
    made.tensor("weights", "int8", (4, 1), [0.1, 0.2, 0.3, 0.4], axis=1)
    (tmp_path / "net.tflite").write_bytes(made.content())
    with pytest.raises(ModelError, match=r"weights has 4 scales, and not as many channels: it is \[4, 1\], axis 1"):
        read_tflite(tmp_path / "net.tflite")


def test_an_operator_may_have_more_inputs_than_there_are_tensors(tmp_path: Path) -> None:
    made = ModelWriter()
    x, y = (made.tensor(name, "float32", (1, 4)) for name in ("x", "y"))
    made.layer("UNIDIRECTIONAL_SEQUENCE_LSTM", (x, *[-1] * 23), (y,))
    (tmp_path / "net.tflite").write_bytes(made.content())
    assert read_tflite(tmp_path / "net.tflite").layers[0].inputs == (0, *[-1] * 23)
    made.layers[0]["inputs"] = (x, *[-1] * 26)
    (tmp_path / "net.tflite").write_bytes(made.content())
    with pytest.raises(ModelError, match=r"net.tflite is damaged: IndexError"):
        read_tflite(tmp_path / "net.tflite")


def test_every_tensor_has_a_name_of_its_own(tmp_path: Path) -> None:
    made = ModelWriter()
    for name in ("", "x", "", "x"):
        made.tensor(name, "int8", (1, 4), 0.1)
    (tmp_path / "net.tflite").write_bytes(made.content())
    names = [tensor.name for tensor in read_tflite(tmp_path / "net.tflite").tensors]
    assert names == ["tensor 0", "x", "tensor 2", "x (tensor 3)"]


def test_a_runtime_that_crashes_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "net.tflite").write_bytes(addition("int8", (1, 4)))
    monkeypatch.setitem(RUNTIMES, "litert", lambda *_: os._exit(1))
    outcome = lanewise("model", tmp_path / "net.tflite", "--against", "litert")
    said = f"lanewise: litert did not come to an end on {tmp_path / 'net.tflite'}: its native code ended the process"
    assert (outcome.exit_code, " ".join(outcome.stderr.split())) == (3, said)
