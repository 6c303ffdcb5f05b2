"""What `lanewise model` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sim.command.signatures.shared import AsJson, Mode
from sim.terminal.on_demand import done_by


@done_by("sim.command.running.model:model")
def model(
    file: Annotated[Path, typer.Argument(help="The network: FILE.tflite or FILE.onnx.")],
    recordings: Annotated[
        list[Path] | None,
        typer.Argument(
            help="With --against: further FILE.npz, each of other pictures, or beside a runtime what it is compared "
            "with, on the inputs that were recorded."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            help="litert, litert-no-delegate, litert-reference, tflite-micro, onnxruntime or onnx-reference, which run "
            "the file here, or FILE.npz with the tensors that a device computed, by name, or a folder of such."
        ),
    ] = None,
    inputs: Annotated[
        Path | None,
        typer.Option(help="For a runtime: FILE.npz with the inputs by name; default: any numbers of a seed."),
    ] = None,
    layer: Annotated[
        int | None, typer.Option(min=0, help="The number of the layer in whose place --kernel is put.")
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(help="A built-in kernel, or FILE.py with yours, whose arguments are named as those of these are."),
    ] = None,
    mode: Mode = None,
    opt: Annotated[str, typer.Option(help="The level at which the kernel is compiled.")] = "O2",
    convention: Annotated[
        str | None,
        typer.Option(
            help="How the layers behind a kernel are scaled, and all of them without --against: double_rounding (the "
            "default), double_rounding_ties_up, single_rounding or fp32. With --against alone: what its layers should "
            "be, one of these or any of `lanewise conventions`."
        ),
    ] = None,
    cycles: Annotated[
        str | None,
        typer.Option(help="Cores with commas between them: how long the layers take that a built-in kernel computes."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the inputs that are drawn.")] = 1,
    html_file: Annotated[
        Path | None, typer.Option("--html", help="With --against, write a page: the layers, with where they differ.")
    ] = None,
    as_json: AsJson = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="With --against, end with 1 too where a layer departs.")
    ] = False,
) -> None:
    """Say of each layer of a quantized network which convention makes what a runtime computed, and which layer parts.

    Without --against it lists the layers with types, scales and zero points.  With it, each layer is computed from the
    other side's own inputs, so that a difference is told where it is made; operators that are not computed
    (docs/models.md has those that are) are named and skipped.  With --layer and --kernel it runs the kernel in
    lockstep on the tensors of that layer, those of --against or of the golden reference, and says what it changes in
    the layer and in the outputs.  With --cycles it says how long the layers take on some cores.  Exit code 0: every
    layer that was compared is reproduced, by --convention if that is given, or the kernel gives the layer's output, 1:
    one is not, 2: a bad file, 3: nothing quantized could be compared.
    """
