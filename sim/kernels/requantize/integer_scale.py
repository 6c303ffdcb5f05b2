"""The integer-scale modes of requantize as kernels: QuantizeDownInt32ToUint8Scale of ACL and of gemmlowp."""

from functools import partial
from pathlib import Path

from sim.kernels.domain import LONGEST, Domain
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.requantize import golden, program_bytes, vectors_bytes
from sim.kernels.signature import Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent
_SYMBOLS = {
    "acl_integer_scale": "requantize_integer_floor",
    "gemmlowp_integer_scale": "requantize_integer_ties_away",
}
_SUMMARIES = {
    "acl_integer_scale": "ACL 19.08, QuantizeDownInt32ToUint8Scale: the shift rounds down (row 4)",
    "gemmlowp_integer_scale": "gemmlowp, the stage of the same name: ties away from zero (row 4)",
}
_PROGRAMS = {
    "acl_integer_scale": program_bytes.requantize_integer_floor,
    "gemmlowp_integer_scale": program_bytes.requantize_integer_ties_away,
}

SIGNATURE = Signature(
    (
        Pointer("values", "int32", ("length",)),
        Pointer("bias", "int32", ("length",), nullable=True),
        Pointer("output", "uint8", ("length",), direction="out"),
        ScalarArgument("length", "uint64"),
        ScalarArgument("offset", "int32"),
        ScalarArgument("multiplier", "int32"),
        ScalarArgument("right_shift", "int32"),
        ScalarArgument("lower", "uint8"),
        ScalarArgument("upper", "uint8"),
    )
)


def _golden(inputs: Inputs, mode: str) -> Outputs:
    return {"output": golden.requantize_integer(inputs["values"], inputs["bias"], inputs["parameters"], mode)}


def _steps(inputs: Inputs, mode: str) -> golden.Steps:
    steps = golden.integer_scale_steps(inputs["values"], inputs["bias"], inputs["parameters"], mode)
    added = steps.pop("bias")
    bias = {} if inputs["bias"] is None else {"bias": inputs["bias"]}
    return {"values": inputs["values"], **bias, "add bias": added, **steps}


def _arguments(inputs: Inputs) -> Inputs:
    parameters = inputs["parameters"]
    lower, upper = golden.effective_bounds(parameters)
    return {
        "values": inputs["values"],
        "bias": inputs["bias"],
        "length": len(inputs["values"]),
        "offset": parameters.offset,
        "multiplier": parameters.multiplier,
        "right_shift": parameters.right_shift,
        "lower": lower,
        "upper": upper,
    }


def kernel(mode: str) -> Kernel:
    """The kernel of one integer-scale mode."""
    return Kernel(
        name="requantize",
        symbol=_SYMBOLS[mode],
        sources=(_FOLDER / "kernel_bytes.c", _FOLDER / "kernel_bytes_plain.c"),
        signature=SIGNATURE,
        golden=partial(_golden, mode=mode),
        steps=partial(_steps, mode=mode),
        arguments=_arguments,
        corners=vectors_bytes.integer_corners,
        sample=vectors_bytes.integer_sample,
        long_sample=partial(vectors_bytes.integer_sample, longest=LONGEST),
        program=_PROGRAMS[mode],
        conventions={other: partial(_golden, mode=other) for other in golden.INTEGER_SCALE if other != mode},
        mode=mode,
        summary=_SUMMARIES[mode],
        domain={"right_shift": Domain(0, 31)},
    )
