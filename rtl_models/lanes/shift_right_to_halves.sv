// A signed number divided by 2^shift, in halves, rounded down: the lowest bit of the result is worth 1/2.
//
//   halves = floor(2 * a / 2^shift)
//
// `round_halves` makes of it the rounding shift.  At Width 8:
//
//       a  shift   halves
//       3      1        3       1.5
//      -3      1       -3       -1.5
//      -3      2       -2       -0.75, down to -1.0
//    -128      0     -256
//     127      7        1       0.99, down to 0.5

`include "require.svh"

module shift_right_to_halves #(
  parameter int Width = 32
) (
  input  logic [Width-1:0]         a_i,
  input  logic [$clog2(Width)-1:0] shift_i,
  output logic [Width:0]           halves_o
);

  `REQUIRE(legal_width, Width >= 2, "shift_right_to_halves: Width is the bits of a lane and must be 2 or more")

  assign halves_o = $signed({a_i, 1'b0}) >>> shift_i;

endmodule
