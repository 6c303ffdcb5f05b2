// UDOT: four products of unsigned bytes added to an accumulator; the sum wraps.  It never saturates.
//
// A byte is a quarter of a lane; a0 and b0 are the lowest.  At Width 32:
//
//  accumulator    a0   a1   a2   a3   b0   b1   b2   b3       result  saturated
//           10     1    2    3    4    5    6    7    8           80       0
//            0   255  255  255  255  255  255  255  255       260100       0
//   4294967295     1    0    0    0    1    0    0    0            0       0       wraps

`include "require.svh"

module udot4 #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  input  logic [Width-1:0] accumulator_i,
  output logic [Width-1:0] result_o,
  output logic             saturated_o
);

  `REQUIRE(legal_width, Width >= 8 && Width % 4 == 0,
           "udot4: Width is the bits of four bytes and must be a multiple of 4 from 8 on")

  localparam int Byte = Width / 4;

  logic [2*Byte-1:0] product0, product1, product2, product3;

  assign product0 = a_i[0*Byte +: Byte] * b_i[0*Byte +: Byte];
  assign product1 = a_i[1*Byte +: Byte] * b_i[1*Byte +: Byte];
  assign product2 = a_i[2*Byte +: Byte] * b_i[2*Byte +: Byte];
  assign product3 = a_i[3*Byte +: Byte] * b_i[3*Byte +: Byte];

  assign result_o    = accumulator_i + Width'(product0) + Width'(product1) + Width'(product2) + Width'(product3);
  assign saturated_o = 1'b0;

endmodule
