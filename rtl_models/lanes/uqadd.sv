// UQADD: the sum of two unsigned numbers, saturated.
//
// At Width 8:
//
//       a     b   result  saturated
//     200    55     255       0
//     200    56     255       1
//     255   255     255       1

`include "require.svh"

module uqadd #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic [Width-1:0] result_o,
  output logic             saturated_o
);

  `REQUIRE(legal_width, Width >= 1, "uqadd: Width is the bits of a lane and must be 1 or more")

  logic [Width:0] sum;

  assign sum = {1'b0, a_i} + {1'b0, b_i};

  assign saturated_o = sum[Width];
  assign result_o    = saturated_o ? {Width{1'b1}} : sum[Width-1:0];

endmodule
