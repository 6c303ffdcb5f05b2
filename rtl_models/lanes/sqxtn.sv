// SQXTN: a signed number of 2*Width bits, saturated to a signed number of Width bits.
//
// At Width 8:
//
//        a   result  saturated
//      127     127       0
//      128     127       1
//     -128    -128       0
//     -129    -128       1
//   -32768    -128       1

`include "require.svh"

module sqxtn #(
  parameter int Width = 32
) (
  input  logic [2*Width-1:0] a_i,
  output logic [Width-1:0]   result_o,
  output logic               saturated_o
);

  `REQUIRE(legal_width, Width >= 2, "sqxtn: Width is the bits of the result and must be 2 or more")

  // The number fits where all bits from the sign of the result upwards are equal.
  assign saturated_o = a_i[2*Width-1:Width-1] != {(Width+1){a_i[2*Width-1]}};
  assign result_o    = saturated_o ? {a_i[2*Width-1], {(Width-1){~a_i[2*Width-1]}}} : a_i[Width-1:0];

endmodule
