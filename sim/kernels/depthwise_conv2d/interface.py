"""The operator of depthwise_conv2d with calls that it accepts and refuses, in order."""

from dataclasses import replace
from typing import Any, Final

from sim.kernels.conv2d.golden import Geometry
from sim.kernels.depthwise_conv2d.configure import DepthwiseConv2d
from sim.kernels.fully_connected.configure import data_type_of
from sim.kernels.fully_connected.interface import accepted_parameters, faulty_parameters
from sim.kernels.operator import OperatorInterface, TensorInfo


class DepthwiseConv2dInterface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "TFLite, DEPTHWISE_CONV_2D, by the conventions of CONV_2D"
    spec = "docs/spec/layers.md"
    operator = DepthwiseConv2d

    def accepted(self, mode: str) -> dict[str, Any]:
        kind = data_type_of(mode)
        infos = {"input": TensorInfo((1, 4, 5, 2), kind), "weights": TensorInfo((3, 3, 2), kind)}
        outer = {"bias": TensorInfo((2,), "S32"), "output": TensorInfo((1, 4, 5, 2), kind)}
        around = {"parameters": accepted_parameters(mode), "geometry": Geometry(1, 1, 1, 1, 1, 1)}
        return {**infos, **outer, **around, "mode": mode}

    def faulty(self, mode: str) -> list[dict[str, Any]]:
        given = self.accepted(mode)
        return [
            {"input": replace(given["input"], data_type="F32")},
            {"input": replace(given["input"], channels=2)},
            {"weights": replace(given["weights"], data_type="S32")},
            {"weights": replace(given["weights"], shape=(3, 3, 3))},
            {"weights": replace(given["weights"], shape=(0, 3, 2))},
            {"geometry": Geometry(0, 1, 1, 1, 1, 1)},
            {"geometry": Geometry(1, 1, 1, 1, -1, 1)},
            {"weights": replace(given["weights"], shape=(7, 3, 2))},
            *({"parameters": parameters} for parameters in faulty_parameters(mode)),
            {"bias": replace(given["bias"], data_type="F32")},
            {"bias": replace(given["bias"], shape=(3,))},
            {"output": replace(given["output"], data_type="S32")},
            {"output": replace(given["output"], shape=(1, 5, 4, 2))},
        ]

    def configured(self, mode: str) -> DepthwiseConv2d:
        operator, given = DepthwiseConv2d(), self.accepted(mode)
        operator.configure(**{**given, "output": TensorInfo()})
        return operator


INTERFACE: Final = DepthwiseConv2dInterface()
