"""fully_connected: rows of bytes times the weights of each column, scaled to bytes, as TFLite and XNNPACK do it.

Source: docs/spec/layers.md.  The compiled functions take a factor for each column: a layer with one for all columns
passes it for each.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sim.golden.derivation import derive_tflite
from sim.kernels.domain import LONGEST, Domain, Domains
from sim.kernels.fully_connected import golden, program, vectors
from sim.kernels.fully_connected.golden import FloatChannels, Mode, Parameters
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.requantize.golden import FIXED_POINT, Channels
from sim.kernels.signature import Argument, Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent


def factor_arguments(rule: Mode) -> tuple[Pointer, ...]:
    """The arrays of the factors that the mode scales by, one of each column."""
    if rule.rounding is None:
        return (Pointer("scales", "float32", ("columns",)),)
    return Pointer("multipliers", "int32", ("columns",)), Pointer("left_shifts", "int32", ("columns",))


def level_arguments(rule: Mode) -> tuple[Argument, ...]:
    """The zero points and bounds; weights of int8 have none."""
    names = ("input_zero", "weights_zero", "output_zero", "lower", "upper")
    return tuple(ScalarArgument(name, "int32") for name in names if rule.dtype != np.int8 or name != "weights_zero")


def levels_and_factors(parameters: Parameters, columns: int, rule: Mode) -> Inputs:
    """The arguments that `factor_arguments` and `level_arguments` name."""
    factors, levels = parameters.factors, {"weights_zero": parameters.weights_zero}
    arrays: dict[str, np.ndarray] = {}
    if isinstance(factors, FloatChannels):
        arrays["scales"] = np.resize(np.array(factors.scales, np.float32), columns)
    else:
        arrays["multipliers"] = np.resize(np.array(factors.multipliers, np.int32), columns)
        arrays["left_shifts"] = np.resize(np.array(factors.left_shifts, np.int32), columns)
    return {
        **arrays,
        "input_zero": parameters.input_zero,
        **(levels if rule.dtype != np.int8 else {}),
        "output_zero": parameters.output_zero,
        "lower": parameters.minimum,
        "upper": parameters.maximum,
    }


def level_domains(rule: Mode) -> Domains:
    """What the arguments of `factor_arguments` and `level_arguments` may be."""
    limits = np.iinfo(rule.dtype)
    of_bytes = Domain(int(limits.min), int(limits.max))
    domains = {argument.name: of_bytes for argument in level_arguments(rule)}
    if rule.rounding is None:
        return domains | {"scales": Domain(2.0**-32, 255.99998)}
    fixed = FIXED_POINT[rule.rounding]
    return domains | {
        "multipliers": Domain(fixed.multipliers[0], fixed.multipliers[-1]),
        "left_shifts": Domain(fixed.left_shifts[0], fixed.left_shifts[-1]),
    }


def with_factors_of(inputs: Inputs, mode: str) -> Inputs:
    """An input set for the mode: float32 scales as multipliers and shifts where it is in fixed point."""
    parameters = inputs["parameters"]
    if golden.MODES[mode].rounding is None or isinstance(parameters.factors, Channels):
        return inputs
    return {**inputs, "parameters": replace(parameters, factors=derived_channels(parameters.factors.scales))}


def derived_channels(scales: Iterable[np.floating[Any]]) -> Channels:
    """The multipliers and left shifts that TFLite derives of scales.  Raises as `derive_tflite`."""
    derived = [derive_tflite(float(scale)) for scale in scales]
    return Channels(tuple(one.multiplier for one in derived), tuple(one.left_shift for one in derived))


def _golden(inputs: Inputs, mode: str) -> Outputs:
    return {"output": golden.fully_connected(**with_factors_of(inputs, mode), mode=mode)}


def _steps(inputs: Inputs, mode: str) -> golden.Steps:
    return golden.steps(**inputs, mode=mode)


def _arguments(inputs: Inputs, mode: str) -> Inputs:
    (rows, depth), columns = inputs["input"].shape, len(inputs["weights"])
    sizes = {"rows": rows, "columns": columns, "depth": depth}
    arrays = {name: inputs[name] for name in ("input", "weights", "bias")}
    return {**arrays, **sizes, **levels_and_factors(inputs["parameters"], columns, golden.MODES[mode])}


def rivals(mode: str) -> list[str]:
    """The modes in fixed point of the same bytes: what the same factors, or float32 scales as such, give there."""
    rule = golden.MODES[mode]
    alike = [name for name, other in golden.MODES.items() if other.dtype == rule.dtype and name != mode]
    return [name for name in alike if golden.MODES[name].rounding is not None]


def _kernel(mode: str) -> Kernel:
    rule = golden.MODES[mode]
    name = rule.dtype.name
    arguments = (
        Pointer("input", name, ("rows", "depth")),
        Pointer("weights", name, ("columns", "depth")),
        Pointer("bias", "int32", ("columns",), nullable=True),
        *factor_arguments(rule),
        Pointer("output", name, ("rows", "columns"), direction="out"),
        ScalarArgument("rows", "uint64"),
        ScalarArgument("columns", "uint64"),
        ScalarArgument("depth", "uint64"),
        *level_arguments(rule),
    )
    return Kernel(
        name="fully_connected",
        symbol=f"fully_connected_{mode}",
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=Signature(arguments),
        golden=partial(_golden, mode=mode),
        steps=partial(_steps, mode=mode),
        arguments=partial(_arguments, mode=mode),
        corners=partial(vectors.corners, mode),
        sample=partial(vectors.sample, mode=mode),
        long_sample=partial(vectors.sample, mode=mode, deepest=LONGEST // 8, widest=128),
        program=partial(
            program.fully_connected, program.SCALES[mode.partition("_")[2]], program.LayerBytes(name == "uint8")
        ),
        conventions={other: partial(_golden, mode=other) for other in rivals(mode)},
        mode=mode,
        summary=rule.source,
        domain=level_domains(rule),
        flags=("-march=armv8.2-a+dotprod",),
        typical=vectors.typical(mode),
        work=("multiply-accumulate", "rows * columns * depth"),
    )


MODES = {mode: _kernel(mode) for mode in golden.MODES}
KERNEL = MODES["s8_double_rounding"]
