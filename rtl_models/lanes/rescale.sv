// A number times multiplier * 2^(-31 - shift), with two roundings: SQRDMULH, then a division with ties away from zero.
//
//   high   = min((value * multiplier + 2^30) >> 31, 2^31 - 1)
//   result = sign(high) * floor(|high| / 2^shift + 1/2)
//
//   stage     shallow (2)               deep (6)
//   1         high (multiply_high)      multiply_high
//   2         result_q                  multiply_high
//   3                                   high (multiply_high)
//   4                                   fixed_q: one less where negative, for ties away
//   5                                   halves_q: shifted
//   6                                   result_q: rounded, ties up
//
//         value   multiplier   shift        result
//             1         2^30       1             1       0.25: 0.5 goes up to 1, and 0.5 away from zero to 1
//            -3         2^30       1            -1       -1.5 goes up to -1, -0.5 away from zero to -1
//         -2^31        -2^31       0      2^31 - 1
//         -2^31     2^31 - 1      31            -1

module rescale #(
  parameter bit Deep = 1'b0
) (
  input  logic        clk_i,
  input  logic        enable_i,
  input  logic [31:0] value_i,
  input  logic [31:0] multiplier_i,
  input  logic [4:0]  shift_i,
  output logic [31:0] result_o
);

  localparam int MultiplyDepth = Deep ? lanewise_pkg::MultiplyHighDeep : lanewise_pkg::MultiplyHighShallow;

  logic [31:0] high;
  logic [4:0]  shift;
  logic [31:0] fixed_d, fixed;
  logic [4:0]  fixed_shift;
  logic [32:0] halves_d, halves;
  logic [31:0] result_d, result_q;
  logic        unused_saturated;

  multiply_high #(
    .Deep(Deep)
  ) u_multiply_high (
    .clk_i       (clk_i),
    .enable_i    (enable_i),
    .value_i     (value_i),
    .multiplier_i(multiplier_i),
    .result_o    (high)
  );

  delay_line #(
    .Width(5),
    .Depth(MultiplyDepth)
  ) u_shift (
    .clk_i   (clk_i),
    .enable_i(enable_i),
    .data_i  (shift_i),
    .data_o  (shift)
  );

  // The shift has ties up: a negative number loses 1 first, where there is something to shift.
  sqadd #(
    .Width(32)
  ) u_sqadd (
    .a_i        (high),
    .b_i        ({32{high[31] & (|shift)}}),
    .result_o   (fixed_d),
    .saturated_o(unused_saturated)
  );

  shift_right_to_halves #(
    .Width(32)
  ) u_shift_right_to_halves (
    .a_i     (fixed),
    .shift_i (fixed_shift),
    .halves_o(halves_d)
  );

  round_halves #(
    .Width(32)
  ) u_round_halves (
    .halves_i(halves),
    .result_o(result_d)
  );

  if (Deep) begin : gen_deep
    logic [31:0] fixed_q;
    logic [4:0]  shift_q;
    logic [32:0] halves_q;

    assign fixed       = fixed_q;
    assign fixed_shift = shift_q;
    assign halves      = halves_q;

    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        fixed_q  <= fixed_d;
        shift_q  <= shift;
        halves_q <= halves_d;
      end
    end
  end else begin : gen_shallow
    assign fixed       = fixed_d;
    assign fixed_shift = shift;
    assign halves      = halves_d;
  end

  assign result_o = result_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) result_q <= result_d;
  end

endmodule
