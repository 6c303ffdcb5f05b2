"""The text around `gemm_core` that gives it its parameters; its ports are those of the core."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rtl_models.cores.gemm import GemmCore
from rtl_models.tools.build_cache import TopModule, visible
from rtl_models.tools.sources import LANES

TOP: Final = "built_gemm_core"


def design(core: GemmCore, *before: Path) -> TopModule:
    """The core; modules in the folders `before` go before those of the package."""
    inputs = {
        "clk_i": 1, "rst_ni": 1, "bus_write_i": 1, "bus_address_i": 16, "bus_data_i": 32,
        "a_valid_i": 1, "a_data_i": 32 * core.rows, "b_valid_i": 1, "b_data_i": 32 * core.columns, "ready_i": 1,
    }  # fmt: skip
    outputs = {
        "bus_read_data_o": 32, "error_o": 1, "busy_o": 1, "a_ready_o": 1, "b_ready_o": 1,
        "valid_o": 1, "result_o": 8 * core.columns, "keep_o": core.columns, "last_o": 1,
    }  # fmt: skip
    ports = [f"  input  logic [{bits - 1}:0] {name}" for name, bits in inputs.items()]
    ports += [f"  output logic [{bits - 1}:0] {name}" for name, bits in outputs.items()]
    parameters = ",\n".join(f"    .{name}({value})" for name, value in core.parameters.items())
    connections = ",\n".join(f"    .{name}({name})" for name in (*inputs, *outputs))
    instance = f"  gemm_core #(\n{parameters}\n  ) u_gemm_core (\n{connections}\n  );"
    text = "\n".join([f"module {TOP} (", ",\n".join(ports), ");", instance, "endmodule", ""])
    control = visible(TOP, [*(("input", name) for name in inputs), *(("output", name) for name in outputs)])
    return TopModule(TOP, {f"{TOP}.sv": text, "ports.vlt": control}, (*before, LANES))
