// A quantized byte less its zero point, with bits to spare below it for the roundings that follow.
//
//   result = (byte + offset) << left_shift, wrapped        offset is minus the zero point
//
//   stage     shallow (1)               deep (2)
//   1         result_q                  difference_q, left_shift_q
//   2                                   result_q
//
//   signed  byte    offset  left_shift       result
//        0   200      -128          20         72 * 2^20
//        1  -128      -127          20       -255 * 2^20
//        0   255       255          31            0       510 * 2^31 wraps
//        0     1  2^31 - 1           0      -2^31         so does the sum

module place_byte #(
  parameter bit Deep = 1'b0
) (
  input  logic        clk_i,
  input  logic        enable_i,
  input  logic [7:0]  byte_i,
  input  logic        signed_i,
  input  logic [31:0] offset_i,
  input  logic [4:0]  left_shift_i,
  output logic [31:0] result_o
);

  logic [31:0] difference_d, difference;
  logic [4:0]  left_shift;
  logic [31:0] result_d, result_q;

  assign difference_d = {{24{signed_i & byte_i[7]}}, byte_i} + offset_i;
  assign result_d     = difference << left_shift;

  if (Deep) begin : gen_deep
    logic [31:0] difference_q;
    logic [4:0]  left_shift_q;

    assign difference = difference_q;
    assign left_shift = left_shift_q;

    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        difference_q <= difference_d;
        left_shift_q <= left_shift_i;
      end
    end
  end else begin : gen_shallow
    assign difference = difference_d;
    assign left_shift = left_shift_i;
  end

  assign result_o = result_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) result_q <= result_d;
  end

endmodule
