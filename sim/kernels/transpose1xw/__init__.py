"""transpose1xw: rows cut in chunks of 16 bytes and stacked, as NEGEMMTranspose1xW of ACL does it.

Modes: `acl_19_08`, which copies the padding behind the rows, and `acl_20_11`, which writes zeros and needs no padding.
Source: docs/spec/transpose1xw.md. The compiled functions move bytes, whatever the type of the elements.
"""

from functools import partial
from pathlib import Path

import numpy as np

from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.signature import Pointer, ScalarArgument, Signature
from sim.kernels.transpose1xw import golden, program, vectors

_FOLDER = Path(__file__).parent
DEFAULT, ZEROS = "acl_19_08", "acl_20_11"
POINTERS = (
    Pointer("input", "uint8", ("planes", "rows", "input_stride")),
    Pointer("output", "uint8", ("planes", "chunks", "output_stride"), direction="inout"),
)
SIZES = tuple(
    ScalarArgument(name, "uint64") for name in ("width", "chunks", "rows", "planes", "input_stride", "output_stride")
)


def _golden(inputs: Inputs, mode: str) -> Outputs:
    output = inputs["output"].copy()
    stacked = golden.transpose1xw(inputs["values"], inputs["padding"], mode)
    output[..., : stacked.shape[-1] * stacked.itemsize] = _as_bytes(stacked)
    return {"output": output}


def _steps(inputs: Inputs, mode: str) -> Outputs:
    return {"copy": _golden(inputs, mode)["output"]}


def _arguments(inputs: Inputs, mode: str) -> Inputs:
    values = inputs["values"]
    rows = _as_bytes(np.concatenate([values, inputs["padding"]], axis=-1))
    planes, chunks, output_stride = inputs["output"].shape
    arguments = {
        "input": rows,
        "output": inputs["output"],
        "width": values.shape[-1] * values.itemsize,
        "chunks": chunks,
        "rows": values.shape[1],
        "planes": planes,
        "input_stride": rows.shape[-1],
        "output_stride": output_stride,
    }
    return {name: value for name, value in arguments.items() if mode == ZEROS or name != "width"}


def _as_bytes(array: golden.AnyArray) -> golden.AnyArray:
    """The elements of the last axis as uint8."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(*array.shape[:-1], array.shape[-1] * array.itemsize)


def _kernel(mode: str) -> Kernel:
    zeros = mode == ZEROS
    return Kernel(
        name="transpose1xw",
        symbol="transpose1xw_20_11" if zeros else "transpose1xw_19_08",
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=Signature(POINTERS + (SIZES if zeros else SIZES[1:])),
        golden=partial(_golden, mode=mode),
        steps=partial(_steps, mode=mode),
        arguments=partial(_arguments, mode=mode),
        corners=partial(vectors.corners, reads_padding=not zeros),
        sample=partial(vectors.sample, reads_padding=not zeros),
        long_sample=partial(vectors.sample, reads_padding=not zeros, chunks=16),
        program=program.stack_chunks_and_zeros if zeros else program.stack_whole_chunks,
        conventions={other: partial(_golden, mode=other) for other in golden.MODES if other != mode},
        mode=mode,
        summary=golden.MODES[mode],
    )


KERNEL = _kernel(DEFAULT)
MODES = {DEFAULT: KERNEL, ZEROS: _kernel(ZEROS)}
