// SQXTUN: a signed number of 2*Width bits, saturated to an unsigned number of Width bits.
//
// At Width 8:
//
//        a   result  saturated
//      255     255       0
//      256     255       1
//    32767     255       1
//       -1       0       1
//   -32768       0       1

`include "require.svh"

module sqxtun #(
  parameter int Width = 32
) (
  input  logic [2*Width-1:0] a_i,
  output logic [Width-1:0]   result_o,
  output logic               saturated_o
);

  `REQUIRE(legal_width, Width >= 1, "sqxtun: Width is the bits of the result and must be 1 or more")

  assign saturated_o = |a_i[2*Width-1:Width];
  assign result_o    = saturated_o ? {Width{~a_i[2*Width-1]}} : a_i[Width-1:0];

endmodule
