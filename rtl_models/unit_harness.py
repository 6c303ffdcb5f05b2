"""The text around a streaming unit: the unit behind the configuration registers that drive its settings.

Its ports are the clock, the reset, the bus of the registers and the unit's streams under their own names.  The numbers
of a beat also stand in arrays, which a waveform shows number by number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rtl_models.adapters import Adapter
from rtl_models.latencies import profile_parameter
from rtl_models.register_map import CHANNELS
from rtl_models.tools.build_cache import visible
from rtl_models.units import CLOCKED, SETTING_BITS, TABLE_BITS, DirectedPort, Unit, setting_bits, stream_ports

TOP: Final = "configured_unit"
_BUS: Final = (
    ("input ", "bus_write_i", 1), ("input ", "bus_address_i", 16), ("input ", "bus_data_i", 32),
    ("output", "bus_read_data_o", 32), ("output", "bus_error_o", 1),
)  # fmt: skip


def harness(unit: Unit, lanes: int, profile: str, channels: int = CHANNELS, adapter: Adapter | None = None) -> str:
    """The module `configured_unit`; the registers, and the unit's tables if it has any, are of so many channels.

    With an adapter its module stands in the place of the unit.
    """
    ports = ",\n".join(f"  {direction} logic [{bits - 1}:0] {name}" for direction, name, bits in _ports(unit, lanes))
    body = [*_instances(unit, lanes, profile, channels, adapter), *_arrays(unit, lanes)]
    return "\n".join([f"module {TOP} (", ports, ");", *body, "endmodule", ""])


def control_file(unit: Unit, lanes: int) -> str:
    """Verilator's control file."""
    return visible(TOP, [(direction, name) for direction, name, _ in _ports(unit, lanes)])


def _ports(unit: Unit, lanes: int) -> list[DirectedPort]:
    return [*CLOCKED, *_BUS, *stream_ports(unit, lanes)]


def _instances(unit: Unit, lanes: int, profile: str, channels: int, adapter: Adapter | None) -> list[str]:
    """The registers, and the unit whose settings they drive by wires."""
    # such as "config_signed": some settings have names that ports have too, or keywords
    wires = {name: f"config_{name}" for name in setting_bits(unit)}
    declared = [f"  logic [{bits - 1}:0] {wires[name]};" for name, bits in setting_bits(unit).items()]
    bus = {name.removeprefix("bus_"): name for _, name, _ in (*CLOCKED, *_BUS)}
    outputs = {f"{name}_o": wires.get(name, "") for name in (*SETTING_BITS, *TABLE_BITS)}
    streams = {name: name for _, name, _ in (*CLOCKED, *stream_ports(unit, lanes))}
    settings = {f"{name}_i": wire for name, wire in wires.items()}
    connected, tables = streams | settings, f".Channels({channels})"
    if adapter is None:
        name, value = profile_parameter(unit.name, profile)
        parameters = f".Lanes({lanes}), .{name}({value})" + (f", {tables}" if unit.tables else "")
        instance = instanced(unit.name, f" #({parameters})", connected)
    else:
        instance = instanced(adapter.module, adapter.parameters(lanes), adapter.connections(connected))
    return [*declared, *instanced("config_registers", f" #({tables})", bus | outputs), *instance]


def instanced(module: str, parameters: str, connections: Mapping[str, str]) -> list[str]:
    """An instance, with its ports by name on wires."""
    ports = ",\n".join(f"    .{port}({wire})" for port, wire in connections.items())
    return [f"  {module}{parameters} u_{module} (\n{ports}\n  );"]


def _arrays(unit: Unit, lanes: int) -> Iterator[str]:
    """The numbers of each port, such as "bias_in[3]" or "result_out[0]"."""
    operands = ((port, f"{port.name}n") for port in unit.operands)
    results = ((port, f"{port.name}ut") for port in unit.results)
    for port, array in (*operands, *results):
        count, sign = port.count(lanes), " signed" if port.signed else ""
        yield f"  logic{sign} [{port.bits - 1}:0] {array} [{count}];"
        yield f"  for (genvar k = 0; k < {count}; k++) begin : gen_{array}"
        yield f"    assign {array}[k] = {port.name}[{port.bits}*k+:{port.bits}];"
        yield "  end"
