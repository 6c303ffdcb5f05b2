// The product of two signed numbers of Width bits, of the four tiles of `multiply_tiles`.
//
//   product = high * 2^Width + (high_low + low_high) * 2^(Width/2) + low        low unsigned, the others signed
//
// At Width 8:
//
//    high  high_low  low_high   low  product
//      18        12        12     8     5000       100 * 50
//       1       -15       -15   225        1       -1 * -1
//      64         0         0     0    16384       -128 * -128

`include "require.svh"

module sum_of_tiles #(
  parameter int Width = 32
) (
  input  logic [Width-1:0]   high_i,
  input  logic [Width-1:0]   high_low_i,
  input  logic [Width-1:0]   low_high_i,
  input  logic [Width-1:0]   low_i,
  output logic [2*Width-1:0] product_o
);

  `REQUIRE(legal_width, Width >= 2 && Width % 2 == 0, "sum_of_tiles: Width is two halves and must be even")

  localparam int Half = Width / 2;

  logic signed [Width:0] crossed;

  assign crossed   = $signed(high_low_i) + $signed(low_high_i);
  assign product_o = {high_i, low_i} + {{(Half-1){crossed[Width]}}, crossed, {Half{1'b0}}};

endmodule
