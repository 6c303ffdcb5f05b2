"""`lanewise explain`: which convention makes somebody's quantized output, and if none does, where it parts."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import numpy as np
import typer

from isa.errors import MISMATCH
from sim.explanation.answer import explain
from sim.explanation.tensor_file import read_tensor
from sim.terminal.output import print_json, print_shown
from sim.view.explain import show_explanation

_FILES = "FILE.npy, FILE.npz:KEY, FILE.csv:DTYPE or FILE:DTYPE:4x16 (raw)"
_Text = str | None


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
    shifts = _number("shift", shift)
    answer = explain(
        read_tensor(output),
        accumulators=_tensor(accumulators, "int32"),
        bias=_tensor(bias, "int32"),
        a=_tensor(a),
        b=_tensor(b),
        offset_a=offset_a,
        offset_b=offset_b,
        multiplier=_number("multiplier", multiplier),
        shift=-shifts.astype(np.int64) if shift_left and shifts is not None else shifts,
        scale=_number("scale", scale),
        zero_point=zero_point,
        minimum=minimum,
        maximum=maximum,
        axis=axis,
        scale_a=scale_a,
        scale_b=scale_b,
        zero_point_a=zero_point_a,
        zero_point_b=zero_point_b,
        relu=relu,
    )
    if as_json:
        print_json(answer.as_json())
    else:
        print_shown(partial(show_explanation, answer))
    raise typer.Exit(0 if answer.explained else MISMATCH)


def _tensor(text: str | None, default: str | None = None) -> Any:
    return None if text is None else read_tensor(text, default)


def _number(name: str, text: str | None) -> Any:
    """A number, or the array of a file."""
    if text is None:
        return None
    try:
        return np.asarray(float(text) if name == "scale" else int(text, 0))
    except (ValueError, OverflowError):
        return read_tensor(text, "float64" if name == "scale" else "int32")
