"""Other arithmetics of quantized_add: the remaining backends, and what a port of the float32 paths gets wrong.

Each is a function of one input set, for the `conventions` of the modes' records.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from sim.golden import addition, scaling
from sim.golden.addition import Addends, AddParameters, Quantization, to_bytes
from sim.golden.fixed_point import Int32Array, clamp, shift_left_wrap, wrap_int32
from sim.golden.floating_point import (
    Float32Array,
    fused_multiply_add,
    to_int32_ties_even,
    to_int32_ties_even_indefinite,
)
from sim.golden.integer_addition import Rescale
from sim.kernels.kernel import Inputs, Outputs
from sim.kernels.quantized_add import golden, golden_tflite
from sim.kernels.quantized_add.golden import Steps, Tensor
from sim.kernels.quantized_add.golden_tflite import Parameters, Scale

Convention = Callable[[Inputs], Outputs]


def folded_steps(inputs: Inputs, mode: str) -> Steps:
    """Those of an input set of uint8 + uint8 -> uint8."""
    return golden.folded_steps(inputs["a"], inputs["b"], inputs["folded"], mode)


def page_steps(inputs: Inputs) -> Steps:
    """Those of an input set of uint8 + uint8 -> uint8, as the page has them."""
    return golden.page_steps(inputs["a"], inputs["b"], inputs["parameters"])


def generic_steps(inputs: Inputs, output_type: str) -> Steps:
    """Those of an input set with a float32 tensor in it."""
    return golden.generic_steps(inputs["a"], inputs["b"], inputs["parameters"], output_type)


def output_of(inputs: Inputs, steps: Callable[[Inputs], Steps]) -> Outputs:
    """The last of the steps."""
    return {"output": steps(inputs)["output"]}


def _on_x86(inputs: Inputs, add: Callable[..., Addends]) -> Outputs:
    """The sum of an x86 backend; what lies outside int32 becomes INT32_MIN, and so 0."""
    total = add(inputs["a"], inputs["b"], inputs["folded"])[1]
    return {"output": to_bytes(to_int32_ties_even_indefinite(total))}


BACKENDS: Mapping[str, Convention] = {
    **{mode: partial(output_of, steps=partial(folded_steps, mode=mode)) for mode in golden.FOLDED},
    "base_x86": partial(_on_x86, add=addition.sum_b_first_in_double),
    "avx2": partial(_on_x86, add=addition.sum_b_first_fused),
    "page": partial(output_of, steps=page_steps),
}
"""uint8 + uint8 -> uint8, all with the t of the input set, which the page does not use."""


def _added(inputs: Inputs, add: Callable[..., addition.Uint8Array]) -> Outputs:
    return {"output": add(inputs["a"], inputs["b"], inputs["parameters"])}


def _without_activation(inputs: Inputs, steps: Callable[[Inputs], Steps]) -> Outputs:
    given = inputs["parameters"]
    return output_of({**inputs, "parameters": AddParameters(given.a, given.b, given.output)}, steps)


def _contracted_activation(inputs: Inputs) -> Outputs:
    """The page, the product of HardSigmoid contracted with its sum, as compilers do by default."""
    parameters: AddParameters = inputs["parameters"]
    if parameters.activation.name != "HardSigmoid":
        return output_of(inputs, page_steps)
    scale, shift = (np.float32(number) for number in parameters.activation.parameters)
    line = fused_multiply_add(page_steps(inputs)["sum"], scale, shift)
    active = addition.larger(np.float32(0), addition.smaller(line, np.float32(1)))
    plain = replace(parameters, activation=addition.IDENTITY)
    return output_of({"a": active, "b": np.full_like(active, -0.0), "parameters": plain}, page_steps)


def of_page() -> Mapping[str, Convention]:
    """What a port of the page may do instead: the library's Base, a fused line of HardSigmoid, no activation."""
    return {
        "base": partial(_added, add=addition.add_base),
        "contracted": _contracted_activation,
        "without_activation": partial(_without_activation, steps=page_steps),
    }


def of_types(a_type: str, b_type: str, output_type: str) -> Mapping[str, Convention]:
    """What a port of a float32 path may do instead."""
    found: dict[str, Convention] = {
        "without_relu": partial(_without_activation, steps=partial(generic_steps, output_type=output_type))
    }
    if "uint8" in (a_type, b_type):
        found["contracted"] = partial(_contracted, output_type=output_type)
    if output_type == "uint8":
        found |= {"divided": _divided, "on_x86": _generic_on_x86}
    return found


def _contracted(inputs: Inputs, output_type: str) -> Outputs:
    """The product of a dequantization contracted with the sum: that of a where a is uint8, else that of b."""
    a, b, parameters = inputs["a"], inputs["b"], inputs["parameters"]
    if a.dtype == np.uint8:
        total = _multiplied_onto(a, parameters.a, golden.real(b, parameters.b))
    else:
        total = _multiplied_onto(b, parameters.b, a)
    float_sum = {"a": total, "b": np.full_like(total, -0.0), "parameters": parameters}
    return output_of(float_sum, partial(generic_steps, output_type=output_type))


def _multiplied_onto(values: Tensor, quantization: Quantization, addend: Float32Array) -> Float32Array:
    difference = wrap_int32(values.astype(np.int64) - quantization.zero_point).astype(np.float32)
    return fused_multiply_add(difference, np.float32(quantization.scale), addend)


def _divided(inputs: Inputs) -> Outputs:
    """Divided by the output's scale, not multiplied by its reciprocal."""
    steps, to = generic_steps(inputs, "float32"), inputs["parameters"].output
    with np.errstate(all="ignore"):
        quotient = np.asarray(steps["output"] / np.float32(to.scale), np.float32)
    return {"output": golden.offset_steps(to_int32_ties_even(quotient), to.zero_point)["output"]}


def _generic_on_x86(inputs: Inputs) -> Outputs:
    """INT32_MIN outside int32, before the zero point is added."""
    scaled = np.asarray(generic_steps(inputs, "uint8")["scale"], np.float32)
    rounded = to_int32_ties_even_indefinite(scaled)
    return {"output": golden.offset_steps(rounded, inputs["parameters"].output.zero_point)["output"]}


def tflite_steps(inputs: Inputs) -> Steps:
    """Those of an input set of the integer add."""
    return golden_tflite.steps(inputs["a"], inputs["b"], inputs["parameters"])


def _in_integers(inputs: Inputs, rescale: Rescale) -> Outputs:
    by: Parameters = inputs["parameters"]

    def placed(name: str, zero: int, scale: Scale) -> Int32Array:
        difference = inputs[name].astype(np.int32) - np.int32(zero)
        return rescale(shift_left_wrap(difference, by.left_shift), scale.multiplier, scale.shift)

    total = placed("a", by.a_zero, by.a) + placed("b", by.b_zero, by.b)
    scaled = rescale(total, by.total.multiplier, by.total.shift) + np.int32(by.output_zero)
    return {"output": to_bytes(clamp(scaled, by.lower, by.upper))}


def _in_reals(inputs: Inputs, add: Callable[..., addition.Uint8Array]) -> Outputs:
    """By the factors that the integers stand for, to the nearest float32."""
    by: Parameters = inputs["parameters"]
    operands = []
    for scale, zero in ((by.a, by.a_zero), (by.b, by.b_zero)):
        power = by.left_shift + scale.shift + by.total.shift - 62
        operands.append(Quantization(float(scale.multiplier) * by.total.multiplier * 2.0**power, zero))
    a, b = operands
    result = add(inputs["a"], inputs["b"], AddParameters(a, b, Quantization(1.0, by.output_zero)))
    return {"output": np.clip(result, by.lower, by.upper)}


INTEGER: Mapping[str, Convention] = {
    "single_rounding": partial(_in_integers, rescale=scaling.single_rounding_narrowed),
    "ties_up": partial(_in_integers, rescale=scaling.double_rounding_ties_up),
    "shift_rounds_down": partial(_in_integers, rescale=scaling.double_rounding_floor),
    "neon_ties_away": partial(_in_reals, add=addition.add_neon_ties_away),
    "neon_ties_away_unfused": partial(_in_reals, add=addition.add_neon_ties_away_unfused),
    "neon_ties_even": partial(_in_reals, add=addition.add_neon_ties_even),
    "neon_ties_even_unfused": partial(_in_reals, add=addition.add_neon_ties_even_unfused),
    "base": partial(_in_reals, add=addition.add_base),
    "avx2": partial(_in_reals, add=addition.add_avx2),
    "page": partial(_in_reals, add=addition.add_page),
}
"""What a port of the integer add may do instead, and the library's own arithmetics for the same factors.

The single rounding is CMSIS-NN's, which takes multipliers of either sign; TFLite's gives the same, as no result here
comes to 2^30.
"""
