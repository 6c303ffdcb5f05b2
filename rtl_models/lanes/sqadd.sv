// SQADD: the sum of two signed numbers, saturated.
//
// At Width 8:
//
//       a     b   result  saturated
//     100    27     127       0
//     100    28     127       1
//    -128    -1    -128       1
//    -128   127      -1       0

`include "require.svh"

module sqadd #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic [Width-1:0] result_o,
  output logic             saturated_o
);

  `REQUIRE(legal_width, Width >= 2, "sqadd: Width is the bits of a signed number and must be 2 or more")

  logic [Width:0] sum;

  assign sum = {a_i[Width-1], a_i} + {b_i[Width-1], b_i};

  // The exact sum has one bit more: it fits where that bit repeats the sign.
  assign saturated_o = sum[Width] != sum[Width-1];
  assign result_o    = saturated_o ? {sum[Width], {(Width-1){~sum[Width]}}} : sum[Width-1:0];

endmodule
