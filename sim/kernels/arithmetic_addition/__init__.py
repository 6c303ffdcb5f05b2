"""arithmetic_addition: the sum of two tensors of one type, as NEArithmeticAddition of ACL 19.08.

Source: docs/spec/neighbours.md sections 14 and 19.  Scales are such that no sum leaves int32 before it is narrowed.
"""

from functools import partial
from pathlib import Path

from sim.kernels.arithmetic_addition import golden, program, vectors
from sim.kernels.domain import LONGEST, Domain
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.signature import Argument, Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent


def _steps(inputs: Inputs, mode: str) -> golden.Steps:
    return golden.steps(inputs["a"], inputs["b"], golden.quantized_of(inputs, mode), mode)


def _golden(inputs: Inputs, mode: str) -> Outputs:
    *_, last = _steps(inputs, mode).values()
    return {"output": last}


def _one_arithmetic(inputs: Inputs, mode: str, in_blocks: bool) -> Outputs:
    quantized = golden.quantized_of(inputs, mode)
    assert quantized is not None
    return {"output": golden.one_arithmetic(inputs["a"], inputs["b"], quantized, mode, in_blocks)}


def _quantization(rule: golden.Mode) -> tuple[Argument, ...]:
    """The scalars of a quantized mode; int16 has no zero points."""
    if not rule.block:
        return ()
    names = ("a", "b", "output")
    zeros = tuple(ScalarArgument(f"{name}_zero", "int32") for name in names if rule.dtype.name == "uint8")
    return (*zeros, *(ScalarArgument(f"{name}_scale", "float32") for name in names))


def _kernel(mode: str) -> Kernel:
    rule = golden.MODES[mode]
    name, quantization = rule.dtype.name, _quantization(rule)
    alike = [
        other for other, one in golden.MODES.items() if one.dtype == rule.dtype and bool(one.block) == bool(rule.block)
    ]
    zeros = {argument.name: Domain(0, 255) for argument in quantization if argument.name.endswith("zero")}
    scales = {
        argument.name: Domain(vectors.LOWEST, vectors.HIGHEST)
        for argument in quantization
        if argument.name.endswith("scale")
    }
    of_one = {
        f"all_{where}": partial(_one_arithmetic, mode=mode, in_blocks=where == "lanes")
        for where in ("lanes", "tail")
        if rule.block
    }
    return Kernel(
        name="arithmetic_addition",
        symbol=f"arithmetic_addition_{mode}",
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=Signature(
            (
                Pointer("a", name, ("length",)),
                Pointer("b", name, ("length",)),
                Pointer("output", name, ("length",), direction="out"),
                ScalarArgument("length", "uint64"),
                *quantization,
            )
        ),
        golden=partial(_golden, mode=mode),
        steps=partial(_steps, mode=mode),
        corners=partial(vectors.corners, mode),
        sample=partial(vectors.sample, mode=mode),
        long_sample=partial(vectors.sample, mode=mode, longest=LONGEST),
        program=program.PROGRAMS[mode],
        conventions={other: partial(_golden, mode=other) for other in alike if other != mode} | of_one,
        mode=mode,
        summary=rule.source,
        domain=zeros | scales,
        flags=("-ffp-contract=off",),
    )


MODES = {mode: _kernel(mode) for mode in golden.MODES}
KERNEL = MODES["u8_wrap"]
