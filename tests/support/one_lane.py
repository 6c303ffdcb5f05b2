"""A requantizer of one number a beat, whose settings are parameters, for units that have them built in."""

from __future__ import annotations

from pathlib import Path
from typing import Final

ADAPTER: Final = """unit = "quantize_down"
module = "brought_down"
clock = "clk"
lanes = 1

[reset]
port = "rst"
active = "high"
kind = "synchronous"

[input]
valid = "in_valid"
ready = "in_ready"
accumulator = "sum"
bias = 0

[output]
valid = "out_valid"
ready = "out_ready"
result = "octet"

[settings]
multiplier = 1518500250
shift = 7
offset = 100
minimum = 0
maximum = 255
signed = 0
"""
_MODULE: Final = """module brought_down #(
  parameter int Multiplier = 1518500250
) (
  input  logic        clk,
  input  logic        rst,
  input  logic        in_valid,
  output logic        in_ready,
  input  logic [31:0] sum,
  output logic        out_valid,
  input  logic        out_ready,
  output logic [7:0]  octet
);
  logic               middle_valid, middle_ready;
  logic signed [31:0] high;
  wire signed [63:0]  raised  = $signed(sum) * 64'(Multiplier) + 64'sh4000_0000;
  wire signed [32:0]  size    = high[31] ? 33'sd0 - {high[31], high} : {high[31], high};
  wire signed [32:0]  divided = (size + 33'sd64) >>> 7;
  wire signed [32:0]  placed  = (high[31] ? 33'sd0 - divided : divided) + 33'sd100;

  assign middle_ready = !out_valid || out_ready;
  assign in_ready     = !middle_valid || middle_ready;
  always_ff @(posedge clk) begin
    if (rst) {middle_valid, out_valid} <= '0;
    else begin
      if (in_ready) middle_valid <= in_valid;
      if (middle_ready) out_valid <= middle_valid;
    end
    if (in_ready) high <= raised[62:31];
    if (middle_ready) octet <= placed < 0 ? 8'd0 : placed > 255 ? 8'd255 : placed[7:0];
  end
endmodule
"""


def written(folder: Path, right: str = "", wrong: str = "") -> Path:
    """The adapter, beside the module, in which a text that occurs once may be another.  Raises ValueError."""
    if right and _MODULE.count(right) != 1:
        raise ValueError(f"the module has {_MODULE.count(right)} times {right!r}, not once")
    (folder / "brought_down.sv").write_text(_MODULE.replace(right, wrong) if right else _MODULE)
    (folder / "adapter.toml").write_text(ADAPTER)
    return folder / "adapter.toml"
