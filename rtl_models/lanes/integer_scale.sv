// Sums scaled to bytes by an integer multiplier and a shift to the right: QuantizeDownInt32ToUint8Scale.
//
//   scaled = wrap((accumulator + bias + offset) * multiplier) / 2^shift, rounded as `rounding_i` says
//   result = min(max(scaled, minimum), maximum)
//
//   rounding_i   the quotient
//   0            to the nearest, ties away from zero       gemmlowp
//   1            to the nearest, ties up
//   2            rounded down                              ACL
//
// `signed_i` says how the bounds are read: int8, or uint8.
//
//   stage     shallow (4)               deep (8)
//   1         placed_q                  placed_q
//   2         multiply_low              2, 3: multiply_low
//   3         shift_rounded             4..6: shift_rounded
//   4         clamp_to_byte             7, 8: clamp_to_byte
//
// Depth 5 has the multiplier of the deep one, 7 also its shift, and the rest of the shallow one.
//
// The configuration travels with the beat.  With multiplier 3, shift 1, bounds 0 to 255:
//
//   accumulator  bias     offset  rounding   result
//             5     0          0         0        8       7.5
//             5     0          0         2        7
//             5     2         -6         0        2       1.5
//            -5     0          0         0        0       -7.5 is below
//      2^31 - 1     0          1         0        0       2^31 wraps

`include "require.svh"

module integer_scale #(
  parameter int Lanes = 4,
  parameter bit Deep  = 1'b0,
  parameter int Depth = Deep ? lanewise_pkg::IntegerScaleDeep : lanewise_pkg::IntegerScaleShallow
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                valid_i,
  output logic                ready_o,
  input  logic [32*Lanes-1:0] accumulator_i,
  input  logic [32*Lanes-1:0] bias_i,
  input  logic [31:0]         multiplier_i,
  input  logic [4:0]          shift_i,
  input  logic [31:0]         offset_i,
  input  logic [1:0]          rounding_i,
  input  logic [7:0]          minimum_i,
  input  logic [7:0]          maximum_i,
  input  logic                signed_i,

  output logic                valid_o,
  input  logic                ready_i,
  output logic [8*Lanes-1:0]  result_o
);

  `REQUIRE(legal_lanes, Lanes == 4 || Lanes == 8 || Lanes == 16, "integer_scale: Lanes must be 4, 8 or 16")
  `REQUIRE(legal_depth,
           Depth == lanewise_pkg::IntegerScaleShallow || Depth == lanewise_pkg::IntegerScaleMultiplied ||
           Depth == lanewise_pkg::IntegerScaleShifted || Depth == lanewise_pkg::IntegerScaleDeep,
           "integer_scale: Depth is the register stages and must be 4, 5, 7 or 8")

  localparam bit DeepMultiply  = Depth >= lanewise_pkg::IntegerScaleMultiplied;
  localparam bit DeepShift     = Depth >= lanewise_pkg::IntegerScaleShifted;
  localparam bit DeepClamp     = Depth >= lanewise_pkg::IntegerScaleDeep;
  localparam int MultiplyDepth = DeepMultiply ? lanewise_pkg::MultiplyLowDeep : lanewise_pkg::MultiplyLowShallow;
  localparam int ClampDepth    = DeepClamp ? lanewise_pkg::ClampToByteDeep : lanewise_pkg::ClampToByteShallow;

  logic        enable;
  logic [31:0] multiplier_q;
  logic [4:0]  shift;
  logic [1:0]  rounding;
  logic [7:0]  minimum, maximum;
  logic        is_signed;

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

  always_ff @(posedge clk_i) begin
    if (enable) multiplier_q <= multiplier_i;
  end

  delay_line #(
    .Width(7),
    .Depth(1 + MultiplyDepth)
  ) u_shift_configuration (
    .clk_i   (clk_i),
    .enable_i(enable),
    .data_i  ({shift_i, rounding_i}),
    .data_o  ({shift, rounding})
  );

  delay_line #(
    .Width(17),
    .Depth(Depth - ClampDepth)
  ) u_output_configuration (
    .clk_i   (clk_i),
    .enable_i(enable),
    .data_i  ({minimum_i, maximum_i, signed_i}),
    .data_o  ({minimum, maximum, is_signed})
  );

  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_lane
    logic [31:0] placed_q, product, scaled;

    multiply_low #(
      .Width(32),
      .Deep (DeepMultiply)
    ) u_multiply_low (
      .clk_i   (clk_i),
      .enable_i(enable),
      .a_i     (placed_q),
      .b_i     (multiplier_q),
      .result_o(product)
    );

    shift_rounded #(
      .Deep(DeepShift)
    ) u_shift_rounded (
      .clk_i     (clk_i),
      .enable_i  (enable),
      .value_i   (product),
      .shift_i   (shift),
      .rounding_i(rounding),
      .result_o  (scaled)
    );

    clamp_to_byte #(
      .Deep(DeepClamp)
    ) u_clamp_to_byte (
      .clk_i    (clk_i),
      .enable_i (enable),
      .value_i  (scaled),
      .minimum_i(minimum),
      .maximum_i(maximum),
      .signed_i (is_signed),
      .result_o (result_o[8*lane +: 8])
    );

    always_ff @(posedge clk_i) begin
      if (enable) placed_q <= accumulator_i[32*lane +: 32] + bias_i[32*lane +: 32] + offset_i;
    end
  end

endmodule
