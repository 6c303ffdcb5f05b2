// A float32 as a byte: rounded, 0 and 255 where it lies beyond them, 0 for what is no number.
//
// Ties go to even (FCVTNS), or away from zero as where a half is added and the sum truncated (FADD, FCVTZS).  The sum is
// itself rounded: the largest number below a half then becomes 1.
//
//   stage     shallow (1)               deep (2)
//   1         result_q                  places_q, of_places_q
//   2                                   result_q
//
//   value      ties away   result
//   3F000000           0        0       0.5
//   3F000000           1        1
//   3EFFFFFF           0        0       0.49999997
//   3EFFFFFF           1        1
//   437F8000           1      255       255.5
//   BF800000           0        0       -1
//   7FC00000           0        0       no number

module float_to_byte #(
  parameter bit Deep = 1'b0
) (
  input  logic        clk_i,
  input  logic        enable_i,
  input  logic [31:0] value_i,
  input  logic        ties_away_i,
  output logic [7:0]  result_o
);

  localparam logic [31:0] BelowHalf = 32'h3EFFFFFF;

  logic        sign;
  logic [7:0]  field;
  logic [22:0] fraction;
  logic        is_small, is_none, is_one;
  logic [3:0]  left;
  logic [31:0] places_d, places;  // 8 bits before the point and 24 behind it, of 0.5 up to 256
  logic [3:0]  of_places_d, of_places;  // gives 0, gives 255, gives 1; ties go away
  logic        up;
  logic [7:0]  result_d, result_q;

  assign {sign, field, fraction} = value_i;
  assign is_small    = field < 8'd126;
  assign is_none     = &field & (|fraction);
  assign is_one      = ties_away_i & value_i == BelowHalf;
  assign left        = 4'(field - 8'd126);
  assign places_d    = 32'({1'b1, fraction}) << left;
  assign of_places_d = {sign | is_none | (is_small & ~is_one), field >= 8'd135, is_one, ties_away_i};
  assign up          = places[23] & (of_places[0] | places[24] | (|places[22:0]));

  always_comb begin
    if (of_places[3]) result_d = '0;
    else if (of_places[2]) result_d = '1;
    else if (of_places[1]) result_d = 8'd1;
    else result_d = &places[31:24] ? '1 : places[31:24] + 8'(up);
  end

  if (Deep) begin : gen_deep
    logic [31:0] places_q;
    logic [3:0]  of_places_q;

    assign places    = places_q;
    assign of_places = of_places_q;

    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        places_q    <= places_d;
        of_places_q <= of_places_d;
      end
    end
  end else begin : gen_shallow
    assign places    = places_d;
    assign of_places = of_places_d;
  end

  assign result_o = result_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) result_q <= result_d;
  end

endmodule
