"""quantize_down: int32 accumulators to uint8, as NEGEMMLowpQuantizeDownInt32ToUint8ScaleByFixedPoint of ACL 19.08.

Modes of other versions and paths, and to int8 and int16.  Sources: docs/spec/quantize_down.md; docs/spec/neighbours.md
sections 7 and 16.  The compiled function takes one row and the bounds that `effective_bounds` gives; that of 20.05 is
the one of 20.02, since only the caller's bounds differ.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from sim.kernels.domain import LONGEST, Domain
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.quantize_down import golden, program, vectors
from sim.kernels.signature import Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent


def _signature(output: str, bounds: str, has_offset: bool) -> Signature:
    names = ("multiplier", "shift", "offset") if has_offset else ("multiplier", "shift")
    return Signature(
        (
            Pointer("accumulators", "int32", ("length",)),
            Pointer("bias", "int32", ("length",), nullable=True),
            Pointer("output", output, ("length",), direction="out"),
            ScalarArgument("length", "uint64"),
            *(ScalarArgument(name, "int32") for name in names),
            ScalarArgument("lower", bounds),
            ScalarArgument("upper", bounds),
        )
    )


SIGNATURE = _signature("uint8", "uint8", has_offset=True)


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
    offset = {"offset": parameters.offset} if golden.MODES[mode].has_offset else {}
    return {
        "accumulators": inputs["accumulators"],
        "bias": inputs["bias"],
        "length": len(inputs["accumulators"]),
        "multiplier": parameters.multiplier,
        "shift": parameters.shift,
        **offset,
        "lower": lower,
        "upper": upper,
    }


def _kernel(mode: str, function: str, row: Callable[..., None], sources: str = "modes") -> Kernel:
    rule = golden.MODES[mode]
    output, shifts = rule.dtype.name, rule.shifts
    rivals = [name for name, other in golden.MODES.items() if other.dtype == rule.dtype and name != mode]
    return Kernel(
        name="quantize_down",
        symbol=function,
        sources=(_FOLDER / f"{sources}.c", _FOLDER / f"{sources}_plain.c"),
        signature=_signature(output, "int32" if mode == "acl_19_08_fused" else output, rule.has_offset),
        golden=partial(_golden, mode=mode),
        steps=partial(_steps, mode=mode),
        arguments=partial(_arguments, mode=mode),
        corners=partial(vectors.corners, mode),
        sample=partial(vectors.sample, mode=mode),
        long_sample=partial(vectors.sample, mode=mode, longest=LONGEST),
        program=row,
        conventions={other: partial(_golden, mode=other) for other in rivals},
        mode=mode,
        summary=rule.source,
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
        _kernel("acl_20_02_s8", "quantize_down_s8", program.quantize_row_s8),
        _kernel("acl_20_05_s8", "quantize_down_s8", program.quantize_row_s8),
        _kernel("acl_19_08_s16", "quantize_down_s16", program.quantize_row_s16),
        _kernel("acl_20_05_s16", "quantize_down_s16_lanes_and_tail", program.quantize_row_s16_lanes_and_tail),
    )
}
