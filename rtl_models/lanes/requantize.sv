// Sums of a quantized layer brought down to bytes, by a multiplier and a shift to either side for each lane.
//
//   biased = wrap(accumulator + bias)
//   scaled = biased * multiplier * 2^(left_shift - shift - 31), rounded as `rounding_i` says
//   result = min(max(scaled + offset, minimum), maximum)            the sum is exact
//
//   rounding_i   scaled
//   0            rescale(wrap(biased << left_shift), multiplier, shift)         TFLite's two roundings
//   1            the same, with ties up in the second rounding, too
//   2            one rounding, ties up, wrapped; left_shift is at most 30       TFLite's single rounding
//
// `signed_i` says how the bounds are read: int8, or uint8.
//
//   stage     shallow (4)               deep (12)
//   1         shifted_q                 biased_q
//   2                                   shifted_q
//   2, 3      scale_rounded             3..9: scale_rounded
//   4         bounded_sum               10..12: bounded_sum
//
// Depth 7 has the multipliers of the deep one, 9 also its shifts, 11 also its bounds, and the rest of the shallow one.
//
// The configuration travels with the beat.  With multiplier 2^30, offset 2, bounds 0 to 255:
//
//   accumulator  bias  left_shift  shift  rounding   result
//             5     2           0      1         0        4       1.75: 3.5 goes up to 4, halved to 2
//             5     1           0      1         0        4       1.5 goes away from zero
//            -5    -1           0      1         0        0       -1.5 goes away from zero
//            -5    -1           0      1         2        1       -1.5 goes up
//             3     0           5      0         2       50       48
//      2^31 - 1     0           0      0         0      255

`include "require.svh"

module requantize #(
  parameter int Lanes = 4,
  parameter bit Deep  = 1'b0,
  parameter int Depth = Deep ? lanewise_pkg::RequantizeDeep : lanewise_pkg::RequantizeShallow
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                valid_i,
  output logic                ready_o,
  input  logic [32*Lanes-1:0] accumulator_i,
  input  logic [32*Lanes-1:0] bias_i,
  input  logic [32*Lanes-1:0] multiplier_i,
  input  logic [5*Lanes-1:0]  left_shift_i,
  input  logic [5*Lanes-1:0]  shift_i,
  input  logic [1:0]          rounding_i,
  input  logic [31:0]         offset_i,
  input  logic [7:0]          minimum_i,
  input  logic [7:0]          maximum_i,
  input  logic                signed_i,
  output logic                valid_o,
  input  logic                ready_i,
  output logic [8*Lanes-1:0]  result_o
);

  `REQUIRE(legal_lanes, Lanes == 4 || Lanes == 8 || Lanes == 16,
           "requantize: Lanes is the numbers of a beat and must be 4, 8 or 16")
  `REQUIRE(legal_depth,
           Depth == lanewise_pkg::RequantizeShallow || Depth == lanewise_pkg::RequantizeMultiplied ||
           Depth == lanewise_pkg::RequantizeShifted || Depth == lanewise_pkg::RequantizeBounded ||
           Depth == lanewise_pkg::RequantizeDeep,
           "requantize: Depth is the register stages and must be 4, 7, 9, 11 or 12")

  localparam bit DeepFirst   = Depth >= lanewise_pkg::RequantizeDeep;
  localparam int ScaledDepth = Depth >= lanewise_pkg::RequantizeShifted    ? lanewise_pkg::ScaleRoundedDeep
                             : Depth >= lanewise_pkg::RequantizeMultiplied ? lanewise_pkg::ScaleRoundedMultiplied
                             : lanewise_pkg::ScaleRoundedShallow;
  localparam bit DeepOutput  = Depth >= lanewise_pkg::RequantizeBounded;

  logic                enable;
  logic [32*Lanes-1:0] biased_d, biased;  // as the sum is made, as it is shifted
  logic [32*Lanes-1:0] multiplier, multiplier_q;
  logic [5*Lanes-1:0]  left_shift, left_shift_q, shift, shift_q;
  logic [1:0]          rounding, rounding_q;
  logic [32*Lanes-1:0] shifted_d, shifted_q;
  logic [31:0]         offset;
  logic [7:0]          minimum, maximum;
  logic                is_signed;

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

  if (DeepFirst) begin : gen_deep
    logic [32*Lanes-1:0] biased_q, given_multiplier_q;
    logic [5*Lanes-1:0]  given_left_shift_q, given_shift_q;
    logic [1:0]          given_rounding_q;

    assign biased     = biased_q;
    assign multiplier = given_multiplier_q;
    assign left_shift = given_left_shift_q;
    assign shift      = given_shift_q;
    assign rounding   = given_rounding_q;

    always_ff @(posedge clk_i) begin
      if (enable) begin
        biased_q           <= biased_d;
        given_multiplier_q <= multiplier_i;
        given_left_shift_q <= left_shift_i;
        given_shift_q      <= shift_i;
        given_rounding_q   <= rounding_i;
      end
    end
  end else begin : gen_shallow
    assign biased     = biased_d;
    assign multiplier = multiplier_i;
    assign left_shift = left_shift_i;
    assign shift      = shift_i;
    assign rounding   = rounding_i;
  end

  always_ff @(posedge clk_i) begin
    if (enable) begin
      shifted_q    <= shifted_d;
      multiplier_q <= multiplier;
      left_shift_q <= left_shift;
      shift_q      <= shift;
      rounding_q   <= rounding;
    end
  end

  delay_line #(
    .Width(49),
    .Depth((DeepFirst ? 2 : 1) + ScaledDepth)
  ) u_output_configuration (
    .clk_i   (clk_i),
    .enable_i(enable),
    .data_i  ({offset_i, minimum_i, maximum_i, signed_i}),
    .data_o  ({offset, minimum, maximum, is_signed})
  );

  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_lane
    logic [31:0] scaled;

    assign biased_d[32*lane +: 32]  = accumulator_i[32*lane +: 32] + bias_i[32*lane +: 32];
    assign shifted_d[32*lane +: 32] = rounding[1] ? biased[32*lane +: 32]
                                                  : biased[32*lane +: 32] << left_shift[5*lane +: 5];

    scale_rounded #(
      .Depth(ScaledDepth)
    ) u_scale_rounded (
      .clk_i       (clk_i),
      .enable_i    (enable),
      .value_i     (shifted_q[32*lane +: 32]),
      .multiplier_i(multiplier_q[32*lane +: 32]),
      .left_i      (left_shift_q[5*lane +: 5]),
      .right_i     (shift_q[5*lane +: 5]),
      .rounding_i  (rounding_q),
      .result_o    (scaled)
    );

    bounded_sum #(
      .Deep(DeepOutput)
    ) u_bounded_sum (
      .clk_i    (clk_i),
      .enable_i (enable),
      .value_i  (scaled),
      .offset_i (offset),
      .minimum_i(minimum),
      .maximum_i(maximum),
      .signed_i (is_signed),
      .result_o (result_o[8*lane +: 8])
    );
  end

endmodule
