"""A module between registers, so that every path through it starts and ends at a clock edge.

Place and route of a design without pins times no path from a pin or to one: a lane would have none at all, and of a
unit the first stage would be missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

TOP: Final = "registered"
"""The module that has the registers."""
_UNREGISTERED: Final = ("clk_i", "rst_ni")


class WrapperPort(NamedTuple):
    """A port of a module."""

    name: str
    direction: str
    bits: int

    @property
    def registered(self) -> bool:
        """Whether it gets registers: all but clock and reset."""
        return self.name not in _UNREGISTERED

    @property
    def inside(self) -> str:
        """The wire that the copies of the module are connected to."""
        return f"{self.name}_{'q' if self.direction == 'input' else 'd'}" if self.registered else self.name


def registered(module: str, parameters: Mapping[str, int], ports: Sequence[WrapperPort], copies: int) -> str:
    """The SystemVerilog of `TOP`: so many copies of the module side by side, ports packed, copy 0 in the low bits."""
    outside = [port._replace(bits=port.bits * (copies if port.registered else 1)) for port in ports]
    clock = [] if any(port.name == "clk_i" for port in ports) else [WrapperPort("clk_i", "input", 1)]
    kept = [port for port in outside if port.registered]
    edges = [
        f"    {port.inside} <= {port.name};" if port.direction == "input" else f"    {port.name} <= {port.inside};"
        for port in kept
    ]
    values = ", ".join(f".{name}({value})" for name, value in parameters.items())
    instances = []
    for copy in range(copies):
        parts = {p.name: f"{p.inside}[{copy * p.bits} +: {p.bits}]" if p.registered else p.name for p in ports}
        connected = ", ".join(f".{name}({part})" for name, part in parts.items())
        instances.append(f"  {module} #({values}) u_{copy} ({connected});")
    return "\n".join(
        [
            f"module {TOP} (",
            ",\n".join(f"  {port.direction} logic [{port.bits - 1}:0] {port.name}" for port in (*clock, *outside)),
            ");",
            *(f"  logic [{port.bits - 1}:0] {port.inside};" for port in kept),
            "  always_ff @(posedge clk_i) begin",
            *edges,
            "  end",
            *instances,
            "endmodule\n",
        ]
    )
