"""An input set that somebody gives, looked at before anything is run with it: a wrong one says nothing of a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from sim.call.buffers import Buffers
from sim.call.caller import bytes_of
from sim.call.guards.undefined_bytes import SeededBytes
from sim.kernels.kernel import Inputs, Kernel, KernelError
from sim.kernels.signature import FunctionArgument, Pointer, ScalarArgument, Signature, Struct, is_given
from sim.machine.memory import Memory


def require_inputs(kernel: Kernel, inputs: Inputs) -> None:
    """Nothing, where it is one of the kernel's input sets.

    Raises KernelError, whose sentence names the argument and what it must be, for names that are missing or none of
    the kernel's, for other dtypes and shapes, for numbers that do not fit, and for what `valid` refuses.
    """
    if not isinstance(inputs, Mapping):
        raise KernelError(f"inputs are arrays and numbers by name, not {type(inputs).__name__}")
    if kernel.takes_inputs:
        _require_names(kernel, inputs)
    try:
        arguments = kernel.arguments(inputs)
    except (Exception, SystemExit) as error:  # the user's own code raises anything
        what = f"{type(error).__name__}: {error}".split("\n")[0]
        names = ", ".join(kernel.sample(np.random.default_rng(0)))
        raise KernelError(f"these inputs make no arguments of {kernel.name}, which takes {names}: {what}") from error
    _require_arguments(kernel.signature, arguments)
    if not kernel.accepts(inputs):
        raise KernelError(f"these inputs are none of {kernel.name}: its valid refuses them")


def _require_names(kernel: Kernel, inputs: Inputs) -> None:
    signature = kernel.signature
    own = dict(_names(signature))
    listed = f"its inputs are {', '.join(own)}"
    if missing := [name for name, is_needed in own.items() if is_needed and name not in inputs]:
        raise KernelError(f"the argument {missing[0]!r} of {kernel.name} is missing: {listed}")
    may_be_given = {pointer.name for pointer in signature.pointers if pointer.is_choice}
    strangers = [name for name in inputs if name not in own and name not in may_be_given]
    if strangers and kernel.is_drawn:  # a `sample` of the author's may say more than the function takes
        outputs = {name for output in signature.outputs for name in (output.name, output.name.partition(".")[0])}
        kind = "an output" if strangers[0] in outputs else "no input"
        raise KernelError(f"{strangers[0]!r} is {kind} of {kernel.name}: {listed}")


def _names(signature: Signature) -> Iterator[tuple[str, bool]]:
    """The names that an input set has, and whether it must."""
    for argument in signature.arguments:
        if not isinstance(argument, Pointer) and not (isinstance(argument, Struct) and argument.by_pointer):
            yield argument.name, True
    for pointer in signature.in_memory:
        if is_given(pointer):
            yield pointer.name, not pointer.nullable
            if isinstance(pointer, Pointer) and pointer.shared:
                yield pointer.rows, True


def _require_arguments(signature: Signature, arguments: Inputs) -> None:
    """What a call would refuse: numbers first, as the shapes of arrays are made of them."""
    for argument in signature.by_value:
        if isinstance(argument, FunctionArgument) or (isinstance(argument, Struct) and argument.by_pointer):
            continue
        if argument.name not in arguments:
            raise KernelError(f"the argument {argument.name!r} is missing")
        value = arguments[argument.name]
        bytes_of(argument, value)
        is_whole = isinstance(argument, ScalarArgument) and argument.type.kind in "iu"
        if is_whole and np.asarray(value).dtype.kind not in "iub":  # what numpy would cut off
            raise KernelError(f"the argument {argument.name!r} must be {argument.type}, not {value!r:.60}")
    try:
        Buffers(signature, [Memory()]).place(arguments, SeededBytes(0), at_end=True)
    except (TypeError, ValueError, LookupError) as error:  # what extents are computed from
        raise KernelError(f"the arrays of these inputs have no extents: {type(error).__name__}: {error}") from None
