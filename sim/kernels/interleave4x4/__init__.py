"""interleave4x4: groups of four rows column by column, as NEGEMMInterleave4x4 of ACL 19.08 reshapes matrix A.

Source: docs/spec/neighbours.md sections 1 and 18.
"""

from functools import partial
from pathlib import Path

from sim.kernels.interleave4x4 import golden, program
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.signature import Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent


def _golden(inputs: Inputs, mode: str) -> Outputs:
    return {"output": golden.interleaved(inputs["input"], mode)}


def _one_after_another(inputs: Inputs) -> Outputs:
    return {"output": golden.one_after_another(inputs["input"])}


def _kernel(mode: str) -> Kernel:
    rule = golden.MODES[mode]
    name = rule.dtype.name
    return Kernel(
        name="interleave4x4",
        symbol=f"interleave4x4_{8 * rule.dtype.itemsize}",
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=Signature(
            (
                Pointer("input", name, ("4 * groups", f"{rule.step} * steps")),
                Pointer("output", name, ("groups", f"{4 * rule.step} * steps"), direction="out"),
                ScalarArgument("groups", "uint64"),
                ScalarArgument("steps", "uint64"),
            )
        ),
        golden=partial(_golden, mode=mode),
        steps=partial(_golden, mode=mode),
        program=partial(program.interleave, program.ELEMENTS[name]),
        conventions={"one_after_another": _one_after_another},
        mode=mode,
        summary=rule.source,
    )


MODES = {mode: _kernel(mode) for mode in golden.MODES}
KERNEL = MODES["acl_19_08_8bit"]
