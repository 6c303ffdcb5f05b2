// Rows x Columns lanes that each add four products of 9-bit numbers a step: sdot4 at 36 bits, with an accumulator.
//
//   sum = wrap((first_i ? 0 : accumulator) + a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3)        32 bits
//
// Row r of `a_i` and column c of `b_i` have four numbers each, the first lowest; lane (r, c) is number r * Columns + c of
// `sums_o`.  A sum is there in the cycle of its step; with `step_i` it becomes the accumulator.  One lane:
//
//   first_i      1      0      0      1
//   step_i       1      0      1      1
//   a . b       10      5      7      3
//   sums_o      10     15     17      3

`include "require.svh"

module mac_array #(
  parameter int Rows    = 4,
  parameter int Columns = 4
) (
  input  logic                       clk_i,
  input  logic                       step_i,
  input  logic                       first_i,
  input  logic [36*Rows-1:0]         a_i,
  input  logic [36*Columns-1:0]      b_i,
  output logic [32*Rows*Columns-1:0] sums_o
);

  `REQUIRE(legal_size, Rows >= 1 && Columns >= 1, "mac_array: Rows and Columns must be 1 or more")

  logic [32*Rows*Columns-1:0] accumulators_q;

  for (genvar lane = 0; lane < Rows * Columns; lane++) begin : gen_lanes
    logic [31:0] accumulator;
    logic [3:0]  unused_high;
    logic        unused_saturated;

    assign accumulator = first_i ? '0 : accumulators_q[32*lane +: 32];

    sdot4 #(
      .Width(36)
    ) u_sdot4 (
      .a_i          (a_i[36*(lane/Columns) +: 36]),
      .b_i          (b_i[36*(lane%Columns) +: 36]),
      .accumulator_i({4'b0, accumulator}),
      .result_o     ({unused_high, sums_o[32*lane +: 32]}),
      .saturated_o  (unused_saturated)
    );
  end

  always_ff @(posedge clk_i) begin
    if (step_i) accumulators_q <= sums_o;
  end

endmodule
