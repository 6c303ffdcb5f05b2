// A quantized byte less its zero point, with bits to spare below it for the roundings that follow.
//
//   result = (byte + offset) << left_shift, wrapped        offset is minus the zero point
//
//   signed  byte  offset  left_shift       result
//        0   200    -128          20         72 * 2^20
//        1  -128    -127          20       -255 * 2^20
//        0   255     255          31            0       510 * 2^31 wraps

module place_byte (
  input  logic [7:0]  byte_i,
  input  logic        signed_i,
  input  logic [8:0]  offset_i,
  input  logic [4:0]  left_shift_i,
  output logic [31:0] result_o
);

  logic signed [9:0]  difference;
  logic        [31:0] extended;

  assign difference = {{2{signed_i & byte_i[7]}}, byte_i} + {offset_i[8], offset_i};
  assign extended   = {{22{difference[9]}}, difference};
  assign result_o   = extended << left_shift_i;

endmodule
