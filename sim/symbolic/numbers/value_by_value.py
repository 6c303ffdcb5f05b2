"""Functions that are no lane expressions here, of numbers that one input of few values decides: numpy's own, on each.

A reference may make the entries of a table by `np.exp`, and cut them to integers.  What these make of a number that
depends on one input of up to 256 values, a byte, is computed for each of them by the numpy that is installed, and the
input chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy import array  # numpy's own while a reference is traced, too

from isa.evaluate.exact import Evaluation
from isa.lane import Lane, Load, Read, constant, pick, walk
from sim.prove.claim import ClaimInputs
from sim.symbolic.numbers.elementwise import DType
from sim.symbolic.numbers.tracing import refuse

MOST_VALUES: Final = 256
"""Values of an input for each of which a function is computed."""


def value_by_value(ufunc: np.ufunc, operands: Sequence[Lane], loop: Sequence[DType]) -> Lane:
    """What a function of numpy's makes of operands, in the dtypes of its loop, the last of which is the result's.

    Raises Untraceable where they depend on more than one input of `MOST_VALUES` values, where some value or result is
    NaN, of which there are many, and where numpy makes different numbers of one, by how it lies in an array.
    """
    return _by_values(f"np.{ufunc.__name__} in {loop[0]}", ufunc, operands, loop)


def cut_value_by_value(lane: Lane, of: DType, to: DType) -> Lane:
    """The whole number that a floating-point number is cut to; raises as `value_by_value`, and where `to` lacks it."""
    what = f"{of} as {to}, which is not defined for NaN and large numbers,"
    if to.kind not in "iu":
        refuse(f"{what} is not among what can be traced")
    try:
        return _by_values(what, lambda numbers: array([int(number) for number in numbers], to), [lane], [of, to])
    except OverflowError:
        refuse(f"{what} meets a large one")


def _by_values(what: str, function: Callable[..., Any], operands: Sequence[Lane], types: Sequence[DType]) -> Lane:
    inputs = {node for node in walk(operands) if isinstance(node, Read)}
    few = [node for node in inputs if node.high - node.low < MOST_VALUES]
    if len(inputs) > 1 or len(few) < len(inputs) or any(isinstance(node, Load) for node in walk(operands)):
        but = f"but of what one input of up to {MOST_VALUES} values decides"
        refuse(f"{what} is not among what can be traced, {but}", inputs.difference(few if len(few) == 1 else ()))
    values = [{node.place.file: value} for node in inputs for value in range(node.low, node.high + 1)] or [{}]
    states = [Evaluation(ClaimInputs(chosen)) for chosen in values]
    given = [_numbers([at.value(lane) for at in states], kind) for lane, kind in zip(operands, types, strict=False)]
    if any(kind.kind == "f" and np.isnan(numbers).any() for kind, numbers in zip(types, given, strict=False)):
        refuse(f"{what} meets NaN, of which there are many")
    made = function(*given)
    if made.dtype.kind == "f" and np.isnan(made).any():
        refuse(f"{what} makes NaN, of which there are many")
    alone = b"".join(function(*(numbers[k : k + 1] for numbers in given)).tobytes() for k in range(len(values)))
    apart = function(*(numbers.repeat(2)[::2] for numbers in given))
    if not made.tobytes() == apart.tobytes() == alone:
        refuse(f"{what} is one number in an array and another in one that lies otherwise, or alone")
    entries = list(map(constant, made.view(f"u{made.itemsize}").tolist() if made.dtype.kind == "f" else made.tolist()))
    for node in inputs:  # one, or none
        return pick(node - node.low, entries[:-1], entries[-1])
    return entries[0]


def _numbers(lanes: Sequence[int], dtype: DType) -> Any:
    """The numbers of lanes in a dtype: of floating point these are the bits."""
    return array(lanes, f"u{dtype.itemsize}").view(dtype) if dtype.kind == "f" else array(lanes, dtype)
