// A float32 as a byte: rounded, 0 and 255 where it lies beyond them, 0 for what is no number.
//
// Ties go to even (FCVTNS), or away from zero as where a half is added and the sum truncated (FADD, FCVTZS).  The sum is
// itself rounded: the largest number below a half then becomes 1.
//
//   value      ties away   result
//   3F000000           0        0       0.5
//   3F000000           1        1
//   3EFFFFFF           0        0       0.49999997
//   3EFFFFFF           1        1
//   437F8000           1      255       255.5
//   BF800000           0        0       -1
//   7FC00000           0        0       no number

module float_to_byte (
  input  logic [31:0] value_i,
  input  logic        ties_away_i,
  output logic [7:0]  result_o
);

  localparam logic [31:0] BelowHalf = 32'h3EFFFFFF;

  logic        sign;
  logic [7:0]  field;
  logic [22:0] fraction;
  logic [31:0] places;  // 8 bits before the point and 24 behind it, of 0.5 up to 256
  logic        up;

  assign {sign, field, fraction} = value_i;
  assign places = 32'({1'b1, fraction}) << (field - 8'd126);
  assign up     = places[23] & (ties_away_i | places[24] | (|places[22:0]));

  always_comb begin
    if (sign || (&field && |fraction)) result_o = '0;
    else if (field >= 8'd135) result_o = '1;
    else if (field < 8'd126) result_o = 8'(ties_away_i && value_i == BelowHalf);
    else result_o = &places[31:24] ? '1 : places[31:24] + 8'(up);
  end

endmodule
