"""The operator of quantized_add with calls that Init accepts and refuses, in upstream's order."""

from dataclasses import replace
from typing import Final

from sim.kernels.operator import OperatorInterface
from sim.kernels.quantized_add.configure import MODES, InputTensor, QuantizedAdd

_BYTES = InputTensor("UINT8", (2, 3), 10, 0.02)


class QuantizedAddInterface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "Simd Library, snapshot after 7.1.162, SynetQuantizedAddInit and Forward; TFLite's modes have no operator"
    spec = "docs/spec/quantized_add.md"
    operator = QuantizedAdd

    def accepted(self, mode: str) -> dict[str, InputTensor]:
        """Operands of the types that a mode is named by, such as f32_u8_to_u8; else bytes."""
        names = mode.split("_") if "_to_" in mode else []
        types = ["FP32" if name == "f32" else "UINT8" for name in names if name != "to"] or ["UINT8"] * 3
        return {name: replace(_BYTES, data_type=kind) for name, kind in zip(("a", "b", "output"), types, strict=True)}

    def faulty(self, mode: str) -> list[dict[str, InputTensor]]:
        return [
            {"a": replace(_BYTES, data_type="INT8")},
            {"b": replace(_BYTES, data_type="INT8")},
            {"output": replace(_BYTES, data_type="FP16")},
            {"b": replace(self.accepted(mode)["b"], shape=(6,))},
        ]

    def configured(self, mode: str) -> QuantizedAdd:
        operands = self.accepted(mode)
        named = mode if mode in MODES else "base"
        return QuantizedAdd(operands["a"], operands["b"], operands["output"], mode=named)


INTERFACE: Final = QuantizedAddInterface()
