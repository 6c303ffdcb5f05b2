// SQSUB: the difference of two signed numbers, saturated.
//
// At Width 8:
//
//       a     b   result  saturated
//     100   -27     127       0
//     100   -28     127       1
//    -128     1    -128       1
//       0  -128     127       1       minus the lowest number
//    -128  -128       0       0

`include "require.svh"

module sqsub #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic [Width-1:0] result_o,
  output logic             saturated_o
);

  `REQUIRE(legal_width, Width >= 2, "sqsub: Width is the bits of a signed number and must be 2 or more")

  logic [Width:0] difference;

  assign difference = {a_i[Width-1], a_i} - {b_i[Width-1], b_i};

  // The exact difference has one bit more: it fits where that bit repeats the sign.
  assign saturated_o = difference[Width] != difference[Width-1];
  assign result_o    = saturated_o ? {difference[Width], {(Width-1){~difference[Width]}}} : difference[Width-1:0];

endmodule
