"""`lanewise explain`: which convention makes somebody's quantized output, and if none does, where it parts."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import typer

from isa.errors import MISMATCH
from sim.explanation.answer import explain
from sim.explanation.tensor_file import TensorError, read_tensor
from sim.terminal.output import print_json, print_shown, working
from sim.view.rounding.explain import show_explanation

_Text = str | None


def explain_output(
    output: str,
    accumulators: _Text,
    bias: _Text,
    a: _Text,
    b: _Text,
    offset_a: int,
    offset_b: int,
    multiplier: _Text,
    shift: _Text,
    shift_left: bool,
    scale: _Text,
    zero_point: int,
    minimum: int | None,
    maximum: int | None,
    axis: int,
    scale_a: float | None,
    scale_b: float | None,
    zero_point_a: int,
    zero_point_b: int,
    relu: bool,
    as_json: bool,
) -> None:
    """Do what `lanewise explain` says: its options are those of `sim.command.signatures.explain`."""
    shifts = _number("shift", shift)
    with working("explaining"):
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
        print_json("explain", answer.as_json())
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
        dtype = "float64" if name == "scale" else "int32"
    try:
        return read_tensor(text, dtype)
    except TensorError as error:
        raise TensorError(f"{text!r} is no number of {name}, and no file of such: {error}") from None
