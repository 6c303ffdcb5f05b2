"""quantized_multiplier: int32 values times a real factor, as QuantizedMultiplierSmallerThanOne of ArmNN 24.08.

Source: docs/spec/quantized_multiplier.md.  The compiled functions take the multiplier and the shift that the mode's
constructor makes of the factor.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from sim.golden import scaling
from sim.golden.fixed_point import Int32Array, Integers
from sim.kernels.domain import LONGEST, Domain
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.quantized_multiplier import golden, program, vectors
from sim.kernels.signature import Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent
_LEFT = ("acl_20_02", "tflite")
_SYMBOLS = {"x86_count_mod_32": "quantized_multiplier_count_mod_32"} | dict.fromkeys(
    _LEFT, "quantized_multiplier_with_left_shift"
)
_PROGRAMS = {"x86_count_mod_32": program.with_count_mod_32} | dict.fromkeys(_LEFT, program.with_left_shift)
Rule = Callable[[Integers, Integers, Integers], Int32Array]
MISREADINGS: dict[str, Rule] = {
    "double_rounding_ties_up": scaling.double_rounding_ties_up,
    "double_rounding_floor": scaling.double_rounding_floor,
    "single_rounding": scaling.single_rounding,
}
"""How the product of one and the same multiplier and shift is often computed instead."""


def _golden(inputs: Inputs, mode: str) -> Outputs:
    return {"products": golden.quantized_multiplier(inputs["values"], inputs["factor"], mode)}


def _misread(inputs: Inputs, mode: str, rule: Rule) -> Outputs:
    return {"products": rule(inputs["values"], *golden.defined_parameters(inputs["factor"], mode))}


def _steps(inputs: Inputs, mode: str) -> golden.Steps:
    return {"values": inputs["values"]} | golden.steps(inputs["values"], inputs["factor"], mode)


def _arguments(inputs: Inputs, mode: str) -> Inputs:
    multiplier, left_shift = golden.defined_parameters(inputs["factor"], mode)
    shift = {"left_shift": left_shift} if mode in _LEFT else {"right_shift": -left_shift}
    return {"values": inputs["values"], "length": len(inputs["values"]), "multiplier": multiplier} | shift


def _kernel(mode: str) -> Kernel:
    shifts = golden.MODES[mode].left_shifts
    shift, domain = "right_shift", Domain(-shifts[-1], -shifts[0])
    if mode in _LEFT:
        shift, domain = "left_shift", Domain(shifts[0], shifts[-1])
    arguments = (
        Pointer("values", "int32", ("length",)),
        Pointer("products", "int32", ("length",), direction="out"),
        ScalarArgument("length", "uint64"),
        ScalarArgument("multiplier", "int32"),
        ScalarArgument(shift, "int32"),
    )
    return Kernel(
        name="quantized_multiplier",
        symbol=_SYMBOLS.get(mode, "quantized_multiplier"),
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=Signature(arguments),
        golden=partial(_golden, mode=mode),
        steps=partial(_steps, mode=mode),
        arguments=partial(_arguments, mode=mode),
        corners=partial(vectors.corners, mode),
        sample=partial(vectors.sample, mode=mode),
        long_sample=partial(vectors.sample, mode=mode, longest=LONGEST),
        program=_PROGRAMS.get(mode, program.with_right_shift),
        conventions={
            **{other: partial(_golden, mode=other) for other in golden.MODES if other != mode},
            **{name: partial(_misread, mode=mode, rule=rule) for name, rule in MISREADINGS.items()},
        },
        mode=mode,
        summary=golden.MODES[mode].source,
        domain={shift: domain},
    )


MODES = {mode: _kernel(mode) for mode in golden.MODES}
KERNEL = MODES["armnn_24_08"]
