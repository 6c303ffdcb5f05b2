"""quantize_down: int32 accumulators to uint8, as NEGEMMLowpQuantizeDownInt32ToUint8ScaleByFixedPoint of ACL 19.08.

Source: spec/quantize_down.md.  The compiled function takes one row and the bounds that `effective_bounds` gives.
"""

from functools import partial
from pathlib import Path

from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.quantize_down import golden, program, vectors
from sim.kernels.signature import Pointer, Scalar, Signature

_FOLDER = Path(__file__).parent

SIGNATURE = Signature(
    (
        Pointer("accumulators", "int32", ("length",)),
        Pointer("bias", "int32", ("length",), nullable=True),
        Pointer("output", "uint8", ("length",), "out"),
        Scalar("length", "uint64"),
        Scalar("multiplier", "int32"),
        Scalar("shift", "int32"),
        Scalar("offset", "int32"),
        Scalar("lower", "uint8"),
        Scalar("upper", "uint8"),
    )
)


def _golden(inputs: Inputs, mode: str = "acl_19_08") -> Outputs:
    return {"output": golden.quantize_down(inputs["accumulators"], inputs["bias"], inputs["parameters"], mode)}


def _steps(inputs: Inputs) -> golden.Steps:
    steps = golden.steps(inputs["accumulators"], inputs["bias"], inputs["parameters"])
    accumulators, added = steps.pop("accumulator"), steps.pop("bias")
    bias = {} if inputs["bias"] is None else {"bias": inputs["bias"]}
    return {"accumulators": accumulators, **bias, "add bias": added, **steps}


def _arguments(inputs: Inputs) -> Inputs:
    parameters = inputs["parameters"]
    lower, upper = golden.effective_bounds(parameters)
    return {
        "accumulators": inputs["accumulators"],
        "bias": inputs["bias"],
        "length": len(inputs["accumulators"]),
        "multiplier": parameters.multiplier,
        "shift": parameters.shift,
        "offset": parameters.offset,
        "lower": lower,
        "upper": upper,
    }


KERNEL = Kernel(
    name="quantize_down",
    symbol="quantize_down",
    sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
    signature=SIGNATURE,
    golden=_golden,
    steps=_steps,
    arguments=_arguments,
    corners=vectors.corners,
    sample=vectors.sample,
    program=program.quantize_row,
    conventions={mode: partial(_golden, mode=mode) for mode in golden.MODES if mode != "acl_19_08"},
    mode="acl_19_08",
)
MODES = {"acl_19_08": KERNEL}
