"""The text around an operator: all of its widths, each as many lanes side by side as fill a word.

One evaluation takes a packed word of every port.  The ports are those of the operator with the width before their names
(`w8_a_i`), lane 0 in the low bits.
"""

from __future__ import annotations

from typing import Final

from rtl_models.operators import Operator
from rtl_models.tools.build_cache import visible

TOP: Final = "lane_array"
WORD_BITS: Final = 128
"""Bits of a packed word, those of a vector register: longer ones run faster and build slower."""


def lane_count(width: int, word_bits: int = WORD_BITS) -> int:
    """The lanes of this width in a word."""
    return word_bits // width


def input_bits(operator: Operator, width: int) -> dict[str, int]:
    """The bits of each input of one lane."""
    return {operand.port: operand.type_of(width).bits for operand in operator.operands}


def output_bits(operator: Operator, width: int) -> dict[str, int]:
    """The bits of each output of one lane."""
    return {"result_o": operator.result_of(width).bits, "saturated_o": 1}


def port_name(width: int, port: str) -> str:
    """The packed port of the harness."""
    return f"w{width}_{port}"


def harness(operator: Operator, widths: tuple[int, ...], word_bits: int = WORD_BITS) -> str:
    """The module `lane_array`."""
    ports, arrays = [], []
    for width in dict.fromkeys(widths):
        lanes = lane_count(width, word_bits)
        inputs, outputs = input_bits(operator, width), output_bits(operator, width)
        for direction, group in (("input ", inputs), ("output", outputs)):
            for port, bits in group.items():
                ports.append(f"  {direction} logic [{bits * lanes - 1}:0] {port_name(width, port)}")
        connections = [
            f".{port}({port_name(width, port)}[{bits}*lane+:{bits}])" for port, bits in (inputs | outputs).items()
        ]
        arrays += [
            f"  for (genvar lane = 0; lane < {lanes}; lane++) begin : gen_w{width}",
            f"    {operator.name} #(.Width({width})) u_{operator.name} ({', '.join(connections)});",
            "  end",
        ]
    return "\n".join([f"module {TOP} (", ",\n".join(ports), ");", *arrays, "endmodule", ""])


def control_file(operator: Operator, widths: tuple[int, ...]) -> str:
    """Verilator's control file."""
    groups = (("input", input_bits), ("output", output_bits))
    return visible(
        TOP, [(way, port_name(w, port)) for way, bits in groups for w in widths for port in bits(operator, w)]
    )
