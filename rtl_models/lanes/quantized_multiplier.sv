// Numbers times a real factor of each lane, given as a multiplier and a shift to either side.
//
//   result = value * multiplier * 2^(left_shift - shift - 31), rounded as `rounding_i` says
//
//   rounding_i   result
//   0            rescale(wrap(value << left_shift), multiplier, shift)    ArmNN, ACL, TFLite's two roundings
//   1            the same, with ties up in the second rounding, too
//   2            one rounding, ties up, wrapped; left_shift is at most 30       TFLite's single rounding, ruy
//
//   stage     shallow (3)               deep (8)
//   1         shifted_q                 shifted_q
//   2, 3      scale_rounded             2..8: scale_rounded
//
// Depth 6 has the multipliers of the deep one, and the rest of the shallow one.
//
//         value   multiplier   left_shift   shift   rounding     result
//             1         2^30            0       1          0          1       0.25: 0.5 goes up to 1, and 0.5 to 1
//             1         2^30            0       1          2          0       0.25
//             3         2^30            5       0          0         48
//          2^30         2^30            1       0          0      -2^30       2^31 wraps, and is halved
//          2^30         2^30            1       0          2       2^30

`include "require.svh"

module quantized_multiplier #(
  parameter int Lanes = 4,
  parameter bit Deep  = 1'b0,
  parameter int Depth = Deep ? lanewise_pkg::QuantizedMultiplierDeep : lanewise_pkg::QuantizedMultiplierShallow
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                valid_i,
  output logic                ready_o,
  input  logic [32*Lanes-1:0] value_i,
  input  logic [32*Lanes-1:0] multiplier_i,
  input  logic [5*Lanes-1:0]  left_shift_i,
  input  logic [5*Lanes-1:0]  shift_i,
  input  logic [1:0]          rounding_i,

  output logic                valid_o,
  input  logic                ready_i,
  output logic [32*Lanes-1:0] result_o
);

  `REQUIRE(legal_lanes, Lanes == 4 || Lanes == 8 || Lanes == 16, "quantized_multiplier: Lanes must be 4, 8 or 16")
  `REQUIRE(legal_depth,
           Depth == lanewise_pkg::QuantizedMultiplierShallow || Depth == lanewise_pkg::QuantizedMultiplierMultiplied ||
           Depth == lanewise_pkg::QuantizedMultiplierDeep,
           "quantized_multiplier: Depth is the register stages and must be 3, 6 or 8")

  localparam int ScaledDepth =
      Depth >= lanewise_pkg::QuantizedMultiplierDeep       ? lanewise_pkg::ScaleRoundedDeep
    : Depth >= lanewise_pkg::QuantizedMultiplierMultiplied ? lanewise_pkg::ScaleRoundedMultiplied
    : lanewise_pkg::ScaleRoundedShallow;

  logic                enable;
  logic [32*Lanes-1:0] shifted_d, shifted_q, multiplier_q;
  logic [5*Lanes-1:0]  left_shift_q, shift_q;
  logic [1:0]          rounding_q;

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
      shifted_q    <= shifted_d;
      multiplier_q <= multiplier_i;
      left_shift_q <= left_shift_i;
      shift_q      <= shift_i;
      rounding_q   <= rounding_i;
    end
  end

  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_lane
    assign shifted_d[32*lane +: 32] = rounding_i[1] ? value_i[32*lane +: 32]
                                                    : value_i[32*lane +: 32] << left_shift_i[5*lane +: 5];

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
      .result_o    (result_o[32*lane +: 32])
    );
  end

endmodule
