"""The float-scale modes of requantize as kernels: XNNPACK's fp32 requantization to int8 and to uint8."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from sim.golden import scaling
from sim.golden.derivation import derive_tflite
from sim.golden.fixed_point import Int32Array
from sim.kernels.domain import LONGEST, Domain
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.requantize import golden, program_bytes, vectors_bytes
from sim.kernels.signature import Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent
_PROGRAMS = {
    "xnnpack_fp32_qs8": program_bytes.requantize_fp32_qs8,
    "xnnpack_fp32_qu8": program_bytes.requantize_fp32_qu8,
}
Rule = Callable[[Int32Array, np.float32], golden.AnyArray]


def _rounded_away(values: Int32Array, scale: np.float32) -> golden.AnyArray:
    product = (values.astype(np.float32) * scale).astype(np.float64)
    return np.trunc(product + np.copysign(0.5, product))


def _in_double(values: Int32Array, scale: np.float32) -> golden.AnyArray:
    return np.rint(values * np.float64(scale))


def _in_fixed_point(values: Int32Array, scale: np.float32, rule: Callable[..., Int32Array]) -> golden.AnyArray:
    return rule(values, *derive_tflite(float(scale)))


MISREADINGS: dict[str, Rule] = {
    "float_ties_away": _rounded_away,
    "double_ties_even": _in_double,
    "double_rounding": partial(_in_fixed_point, rule=scaling.double_rounding),
    "single_rounding": partial(_in_fixed_point, rule=scaling.single_rounding),
}
"""How the product by the same scale is computed elsewhere, before the zero point and the bounds."""


def _golden(inputs: Inputs, mode: str) -> Outputs:
    return {"output": golden.requantize_float(inputs["values"], inputs["parameters"], mode)}


def _misread(inputs: Inputs, mode: str, rule: Rule) -> Outputs:
    parameters = inputs["parameters"]
    placed = rule(inputs["values"], parameters.scale).astype(np.int64) + parameters.zero_point
    return {"output": np.clip(placed, parameters.minimum, parameters.maximum).astype(golden.FLOAT_SCALE[mode])}


def _steps(inputs: Inputs, mode: str) -> golden.Steps:
    return {"values": inputs["values"]} | golden.float_scale_steps(inputs["values"], inputs["parameters"], mode)


def _arguments(inputs: Inputs) -> Inputs:
    parameters = inputs["parameters"]
    return {
        "values": inputs["values"],
        "length": len(inputs["values"]),
        "scale": float(parameters.scale),
        "zero_point": parameters.zero_point,
        "lower": parameters.minimum,
        "upper": parameters.maximum,
    }


def kernel(mode: str) -> Kernel:
    """The kernel of one float-scale mode."""
    dtype = golden.FLOAT_SCALE[mode].name
    arguments = (
        Pointer("values", "int32", ("length",)),
        Pointer("output", dtype, ("length",), direction="out"),
        ScalarArgument("length", "uint64"),
        ScalarArgument("scale", "float32"),
        ScalarArgument("zero_point", dtype),
        ScalarArgument("lower", dtype),
        ScalarArgument("upper", dtype),
    )
    return Kernel(
        name="requantize",
        symbol=_PROGRAMS[mode].__name__,
        sources=(_FOLDER / "kernel_bytes.c", _FOLDER / "kernel_bytes_plain.c"),
        signature=Signature(arguments),
        golden=partial(_golden, mode=mode),
        steps=partial(_steps, mode=mode),
        arguments=_arguments,
        corners=partial(vectors_bytes.float_corners, mode),
        sample=partial(vectors_bytes.float_sample, mode=mode),
        long_sample=partial(vectors_bytes.float_sample, mode=mode, longest=LONGEST),
        program=_PROGRAMS[mode],
        conventions={name: partial(_misread, mode=mode, rule=rule) for name, rule in MISREADINGS.items()},
        mode=mode,
        summary=f"XNNPACK, the fp32 requantization of its {mode[-3:]} operators: scaled in float32, ties to even",
        domain={"scale": Domain(2.0**-32, float(np.nextafter(np.float32(256), np.float32(0))))},
    )
