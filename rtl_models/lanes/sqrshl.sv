// SQRSHL: a signed number shifted by a register, saturated; to the right with ties up.
//
// `shift` is the low byte of AdvSIMD's count lane, signed: left by it, right where it is negative,
// by -128..127 in all.
// At Width 8:
//
//       a  shift  result  saturated
//      63      1     126       0
//     100      1     127       1
//      -1    127    -128       1
//       3     -1       2       0       1.5: a tie goes up
//      -3     -1      -1       0       -1.5: up, not away from zero

`include "require.svh"

module sqrshl #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [7:0]       shift_i,
  output logic [Width-1:0] result_o,
  output logic             saturated_o
);

  `REQUIRE(legal_width, Width >= 2 && Width <= 64, "sqrshl: Width is the bits of a lane and must be 2 to 64")

  logic [6:0]         left_count;
  logic [2*Width-1:0] left;
  logic [Width-1:0]   halves;
  logic [Width-1:0]   right;

  // From Width on the answer no longer changes; up to there, left is exact.
  assign left_count = (shift_i[6:0] > Width[6:0]) ? Width[6:0] : shift_i[6:0];
  assign left       = {{Width{a_i[Width-1]}}, a_i} << left_count;

  // To the right by n = -shift: ~shift is n - 1, so the last bit of halves is the first bit shifted out.
  assign halves = $signed(a_i) >>> (~shift_i[6:0]);
  assign right  = {halves[Width-1], halves[Width-1:1]} + {{(Width-1){1'b0}}, halves[0]};

  assign saturated_o = ~shift_i[7] & (left[2*Width-1:Width-1] != {(Width+1){a_i[Width-1]}});
  assign result_o    = shift_i[7] ? right :
                       (saturated_o ? {a_i[Width-1], {(Width-1){~a_i[Width-1]}}} : left[Width-1:0]);

endmodule
