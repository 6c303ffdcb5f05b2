// ADD: the low bits of the sum.  It is the same for signed and unsigned lanes, and never saturates.
//
// At Width 8, signed:
//
//       a     b   result  saturated
//     100    27     127       0
//     127     1    -128       0       wraps
//    -128    -1     127       0

`include "require.svh"

module add #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic [Width-1:0] result_o,
  output logic             saturated_o
);

  `REQUIRE(legal_width, Width >= 1, "add: Width is the bits of a lane and must be 1 or more")

  assign result_o    = a_i + b_i;
  assign saturated_o = 1'b0;

endmodule
