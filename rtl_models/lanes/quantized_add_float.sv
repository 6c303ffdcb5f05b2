// The sum of two quantized tensors by float32 arithmetic: Simd's SynetQuantizedAdd of bytes, in its NEON modes.
//
//   v      = (constant + a * a_multiplier) + b * b_multiplier
//   result = v as a byte, rounded
//
//   unfused_i     0: each product and its sum rounded once (FMLA); 1: rounded both (-ffp-contract=off)
//   rounding_i    0: ties to even; 1: ties away from zero, by adding a half: see `float_to_byte`
//
// The multipliers and the constant are the bits of float32.  Of Simd's parameters they are sa/sd, sb/sd and zd less
// both zero points scaled.
//
//   stage     shallow (9)               deep (46)
//   1..4      a's product added         1..22
//   5..8      b's product added         23..44
//   9         float_to_byte             45, 46
//
// The configuration travels with the beat.  With scales 0.01, 0.01 and 0.02, all zero points 0, that is multipliers of
// 0.5 (3F000000) and the constant 0:
//
//     a     b   rounding   result
//     0     1          0        0       0.5
//     0     1          1        1
//     2     5          0        4       3.5
//   255   255          0      255

`include "require.svh"

module quantized_add_float #(
  parameter int Lanes = 4,
  parameter bit Deep  = 1'b0
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               valid_i,
  output logic               ready_o,
  input  logic [8*Lanes-1:0] a_i,
  input  logic [8*Lanes-1:0] b_i,
  input  logic [31:0]        a_multiplier_i,
  input  logic [31:0]        b_multiplier_i,
  input  logic [31:0]        constant_i,
  input  logic [1:0]         rounding_i,
  input  logic               unfused_i,
  output logic               valid_o,
  input  logic               ready_i,
  output logic [8*Lanes-1:0] result_o
);

  `REQUIRE(legal_lanes, Lanes == 4 || Lanes == 8 || Lanes == 16,
           "quantized_add_float: Lanes is the numbers of a beat and must be 4, 8 or 16")

  localparam int Depth    = Deep ? lanewise_pkg::QuantizedAddFloatDeep : lanewise_pkg::QuantizedAddFloatShallow;
  localparam int AddDepth = Deep ? lanewise_pkg::AddScaledByteDeep : lanewise_pkg::AddScaledByteShallow;

  logic               enable;
  logic [8*Lanes-1:0] b;
  logic [31:0]        b_multiplier;
  logic               unfused, ties_away;

  valid_pipeline #(
    .Depth(Depth)
  ) u_valid_pipeline (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (valid_i),
    .ready_o (ready_o),
    .valid_o (valid_o),
    .ready_i (ready_i),
    .enable_o(enable)
  );

  delay_line #(
    .Width(8*Lanes + 33),
    .Depth(AddDepth)
  ) u_second_operands (
    .clk_i   (clk_i),
    .enable_i(enable),
    .data_i  ({b_i, b_multiplier_i, unfused_i}),
    .data_o  ({b, b_multiplier, unfused})
  );

  delay_line #(
    .Width(1),
    .Depth(2*AddDepth)
  ) u_output_configuration (
    .clk_i   (clk_i),
    .enable_i(enable),
    .data_i  (rounding_i == 2'd1),
    .data_o  (ties_away)
  );

  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_lane
    logic [31:0] first, sum;

    add_scaled_byte #(
      .Deep(Deep)
    ) u_add_a (
      .clk_i        (clk_i),
      .enable_i     (enable),
      .accumulator_i(constant_i),
      .byte_i       (a_i[8*lane +: 8]),
      .factor_i     (a_multiplier_i),
      .unfused_i    (unfused_i),
      .result_o     (first)
    );

    add_scaled_byte #(
      .Deep(Deep)
    ) u_add_b (
      .clk_i        (clk_i),
      .enable_i     (enable),
      .accumulator_i(first),
      .byte_i       (b[8*lane +: 8]),
      .factor_i     (b_multiplier),
      .unfused_i    (unfused),
      .result_o     (sum)
    );

    float_to_byte #(
      .Deep(Deep)
    ) u_float_to_byte (
      .clk_i      (clk_i),
      .enable_i   (enable),
      .value_i    (sum),
      .ties_away_i(ties_away),
      .result_o   (result_o[8*lane +: 8])
    );
  end

endmodule
