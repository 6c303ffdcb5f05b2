"""A network read, run and compared by one function each: what `lanewise model` does, for programs and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Final

from sim.explanation.tensor_file import read_arrays
from sim.golden.registry.conventions import CONVENTIONS
from sim.models.compare import tensors_by_name
from sim.models.forward import FORWARD_CONVENTIONS, drawn_inputs, forward
from sim.models.network import AnyArray, ModelError, Network, RuntimeLost
from sim.models.onnx_file import read_onnx
from sim.models.recorded.beside import BesideReport, beside
from sim.models.recorded.pictures import Picture, compared_pictures, pictures_of
from sim.models.report import ModelReport
from sim.models.rules.conventions import layer_conventions
from sim.models.runtimes.litert import RESOLVERS, litert_tensors
from sim.models.runtimes.onnx_reference import onnx_reference_tensors
from sim.models.runtimes.onnxruntime import onnxruntime_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors
from sim.models.tflite_file import read_tflite
from sim.processes import LostProcess, in_copies

RUNTIMES: Final[Mapping[str, Callable[[Path, Network, Mapping[int, AnyArray]], dict[int, AnyArray]]]] = {
    **{name: partial(litert_tensors, runtime=name) for name in RESOLVERS},
    "tflite-micro": tflite_micro_tensors,
    "onnxruntime": onnxruntime_tensors,
    "onnx-reference": onnx_reference_tensors,
}
"""What runs a network here, by the name that `against` has for it."""
_OF_ONNX: Final = ("onnxruntime", "onnx-reference")
"""Of these, those that run .onnx files; the others run .tflite files."""
Recorded = str | Path | Mapping[str, AnyArray]
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
    file: Path | str, against: Recorded | Sequence[Recorded], inputs: Mapping[str, AnyArray] | None = None,
    seed: int = 1, convention: str | None = None,
) -> ModelReport:  # fmt: skip
    """Say of each layer which convention makes what somebody's runtime computed, and which layer is the first to part.

    `against` is a runtime that is run here (litert, litert-no-delegate, litert-reference, tflite-micro, onnxruntime,
    onnx-reference), or the tensors of the other side: arrays by name, a file of them (.npz), a folder of such files, or
    several of these.  What has more pictures than the network takes at once is compared picture by picture.  A runtime
    is given `inputs`, arrays by name, or numbers that are drawn from `seed`.  Of a `convention` that is expected a
    layer departs that may be it and is another.  Raises ModelError for what is not of the network and for a convention
    that there is not, PackageMissing where a package is not installed, RuntimeLost where a runtime crashes, TensorError
    for a file of no arrays.
    """
    expected = "" if convention is None else expected_convention(convention)
    path, network = Path(file), read_network(file)
    given = None if inputs is None else pictures_of(network, inputs, "inputs")
    sides = [against] if isinstance(against, str | Path | Mapping) else [*against]
    return compared_with(network, side_of(network, path, sides, given, seed), expected)


@dataclass(frozen=True, eq=False, kw_only=True)
class Side:
    """What a network is compared with: pictures under one name.

    `runtime` is what made them here, "" where somebody recorded them, and `seed` drew its inputs, or None.
    """

    name: str
    pictures: Sequence[Picture]
    runtime: str = ""
    seed: int | None = None


def side_of(
    network: Network, file: Path, against: Sequence[Recorded], inputs: Sequence[Picture] | None, seed: int
) -> Side:
    """What one runtime makes of the inputs, of numbers drawn from `seed` without them; or else what was recorded.

    Raises ModelError where it is neither, and as `pictures_of` does.
    """
    runtime = next((str(one) for one in against if not isinstance(one, Mapping) and str(one) in RUNTIMES), "")
    if runtime and len(against) > 1:
        raise ModelError(f"{runtime} is run here and the others were recorded: compare with either")
    if runtime:
        given = [Picture("inputs", drawn_inputs(network, seed))] if inputs is None else inputs
        return of_runtime(network, file, runtime, given, seed if inputs is None else None)
    if inputs is not None:
        raise ModelError("inputs are what a runtime is given: with a recording they are those that were recorded")
    arrays = [found for one in against for found in _recorded(one)]
    if not arrays:
        raise ModelError("nothing is given to compare with")
    pictures = [one for name, found in arrays for one in pictures_of(network, found, Path(name).name)]
    return Side(name=arrays[0][0] if len(arrays) == 1 else f"{len(arrays)} recordings", pictures=pictures)


def of_runtime(
    network: Network, file: Path, runtime: str, pictures: Sequence[Picture], seed: int | None = None
) -> Side:
    """What a runtime makes of the inputs that are among the tensors of each picture; raises ModelError."""
    if (runtime in _OF_ONNX) != (is_onnx := file.suffix == ".onnx"):
        others = ", ".join(name for name in RUNTIMES if (name in _OF_ONNX) == is_onnx)
        raise ModelError(f"{runtime} runs {'.tflite' if is_onnx else '.onnx'} files, and {file} is none: give {others}")
    inputs = [inputs_of(network, one.tensors, one.name) for one in pictures]
    found = [
        Picture(one.name, _made_by(runtime, file, network, given)) for one, given in zip(pictures, inputs, strict=True)
    ]
    return Side(name=runtime, pictures=found, runtime=runtime, seed=seed)


def _made_by(runtime: str, file: Path, network: Network, given: Mapping[int, AnyArray]) -> dict[int, AnyArray]:
    """What a runtime makes of inputs, in a copy of this process: its native code may crash, or write where it must not.

    Raises RuntimeLost where it does not come to an end, and ModelError.
    """
    try:
        (made,) = in_copies(partial(RUNTIMES[runtime], file, network), [given], 1)
    except LostProcess:
        raise RuntimeLost(f"{runtime} did not come to an end on {file}: its native code ended the process") from None
    return made


def _recorded(one: Recorded) -> list[tuple[str, Mapping[str, AnyArray]]]:
    """Arrays by name: as they are given, of a file, or of every .npz in a folder; with what each is called."""
    if isinstance(one, Mapping):
        return [("the given tensors", one)]
    path = Path(one)
    if not str(one):  # which Path takes for the folder that we are in
        raise ModelError("nothing is given to compare with")
    if not path.exists():
        raise ModelError(f"{one} is neither a file nor one of {', '.join(RUNTIMES)}")
    files = sorted(path.glob("*.npz")) if path.is_dir() else [path]
    if not files:
        raise ModelError(f"the folder {one} has no .npz file")
    return [(str(file), read_arrays(file)) for file in files]


def compared_with(network: Network, side: Side, expected: str = "") -> ModelReport:
    """The report of a network beside what somebody computed, whose layers may be expected to be one convention."""
    layers = compared_pictures(network, side.pictures, side.runtime, expected)
    names = [one.name for one in side.pictures] if len(side.pictures) > 1 else []
    return ModelReport(
        network=network, against=side.name, seed=side.seed, layers=layers, expected=expected, pictures=names
    )


def compared_beside(network: Network, recorded: Side, runtime: Side, expected: str = "") -> BesideReport:
    """What was recorded beside what a runtime made of the same pictures."""
    ours, theirs = compared_with(network, recorded, expected), compared_with(network, runtime, expected)
    return beside(network, ours, theirs, recorded.pictures, runtime.pictures)


def expected_convention(name: str) -> str:
    """The convention of layers that a name says.  Raises ModelError where there is none."""
    expected, known = _IN_REALS.get(name, name), [*CONVENTIONS, *layer_conventions()]
    if expected not in known:
        near = ", ".join(get_close_matches(name, known)) or "listed by `lanewise conventions`"
        raise ModelError(f"there is no convention {name!r} that layers could be: the nearest are {near}")
    return expected


def inputs_of(network: Network, given: Mapping[int, AnyArray], source: str) -> dict[int, AnyArray]:
    """The network's inputs among tensors of a `source`; raises ModelError where one is not there."""
    if missing := [network.tensors[number].name for number in network.inputs if number not in given]:
        names = ", ".join(map(repr, missing))
        raise ModelError(f"{source} has no array {names}, which is an input of {network.name}")
    return {number: given[number] for number in network.inputs}
