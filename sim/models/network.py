"""A quantized network as it stands in a file: tensors with scales and zero points, and layers in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from isa.errors import MISSING, LanewiseError

AnyArray = npt.NDArray[Any]
LARGEST: Final = 1 << 28
"""Numbers of an array that is made for a layer: what a damaged file states may be any size."""


class ModelError(LanewiseError):
    """A file that is no network, or tensors that are not of it; the message is one sentence.

    It stays on one line, whatever a file calls its tensors.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.splitlines()))


class PackageMissing(ModelError):
    """An optional package that reads a file, or runs it, is not installed; the message says how it is."""

    exit_code = MISSING


class RuntimeLost(ModelError):
    """A runtime ended the process that it ran a network in; the message says on which file."""

    exit_code = MISSING


class NotComputed(ModelError):
    """A layer whose arithmetic is not here: the message says why."""


class InputMissing(NotComputed):
    """A layer without one of its inputs; `number` is that of the tensor."""

    def __init__(self, place: int, number: int) -> None:
        super().__init__(f"input {place} is not there")
        self.number = number


def require_size(shape: Sequence[int]) -> None:
    """Raise NotComputed for an array that would fill the memory."""
    if prod(shape) > LARGEST:
        raise NotComputed(f"it takes {prod(shape):,} numbers at a time, and {LARGEST:,} are allowed")


@dataclass(frozen=True, eq=False)
class TensorScale:
    """real = scale * (integer - zero point): `scales` are float32, with as many `zero_points`, along `axis`."""

    scales: npt.NDArray[np.float32]
    zero_points: npt.NDArray[np.int64]
    axis: int

    @property
    def zero_point(self) -> int:
        """That of a tensor which has only one."""
        return int(self.zero_points[0])

    @property
    def counted(self) -> str:
        """Such as "1 scale" and "8 scales"."""
        return f"{self.scales.size} scale{'s' if self.scales.size > 1 else ''}"


@dataclass(frozen=True, eq=False, kw_only=True)
class NetworkTensor:
    """A tensor: `data` are its numbers where the file has them, `scale` is None where it is not quantized.

    `shape` is None, and `dtype` "other", where the file does not state them; a `name` is never empty: "tensor 5".
    """

    number: int
    name: str
    shape: tuple[int, ...] | None
    dtype: str
    scale: TensorScale | None
    data: AnyArray | None

    def __str__(self) -> str:
        """Such as "int8[1,16,16,4] 0.02 from -3": the scale, and the zero point that it counts from."""
        if self.scale is None:
            scale = ""
        elif self.scale.scales.size == 1:
            scale = f" {self.scale.scales[0]:g} from {self.scale.zero_point}"
        else:
            scale = f" {self.scale.counted}"
        shape = "?" if self.shape is None else ",".join(map(str, self.shape))
        return f"{self.dtype}[{shape}]{scale}"


@dataclass(frozen=True, kw_only=True)
class NetworkLayer:
    """A layer: numbers of its tensors (-1: an optional one that is left out), and `options` by the file's names."""

    number: int
    operator: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Network:
    """A whole network; `inputs` and `outputs` are numbers of tensors."""

    name: str
    tensors: Sequence[NetworkTensor]
    layers: Sequence[NetworkLayer]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def constants(self) -> dict[int, AnyArray]:
        """The tensors whose numbers are in the file, by number: weights, biases."""
        return {tensor.number: tensor.data for tensor in self.tensors if tensor.data is not None}

    @property
    def made(self) -> list[int]:
        """The numbers of the tensors that layers make, in their order."""
        return [number for layer in self.layers for number in layer.outputs]

    def output_of(self, layer: NetworkLayer) -> NetworkTensor:
        """The first output of a layer."""
        return self.tensors[layer.outputs[0]]

    def as_json(self) -> dict[str, Any]:
        """Layers with their options, tensors with their scales; not the numbers of tensors."""
        layers = [
            {
                "number": layer.number,
                "operator": layer.operator,
                "inputs": list(layer.inputs),
                "outputs": list(layer.outputs),
                "options": dict(layer.options),
            }
            for layer in self.layers
        ]
        tensors = [
            {
                "number": tensor.number,
                "name": tensor.name,
                "dtype": tensor.dtype,
                "shape": None if tensor.shape is None else list(tensor.shape),
                "scales": None if tensor.scale is None else tensor.scale.scales.tolist(),
                "zero_points": None if tensor.scale is None else tensor.scale.zero_points.tolist(),
            }
            for tensor in self.tensors
        ]
        return {"model": self.name, "layers": layers, "tensors": tensors}
