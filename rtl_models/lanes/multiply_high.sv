// SQRDMULH of 32 bits as a pipeline: the high half of the doubled product, ties up, saturated.
//
//   result = min((value * multiplier + 2^30) >> 31, 2^31 - 1)
//
//   stage     shallow (1)               deep (3)
//   1         result_q                  high_q, high_low_q, low_high_q, low_q
//   2                                   product_q
//   3                                   result_q
//
//         value   multiplier        result
//             1         2^30             1       a tie goes up
//            -1         2^30             0       up, not away from zero
//         -2^31        -2^31      2^31 - 1       the one pair that saturates

module multiply_high #(
  parameter bit Deep = 1'b0
) (
  input  logic        clk_i,
  input  logic        enable_i,
  input  logic [31:0] value_i,
  input  logic [31:0] multiplier_i,
  output logic [31:0] result_o
);

  logic [31:0] result_d, result_q;
  logic        unused_saturated;

  if (Deep) begin : gen_deep
    logic [31:0] high_d, high_low_d, low_high_d, low_d;
    logic [31:0] high_q, high_low_q, low_high_q, low_q;
    logic [63:0] product_d, product_q;

    multiply_tiles #(
      .Width(32)
    ) u_multiply_tiles (
      .a_i       (value_i),
      .b_i       (multiplier_i),
      .high_o    (high_d),
      .high_low_o(high_low_d),
      .low_high_o(low_high_d),
      .low_o     (low_d)
    );

    sum_of_tiles #(
      .Width(32)
    ) u_sum_of_tiles (
      .high_i    (high_q),
      .high_low_i(high_low_q),
      .low_high_i(low_high_q),
      .low_i     (low_q),
      .product_o (product_d)
    );

    rounding_doubling_high #(
      .Width(32)
    ) u_rounding_doubling_high (
      .product_i  (product_q),
      .result_o   (result_d),
      .saturated_o(unused_saturated)
    );

    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        high_q     <= high_d;
        high_low_q <= high_low_d;
        low_high_q <= low_high_d;
        low_q      <= low_d;
        product_q  <= product_d;
      end
    end
  end else begin : gen_shallow
    sqrdmulh #(
      .Width(32)
    ) u_sqrdmulh (
      .a_i        (value_i),
      .b_i        (multiplier_i),
      .result_o   (result_d),
      .saturated_o(unused_saturated)
    );
  end

  assign result_o = result_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) result_q <= result_d;
  end

endmodule
