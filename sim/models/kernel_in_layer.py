"""A kernel in the place of a layer: run in lockstep on the layer's tensors, and what it changes in the outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from isa.errors import did_you_mean
from sim.call.call import CallError, CompiledKernel
from sim.call.kernel_image import open_kernel
from sim.golden.fixed_point import wrap_int32
from sim.kernels.fully_connected import derived_channels
from sim.kernels.fully_connected.golden import Parameters
from sim.kernels.kernel import Kernel
from sim.kernels.signature import Pointer
from sim.machine.errors import ExecutionError
from sim.models.compare import other_numbers
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.kernel_form import KernelForm, form_of
from sim.models.layers import Requantized, scale_of
from sim.models.network import AnyArray, ModelError, Network, NetworkLayer

_MOST_INSTRUCTIONS: Final = 1 << 32
_MOVED: Final = 128
"""Of uint8 to int8: bytes and zero points."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TensorChange:
    """How a tensor differs from the one it is compared with: how many elements, the first of them, by how much at most.

    `numbers` are the first of both; `largest` are the places of the largest element along the last axis, where these
    differ, first of ours.
    """

    name: str
    elements: int
    differing: int
    first: tuple[int, ...] = ()
    numbers: tuple[int | float, int | float] | None = None
    distance: int | float = 0
    largest: tuple[int, int] | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "elements": self.elements,
            "differing": self.differing,
            "first": list(self.first),
            "numbers": None if self.numbers is None else list(self.numbers),
            "distance": self.distance,
            "largest": None if self.largest is None else list(self.largest),
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelInLayer:
    """What a kernel did in the place of a layer: what it made of the layer's tensors, and of the network's outputs.

    `failure` says what ended the call, or parted machine and emulator: then nothing is compared.
    """

    network: Network
    layer: NetworkLayer
    kernel: str
    against: str
    convention: str
    instructions: int = 0
    failure: str = ""
    output: TensorChange | None = None
    outputs: tuple[TensorChange, ...] = ()
    not_reached: tuple[str, ...] = ()

    @property
    def is_equal(self) -> bool:
        return self.output is not None and not self.output.differing

    def as_json(self) -> dict[str, Any]:
        return {
            "model": self.network.name,
            "layer": self.layer.number,
            "operator": self.layer.operator,
            "kernel": self.kernel,
            "against": self.against,
            "convention": self.convention,
            "instructions": self.instructions,
            "failure": self.failure,
            "output": None if self.output is None else self.output.as_json(),
            "outputs": [change.as_json() for change in self.outputs],
            "not_reached": list(self.not_reached),
        }


def kernel_in_layer(
    network: Network, layer: NetworkLayer, kernel: Kernel, flags: tuple[str, ...], tensors: Mapping[int, AnyArray],
    against: str, convention: str,
) -> KernelInLayer:  # fmt: skip
    """Run the kernel's first source on the layer's inputs among `tensors`, and compare with its output there.

    The layers behind it are run by the golden reference under the convention, once from either output.  Raises
    ModelError for tensors that are not there and for arguments that the layer does not have, and what compiling raises.
    """
    given = network.constants | dict(tensors)
    reference = given.get(layer.outputs[0]) if layer.outputs else None
    if reference is None:
        raise ModelError(f"the output of layer {layer.number} is not among the tensors of {against}")
    form = form_of(layer, given)
    is_mixed = form.input.dtype != form.weights.dtype
    moved = _MOVED if is_mixed and _dtype_of_input(kernel) == "int8" else 0
    arguments = arguments_of(kernel, layer_values(form, network, layer, given, moved))
    zero = scale_of(network.tensors[layer.inputs[1]]).zero_point
    if zero and "weights_zero" not in arguments:
        what = f"{kernel.title} takes no weights_zero"
        raise ModelError(f"the weights of layer {layer.number} have zero point {zero}: {what}")
    image = open_kernel(kernel, kernel.sources[0], *kernel.flags, *flags)
    run = KernelInLayer(network=network, layer=layer, kernel=kernel.title, against=against, convention=convention)
    try:
        done = CompiledKernel(image, kernel, max_instructions=_MOST_INSTRUCTIONS).call(arguments, 1)
    except (CallError, ExecutionError) as error:
        return replace(run, failure=str(error))
    harmful = [finding for finding in done.findings if not finding.harmless]
    if done.divergence is not None or harmful:
        return replace(run, instructions=done.instructions, failure=str(done.divergence or harmful[0]))
    (made,) = done.outputs["machine"].values()
    if moved and made.dtype == np.int8:
        made = (made.astype(np.int16) + moved).astype(np.uint8)
    if made.size != reference.size or made.dtype != reference.dtype:
        has = f"{reference.dtype}[{','.join(map(str, reference.shape))}]"
        raise ModelError(f"{kernel.title} gives {made.dtype} of {made.size:,} elements: the layer's output is {has}")
    put = form.as_the_layer_has_it(made, reference.shape)
    change = change_of(network.output_of(layer).name, put, reference)
    ours = theirs = forward(network, {**given, layer.outputs[0]: reference}, convention, layer.number + 1)
    if change.differing:
        ours = forward(network, {**given, layer.outputs[0]: put}, convention, layer.number + 1)
    reached = [number for number in network.outputs if number in ours]
    names = {number: network.tensors[number].name for number in network.outputs}
    return replace(
        run,
        instructions=done.instructions,
        output=change,
        outputs=tuple(change_of(names[number], ours[number], theirs[number]) for number in reached),
        not_reached=tuple(name for number, name in names.items() if number not in reached),
    )


def change_of(name: str, ours: AnyArray, theirs: AnyArray) -> TensorChange:
    """The difference of two tensors of one shape and dtype, integers or real numbers; what is no number is alike."""
    wrong = np.argwhere(other_numbers(ours, theirs))
    if not len(wrong):
        return TensorChange(name=name, elements=ours.size, differing=0)
    first = tuple(int(place) for place in wrong[0])
    rows = (np.atleast_1d(tensor) for tensor in (ours, theirs))
    places = tuple(int(row.reshape(-1, row.shape[-1])[0].argmax()) for row in rows)
    wide = np.float64 if ours.dtype.kind == "f" else np.int64
    distances = np.abs(ours.astype(wide) - theirs)
    return TensorChange(
        name=name, elements=ours.size, differing=len(wrong), first=first,
        numbers=(ours[first].item(), theirs[first].item()),
        distance=distances[~np.isnan(distances)].max(initial=0).item(),
        largest=(places[0], places[1]) if places[0] != places[1] else None,
    )  # fmt: skip


def layer_values(
    form: KernelForm, network: Network, layer: NetworkLayer, given: Mapping[int, AnyArray], moved: int = 0
) -> dict[str, Any]:
    """All that a layer's kernel may take, by the names of the built-in kernel's arguments; raises ModelError.

    Factors are there as multipliers and left shifts (TFLite's derivation), and as float32 scales.  Bytes of the input
    and the output, their zero points and bounds are `moved` lower.
    """
    made = computed(network, layer, given)
    assert isinstance(made, Requantized)
    of_input, of_weights = (scale_of(network.tensors[number]) for number in layer.inputs[:2])
    if len(set(of_weights.zero_points.tolist())) > 1:
        raise ModelError(f"the weights of layer {layer.number} have several zero points: the kernels take one")
    limits, dtype = np.iinfo(form.input.dtype), "int8" if moved else str(form.input.dtype)
    factors = np.broadcast_to(made.scale, form.columns)
    inputs: dict[str, Any] = {
        "input": form.input if not moved else (form.input.astype(np.int16) - moved).astype(dtype),
        "weights": form.weights,
        "bias": _bias(layer, made, given, form.columns),
        "parameters": Parameters(
            factors=derived_channels(factors),
            input_zero=of_input.zero_point - moved,
            output_zero=made.zero_point - moved,
            minimum=int(limits.min if made.minimum is None else made.minimum) - moved,
            maximum=int(limits.max if made.maximum is None else made.maximum) - moved,
        ),
    }
    if form.geometry is not None:
        inputs["geometry"] = form.geometry
    values = dict(form.built_in(dtype, "double_rounding").arguments(inputs))
    return {**values, "weights_zero": of_weights.zero_point, "scales": factors.astype(np.float32)}


def _bias(layer: NetworkLayer, made: Requantized, given: Mapping[int, AnyArray], columns: int) -> AnyArray | None:
    """In units of the sums, where a layer has one."""
    if len(layer.inputs) < 3 or layer.inputs[2] not in given:
        return None
    if made.real is None:
        return given[layer.inputs[2]]
    return wrap_int32(np.broadcast_to(made.real.whole, columns)).astype(np.int32)


def _dtype_of_input(kernel: Kernel) -> str:
    """Of what it calls its input; "" where it has none."""
    pointers = (one for one in kernel.signature.arguments if isinstance(one, Pointer) and one.name == "input")
    return next((one.dtype for one in pointers), "")


def arguments_of(kernel: Kernel, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that the kernel's prototype names; raises ModelError."""
    arguments = kernel.signature.arguments
    if sum(isinstance(one, Pointer) and one.direction == "out" for one in arguments) != 1:
        raise ModelError(f"{kernel.title} must have one output to stand for a layer")
    found = {}
    for argument in arguments:
        if isinstance(argument, Pointer) and argument.direction in ("out", "scratch"):
            continue
        if argument.name not in values:
            wanted = f"{argument.name!r}{did_you_mean(argument.name, values)}, which {kernel.title} takes"
            raise ModelError(f"the layer has no {wanted}: it has {', '.join(sorted(values))}")
        found[argument.name] = values[argument.name]
    return found
