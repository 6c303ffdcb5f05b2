// UQSUB: the difference of two unsigned numbers, saturated at 0.
//
// At Width 8:
//
//       a     b   result  saturated
//     200    55     145       0
//      55    55       0       0
//      55    56       0       1
//       0   255       0       1

`include "require.svh"

module uqsub #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic [Width-1:0] result_o,
  output logic             saturated_o
);

  `REQUIRE(legal_width, Width >= 1, "uqsub: Width is the bits of a lane and must be 1 or more")

  assign saturated_o = a_i < b_i;
  assign result_o    = saturated_o ? {Width{1'b0}} : a_i - b_i;

endmodule
