"""The text around a configured unit for volume: memories and stalls of `bulk_traffic.sv` on its streams.

The words of the memories have each port at a whole byte, the first port lowest.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rtl_models import unit_harness
from rtl_models.tools.build_cache import TopModule, visible
from rtl_models.tools.sources import LANES
from rtl_models.unit_run import Built
from rtl_models.units import UnitPort

TOP: Final = "bulk_unit"
MOST_BEATS: Final = 65_535
"""That one awaited edge can run: as many as a frame has rows at most."""
MOST_COMMANDS: Final = 8_192
"""With the one that ends the list."""
BEATS_VARIABLE: Final = "LANEWISE_BEATS"
"""In the environment of the bench: how many beats are due under stalls."""
BULK_FAILURE: Final = "bulk_failure.json"
"""What failed first, and its stalls: for what shows it."""
_FOLDER: Final = Path(__file__).parent
_INPUTS: Final = {"clk_i": 1, "rst_ni": 1, "start_i": 1, "offers_i": 2, "takes_i": 2, "seed_i": 32}
_OUTPUTS: Final = {
    "done_o": 1, "cycles_o": 32, "accepted_o": 32, "delivered_o": 32, "unstable_o": 32, "hung_o": 1, "error_o": 1,
}  # fmt: skip
_HANDSHAKE: Final = {"valid_i": "offered", "ready_o": "accepts", "valid_o": "valid", "ready_i": "taken"}
"""By port of the configured unit the wire to the traffic, where inputs and outputs change places."""
_BUS: Final = {"write": 1, "address": 16, "data": 32}


def port_bytes(port: UnitPort, lanes: int) -> int:
    """What a port takes of a word."""
    return -(-port.bits * port.count(lanes) // 8)


def design(built_as: Built, *before: Path) -> TopModule:
    """The unit, its registers and the traffic; modules in the folders `before` go before the package's."""
    unit, lanes = built_as.unit, built_as.lanes
    ports = [*(("input", name) for name in _INPUTS), *(("output", name) for name in _OUTPUTS)]
    texts = {
        "bulk_stalls.sv": (_FOLDER / "bulk_stalls.sv").read_text(),
        "bulk_traffic.sv": (_FOLDER / "bulk_traffic.sv").read_text(),
        f"{unit_harness.TOP}.sv": unit_harness.harness(
            unit, lanes, built_as.profile, built_as.channels, built_as.adapter
        ),
        f"{TOP}.sv": _top(built_as),
        "ports.vlt": visible(TOP, ports),
    }
    return TopModule(TOP, texts, (*before, LANES))


def _top(built_as: Built) -> str:
    operands, results = (_places(ports, built_as.lanes) for ports in (built_as.unit.operands, built_as.unit.results))
    widths = {**dict.fromkeys(_HANDSHAKE.values(), 1), **_BUS, "operand": operands[-1][2], "result": results[-1][2]}
    inputs = [f"  input  logic [{bits - 1}:0] {name}" for name, bits in _INPUTS.items()]
    outputs = [f"  output logic [{bits - 1}:0] {name}" for name, bits in _OUTPUTS.items()]
    streams = [(port.name, f"operand[{low}+:{bits}]") for port, low, _, bits in operands]
    streams += [(port.name, f"result[{low}+:{bits}]") for port, low, _, bits in results]
    own = [("clk_i", "clk_i"), ("rst_ni", "rst_ni"), ("bus_error_o", "error_o"), ("bus_read_data_o", "")]
    bus = [(f"bus_{wire}_i", wire) for wire in _BUS]
    padding = [(low + bits, end) for _, low, end, bits in results]
    return "\n".join([
        f"module {TOP} (", ",\n".join([*inputs, *outputs]), ");",
        *(f"  logic [{bits - 1}:0] {name};" for name, bits in widths.items()),
        *unit_harness.instanced(unit_harness.TOP, "", dict([*own, *bus, *_HANDSHAKE.items(), *streams])),
        *(f"  assign result[{end - 1}:{high}] = '0;" for high, end in padding if high < end),
        *_traffic(widths["operand"], widths["result"]),
        "endmodule", "",
    ])  # fmt: skip


_Place = tuple[UnitPort, int, int, int]
"""A port, and in the word the bits from where it lies, to where its bytes end, and its own bits."""


def _places(ports: Sequence[UnitPort], lanes: int) -> list[_Place]:
    ends = [8 * sum(port_bytes(port, lanes) for port in ports[: k + 1]) for k in range(len(ports))]
    lows = [end - 8 * port_bytes(port, lanes) for port, end in zip(ports, ends, strict=True)]
    return [(p, low, end, p.bits * p.count(lanes)) for p, low, end in zip(ports, lows, ends, strict=True)]


def _traffic(operand_bits: int, result_bits: int) -> list[str]:
    parameters = {
        "OperandBits": operand_bits, "ResultBits": result_bits, "Beats": MOST_BEATS, "Commands": MOST_COMMANDS,
    }  # fmt: skip
    own = [(name, name) for name in (*_INPUTS, *_OUTPUTS) if name != "error_o"]
    bus = [(f"{wire}_o", wire) for wire in _BUS]
    crossed = [(f"{port[:-1]}{'i' if port[-1] == 'o' else 'o'}", wire) for port, wire in _HANDSHAKE.items()]
    words = [("operand_o", "operand"), ("result_i", "result")]
    values = ", ".join(f".{name}({value})" for name, value in parameters.items())
    return unit_harness.instanced("bulk_traffic", f" #({values})", dict([*own, *bus, *crossed, *words]))
