// SRSHL: a signed number shifted by a register, to the right with ties up.  It never saturates.
//
// `shift` is the low byte of AdvSIMD's count lane, signed: left by it, right where it is negative, by -128..127 in all.
// At Width 8:
//
//       a  shift  result  saturated
//     100      1     -56       0       wraps
//       3     -1       2       0       1.5: a tie goes up
//      -3     -1      -1       0       -1.5: up, not away from zero
//     -128    -8       0       0       -0.5: from n = Width on, 0
//     127     -8       0       0

`include "require.svh"

module srshl #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [7:0]       shift_i,
  output logic [Width-1:0] result_o,
  output logic             saturated_o
);

  `REQUIRE(legal_width, Width >= 2 && Width <= 64, "srshl: Width is the bits of a lane and must be 2 to 64")

  logic [Width-1:0] left;
  logic [Width-1:0] halves;
  logic [Width-1:0] right;

  assign left = a_i << shift_i[6:0];

  // To the right by n = -shift: ~shift is n - 1, so the last bit of halves is the first bit shifted out.
  assign halves = $signed(a_i) >>> (~shift_i[6:0]);
  assign right  = {halves[Width-1], halves[Width-1:1]} + {{(Width-1){1'b0}}, halves[0]};

  assign saturated_o = 1'b0;
  assign result_o    = shift_i[7] ? right : left;

endmodule
