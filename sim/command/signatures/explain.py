"""What `lanewise explain` takes."""

from __future__ import annotations

from typing import Annotated

import typer

from sim.terminal.on_demand import done_by

_FILES = "FILE.npy, FILE.npz:KEY, FILE.csv:DTYPE or FILE:DTYPE:4x16 (raw)"
_Text = str | None


@done_by("sim.command.asking.explain:explain_output")
def explain_output(
    output: Annotated[str, typer.Option(help=f"The output to explain: {_FILES}.")],
    accumulators: Annotated[_Text, typer.Option(help="The int32 accumulators, of the output's shape.")] = None,
    bias: Annotated[_Text, typer.Option(help="The int32 bias, one for each channel.")] = None,
    a: Annotated[_Text, typer.Option("--a", help="The left operand of a product or an addition.")] = None,
    b: Annotated[_Text, typer.Option("--b", help="The right operand of a product or an addition.")] = None,
    offset_a: Annotated[int, typer.Option(help="Added to or subtracted from --a in a product.")] = 0,
    offset_b: Annotated[int, typer.Option(help="Added to or subtracted from --b in a product.")] = 0,
    multiplier: Annotated[_Text, typer.Option(help="Q0.31: a number, or a file with one for each channel.")] = None,
    shift: Annotated[_Text, typer.Option(help="Bits to the right: a number, or a file as above.")] = None,
    shift_left: Annotated[bool, typer.Option("--shift-left", help="--shift counts to the left.")] = False,
    scale: Annotated[_Text, typer.Option(help="A real factor in place of multiplier and shift; or a file.")] = None,
    zero_point: Annotated[int, typer.Option("--zero-point", "--offset", help="Added after scaling.")] = 0,
    minimum: Annotated[int | None, typer.Option("--min", help="The activation's lower bound.")] = None,
    maximum: Annotated[int | None, typer.Option("--max", help="The activation's upper bound.")] = None,
    axis: Annotated[int, typer.Option(help="The axis of the channels.")] = -1,
    scale_a: Annotated[float | None, typer.Option(help="The scale of --a: asks about an addition.")] = None,
    scale_b: Annotated[float | None, typer.Option(help="The scale of --b in an addition.")] = None,
    zero_point_a: Annotated[int, typer.Option(help="The zero point of --a in an addition.")] = 0,
    zero_point_b: Annotated[int, typer.Option(help="The zero point of --b in an addition.")] = 0,
    relu: Annotated[bool, typer.Option("--relu", help="The addition applies ReLU.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the explanation as JSON.")] = False,
) -> None:
    """Say which rounding convention made a quantized output, or which come near and where they part.

    Give the accumulators (and bias), or --a and --b, and the parameters of the scaling; in an addition --scale is
    that of the output.  Exit code 0: a convention gives every element, 1: none does, 2: wrong usage or a bad file.
    """
