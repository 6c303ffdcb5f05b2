"""What the outputs of captured calls come from, as recorded and as replayed, where the called kernel is given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isa.errors import LanewiseError
from sim.call.captured import CapturedCall, CaptureError
from sim.call.captured_arguments import Read, inputs_of, outputs_of, placed_outputs, recorded_memory
from sim.explanation.of_kernel.kernel import explain_kernel
from sim.kernels.inputs import is_valid
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.tolerance import agreement
from sim.replay.run import memory_after

UNKNOWN_KERNEL = (
    "not explained: a captured call has no signature and no golden reference; --kernel NAME or --kernel FILE gives them"
)


def explain_calls(kernel: Kernel, calls: Sequence[CapturedCall], limit: int, as_recorded: str) -> list[str]:
    """Say what the outputs of calls come from that came out otherwise than recorded: of the record, and of the replay.

    Of calls that came out as recorded both are the same, and told once: `as_recorded` says in words which these are, ""
    of others.  A replayed call may take `limit` instructions.  Sentences; one where it cannot be told, which says what
    is missing.
    """
    if not kernel.takes_inputs:
        return [
            f"not explained: {kernel.name} makes its arguments itself, so a call does not tell what it made them of"
        ]
    try:
        inputs = [inputs_of(call, kernel.signature) for call in calls]
        outside = next((number for number, case in enumerate(inputs) if not is_valid(kernel, case)), None)
        if outside is not None:
            return [
                f"not explained: the arguments of {calls[outside].name} are none of {kernel.name}'s (domain, valid)"
            ]
        replayed: list[Read] = [memory_after(call, limit) for call in calls]
        memories = {as_recorded: replayed} if as_recorded else {
            "recorded": [recorded_memory(call, is_after=True) for call in calls], "replayed": replayed,
        }  # fmt: skip
        return [sentence for how, memory in memories.items() for sentence in _told(kernel, how, calls, inputs, memory)]
    except LanewiseError as error:
        return [f"not explained: {error}"]


def first_wrong(kernel: Kernel, calls: Sequence[CapturedCall], limit: int) -> tuple[str, str] | None:
    """The first call that leaves a lane otherwise than the golden reference, by its name, and where in memory that is,
    as a spot of `lanewise debug`; None where there is none, or where it cannot be told.
    """
    try:
        for call in calls if kernel.takes_inputs else ():
            inputs, memory = inputs_of(call, kernel.signature), memory_after(call, limit)
            placed = placed_outputs(call, kernel.signature, inputs)
            outputs, expected = outputs_of(call, kernel.signature, inputs, memory), kernel.expected(inputs)
            for name in (name for name in outputs if name in expected):  # in the order of the signature
                for at in np.argwhere(~agreement(outputs[name], expected[name], kernel.tolerance))[:1]:
                    offset = sum(int(i) * stride for i, stride in zip(at, placed[name].strides, strict=True))
                    size = outputs[name].itemsize
                    return call.name, f"*{placed[name].address + offset * size:#x}:{size}"
    except LanewiseError:
        return None
    return None


def _told(
    kernel: Kernel, how: str, calls: Sequence[CapturedCall], inputs: Sequence[Inputs], memories: Sequence[Read]
) -> list[str]:
    results: list[Outputs] = []
    for call, case, memory in zip(calls, inputs, memories, strict=True):
        try:
            results.append(outputs_of(call, kernel.signature, case, memory))
        except CaptureError as error:
            return [f"{how}: not explained: {error}"]
    wrong = sum(
        int((~agreement(outputs[name], golden, kernel.tolerance)).sum())
        for case, outputs in zip(inputs, results, strict=True)
        for name, golden in kernel.expected(case).items()
        if name in outputs
    )
    lanes = sum(array.size for outputs in results for array in outputs.values())
    if not wrong:
        return [f"{how}: all {lanes:,} lanes agree with the golden reference of {kernel.name}"]
    differs = f"{how}: {wrong:,} of {lanes:,} lanes differ from the golden reference of {kernel.name}"
    return [differs, *(f"{how}: {sentence}" for sentence in explain_kernel(kernel, inputs, results))]
