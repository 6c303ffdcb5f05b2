// UQXTN: an unsigned number of 2*Width bits, saturated to an unsigned number of Width bits.
//
// At Width 8:
//
//        a   result  saturated
//      255     255       0
//      256     255       1
//    65535     255       1

`include "require.svh"

module uqxtn #(
  parameter int Width = 32
) (
  input  logic [2*Width-1:0] a_i,
  output logic [Width-1:0]   result_o,
  output logic               saturated_o
);

  `REQUIRE(legal_width, Width >= 1, "uqxtn: Width is the bits of the result and must be 1 or more")

  assign saturated_o = |a_i[2*Width-1:Width];
  assign result_o    = saturated_o ? {Width{1'b1}} : a_i[Width-1:0];

endmodule
