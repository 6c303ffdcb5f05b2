// Two signed numbers multiplied in four tiles, each of two halves: a tile of 32 bits fits a multiplier of 18 x 18.
//
//   a = a_high * 2^(Width/2) + a_low        a_high signed, a_low unsigned; so too b
//
// Added at their places they are the product, which `multiply_high` does.  At Width 8, halves of 4 bits:
//
//       a     b   high  high_low  low_high   low
//     100    50     18        12        12     8       6 and 4, 3 and 2
//      -1    -1      1       -15       -15   225       -1 and 15
//    -128  -128     64         0         0     0

`include "require.svh"

module multiply_tiles #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic [Width-1:0] high_o,
  output logic [Width-1:0] high_low_o,
  output logic [Width-1:0] low_high_o,
  output logic [Width-1:0] low_o
);

  `REQUIRE(legal_width, Width >= 2 && Width % 2 == 0, "multiply_tiles: Width is two halves and must be even")

  localparam int Half = Width / 2;

  logic [Half-1:0] a_high, a_low, b_high, b_low;

  assign {a_high, a_low} = a_i;
  assign {b_high, b_low} = b_i;

  assign high_o     = $signed(a_high) * $signed(b_high);
  assign high_low_o = $signed(a_high) * $signed({1'b0, b_low});
  assign low_high_o = $signed({1'b0, a_low}) * $signed(b_high);
  assign low_o      = a_low * b_low;

endmodule
