"""A kernel in the place of a layer: run in lockstep on the layer's tensors, and what it changes in the outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Final

import numpy as np

from sim.call.call import CallError, CompiledKernel
from sim.call.kernel_image import open_kernel
from sim.kernels.conv2d.golden import Geometry
from sim.kernels.fully_connected import derived_channels
from sim.kernels.fully_connected.golden import Parameters
from sim.kernels.kernel import Kernel, built_in_kernel
from sim.kernels.signature import Pointer
from sim.machine.errors import ExecutionError
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.layers import Requantized, operand, scale_of
from sim.models.network import AnyArray, ModelError, Network, NetworkLayer, NotComputed
from sim.models.operators.sums import same_pads

LAYER_KERNELS: Final = {
    "FULLY_CONNECTED": "fully_connected",
    "CONV_2D": "conv2d",
    "DEPTHWISE_CONV_2D": "depthwise_conv2d",
}
"""The built-in kernel whose arguments a layer's kernel may have."""
_MOST_INSTRUCTIONS: Final = 1 << 32


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
    numbers: tuple[int, int] | None = None
    distance: int = 0
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
    arguments = arguments_of(kernel, layer_values(network, layer, given))
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
    if made.size != reference.size or made.dtype != reference.dtype:
        has = f"{reference.dtype}[{','.join(map(str, reference.shape))}]"
        raise ModelError(f"{kernel.title} gives {made.dtype} of {made.size:,} elements: the layer's output is {has}")
    put = made.reshape(reference.shape)
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
    """The difference of two tensors of one shape."""
    wrong = np.argwhere(ours != theirs)
    if not len(wrong):
        return TensorChange(name=name, elements=ours.size, differing=0)
    first = tuple(int(place) for place in wrong[0])
    places = tuple(int(tensor.reshape(-1, tensor.shape[-1])[0].argmax()) for tensor in (ours, theirs))
    return TensorChange(
        name=name, elements=ours.size, differing=len(wrong), first=first,
        numbers=(int(ours[first]), int(theirs[first])),
        distance=int(np.abs(ours.astype(np.int64) - theirs).max()),
        largest=(places[0], places[1]) if places[0] != places[1] else None,
    )  # fmt: skip


def layer_values(network: Network, layer: NetworkLayer, given: Mapping[int, AnyArray]) -> dict[str, Any]:
    """All that a layer's kernel may take, by the names of the built-in kernel's arguments; raises ModelError.

    Factors are there as multipliers and left shifts (TFLite's derivation), and as float32 scales.
    """
    if layer.operator not in LAYER_KERNELS:
        allowed = ", ".join(LAYER_KERNELS)
        raise ModelError(f"layer {layer.number} is {layer.operator}: kernels are put in the place of {allowed}")
    made = computed(network, layer, given)
    assert isinstance(made, Requantized)
    of_input, of_weights = (network.tensors[number] for number in layer.inputs[:2])
    dtype, zeros = of_input.dtype, scale_of(of_weights).zero_points
    if dtype not in ("int8", "uint8") or of_weights.dtype != dtype or len(set(zeros.tolist())) > 1:
        raise ModelError(f"layer {layer.number} takes {of_input} and {of_weights}: give a layer of int8 or uint8")
    input, weights = operand(layer, 0, given), operand(layer, 1, given)
    is_depthwise = layer.operator == "DEPTHWISE_CONV_2D"
    if is_depthwise:
        require_one_window(layer, input.shape, weights.shape)
        weights = weights[0]
    factors = np.broadcast_to(made.scale, weights.shape[-1] if is_depthwise else len(weights))
    limits = np.iinfo(dtype)
    inputs: dict[str, Any] = {
        "weights": weights,
        "bias": given.get(layer.inputs[2]) if len(layer.inputs) > 2 else None,
        "parameters": Parameters(
            factors=derived_channels(factors),
            input_zero=scale_of(of_input).zero_point,
            output_zero=made.zero_point,
            minimum=int(limits.min) if made.minimum is None else made.minimum,
            maximum=int(limits.max) if made.maximum is None else made.maximum,
        ),
    }
    if layer.operator == "FULLY_CONNECTED":
        inputs["input"] = input.reshape(-1, weights.shape[1])
    else:
        inputs |= {"input": input, "geometry": geometry_of(layer, input.shape, of_weights.shape or ())}
    values = dict(layer_kernel(layer, dtype, "double_rounding").arguments(inputs))
    return {**values, "weights_zero": int(zeros[0]), "scales": factors.astype(np.float32)}


def layer_kernel(layer: NetworkLayer, dtype: str, convention: str) -> Kernel:
    """The built-in kernel that computes a layer of int8 or uint8, in the mode of a convention."""
    return built_in_kernel(LAYER_KERNELS[layer.operator], f"{'s8' if dtype == 'int8' else 'u8'}_{convention}")


def require_one_window(layer: NetworkLayer, image: tuple[int, ...], weights: tuple[int, ...]) -> None:
    """Raise NotComputed for a DEPTHWISE_CONV_2D with several windows for each channel of the image."""
    if weights[3] != image[3]:
        what = f"{weights[3] // max(image[3], 1)} windows for each channel, which depthwise_conv2d has not"
        raise NotComputed(f"layer {layer.number} has {what}")


def geometry_of(layer: NetworkLayer, image: tuple[int, ...], weights: tuple[int, ...]) -> Geometry:
    """The strides and padding of a convolution whose input and weights have these shapes; raises NotComputed."""
    options = layer.options
    if any(options.get(name, 1) != 1 for name in ("DilationHFactor", "DilationWFactor")):
        raise NotComputed(f"the window of layer {layer.number} is dilated, which the kernels are not")
    strides = options.get("StrideH", 1), options.get("StrideW", 1)
    pads = same_pads(image[1:3], weights[1:3], strides) if options["Padding"] == "SAME" else [(0, 0), (0, 0)]
    return Geometry(*strides, *pads[0], *pads[1])


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
            near = get_close_matches(argument.name, values, n=3) or sorted(values)
            raise ModelError(f"the layer has no {argument.name!r} for {kernel.title}: it has {', '.join(near)}")
        found[argument.name] = values[argument.name]
    return found
