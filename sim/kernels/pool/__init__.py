"""pool: the average or the highest of the pixels of a window, channel by channel, as TFLite's pools have it.

Source: docs/spec/neighbours.md section 20.  The compiled functions take the pixels of one window behind each other.
"""

from functools import partial
from pathlib import Path

from sim.kernels.domain import Domain
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.pool import golden, program
from sim.kernels.signature import Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent


def _steps(inputs: Inputs, mode: str) -> golden.Steps:
    return golden.steps(inputs["pixels"], inputs["lower"], inputs["upper"], mode)


def _golden(inputs: Inputs, mode: str) -> Outputs:
    return {"output": golden.pool(inputs["pixels"], inputs["lower"], inputs["upper"], mode)}


def _divided(inputs: Inputs, mode: str, divide: str) -> Outputs:
    rule = golden.MODES[mode]
    bounded = golden.steps(inputs["pixels"], inputs["lower"], inputs["upper"], mode, getattr(golden, divide))["bounds"]
    return {"output": bounded.astype(rule.dtype)}


def _of_other_bytes(inputs: Inputs, mode: str) -> Outputs:
    return {"output": golden.of_other_bytes(inputs["pixels"], inputs["lower"], inputs["upper"], mode)}


def _kernel(mode: str) -> Kernel:
    rule = golden.MODES[mode]
    name = rule.dtype.name
    others = ("ties_up", "truncated") if name == "int8" else ("truncated",)
    divided = {other: partial(_divided, mode=mode, divide=other) for other in others}
    return Kernel(
        name="pool",
        symbol=f"pool_{mode}",
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=Signature(
            (
                Pointer("pixels", name, ("count", "channels")),
                Pointer("output", name, ("channels",), direction="out"),
                ScalarArgument("count", "uint64"),
                ScalarArgument("channels", "uint64"),
                ScalarArgument("lower", name),
                ScalarArgument("upper", name),
            )
        ),
        golden=partial(_golden, mode=mode),
        steps=partial(_steps, mode=mode),
        program=partial(program.average if rule.is_average else program.highest, program.BYTES[name]),
        conventions=divided if rule.is_average else {"of_other_bytes": partial(_of_other_bytes, mode=mode)},
        mode=mode,
        summary=rule.source,
        domain={"count": Domain(1, golden.MOST)},
        work=("byte", "count * channels"),
    )


MODES = {mode: _kernel(mode) for mode in golden.MODES}
KERNEL = MODES["average_s8"]
