"""quantize_down: int32 accumulators to uint8, as NEGEMMLowpQuantizeDownInt32ToUint8ScaleByFixedPoint of ACL 19.08.

Source: docs/spec/quantize_down.md.  The compiled function takes one row and the bounds that `effective_bounds` gives;
that of 20.05 is the one of 20.02, since only the caller's bounds differ.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from sim.kernels.domain import LONGEST, Domain
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.quantize_down import golden, program, vectors
from sim.kernels.signature import Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent

SIGNATURE = Signature(
    (
        Pointer("accumulators", "int32", ("length",)),
        Pointer("bias", "int32", ("length",), nullable=True),
        Pointer("output", "uint8", ("length",), direction="out"),
        ScalarArgument("length", "uint64"),
        ScalarArgument("multiplier", "int32"),
        ScalarArgument("shift", "int32"),
        ScalarArgument("offset", "int32"),
        ScalarArgument("lower", "uint8"),
        ScalarArgument("upper", "uint8"),
    )
)


FUSED_SIGNATURE = Signature(
    (*SIGNATURE.arguments[:-2], ScalarArgument("lower", "int32"), ScalarArgument("upper", "int32")),
)
"""The fused path's bounds are the operator's own, of 32 bits."""


def _golden(inputs: Inputs, mode: str) -> Outputs:
    return {"output": golden.quantize_down(inputs["accumulators"], inputs["bias"], inputs["parameters"], mode)}


def _steps(inputs: Inputs, mode: str) -> golden.Steps:
    steps = golden.steps(inputs["accumulators"], inputs["bias"], inputs["parameters"], mode)
    accumulators, added = steps.pop("accumulator"), steps.pop("bias")
    bias = {} if inputs["bias"] is None else {"bias": inputs["bias"]}
    return {"accumulators": accumulators, **bias, "add bias": added, **steps}


def _arguments(inputs: Inputs, mode: str) -> Inputs:
    parameters = inputs["parameters"]
    lower, upper = golden.effective_bounds(parameters, mode)
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


def _kernel(mode: str, function: str, row: Callable[..., None], sources: str = "modes") -> Kernel:
    shifts = golden.MODES[mode].shifts
    return Kernel(
        name="quantize_down",
        symbol=function,
        sources=(_FOLDER / f"{sources}.c", _FOLDER / f"{sources}_plain.c"),
        signature=FUSED_SIGNATURE if mode == "acl_19_08_fused" else SIGNATURE,
        golden=partial(_golden, mode=mode),
        steps=partial(_steps, mode=mode),
        arguments=partial(_arguments, mode=mode),
        corners=partial(vectors.corners, mode),
        sample=partial(vectors.sample, mode=mode),
        long_sample=partial(vectors.sample, mode=mode, longest=LONGEST),
        program=row,
        conventions={other: partial(_golden, mode=other) for other in golden.MODES if other != mode},
        mode=mode,
        summary=golden.MODES[mode].source,
        domain={"shift": Domain(shifts[0], shifts[-1])} if len(shifts) < 2**32 else {},
    )


KERNEL = _kernel("acl_19_08", "quantize_down", program.quantize_row, "kernel")
MODES = {
    kernel.mode: kernel
    for kernel in (
        KERNEL,
        _kernel("acl_20_02_left_shift", "quantize_down_left_shift", program.quantize_row_left_shift),
        _kernel("acl_20_05_bounds", "quantize_down_left_shift", program.quantize_row_left_shift),
        _kernel("page", "quantize_down_page", program.quantize_row_page),
        _kernel("acl_19_08_lanes_and_tail", "quantize_down_lanes_and_tail", program.quantize_row_lanes_and_tail),
        _kernel("acl_19_08_fused", "quantize_down_fused", program.quantize_row_fused),
    )
}
