// A quantized byte less its zero point, with bits to spare below it for the roundings that follow.
//
//   result = (byte + offset) << left_shift, wrapped        offset is minus the zero point
//
//   signed  byte    offset  left_shift       result
//        0   200      -128          20         72 * 2^20
//        1  -128      -127          20       -255 * 2^20
//        0   255       255          31            0       510 * 2^31 wraps
//        0     1  2^31 - 1           0      -2^31         so does the sum

module place_byte (
  input  logic [7:0]  byte_i,
  input  logic        signed_i,
  input  logic [31:0] offset_i,
  input  logic [4:0]  left_shift_i,
  output logic [31:0] result_o
);

  logic [31:0] difference;

  assign difference = {{24{signed_i & byte_i[7]}}, byte_i} + offset_i;
  assign result_o   = difference << left_shift_i;

endmodule
