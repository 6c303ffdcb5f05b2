// SQDMULH: the high half of the doubled product of two signed numbers, rounded down, saturated.
//
//   result = (a * b) >> (Width-1)
//
// The one pair that saturates is MIN * MIN.  At Width 8:
//
//       a     b   result  saturated
//     100    50      39       0       5000 / 128 = 39.06
//       1   127       0       0
//      -1     1      -1       0       down, not toward zero
//    -128   127    -127       0
//    -128  -128     127       1

`include "require.svh"

module sqdmulh #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic [Width-1:0] result_o,
  output logic             saturated_o
);

  `REQUIRE(legal_width, Width >= 2, "sqdmulh: Width is the bits of a signed number and must be 2 or more")

  logic signed [2*Width-1:0] product;

  assign product = $signed(a_i) * $signed(b_i);

  // |product| <= 2^(2*Width-2): the two top bits differ only for MIN * MIN, which is positive.
  assign saturated_o = product[2*Width-1] != product[2*Width-2];
  assign result_o    = saturated_o ? {1'b0, {(Width-1){1'b1}}} : product[2*Width-2:Width-1];

endmodule
