// A signed number in halves, rounded to nearest, ties up.
//
//   result = floor(halves / 2 + 1/2)
//
// The highest number does not fit, which wraps.  At Width 8:
//
//  halves   result
//       3        2       1.5: a tie goes up
//      -3       -1       -1.5: up, not away from zero
//    -256     -128

`include "require.svh"

module round_halves #(
  parameter int Width = 32
) (
  input  logic [Width:0]   halves_i,
  output logic [Width-1:0] result_o
);

  `REQUIRE(legal_width, Width >= 2, "round_halves: Width is the bits of a lane and must be 2 or more")

  assign result_o = halves_i[Width:1] + {{(Width-1){1'b0}}, halves_i[0]};

endmodule
