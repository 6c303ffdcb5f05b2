// USHL: an unsigned number shifted by a register, to the right rounded down.  It never saturates.
//
// `shift` is the low byte of AdvSIMD's count lane, signed: left by it, right where it is negative, by -128..127 in all.
// At Width 8:
//
//       a  shift  result  saturated
//     200      1     144       0       wraps
//     255     -1     127       0
//     255     -8       0       0
//     255    127       0       0

`include "require.svh"

module ushl #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [7:0]       shift_i,
  output logic [Width-1:0] result_o,
  output logic             saturated_o
);

  `REQUIRE(legal_width, Width >= 2 && Width <= 64, "ushl: Width is the bits of a lane and must be 2 to 64")

  logic [Width-1:0] left;
  logic [Width-1:0] right;

  assign left = a_i << shift_i[6:0];

  // To the right by n = -shift, in two steps: n - 1 is ~shift, which fits seven bits where n = 128 does not.
  assign right = (a_i >> (~shift_i[6:0])) >> 1;

  assign saturated_o = 1'b0;
  assign result_o    = shift_i[7] ? right : left;

endmodule
