// UMAX: the larger of two unsigned numbers.  It never saturates.
//
// At Width 8:
//
//       a     b   result  saturated
//     255     1     255       0
//     127   128     128       0

`include "require.svh"

module umax #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic [Width-1:0] result_o,
  output logic             saturated_o
);

  `REQUIRE(legal_width, Width >= 1, "umax: Width is the bits of a lane and must be 1 or more")

  assign result_o    = (a_i > b_i) ? a_i : b_i;
  assign saturated_o = 1'b0;

endmodule
