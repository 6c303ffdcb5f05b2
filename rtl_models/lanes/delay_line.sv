// What goes along with a beat: Width bits, Depth stages later, under the enable of the pipeline.
//
// At Depth 2:
//
//   enable_i    1   1   0   1   1
//   data_i      A   B   C   C   D
//   data_o      -   -   A   A   B       before the rising edge that ends the cycle

`include "require.svh"

module delay_line #(
  parameter int Width = 32,
  parameter int Depth = 1
) (
  input  logic             clk_i,
  input  logic             enable_i,
  input  logic [Width-1:0] data_i,
  output logic [Width-1:0] data_o
);

  `REQUIRE(legal_width, Width >= 1, "delay_line: Width is the number of bits and must be 1 or more")
  `REQUIRE(legal_depth, Depth >= 1, "delay_line: Depth is the number of stages and must be 1 or more")

  logic [Depth*Width-1:0] stages_q;  // the latest in the low bits

  assign data_o = stages_q[(Depth-1)*Width +: Width];

  always_ff @(posedge clk_i) begin
    if (enable_i) stages_q <= (Depth*Width)'({stages_q, data_i});
  end

endmodule
