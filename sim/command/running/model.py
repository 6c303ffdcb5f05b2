"""`lanewise model`: a quantized network layer by layer, and which conventions made what a runtime computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import typer

from isa.errors import MISMATCH, MISSING
from sim.command.options import chosen_kernel, optimisation_flag
from sim.cycles.cores import chosen_cores
from sim.explanation.tensor_file import read_arrays
from sim.models.by_file import (
    RUNTIMES,
    compared_beside,
    compared_with,
    expected_convention,
    inputs_of,
    of_runtime,
    read_network,
    side_of,
)
from sim.models.cycles import NetworkCycles, cycles_of_layers
from sim.models.forward import FORWARD_CONVENTIONS, drawn_inputs, forward
from sim.models.kernel_in_layer import kernel_in_layer
from sim.models.network import AnyArray, ModelError, Network
from sim.models.recorded.pictures import Picture, pictures_of
from sim.models.report import ModelReport
from sim.terminal.output import print_json, print_shown, require_one_of, working, write_file
from sim.terminal.writable import require_writable
from sim.view.rounding.model import show_beside, show_cycles_of_layers, show_kernel_in_layer, show_model, show_network
from sim.view.rounding.model_page import model_page

DEFAULT: Final = "double_rounding"


def model(
    file: Path, recordings: list[Path] | None, against: str | None, inputs: Path | None, layer: int | None,
    kernel: str | None, mode: str | None, opt: str, convention: str | None, cycles: str | None, seed: int,
    html_file: Path | None, as_json: bool, strict: bool,
) -> None:  # fmt: skip
    """Do what `lanewise model` says: its options are those of `sim.command.signatures.model`."""
    if not file.is_file():  # before what is wrong with the options
        raise ModelError(f"there is no file {file}")
    if (layer is None) != (kernel is None):
        raise ModelError("--layer and --kernel go together: the layer's number, and what is put in its place")
    if html_file is not None and (against is None or kernel is not None):
        raise ModelError("--html shows the layers beside those of --against: give that, and no --kernel")
    if strict and (against is None or kernel is not None):
        raise ModelError("--strict is about the layers beside those of --against: give that, and no --kernel")
    if inputs is not None and against not in RUNTIMES and (against is not None or kernel is None):
        raise ModelError("--inputs is what a runtime is given: name one with --against, or give a --kernel")
    if recordings and (against is None or kernel is not None):
        raise ModelError(f"{recordings[0]} is compared with what --against names: give that, and no --kernel")
    if recordings and inputs is not None:
        raise ModelError("the inputs are those that were recorded: leave --inputs out")
    require_writable("--html", html_file)
    expected = ""
    if convention is not None and against is not None and kernel is None:
        expected = expected_convention(convention)
    else:
        require_one_of("--convention", convention or DEFAULT, FORWARD_CONVENTIONS)
    convention = convention or DEFAULT
    network = read_network(file)
    if cycles is not None:
        if against is not None or kernel is not None:
            raise ModelError("--cycles is about the network alone: leave --against and --kernel out")
        cores = chosen_cores(cycles)
        with working(f"timing {file.name}"):
            estimate = NetworkCycles(network, convention, tuple(cycles_of_layers(network, cores, convention)))
        if as_json:
            print_json("model-cycles", estimate.as_json())
        else:
            print_shown(partial(show_cycles_of_layers, estimate))
        return
    if against is None and kernel is None:
        if as_json:
            print_json("model-network", network.as_json())
        else:
            print_shown(partial(show_network, network))
        return
    if layer is not None and kernel is not None:
        if layer >= len(network.layers):
            raise ModelError(f"{network.name} has no layer {layer}: its layers are 0..{len(network.layers) - 1}")
        chosen, flag = chosen_kernel(kernel, mode), optimisation_flag(opt)
        source = against or f"the golden reference, {convention}"
        with working(f"running {chosen.title} as layer {layer}"):
            tensors = _tensors(network, file, against, inputs, seed, convention)
            run = kernel_in_layer(network, network.layers[layer], chosen, (flag,), tensors, source, convention)
        if as_json:
            print_json("model-kernel", run.as_json())
        else:
            print_shown(partial(show_kernel_in_layer, run))
        if not run.is_equal:
            raise typer.Exit(MISMATCH)
        return
    assert against is not None
    if recordings and against in RUNTIMES:
        _compare_beside(network, file, against, recordings, expected, html_file is not None or strict, as_json)
        return
    given = None if inputs is None else pictures_of(network, read_arrays(inputs), str(inputs))
    with working(f"comparing {file.name}"):
        side = side_of(network, file, [against, *(recordings or [])], given, seed)
        report = compared_with(network, side, expected)
    _show(report, html_file, as_json, strict)


def _show(report: ModelReport, html_file: Path | None, as_json: bool, strict: bool) -> None:
    """Print a comparison, write its page, and end with its exit code."""
    if as_json:
        print_json("model", report.as_json())
    else:
        print_shown(partial(show_model, report))
    if html_file is not None:
        write_file(html_file, model_page(report).encode())
    if report.first_apart is not None or ((strict or report.expected) and report.apart):
        raise typer.Exit(MISMATCH)
    if not report.quantized:
        raise typer.Exit(MISSING)


def _compare_beside(
    network: Network, file: Path, runtime: str, recordings: Sequence[Path], expected: str, is_of_one: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Every picture that was recorded, and what a runtime makes of the inputs of each."""
    if is_of_one:
        raise ModelError("--html and --strict are about one side: leave them out, or leave out the runtime")
    with working(f"comparing {file.name}"):
        recorded = side_of(network, file, recordings, None, 0)
        found = compared_beside(network, recorded, of_runtime(network, file, runtime, recorded.pictures), expected)
    if as_json:
        print_json("model-beside", found.as_json())
    else:
        print_shown(partial(show_beside, found))
    if found.apart:
        raise typer.Exit(MISMATCH)
    if not found.compared:
        raise typer.Exit(MISSING)


def _tensors(
    network: Network, file: Path, against: str | None, inputs: Path | None, seed: int, convention: str
) -> Mapping[int, AnyArray]:
    """What a kernel is run on: the one picture of the other side, or without one what the golden reference makes."""
    given = None if inputs is None else pictures_of(network, read_arrays(inputs), str(inputs))
    if against is not None:
        pictures = side_of(network, file, [against], given, seed).pictures
    elif given is None:
        pictures = [Picture("inputs", drawn_inputs(network, seed))]
    else:
        pictures = given
    if len(pictures) > 1:
        side = against or inputs
        raise ModelError(f"a kernel is run on one picture, and {side} has {len(pictures)}: give one of them")
    (one,) = pictures
    if against is not None:
        return one.tensors
    return forward(network, inputs_of(network, one.tensors, one.name), convention)
