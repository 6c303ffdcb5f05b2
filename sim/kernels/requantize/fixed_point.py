"""The fixed-point modes of requantize as kernels: a multiplier and a left shift for each column.

A call with one channel for all columns passes that channel for each.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from sim.golden import scaling
from sim.golden.fixed_point import Int32Array, Integers
from sim.kernels.domain import LONGEST, Domain
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.requantize import golden, program, vectors
from sim.kernels.signature import Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent
_FUNCTIONS = {
    "tflite_double_rounding": "double_rounding",
    "tflite_single_rounding": "single_rounding",
    "tflite_neon_helper": "double_rounding_ties_up",
    "tflite_single_rounding_neon": "single_rounding_by_vector",
    "cmsis_double_rounding": "double_rounding_unsaturated",
    "cmsis_single_rounding": "single_rounding_narrowed",
    "ruy": "single_rounding",
}
"""The function of kernel.c for each mode: that of ruy and of TFLite's single rounding is one and the same."""

Rule = Callable[[Integers, Integers, Integers], Int32Array]
MISREADINGS: dict[str, Rule] = {
    "double_rounding_saturating_left": scaling.double_rounding_saturating_left,
    "double_rounding_floor": scaling.double_rounding_floor,
    "shift_after_rounding_in_lanes": scaling.shift_after_rounding_in_lanes,
    "single_rounding_of_long": scaling.single_rounding_of_long,
}
"""What the same multipliers and shifts give elsewhere."""

SIGNATURE = Signature(
    (
        Pointer("values", "int32", ("rows", "columns")),
        Pointer("multipliers", "int32", ("columns",)),
        Pointer("left_shifts", "int32", ("columns",)),
        Pointer("output", "int32", ("rows", "columns"), direction="out"),
        ScalarArgument("rows", "uint64"),
        ScalarArgument("columns", "uint64"),
    )
)


def _golden(inputs: Inputs, mode: str) -> Outputs:
    return {"output": golden.requantize(inputs["values"], inputs["channels"], mode)}


def _misread(inputs: Inputs, rule: Rule) -> Outputs:
    channels = inputs["channels"]
    return {"output": rule(inputs["values"], np.array(channels.multipliers, int), np.array(channels.left_shifts, int))}


def _steps(inputs: Inputs, mode: str) -> golden.Steps:
    return {"values": inputs["values"]} | golden.fixed_point_steps(inputs["values"], inputs["channels"], mode)


def _arguments(inputs: Inputs) -> Inputs:
    values, channels = inputs["values"], inputs["channels"]
    rows, columns = values.shape
    return {
        "values": values,
        "multipliers": np.resize(np.array(channels.multipliers, np.int32), columns),
        "left_shifts": np.resize(np.array(channels.left_shifts, np.int32), columns),
        "rows": rows,
        "columns": columns,
    }


def kernel(mode: str) -> Kernel:
    """The kernel of one fixed-point mode."""
    rule = golden.FIXED_POINT[mode]
    return Kernel(
        name="requantize",
        symbol=f"requantize_{_FUNCTIONS[mode]}",
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=SIGNATURE,
        golden=partial(_golden, mode=mode),
        steps=partial(_steps, mode=mode),
        arguments=_arguments,
        corners=partial(vectors.corners, mode),
        sample=partial(vectors.sample, mode=mode),
        long_sample=partial(vectors.sample, mode=mode, longest=LONGEST // 8),
        program=program.PROGRAMS[_FUNCTIONS[mode]],
        conventions={
            **{other: partial(_golden, mode=other) for other in golden.FIXED_POINT if other != mode},
            **{name: partial(_misread, rule=rule) for name, rule in MISREADINGS.items()},
        },
        mode=mode,
        summary=rule.source,
        domain={
            "multipliers": Domain(rule.multipliers[0], rule.multipliers[-1]),
            "left_shifts": Domain(rule.left_shifts[0], rule.left_shifts[-1]),
        },
    )
