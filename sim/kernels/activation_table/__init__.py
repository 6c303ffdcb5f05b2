"""activation_table: logistic and tanh of bytes by a table of all 256, as TFLite's kernels look them up.

Source: docs/spec/neighbours.md section 23.  The compiled functions take the table; it is made by the golden reference.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sim.kernels.activation_table import golden, program, vectors
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.signature import Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent


def _steps(inputs: Inputs, mode: str) -> golden.Steps:
    return golden.steps(inputs["input"], inputs["parameters"], mode)


def _golden(inputs: Inputs, mode: str) -> Outputs:
    return {"output": golden.activation_table(inputs["input"], inputs["parameters"], mode)}


def _of_other_bytes(inputs: Inputs, mode: str) -> Outputs:
    return {"output": golden.of_other_bytes(inputs["input"], inputs["parameters"], mode)}


def _otherwise(inputs: Inputs, mode: str, rounded: Any) -> Outputs:
    return {"output": golden.otherwise(inputs["input"], inputs["parameters"], mode, rounded)}


def _arguments(inputs: Inputs, mode: str) -> Inputs:
    dtype = golden.MODES[mode].dtype
    every = np.arange(256).astype(np.uint8).view(dtype)
    table = golden.activation_table(every, inputs["parameters"], mode)
    return {"input": inputs["input"], "table": table, "length": len(inputs["input"])}


def _kernel(mode: str) -> Kernel:
    rule = golden.MODES[mode]
    name, short = rule.dtype.name, "u8" if rule.dtype == np.uint8 else "s8"
    alike = [other for other, its in golden.MODES.items() if other != mode and its[1:3] == rule[1:3]]
    return Kernel(
        name="activation_table",
        symbol=f"activation_table_{short}",
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=Signature(
            (
                Pointer("input", name, ("length",)),
                Pointer("table", name, (256,)),
                Pointer("output", name, ("length",), direction="out"),
                ScalarArgument("length", "uint64"),
            )
        ),
        golden=partial(_golden, mode=mode),
        steps=partial(_steps, mode=mode),
        arguments=partial(_arguments, mode=mode),
        corners=partial(vectors.corners, mode),
        sample=partial(vectors.sample, mode=mode),
        long_sample=partial(vectors.sample, mode=mode, longest=2000),
        program=partial(program.look_up, program.BYTES[name]),
        conventions={
            "of_other_bytes": partial(_of_other_bytes, mode=mode),
            "truncated": partial(_otherwise, mode=mode, rounded=np.trunc),
            **{other: partial(_golden, mode=other) for other in alike},
        },
        mode=mode,
        summary=rule.source,
        typical={"input": np.zeros(1024, rule.dtype), "parameters": golden.Parameters(np.float32(0.05))},
    )


MODES = {mode: _kernel(mode) for mode in golden.MODES}
KERNEL = MODES["logistic_s8"]
