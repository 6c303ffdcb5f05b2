// SQRDMULH of 32 bits as a pipeline: the high half of the doubled product, ties up, saturated; and the product itself.
//
//   result = min((value * multiplier + 2^30) >> 31, 2^31 - 1)
//
//   stage     shallow (1)               deep (4)
//   1         result_q, product_q       value_q, multiplier_q: nothing between them and the multipliers
//   2                                   high_q, high_low_q, low_high_q, low_q, nothing between the multipliers and them
//   3                                   nudged_q, outer_q: high and low; crossed_q: the other two
//   4                                   result_q, product_q
//
//   product = (high * 2^32 + low) + (high_low + low_high) * 2^16        the products of `multiply_tiles`
//
// Half of what is cut off, 2^30, is added on the way.  The one pair that saturates is that of the lowest numbers, whose
// product is 2^62: with -2^30 instead it needs no other treatment.  Without Product there is no product_q.
//
//         value   multiplier        result
//             1         2^30             1       a tie goes up
//            -1         2^30             0       up, not away from zero
//         -2^31        -2^31      2^31 - 1       saturates

module multiply_high #(
  parameter bit Deep    = 1'b0,
  parameter bit Product = 1'b0
) (
  input  logic        clk_i,
  input  logic        enable_i,
  input  logic [31:0] value_i,
  input  logic [31:0] multiplier_i,
  output logic [31:0] result_o,
  output logic [63:0] product_o
);

  logic [31:0] result_d, result_q;
  logic [63:0] product_d;

  if (Deep) begin : gen_deep
    logic [31:0] value_q, multiplier_q;
    logic        both_lowest_q;
    logic [31:0] high_d, high_low_d, low_high_d, low_d;
    logic [31:0] high_q, high_low_q, low_high_q, low_q;
    logic        lowest_q;
    logic [63:0] nudged_q;
    logic [32:0] crossed_q;
    logic [63:0] crossed, rounded;
    logic        unused_rounded;

    multiply_tiles #(
      .Width(32)
    ) u_multiply_tiles (
      .a_i       (value_q),
      .b_i       (multiplier_q),
      .high_o    (high_d),
      .high_low_o(high_low_d),
      .low_high_o(low_high_d),
      .low_o     (low_d)
    );

    assign crossed        = {{15{crossed_q[32]}}, crossed_q, 16'b0};
    assign rounded        = nudged_q + crossed;
    assign result_d       = rounded[62:31];
    assign unused_rounded = ^{rounded[63], rounded[30:0]};

    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        value_q       <= value_i;
        multiplier_q  <= multiplier_i;
        both_lowest_q <= value_i == 32'h8000_0000 && multiplier_i == 32'h8000_0000;
        high_q        <= high_d;
        high_low_q    <= high_low_d;
        low_high_q    <= low_high_d;
        low_q         <= low_d;
        lowest_q      <= both_lowest_q;
        nudged_q      <= {high_q, low_q} + {{33{lowest_q}}, 1'b1, 30'b0};
        crossed_q     <= $signed(high_low_q) + $signed(low_high_q);
      end
    end

    if (Product) begin : gen_product
      logic [63:0] outer_q;

      assign product_d = outer_q + crossed;

      always_ff @(posedge clk_i) begin
        if (enable_i) outer_q <= {high_q, low_q};
      end
    end else begin : gen_no_product
      assign product_d = '0;
    end
  end else begin : gen_shallow
    logic unused_saturated;

    sqrdmulh #(
      .Width(32)
    ) u_sqrdmulh (
      .a_i        (value_i),
      .b_i        (multiplier_i),
      .result_o   (result_d),
      .saturated_o(unused_saturated)
    );

    if (Product) begin : gen_product
      assign product_d = $signed(value_i) * $signed(multiplier_i);
    end else begin : gen_no_product
      assign product_d = '0;
    end
  end

  assign result_o = result_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) result_q <= result_d;
  end

  if (Product) begin : gen_product_stage
    logic [63:0] product_q;

    assign product_o = product_q;

    always_ff @(posedge clk_i) begin
      if (enable_i) product_q <= product_d;
    end
  end else begin : gen_no_product_stage
    assign product_o = product_d;
  end

endmodule
