"""The operator of pool with calls that it accepts and refuses, in order."""

from dataclasses import replace
from typing import Any, Final

import numpy as np

from sim.kernels.conv2d.golden import Geometry
from sim.kernels.operator import OperatorInterface, TensorInfo
from sim.kernels.pool.configure import Pool2d, PoolWindow
from sim.kernels.pool.golden import MODES

_WINDOW: Final = PoolWindow(3, 3, Geometry(1, 1, 1, 1, 1, 1), 0, 100)


class PoolInterface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "TFLite, AVERAGE_POOL_2D and MAX_POOL_2D"
    spec = "docs/spec/neighbours.md"
    operator = Pool2d

    def accepted(self, mode: str) -> dict[str, Any]:
        kind = "QASYMM8" if MODES[mode].dtype == np.uint8 else "QASYMM8_SIGNED"
        infos = {name: TensorInfo((1, 4, 5, 3), kind) for name in ("input", "output")}
        return {**infos, "window": _WINDOW, "mode": mode}

    def faulty(self, mode: str) -> list[dict[str, Any]]:
        given = self.accepted(mode)
        outside = _WINDOW._replace(height=1, width=1)
        large = PoolWindow(256, 257, Geometry(), 0, 100)
        return [
            {"input": replace(given["input"], data_type="F32")},
            {"input": replace(given["input"], channels=2)},
            {"input": replace(given["input"], shape=(4, 5, 3))},
            {"window": _WINDOW._replace(height=0)},
            {"window": _WINDOW._replace(geometry=Geometry(0, 1))},
            {"window": _WINDOW._replace(geometry=Geometry(1, 1, -1))},
            {"window": _WINDOW._replace(height=9)},
            {"window": _WINDOW._replace(minimum=101)},
            {"output": replace(given["output"], data_type="S32")},
            {"output": replace(given["output"], shape=(1, 5, 4, 3))},
            {"window": outside, "output": replace(given["output"], shape=(1, 6, 7, 3))},
            {"input": replace(given["input"], shape=(1, 256, 257, 3)), "window": large, "output": TensorInfo()},
        ]

    def configured(self, mode: str) -> Pool2d:
        operator, given = Pool2d(), self.accepted(mode)
        operator.configure(given["input"], TensorInfo(), _WINDOW, mode)
        return operator


INTERFACE: Final = PoolInterface()
