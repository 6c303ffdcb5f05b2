// A number times multiplier * 2^(left - right - 31), with two roundings as `rescale`, or with one, as the setting says.
//
//   rounding_i   result
//   0            divide(high, right), ties away from zero   high = min((value * multiplier + 2^30) >> 31, 2^31 - 1)
//   1            divide(high, right), ties up               the same
//   2            wrap(floor(value * multiplier * 2^(left - right - 31) + 1/2)), left at most 30
//
// With two roundings `left_i` has no effect: the number must have been shifted before.
//
//   stage     shallow (2)               deep (7)
//   1         multiply_high             1..4: multiply_high, with the product itself
//   2         result_q                  5: number_q: either, in 2^-31; places_q: how far to the right
//                                       6: halves_q: shifted
//                                       7: result_q: rounded, ties up
//
// Depth 5 has the multiplier of the deep one, and the rest of the shallow one.
//
//         value   multiplier   left   right   rounding     result
//             1         2^30      0       1          0          1       0.25: 0.5 goes up to 1, and 0.5 to 1
//             1         2^30      0       1          2          0       0.25
//            -3         2^30      0       1          0         -1       -1.5 goes up to -1, -0.5 away from zero to -1
//            -3         2^30      0       1          1          0       -0.5 up to 0
//             3         2^30      4       0          2         24
//          2^30         2^30      2       0          2      -2^31       2^31 wraps

`include "require.svh"

module scale_rounded #(
  parameter bit Deep  = 1'b0,
  parameter int Depth = Deep ? lanewise_pkg::ScaleRoundedDeep : lanewise_pkg::ScaleRoundedShallow
) (
  input  logic        clk_i,
  input  logic        enable_i,
  input  logic [31:0] value_i,
  input  logic [31:0] multiplier_i,
  input  logic [4:0]  left_i,
  input  logic [4:0]  right_i,
  input  logic [1:0]  rounding_i,
  output logic [31:0] result_o
);

  `REQUIRE(legal_depth, Depth == lanewise_pkg::ScaleRoundedShallow || Depth == lanewise_pkg::ScaleRoundedMultiplied ||
           Depth == lanewise_pkg::ScaleRoundedDeep, "scale_rounded: Depth is the register stages and must be 2, 5 or 7")

  localparam bit DeepMultiply  = Depth >= lanewise_pkg::ScaleRoundedMultiplied;
  localparam bit DeepShift     = Depth >= lanewise_pkg::ScaleRoundedDeep;
  localparam int MultiplyDepth = DeepMultiply ? lanewise_pkg::MultiplyHighDeep : lanewise_pkg::MultiplyHighShallow;

  logic [63:0] product;
  logic [31:0] high;
  logic [4:0]  left, right;
  logic [1:0]  rounding;
  logic [32:0] fixed;
  logic [63:0] number_d, number;
  logic [5:0]  places_d, places;
  logic [32:0] halves_d, halves;
  logic [31:0] result_d, result_q;

  multiply_high #(
    .Deep   (DeepMultiply),
    .Product(1'b1)
  ) u_multiply_high (
    .clk_i       (clk_i),
    .enable_i    (enable_i),
    .value_i     (value_i),
    .multiplier_i(multiplier_i),
    .result_o    (high),
    .product_o   (product)
  );

  delay_line #(
    .Width(12),
    .Depth(MultiplyDepth)
  ) u_configuration (
    .clk_i   (clk_i),
    .enable_i(enable_i),
    .data_i  ({left_i, right_i, rounding_i}),
    .data_o  ({left, right, rounding})
  );

  // The shift has ties up: for ties away a negative number loses 1 first, where there is something to shift.
  assign fixed    = {high[31], high} - {32'b0, high[31] & (|right) & ~rounding[0]};
  assign number_d = rounding[1] ? product : {fixed, 31'b0};
  assign places_d = 6'd30 + {1'b0, right} - (rounding[1] ? {1'b0, left} : 6'd0);
  assign halves_d = 33'($signed(number) >>> places);

  round_halves #(
    .Width(32)
  ) u_round_halves (
    .halves_i(halves),
    .result_o(result_d)
  );

  if (DeepShift) begin : gen_deep
    logic [63:0] number_q;
    logic [5:0]  places_q;
    logic [32:0] halves_q;

    assign number = number_q;
    assign places = places_q;
    assign halves = halves_q;

    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        number_q <= number_d;
        places_q <= places_d;
        halves_q <= halves_d;
      end
    end
  end else begin : gen_shallow
    assign number = number_d;
    assign places = places_d;
    assign halves = halves_d;
  end

  assign result_o = result_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) result_q <= result_d;
  end

endmodule
