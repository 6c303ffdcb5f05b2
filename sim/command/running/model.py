"""`lanewise model`: a quantized network layer by layer, and which conventions made what a runtime computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import typer

from isa.errors import MISMATCH, MISSING
from sim.explanation.tensor_file import read_arrays
from sim.models.compare import compared, tensors_by_name
from sim.models.litert import RESOLVERS, litert_tensors
from sim.models.network import AnyArray, ModelError, Network
from sim.models.onnx_file import read_onnx
from sim.models.onnxruntime import onnxruntime_tensors
from sim.models.report import ModelReport
from sim.models.tflite_file import read_tflite
from sim.terminal.output import print_json, print_shown
from sim.view.rounding.model import show_model, show_network

RUNTIMES: Final[Mapping[str, Callable[[Path, Network, Mapping[int, AnyArray]], dict[int, AnyArray]]]] = {
    **{name: partial(litert_tensors, runtime=name) for name in RESOLVERS},
    "onnxruntime": onnxruntime_tensors,
}
"""What runs a network here, by the name that `--against` has for it."""


def model(file: Path, against: str | None, inputs: Path | None, seed: int, as_json: bool) -> None:
    """Do what `lanewise model` says: its options are those of `sim.command.signatures.model`."""
    if not file.is_file():
        raise ModelError(f"there is no file {file}")
    network = read_onnx(file) if file.suffix == ".onnx" else read_tflite(file)
    if against is None:
        if as_json:
            print_json(network.as_json())
        else:
            print_shown(partial(show_network, network))
        return
    drawn: int | None = None
    if against in RUNTIMES:
        given = tensors_by_name(network, read_arrays(inputs)) if inputs is not None else _drawn(network, seed)
        drawn = None if inputs is not None else seed
        missing = [network.tensors[number].name for number in network.inputs if number not in given]
        if missing:
            raise ModelError(f"{inputs} has no {', '.join(missing)}, which {network.name} takes")
        tensors = RUNTIMES[against](file, network, {number: given[number] for number in network.inputs})
    elif not Path(against).exists():
        raise ModelError(f"{against} is neither a file nor one of {', '.join(RUNTIMES)}")
    else:
        tensors = tensors_by_name(network, read_arrays(Path(against)))
    report = ModelReport(network=network, against=against, seed=drawn, layers=tuple(compared(network, tensors)))
    if as_json:
        print_json(report.as_json())
    else:
        print_shown(partial(show_model, report))
    if report.first_apart is not None:
        raise typer.Exit(MISMATCH)
    if not report.compared:
        raise typer.Exit(MISSING)


def _drawn(network: Network, seed: int) -> dict[int, AnyArray]:
    """Any numbers of the inputs' types, of a seed."""
    rng, found = np.random.default_rng(seed), dict[int, AnyArray]()
    for number in network.inputs:
        tensor = network.tensors[number]
        if tensor.dtype not in ("int8", "uint8", "int16") or tensor.shape is None:
            raise ModelError(f"the input {tensor.name} is {tensor}: give numbers for it with --inputs FILE.npz")
        limits = np.iinfo(tensor.dtype)
        found[number] = rng.integers(limits.min, limits.max, tensor.shape, tensor.dtype, endpoint=True)
    return found
