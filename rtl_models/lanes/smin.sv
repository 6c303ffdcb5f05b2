// SMIN: the smaller of two signed numbers.  It never saturates.
//
// At Width 8:
//
//       a     b   result  saturated
//      -1     1      -1       0
//    -128   127    -128       0

`include "require.svh"

module smin #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic [Width-1:0] result_o,
  output logic             saturated_o
);

  `REQUIRE(legal_width, Width >= 2, "smin: Width is the bits of a signed number and must be 2 or more")

  assign result_o    = ($signed(a_i) < $signed(b_i)) ? a_i : b_i;
  assign saturated_o = 1'b0;

endmodule
