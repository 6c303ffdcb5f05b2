"""The module of an adapter behind the ports of the unit that it stands for: what proofs, mutants and synthesis read."""

from __future__ import annotations

from pathlib import Path

from rtl_models.adapters.file import Adapter
from rtl_models.tools.sources import MODULE_ENDINGS, needed
from rtl_models.units import CLOCKED, setting_bits, stream_ports


def wrapper_of(adapter: Adapter) -> str:
    """The name of the module around it, such as "requantizer_as_quantize_down", and without its ending of its file."""
    return f"{adapter.module}_as_{adapter.unit.name}"


def adapted_sources(adapter: Adapter, lanes: int, folder: Path) -> dict[str, str]:
    """The text of the wrapper, for so many numbers a beat, and of all that the module needs, which lies in the folder.

    Raises UnreadableModule.
    """
    ending = next(ending for ending in MODULE_ENDINGS if (folder / f"{adapter.module}{ending}").is_file())
    return {
        **needed([f"{adapter.module}{ending}"], [folder]),
        f"{wrapper_of(adapter)}.sv": wrapper_text(adapter, lanes),
    }


def wrapper_text(adapter: Adapter, lanes: int) -> str:
    """The module around it, for so many numbers a beat."""
    settings = [("input ", f"{name}_i", bits) for name, bits in setting_bits(adapter.unit).items()]
    ports = [*CLOCKED, *stream_ports(adapter.unit, lanes), *settings]
    connected = adapter.connections({name: name for _, name, _ in ports})
    declared = ",\n".join(f"  {direction} logic [{bits - 1}:0] {name}" for direction, name, bits in ports)
    inside = ",\n".join(f"    .{port}({wire})" for port, wire in connected.items())
    instance = f"  {adapter.module}{adapter.parameters(lanes)} u_{adapter.module} (\n{inside}\n  );"
    return "\n".join([f"module {wrapper_of(adapter)} (", declared, ");", instance, "endmodule", ""])
