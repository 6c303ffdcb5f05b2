"""A network read, run and compared by one function each: what `lanewise model` does, for programs and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Final

from sim.explanation.tensor_file import read_arrays
from sim.golden.registry.conventions import CONVENTIONS
from sim.models.compare import compared, tensors_by_name
from sim.models.forward import FORWARD_CONVENTIONS, drawn_inputs, forward
from sim.models.network import AnyArray, ModelError, Network
from sim.models.onnx_file import read_onnx
from sim.models.report import ModelReport
from sim.models.rules.conventions import layer_conventions
from sim.models.runtimes.litert import RESOLVERS, litert_tensors
from sim.models.runtimes.onnx_reference import onnx_reference_tensors
from sim.models.runtimes.onnxruntime import onnxruntime_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors
from sim.models.tflite_file import read_tflite

RUNTIMES: Final[Mapping[str, Callable[[Path, Network, Mapping[int, AnyArray]], dict[int, AnyArray]]]] = {
    **{name: partial(litert_tensors, runtime=name) for name in RESOLVERS},
    "tflite-micro": tflite_micro_tensors,
    "onnxruntime": onnxruntime_tensors,
    "onnx-reference": onnx_reference_tensors,
}
"""What runs a network here, by the name that `against` has for it."""
_IN_REALS: Final = {"fp32": "product_xnnpack"}
"""The convention of layers that is scaling in float32."""


def read_network(file: Path | str) -> Network:
    """The quantized network of a .tflite or .onnx file: layers in their order, tensors with scales and zero points.

    Raises ModelError for a file that is none, PackageMissing where the package that reads it is not installed.
    """
    path = Path(file)
    if not path.is_file():
        raise ModelError(f"there is no file {path}")
    return read_onnx(path) if path.suffix == ".onnx" else read_tflite(path)


def run_network(
    network: Network, inputs: Mapping[str, AnyArray], convention: str = "double_rounding"
) -> dict[str, AnyArray]:
    """Every tensor that the golden reference makes of the inputs, by name, each layer scaled under one convention.

    `inputs` are arrays by the names of the network's inputs, in the file's shapes and dtypes; `convention` is
    double_rounding, double_rounding_ties_up, single_rounding or fp32.  A layer that cannot be computed makes nothing,
    and what needs its output neither.  Raises ModelError for another convention, and for inputs of other names, shapes
    or dtypes or that are not there.
    """
    if convention not in FORWARD_CONVENTIONS:
        raise ModelError(f"no convention of layers is called {convention!r}: {', '.join(FORWARD_CONVENTIONS)}")
    given = inputs_of(network, tensors_by_name(network, inputs), "inputs")
    made = forward(network, given, convention)
    return {network.tensors[number].name: made[number] for number in network.made if number in made}


def compare_network(
    file: Path | str, against: str | Path | Mapping[str, AnyArray], inputs: Mapping[str, AnyArray] | None = None,
    seed: int = 1, convention: str | None = None,
) -> ModelReport:  # fmt: skip
    """Say of each layer which convention makes what somebody's runtime computed, and which layer is the first to part.

    `against` are the tensors of the other side: arrays by name, a file of them (.npz), or a
    runtime that is run here: litert, litert-no-delegate, litert-reference, tflite-micro, onnxruntime, onnx-reference.
    A runtime is given `inputs`, arrays by name, or numbers that are drawn from `seed`.  Of a `convention` that is
    expected a layer departs that may be it and is another.  Raises ModelError for what is not of the network and for a
    convention that there is not, PackageMissing where a package is not installed, TensorError for a file of no arrays.
    """
    expected = "" if convention is None else expected_convention(convention)
    path, network = Path(file), read_network(file)
    if isinstance(against, Mapping):
        tensors, drawn, name = tensors_by_name(network, against), None, "the given tensors"
    else:
        given = None if inputs is None else tensors_by_name(network, inputs)
        tensors, drawn = tensors_against(network, path, str(against), given, "inputs", seed)
        name = str(against)
    layers = compared(network, tensors, name, expected)
    return ModelReport(network=network, against=name, seed=drawn, layers=layers, expected=expected)


def expected_convention(name: str) -> str:
    """The convention of layers that a name says.  Raises ModelError where there is none."""
    expected, known = _IN_REALS.get(name, name), [*CONVENTIONS, *layer_conventions()]
    if expected not in known:
        near = ", ".join(get_close_matches(name, known)) or "listed by `lanewise conventions`"
        raise ModelError(f"there is no convention {name!r} that layers could be: the nearest are {near}")
    return expected


def tensors_against(
    network: Network, file: Path, against: str, given: Mapping[int, AnyArray] | None, source: str, seed: int
) -> tuple[dict[int, AnyArray], int | None]:
    """The tensors of a file or of a runtime, and the seed of the inputs; those `given` to it are of `source`."""
    if against not in RUNTIMES:
        if not Path(against).exists():
            raise ModelError(f"{against} is neither a file nor one of {', '.join(RUNTIMES)}")
        return tensors_by_name(network, read_arrays(Path(against))), None
    chosen = drawn_inputs(network, seed) if given is None else inputs_of(network, given, source)
    return RUNTIMES[against](file, network, chosen), seed if given is None else None


def inputs_of(network: Network, given: Mapping[int, AnyArray], source: str) -> dict[int, AnyArray]:
    """The network's inputs among tensors of a `source`; raises ModelError where one is not there."""
    if missing := [network.tensors[number].name for number in network.inputs if number not in given]:
        raise ModelError(f"{source} has no {', '.join(missing)}, which {network.name} takes")
    return {number: given[number] for number in network.inputs}
