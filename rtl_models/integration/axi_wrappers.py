"""`python -m rtl_models.integration.axi_wrappers` writes `axi_UNIT.sv`, the wrapper of each unit for AXI.

All operands are one tdata, all results another: the first port lowest, each number in whole bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from rtl_models.latencies import PROFILES
from rtl_models.units import SETTING_BITS, TABLE_BITS, UNITS, Unit, UnitPort, setting_bits
from sim.terminal.script import parser_of, run_by_hand

FOLDER: Final = Path(__file__).parent
_LITE: Final = (
    ("input ", "awaddr", 16), ("input ", "awvalid", 1), ("output", "awready", 1), ("input ", "wdata", 32),
    ("input ", "wstrb", 4), ("input ", "wvalid", 1), ("output", "wready", 1), ("output", "bresp", 2),
    ("output", "bvalid", 1), ("input ", "bready", 1), ("input ", "araddr", 16), ("input ", "arvalid", 1),
    ("output", "arready", 1), ("output", "rdata", 32), ("output", "rresp", 2), ("output", "rvalid", 1),
    ("input ", "rready", 1),
)  # fmt: skip
_BUS: Final = (("write", 1), ("address", 16), ("data", 32), ("read_data", 32))


def axi_wrapper(unit: Unit) -> str:
    """The module `axi_<unit>`, with the parameters of the unit."""
    name, camel = unit.name, "".join(part.capitalize() for part in unit.name.split("_"))
    tables, has_depth = ["Channels"] if unit.tables else [], len(unit.profiles) > len(PROFILES)
    stages = f"Deep ? lanewise_pkg::{camel}Deep : lanewise_pkg::{camel}Shallow"
    lite = [f"  {way} logic {_range(bits)}s_axil_{wire}" for way, wire, bits in _LITE]
    streams = [
        "  input  logic s_axis_tvalid", "  output logic s_axis_tready", "  input  logic s_axis_tlast",
        f"  input  logic [{_ends(unit.operands)[-1]}-1:0] s_axis_tdata",
        "  output logic m_axis_tvalid", "  input  logic m_axis_tready", "  output logic m_axis_tlast",
        f"  output logic [{_ends(unit.results)[-1]}-1:0] m_axis_tdata",
    ]  # fmt: skip
    parameters = [
        "  parameter int Lanes = 4",
        "  parameter bit Deep = 1'b0",
        *([f"  parameter int Depth = {stages}"] if has_depth else []),
        *("  parameter int Channels = 64" for _ in tables),
    ]
    ports = ["  input  logic aclk", "  input  logic aresetn", "  output logic error_o", *lite, *streams]
    settings = setting_bits(unit)
    clocked = {"clk_i": "aclk", "rst_ni": "aresetn"}
    return "\n".join([
        f"// `{name}` with its settings on AXI4-Lite, its operands and its results on AXI4-Stream.",
        "// Written by axi_wrappers.py.  The mark of the last beat goes with its beat.",
        "// error_o: a write was refused, see STATUS in REGISTERS.md.",
        *_layout(unit), "",
        f"module axi_{name} #(", ",\n".join(parameters), ") (", ",\n".join(ports), ");", "",
        *([] if has_depth else [f"  localparam int Latency = {stages};", ""]),
        *(f"  logic {_range(bits)}{wire};" for wire, bits in _BUS),
        *(f"  logic {_range(bits)}config_{setting};" for setting, bits in settings.items()),
        *_narrow_ports(unit), "",
        *_instance("axi_lite_registers", [], clocked | {f"s_axil_{w}": f"s_axil_{w}" for _, w, _ in _LITE} | {
            "write_o": "write", "address_o": "address", "data_o": "data", "read_data_i": "read_data",
        }), "",
        "  // verilator lint_off PINCONNECTEMPTY", "  // The settings of other units.",
        *_instance("config_registers", tables, clocked | {
            "write_i": "write", "address_i": "address", "data_i": "data", "read_data_o": "read_data",
            "error_o": "error_o",
            **{f"{s}_o": f"config_{s}" if s in settings else "" for s in (*SETTING_BITS, *TABLE_BITS)},
        }), "  // verilator lint_on PINCONNECTEMPTY", "",
        *_instance(name, ["Lanes", "Depth" if has_depth else "Deep", *tables], clocked | {
            "valid_i": "s_axis_tvalid", "ready_o": "s_axis_tready", "valid_o": "m_axis_tvalid",
            "ready_i": "m_axis_tready", **_data(unit.operands, "s_axis_tdata"),
            **{f"{s}_i": f"config_{s}" for s in settings}, **_data(unit.results, "m_axis_tdata"),
        }), "",
        "  // All stages of the unit move when it is ready, and so does the mark.",
        "  delay_line #(", "    .Width(1),", f"    .Depth({'Depth' if has_depth else 'Latency'})", "  ) u_last (",
        "    .clk_i   (aclk),", "    .enable_i(s_axis_tready),", "    .data_i  (s_axis_tlast),",
        "    .data_o  (m_axis_tlast)", "  );", "",
        "endmodule", "",
    ])  # fmt: skip


def _range(bits: int) -> str:
    return f"[{bits - 1}:0] " if bits > 1 else ""


def _count(port: UnitPort) -> str:
    """The numbers of a beat, for any number of lanes."""
    return {"lane": "Lanes", "beat": "1", "chunk": "Lanes/4"}[port.per]


def _octets(port: UnitPort) -> int:
    """Of a number on tdata."""
    return -(-port.bits // 8)


def _ends(ports: Sequence[UnitPort]) -> list[str]:
    """Of each port the bits of tdata up to its end, so many for each lane, each chunk and each beat."""
    each = [f"{8 * _octets(port)}*{_count(port)}" for port in ports]
    return [" + ".join(each[: k + 1]) if k == 0 else f"({' + '.join(each[: k + 1])})" for k in range(len(ports))]


def _places(ports: Sequence[UnitPort]) -> list[tuple[UnitPort, str]]:
    """Each with its lowest bit."""
    return list(zip(ports, ["0", *_ends(ports)], strict=False))


def _is_narrow(port: UnitPort) -> bool:
    """Whether its numbers do not fill their bytes."""
    return port.bits % 8 != 0


def _data(ports: Sequence[UnitPort], wire: str) -> dict[str, str]:
    """By port what it is connected to."""
    return {
        port.name: f"bits_of_{port.name}" if _is_narrow(port) else f"{wire}[{low} +: {port.bits}*{_count(port)}]"
        for port, low in _places(ports)
    }


def _narrow_ports(unit: Unit) -> Iterator[str]:
    """Numbers of fewer bits taken out of their bytes, or put into them with zeros above."""
    for port, low in [*_places(unit.operands), *_places(unit.results)]:
        if not _is_narrow(port):
            continue
        wire, place, size = f"bits_of_{port.name}", f"{low} + {8 * _octets(port)}*k", 8 * _octets(port)
        number = f"{wire}[{port.bits}*k +: {port.bits}]"
        yield f"  logic [{port.bits}*{_count(port)}-1:0] {wire};"
        yield f"  for (genvar k = 0; k < {_count(port)}; k++) begin : gen_{wire}"
        if port in unit.results:
            yield f"    assign m_axis_tdata[{place} +: {size}] = {size}'({number});"
        else:
            yield "    logic unused_padding;"
            yield f"    assign {number} = s_axis_tdata[{place} +: {port.bits}];"
            yield f"    assign unused_padding = ^s_axis_tdata[{place} + {port.bits} +: {size - port.bits}];"
        yield "  end"


def _layout(unit: Unit) -> Iterator[str]:
    """What lies where, for the reader."""
    yield "//"
    for wire, ports in (("s_axis_tdata", unit.operands), ("m_axis_tdata", unit.results)):
        for port, low in _places(ports):
            yield f"//   {wire} from bit {low}: {port.name}, {_count(port)} numbers of {8 * _octets(port)} bits"


def _instance(module: str, parameters: Sequence[str], connections: dict[str, str]) -> list[str]:
    wide = max(map(len, connections))
    ports = ",\n".join(f"    .{port.ljust(wide)}({wire})" for port, wire in connections.items())
    given = ",\n".join(f"    .{parameter}({parameter})" for parameter in parameters)
    return [f"  {module}{f' #({chr(10)}{given}{chr(10)}  )' if given else ''} u_{module} (\n{ports}\n  );"]


def main() -> None:
    """Write all of them."""
    parser_of(__doc__).parse_args()
    for unit in UNITS.values():
        (FOLDER / f"axi_{unit.name}.sv").write_text(axi_wrapper(unit))


if __name__ == "__main__":
    run_by_hand(main)
