// Accumulators of a quantized product brought down to bytes: ACL 19.08's ScaleByFixedPoint output stage.
//
//   biased = wrap(accumulator + bias)
//   scaled = rescale(biased, multiplier, shift)          two roundings: ties up, then ties away from zero
//   result = min(max(wrap(scaled + offset), minimum), maximum)
//
// `signed_i` says how the bounds are read: int8, or uint8.
//
//   stage     shallow (4)               deep (11)
//   1         biased_q                  biased_q
//   2, 3      rescale                   2..8: rescale
//   4         output_stages             9..11: output_stages
//
// Depth 7 has the multipliers of the deep one, 9 also its shifts, and the rest of the shallow one.
//
// The configuration travels with the beat.  One multiplier and shift for all lanes of it, or with PerChannel one for
// each.  The bounds are those in effect, 0 and 255 where there are none.  With multiplier 254601600, shift 1, offset 2:
//
//   accumulator      bias    result
//           -25         0         0
//            -8         0         1
//             4         1         3
//          2143         0       129
//      2^31 - 1         1         0       the bias wraps
//      2^31 - 1         0       255

`include "require.svh"

module quantize_down #(
  parameter int Lanes      = 4,
  parameter bit Deep       = 1'b0,
  parameter int Depth      = Deep ? lanewise_pkg::QuantizeDownDeep : lanewise_pkg::QuantizeDownShallow,
  parameter bit PerChannel = 1'b0
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,
  input  logic                                   valid_i,
  output logic                                   ready_o,
  input  logic [32*Lanes-1:0]                    accumulator_i,
  input  logic [32*Lanes-1:0]                    bias_i,
  input  logic [32*(PerChannel ? Lanes : 1)-1:0] multiplier_i,
  input  logic [5*(PerChannel ? Lanes : 1)-1:0]  shift_i,
  input  logic [31:0]                            offset_i,
  input  logic [7:0]                             minimum_i,
  input  logic [7:0]                             maximum_i,
  input  logic                                   signed_i,
  output logic                                   valid_o,
  input  logic                                   ready_i,
  output logic [8*Lanes-1:0]                     result_o
);

  `REQUIRE(legal_lanes, Lanes == 4 || Lanes == 8 || Lanes == 16,
           "quantize_down: Lanes is the numbers of a beat and must be 4, 8 or 16")
  `REQUIRE(legal_depth,
           Depth == lanewise_pkg::QuantizeDownShallow || Depth == lanewise_pkg::QuantizeDownMultiplied ||
           Depth == lanewise_pkg::QuantizeDownShifted || Depth == lanewise_pkg::QuantizeDownDeep,
           "quantize_down: Depth is the register stages and must be 4, 7, 9 or 11")

  localparam int RescaleDepth = Depth >= lanewise_pkg::QuantizeDownShifted    ? lanewise_pkg::RescaleDeep
                              : Depth >= lanewise_pkg::QuantizeDownMultiplied ? lanewise_pkg::RescaleMultiplied
                              : lanewise_pkg::RescaleShallow;
  localparam bit DeepOutput   = Depth >= lanewise_pkg::QuantizeDownDeep;
  localparam int Factors      = PerChannel ? Lanes : 1;

  logic                  enable;
  logic [32*Lanes-1:0]   biased_d, biased_q;
  logic [32*Factors-1:0] multiplier_q;
  logic [5*Factors-1:0]  shift_q;
  logic [31:0]           offset;
  logic [7:0]            minimum, maximum;
  logic                  is_signed;

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
    if (enable) begin
      biased_q     <= biased_d;
      multiplier_q <= multiplier_i;
      shift_q      <= shift_i;
    end
  end

  delay_line #(
    .Width(49),
    .Depth(1 + RescaleDepth)
  ) u_output_configuration (
    .clk_i   (clk_i),
    .enable_i(enable),
    .data_i  ({offset_i, minimum_i, maximum_i, signed_i}),
    .data_o  ({offset, minimum, maximum, is_signed})
  );

  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_lane
    localparam int Factor = PerChannel ? lane : 0;

    logic [31:0] scaled;

    assign biased_d[32*lane +: 32] = accumulator_i[32*lane +: 32] + bias_i[32*lane +: 32];

    rescale #(
      .Depth(RescaleDepth)
    ) u_rescale (
      .clk_i       (clk_i),
      .enable_i    (enable),
      .value_i     (biased_q[32*lane +: 32]),
      .multiplier_i(multiplier_q[32*Factor +: 32]),
      .shift_i     (shift_q[5*Factor +: 5]),
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
