"""The operator of quantized_multiplier with factors that its constructors accept and refuse."""

import math
from typing import Any, Final

from sim.kernels.operator import OperatorInterface
from sim.kernels.quantized_multiplier.configure import QuantizedMultiplier


class QuantizedMultiplierInterface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "ArmNN 24.08, QuantizedMultiplierSmallerThanOne"
    spec = "docs/spec/quantized_multiplier.md"
    operator = QuantizedMultiplier

    def accepted(self, mode: str) -> dict[str, Any]:
        return {"factor": 0.25, "mode": mode}

    def faulty(self, mode: str) -> list[dict[str, Any]]:
        return [{"factor": -0.5}, {"factor": 1.0}, {"factor": 1.5}, {"factor": math.nan}, {"factor": math.inf}]

    def configured(self, mode: str) -> QuantizedMultiplier:
        operator = QuantizedMultiplier()
        operator.configure(0.25, (13, 21), mode)
        return operator


INTERFACE: Final = QuantizedMultiplierInterface()
