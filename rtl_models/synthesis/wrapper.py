"""A module between registers, so that every path through it starts and ends at a clock edge.

Place and route of a design without pins times no path from a pin or to one: a lane would have none at all, and of a
unit the first stage would be missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

TOP: Final = "registered"
"""The module that has the registers."""
_UNREGISTERED: Final = ("clk_i", "rst_ni")


class Port(NamedTuple):
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


def registered(module: str, parameters: Mapping[str, int], ports: Sequence[Port], copies: int) -> str:
    """The SystemVerilog of `TOP`: so many copies of the module side by side, ports packed, copy 0 in the low bits."""
    outside = [port._replace(bits=port.bits * (copies if port.registered else 1)) for port in ports]
    clock = [] if any(port.name == "clk_i" for port in ports) else [Port("clk_i", "input", 1)]
    return "\n".join(
        [
            f"module {TOP} (",
            ",\n".join(f"  {port.direction} logic [{port.bits - 1}:0] {port.name}" for port in (*clock, *outside)),
            ");",
            *_registers([port for port in outside if port.registered]),
            *(f"  {_instance(module, parameters, ports, copy)}" for copy in range(copies)),
            "endmodule\n",
        ]
    )


def _registers(ports: Sequence[Port]) -> Iterator[str]:
    yield from (f"  logic [{port.bits - 1}:0] {port.inside};" for port in ports)
    yield "  always_ff @(posedge clk_i) begin"
    for port in ports:
        taken, given = (port.inside, port.name) if port.direction == "input" else (port.name, port.inside)
        yield f"    {taken} <= {given};"
    yield "  end"


def _instance(module: str, parameters: Mapping[str, int], ports: Sequence[Port], copy: int) -> str:
    given = ", ".join(f".{name}({value})" for name, value in parameters.items())
    connected = ", ".join(f".{port.name}({_part(port, copy)})" for port in ports)
    return f"{module} #({given}) u_{copy} ({connected});"


def _part(port: Port, copy: int) -> str:
    return f"{port.inside}[{copy * port.bits} +: {port.bits}]" if port.registered else port.name
