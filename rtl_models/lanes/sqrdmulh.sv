// SQRDMULH: the high half of the doubled product of two signed numbers, ties up, saturated.
//
//   result = (a * b + 2^(Width-2)) >> (Width-1)
//
// The one pair that saturates is MIN * MIN.  At Width 8:
//
//       a     b   result  saturated
//     100    50      39       0       5000 / 128 = 39.06
//      64     1       1       0       a tie goes up
//     -64     1       0       0       up, not away from zero
//    -128   127    -127       0       MIN is never returned
//    -128  -128     127       1

`include "require.svh"

module sqrdmulh #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic [Width-1:0] result_o,
  output logic             saturated_o
);

  `REQUIRE(legal_width, Width >= 2, "sqrdmulh: Width is the bits of a signed number and must be 2 or more")

  logic signed [2*Width-1:0] product;

  assign product = $signed(a_i) * $signed(b_i);

  rounding_doubling_high #(
    .Width(Width)
  ) u_rounding_doubling_high (
    .product_i  (product),
    .result_o   (result_o),
    .saturated_o(saturated_o)
  );

endmodule
