// Two quantized bytes added by integers alone: the add of TFLite and CMSIS-NN with double rounding.
//
//   a'     = rescale((a + a_offset) << left_shift, a_multiplier, a_shift)        so too b'
//   scaled = rescale(wrap(a' + b'), multiplier, shift)
//   result = min(max(wrap(scaled + offset), minimum), maximum)
//
// `signed_i` says how the bytes and the bounds are read.  TFLite has a_offset and b_offset minus the zero points of the
// operands, left_shift 20, offset the zero point of the sum.
//
//   stage     shallow (7)               deep (20)
//   1         place_byte, twice         1, 2: place_byte, twice
//   2, 3      both rescaled             3..9: both rescaled
//   4         sum_q                     10: sum_q
//   5, 6      the sum rescaled          11..17: the sum rescaled
//   7         output_stages             18..20: output_stages
//
// Depth 13 has the multipliers of the deep one, 17 also its shifts, 19 also its bounds, and the rest of the shallow one.
//
// The configuration travels with the beat.  With scales 0.01, 0.01 and 0.02, all zero points 0: left_shift 20,
// a_multiplier 2^30, a_shift 0, likewise b, multiplier 2^30, shift 19, offset 0, bounds 0..255:
//
//     a     b   result
//     2     5        4       3.5: a tie, away from zero
//     0     1        1
//   255   255      255

`include "require.svh"

module quantized_add #(
  parameter int Lanes = 4,
  parameter bit Deep  = 1'b0,
  parameter int Depth = Deep ? lanewise_pkg::QuantizedAddDeep : lanewise_pkg::QuantizedAddShallow
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               valid_i,
  output logic               ready_o,
  input  logic [8*Lanes-1:0] a_i,
  input  logic [8*Lanes-1:0] b_i,
  input  logic               signed_i,
  input  logic [31:0]        a_offset_i,
  input  logic [31:0]        b_offset_i,
  input  logic [4:0]         left_shift_i,
  input  logic [31:0]        a_multiplier_i,
  input  logic [4:0]         a_shift_i,
  input  logic [31:0]        b_multiplier_i,
  input  logic [4:0]         b_shift_i,
  input  logic [31:0]        multiplier_i,
  input  logic [4:0]         shift_i,
  input  logic [31:0]        offset_i,
  input  logic [7:0]         minimum_i,
  input  logic [7:0]         maximum_i,
  output logic               valid_o,
  input  logic               ready_i,
  output logic [8*Lanes-1:0] result_o
);

  `REQUIRE(legal_lanes, Lanes == 4 || Lanes == 8 || Lanes == 16,
           "quantized_add: Lanes is the numbers of a beat and must be 4, 8 or 16")
  `REQUIRE(legal_depth,
           Depth == lanewise_pkg::QuantizedAddShallow || Depth == lanewise_pkg::QuantizedAddMultiplied ||
           Depth == lanewise_pkg::QuantizedAddShifted || Depth == lanewise_pkg::QuantizedAddBounded ||
           Depth == lanewise_pkg::QuantizedAddDeep,
           "quantized_add: Depth is the register stages and must be 7, 13, 17, 19 or 20")

  localparam bit DeepFirst    = Depth >= lanewise_pkg::QuantizedAddDeep;
  localparam int PlaceDepth   = DeepFirst ? lanewise_pkg::PlaceByteDeep : lanewise_pkg::PlaceByteShallow;
  localparam int RescaleDepth = Depth >= lanewise_pkg::QuantizedAddShifted    ? lanewise_pkg::RescaleDeep
                              : Depth >= lanewise_pkg::QuantizedAddMultiplied ? lanewise_pkg::RescaleMultiplied
                              : lanewise_pkg::RescaleShallow;
  localparam bit DeepOutput   = Depth >= lanewise_pkg::QuantizedAddBounded;

  logic                enable;
  logic [31:0]         a_multiplier, b_multiplier;
  logic [4:0]          a_shift, b_shift;
  logic [32*Lanes-1:0] sum_d, sum_q;
  logic [31:0]         multiplier, offset;
  logic [4:0]          shift;
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

  always_ff @(posedge clk_i) begin
    if (enable) sum_q <= sum_d;
  end

  delay_line #(
    .Width(74),
    .Depth(PlaceDepth)
  ) u_operand_configuration (
    .clk_i   (clk_i),
    .enable_i(enable),
    .data_i  ({a_multiplier_i, a_shift_i, b_multiplier_i, b_shift_i}),
    .data_o  ({a_multiplier, a_shift, b_multiplier, b_shift})
  );

  delay_line #(
    .Width(37),
    .Depth(PlaceDepth + RescaleDepth + 1)
  ) u_sum_configuration (
    .clk_i   (clk_i),
    .enable_i(enable),
    .data_i  ({multiplier_i, shift_i}),
    .data_o  ({multiplier, shift})
  );

  delay_line #(
    .Width(49),
    .Depth(PlaceDepth + RescaleDepth + 1 + RescaleDepth)
  ) u_output_configuration (
    .clk_i   (clk_i),
    .enable_i(enable),
    .data_i  ({offset_i, minimum_i, maximum_i, signed_i}),
    .data_o  ({offset, minimum, maximum, is_signed})
  );

  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_lane
    logic [31:0] a_placed, b_placed, a_scaled, b_scaled, scaled;

    place_byte #(
      .Deep(DeepFirst)
    ) u_place_a (
      .clk_i       (clk_i),
      .enable_i    (enable),
      .byte_i      (a_i[8*lane +: 8]),
      .signed_i    (signed_i),
      .offset_i    (a_offset_i),
      .left_shift_i(left_shift_i),
      .result_o    (a_placed)
    );

    place_byte #(
      .Deep(DeepFirst)
    ) u_place_b (
      .clk_i       (clk_i),
      .enable_i    (enable),
      .byte_i      (b_i[8*lane +: 8]),
      .signed_i    (signed_i),
      .offset_i    (b_offset_i),
      .left_shift_i(left_shift_i),
      .result_o    (b_placed)
    );

    rescale #(
      .Depth(RescaleDepth)
    ) u_rescale_a (
      .clk_i       (clk_i),
      .enable_i    (enable),
      .value_i     (a_placed),
      .multiplier_i(a_multiplier),
      .shift_i     (a_shift),
      .result_o    (a_scaled)
    );

    rescale #(
      .Depth(RescaleDepth)
    ) u_rescale_b (
      .clk_i       (clk_i),
      .enable_i    (enable),
      .value_i     (b_placed),
      .multiplier_i(b_multiplier),
      .shift_i     (b_shift),
      .result_o    (b_scaled)
    );

    assign sum_d[32*lane +: 32] = a_scaled + b_scaled;

    rescale #(
      .Depth(RescaleDepth)
    ) u_rescale_sum (
      .clk_i       (clk_i),
      .enable_i    (enable),
      .value_i     (sum_q[32*lane +: 32]),
      .multiplier_i(multiplier),
      .shift_i     (shift),
      .result_o    (scaled)
    );

    output_stages #(
      .Deep(DeepOutput)
    ) u_output_stages (
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
