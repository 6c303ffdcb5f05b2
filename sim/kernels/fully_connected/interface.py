"""The operator of fully_connected with calls that it accepts and refuses, in order."""

from dataclasses import replace
from typing import Any, Final

import numpy as np

from sim.kernels.fully_connected.configure import FullyConnected, data_type_of
from sim.kernels.fully_connected.golden import MODES, FloatChannels, Parameters
from sim.kernels.operator import OperatorInterface, TensorInfo
from sim.kernels.requantize.golden import Channels


def accepted_parameters(mode: str) -> Parameters:
    """Parameters of a layer of two columns."""
    factors = Channels((2**30, 3 * 2**29), (-4, -5))
    if MODES[mode].rounding is None:
        return Parameters(factors=FloatChannels((np.float32(0.25), np.float32(0.1))), minimum=3, maximum=100)
    return Parameters(factors=factors, input_zero=7, output_zero=9, minimum=3, maximum=100)


def faulty_parameters(mode: str) -> list[Parameters]:
    """Changes of them that are refused, in the order in which they are judged."""
    given = accepted_parameters(mode)
    one, three = np.float32(1), (np.float32(0.5),) * 3
    factors: list[Channels | FloatChannels] = [Channels((1,), (0,)), FloatChannels(three)]
    factors += [FloatChannels((one, np.float32(256)))]
    if MODES[mode].rounding is not None:
        factors = [FloatChannels((one,)), Channels((1,), (0, 0)), Channels((-(2**31) - 1, 1), (0, 0))]
        factors += [Channels((1, 1), (-32, 0))]
    return [
        *(replace(given, factors=factor) for factor in factors),
        replace(given, input_zero=300),
        replace(given, weights_zero=300),
        replace(given, output_zero=300),
        replace(given, minimum=300),
        replace(given, maximum=300),
        *([replace(given, weights_zero=1)] if data_type_of(mode) == "QASYMM8_SIGNED" else []),
        replace(given, minimum=101),
    ]


class FullyConnectedInterface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "TFLite, FULLY_CONNECTED, by its reference and optimised kernels, XNNPACK and single rounding"
    spec = "docs/spec/layers.md"
    operator = FullyConnected

    def accepted(self, mode: str) -> dict[str, Any]:
        kind = data_type_of(mode)
        infos = {"input": TensorInfo((3, 5), kind), "weights": TensorInfo((2, 5), kind)}
        outer = {"bias": TensorInfo((2,), "S32"), "output": TensorInfo((3, 2), kind)}
        return {**infos, **outer, "parameters": accepted_parameters(mode), "mode": mode}

    def faulty(self, mode: str) -> list[dict[str, Any]]:
        given = self.accepted(mode)
        return [
            {"input": replace(given["input"], data_type="F32")},
            {"input": replace(given["input"], channels=2)},
            {"weights": replace(given["weights"], data_type="S32")},
            {"weights": replace(given["weights"], shape=(2, 6))},
            *({"parameters": parameters} for parameters in faulty_parameters(mode)),
            {"bias": replace(given["bias"], data_type="F32")},
            {"bias": replace(given["bias"], shape=(3,))},
            {"output": replace(given["output"], data_type="S32")},
            {"output": replace(given["output"], shape=(2, 3))},
        ]

    def configured(self, mode: str) -> FullyConnected:
        operator, given = FullyConnected(), self.accepted(mode)
        operator.configure(**{**given, "output": TensorInfo()})
        return operator


INTERFACE: Final = FullyConnectedInterface()
