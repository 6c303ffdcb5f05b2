"""A layer in the form in which a kernel computes it: rows of bytes, or images with their channels last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Final

from sim.kernels.conv2d import golden as conv2d
from sim.kernels.conv2d.golden import Geometry
from sim.kernels.depthwise_conv2d import golden as depthwise_conv2d
from sim.kernels.kernel import Kernel, built_in_kernel
from sim.models.layers import Inputs, operand
from sim.models.network import AnyArray, NetworkLayer, NotComputed
from sim.models.operators import onnx, tflite
from sim.models.operators.sums import WindowSteps


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelForm:
    """The operands of a layer as the built-in kernel of that name takes them, and without a geometry rows.

    `is_channels_first` says that the layer's own images have channels second, its output too.
    """

    kernel: str
    input: AnyArray
    weights: AnyArray
    geometry: Geometry | None = None
    is_channels_first: bool = False

    @property
    def dtype(self) -> str:
        """That of the kernel: uint8 by int8 is int8 by int8, with bytes and zero points moved by 128."""
        return str(self.weights.dtype)

    @property
    def columns(self) -> int:
        """The channels of the output."""
        return int(self.weights.shape[-1] if self.kernel == "depthwise_conv2d" else self.weights.shape[0])

    @property
    def output_shape(self) -> tuple[int, ...]:
        """As the kernel writes it, the columns last."""
        if self.geometry is None:
            return len(self.input), self.columns
        module = depthwise_conv2d if self.kernel == "depthwise_conv2d" else conv2d
        shape: tuple[int, ...] = module.output_shape(self.input.shape, self.weights.shape, self.geometry)
        return shape

    @property
    def windows(self) -> int:
        """The columns that one channel of a depthwise image has."""
        return self.columns // int(self.input.shape[3])

    @property
    def products(self) -> int:
        """Of each number of the output."""
        return prod(self.weights.shape[:-1] if self.kernel == "depthwise_conv2d" else self.weights.shape[1:])

    def built_in(self, dtype: str, convention: str) -> Kernel:
        """The kernel for images of int8 or uint8, in the mode of a convention."""
        return built_in_kernel(self.kernel, f"{'s8' if dtype == 'int8' else 'u8'}_{convention}")

    def as_the_layer_has_it(self, made: AnyArray, shape: tuple[int, ...]) -> AnyArray:
        """What a kernel made, in the order of the layer's own output of that shape."""
        if self.is_channels_first:
            made = made.reshape(self.output_shape).transpose(0, 3, 1, 2)
        same: AnyArray = made.reshape(shape)
        return same


def form_of(layer: NetworkLayer, numbers: Inputs) -> KernelForm:
    """The layer's form, with those of its first two inputs.

    Raises NotComputed for an operator that no kernel computes, for other dtypes than int8, uint8 and uint8 by int8, and
    for a window that is dilated, in groups, or does not fit.
    """
    if layer.operator not in _FORMS:
        allowed = ", ".join(LAYERS)
        raise NotComputed(f"layer {layer.number} is {layer.operator}: kernels are put in the place of {allowed}")
    input, weights = (operand(layer, place, numbers) for place in (0, 1))
    given = str(input.dtype), str(weights.dtype)
    if given not in _BYTES:
        what = "int8 by int8, uint8 by uint8 or uint8 by int8"
        raise NotComputed(f"layer {layer.number} takes {given[0]} by {given[1]}: the kernels take {what}")
    try:
        form = _FORMS[layer.operator](layer, input, weights)
    except (ValueError, IndexError, TypeError) as error:  # shapes or attributes of other kinds
        raise NotComputed(f"the tensors of layer {layer.number} do not fit: {str(error).splitlines()[0]}") from None
    if form.geometry is not None:
        module = depthwise_conv2d if form.kernel == "depthwise_conv2d" else conv2d
        for fault in module.geometry_faults(form.input.shape, form.weights.shape, form.geometry):
            raise NotComputed(f"layer {layer.number}: {fault}")
    return form


def _rows(layer: NetworkLayer, input: AnyArray, weights: AnyArray) -> KernelForm:
    return KernelForm(kernel="fully_connected", input=input.reshape(-1, weights.shape[1]), weights=weights)


def _matrices(layer: NetworkLayer, input: AnyArray, weights: AnyArray) -> KernelForm:
    """Of ONNX, whose second matrix has a row for each product, unless it is turned."""
    return _rows(layer, input, weights if layer.options.get("transB") else weights.T)


def _image(layer: NetworkLayer, input: AnyArray, weights: AnyArray) -> KernelForm:
    window = tflite.window_of(input.shape[1:3], weights.shape[1:3], layer.options)
    kernel = "conv2d"
    if layer.operator == "DEPTHWISE_CONV_2D":
        kernel, weights = "depthwise_conv2d", weights[0]
    return KernelForm(kernel=kernel, input=input, weights=weights, geometry=_geometry(layer, window))


def _image_channels_first(layer: NetworkLayer, input: AnyArray, weights: AnyArray) -> KernelForm:
    """Of ONNX: [N, C, H, W], with weights [columns, C / groups, kernel height, kernel width]."""
    groups, channels = layer.options.get("group", 1), input.shape[1]
    window = onnx.window_of(input.shape[2:], weights.shape[2:], layer.options)
    kernel, turned = "conv2d", weights.transpose(0, 2, 3, 1)
    if groups == channels > 1:
        kernel, turned = "depthwise_conv2d", weights[:, 0].transpose(1, 2, 0)
    elif groups != 1:
        raise NotComputed(f"layer {layer.number} is a convolution in {groups} groups, which the kernels are not")
    return KernelForm(
        kernel=kernel, input=input.transpose(0, 2, 3, 1), weights=turned, geometry=_geometry(layer, window),
        is_channels_first=True,
    )  # fmt: skip


def _geometry(layer: NetworkLayer, window: WindowSteps) -> Geometry:
    if any(dilation != 1 for dilation in window.dilations):
        raise NotComputed(f"the window of layer {layer.number} is dilated, which the kernels are not")
    (stride_y, stride_x), (rows, places) = window.strides, window.pads
    return Geometry(stride_y, stride_x, *rows, *places)


_BYTES: Final = (("int8", "int8"), ("uint8", "uint8"), ("uint8", "int8"))
_FORMS: Final[Mapping[str, Callable[[NetworkLayer, AnyArray, AnyArray], KernelForm]]] = {
    "FULLY_CONNECTED": _rows,
    "CONV_2D": _image,
    "DEPTHWISE_CONV_2D": _image,
    **dict.fromkeys(("Conv", "QLinearConv"), _image_channels_first),
    **dict.fromkeys(("MatMul", "Gemm", "QLinearMatMul", "QGemm"), _matrices),
}
LAYERS: Final = tuple(_FORMS)
"""The operators in whose place a kernel is put."""
