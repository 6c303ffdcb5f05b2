// The product of two signed numbers of Width bits to the high half of its double, ties up, saturated: SQRDMULH's end.
//
//   result = (product + 2^(Width-2)) >> (Width-1)
//
// The one product that saturates is MIN * MIN; above it, which no two numbers reach, the result means nothing.
// At Width 8:
//
//   product   result  saturated
//      5000       39       0       39.06
//        64        1       0       0.5: a tie goes up
//       -64        0       0       -0.5: up, not away from zero
//     16384      127       1       -128 * -128

`include "require.svh"

module rounding_doubling_high #(
  parameter int Width = 32
) (
  input  logic [2*Width-1:0] product_i,
  output logic [Width-1:0]   result_o,
  output logic               saturated_o
);

  `REQUIRE(legal_width, Width >= 2, "rounding_doubling_high: Width is the bits of a factor and must be 2 or more")

  localparam logic [2*Width-1:0] Half = {{(2*Width-1){1'b0}}, 1'b1} << (Width - 2);

  logic [2*Width-1:0] rounded;
  logic               unused_rounding;

  assign rounded         = product_i + Half;
  assign unused_rounding = ^rounded[Width-2:0];

  // |product| <= 2^(2*Width-2): the two top bits differ only for MIN * MIN, which is positive.
  assign saturated_o = rounded[2*Width-1] != rounded[2*Width-2];
  assign result_o    = saturated_o ? {1'b0, {(Width-1){1'b1}}} : rounded[2*Width-2:Width-1];

endmodule
