// What the offsets of two quantized matrices add to the product of their bytes, with a bias, all modulo 2^32:
//
//   result = product + column_sum * a_offset + row_sum * b_offset + constant + bias
//
// A beat is `Lanes` columns of one row: `row_sum_i` is one number, the other operands have one for each lane, lane 0 in
// the low bits.  The host computes constant = K * a_offset * b_offset.
//
//   stage  shallow                              deep
//       1  both products; product + bias        tiles of both products; product + bias
//       2  sum of all                           both products; + constant
//       3                                       sum of both products
//       4                                       + the rest
//
// Depth 3 has both products as the deep one has them, and the sum of all in its third stage.
//
//   product  column_sum  a_offset  row_sum  b_offset  constant  bias       result
//       100           3       -10        7        -2        20     5           81
//         0  2147483647         2        0         0         0     0           -2     wraps
//   2147483647        0         0        0         0         0     1  -2147483648     wraps
//         0       65536     65536        0         0         0     0            0

`include "require.svh"

module offset_contribution #(
  parameter int Lanes = 4,
  parameter bit Deep  = 1'b0,
  parameter int Depth = Deep ? lanewise_pkg::OffsetContributionDeep : lanewise_pkg::OffsetContributionShallow
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                valid_i,
  output logic                ready_o,
  input  logic [32*Lanes-1:0] product_i,
  input  logic [32*Lanes-1:0] column_sums_i,
  input  logic [31:0]         row_sum_i,
  input  logic [32*Lanes-1:0] bias_i,
  input  logic [31:0]         a_offset_i,
  input  logic [31:0]         b_offset_i,
  input  logic [31:0]         constant_i,

  output logic                valid_o,
  input  logic                ready_i,
  output logic [32*Lanes-1:0] result_o
);

  `REQUIRE(legal_lanes, Lanes == 4 || Lanes == 8 || Lanes == 16, "offset_contribution: Lanes must be 4, 8 or 16")
  `REQUIRE(legal_depth,
           Depth == lanewise_pkg::OffsetContributionShallow || Depth == lanewise_pkg::OffsetContributionMultiplied ||
           Depth == lanewise_pkg::OffsetContributionDeep,
           "offset_contribution: Depth is the register stages and must be 2, 3 or 4")

  localparam bit DeepMultiply = Depth >= lanewise_pkg::OffsetContributionMultiplied;
  localparam bit DeepSum      = Depth >= lanewise_pkg::OffsetContributionDeep;

  logic enable;

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

  // The row's share of every lane, and the constant as it leaves the first stage.
  logic [31:0] row_term, constant_q;

  multiply_low #(
    .Width(32),
    .Deep (DeepMultiply)
  ) u_row_term (
    .clk_i   (clk_i),
    .enable_i(enable),
    .a_i     (row_sum_i),
    .b_i     (b_offset_i),
    .result_o(row_term)
  );

  always_ff @(posedge clk_i) begin
    if (enable) constant_q <= constant_i;
  end

  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_lanes
    logic [31:0] product, bias, column_term, biased_q, rest_d, rest, result_q;

    assign product = product_i[32*lane +: 32];
    assign bias    = bias_i[32*lane +: 32];

    multiply_low #(
      .Width(32),
      .Deep (DeepMultiply)
    ) u_column_term (
      .clk_i   (clk_i),
      .enable_i(enable),
      .a_i     (column_sums_i[32*lane +: 32]),
      .b_i     (a_offset_i),
      .result_o(column_term)
    );

    always_ff @(posedge clk_i) begin
      if (enable) biased_q <= product + bias;
    end

    assign rest_d = biased_q + constant_q;

    if (DeepMultiply) begin : gen_rest
      logic [31:0] rest_q;

      assign rest = rest_q;

      always_ff @(posedge clk_i) begin
        if (enable) rest_q <= rest_d;
      end
    end else begin : gen_no_rest
      assign rest = rest_d;
    end

    if (DeepSum) begin : gen_deep
      logic [31:0] terms_q, rest3_q;

      always_ff @(posedge clk_i) begin
        if (enable) begin
          terms_q  <= column_term + row_term;
          rest3_q  <= rest;
          result_q <= terms_q + rest3_q;
        end
      end
    end else begin : gen_shallow
      always_ff @(posedge clk_i) begin
        if (enable) result_q <= (column_term + row_term) + rest;
      end
    end

    assign result_o[32*lane +: 32] = result_q;
  end

endmodule
