// A number times multiplier * 2^(-31 - shift), with two roundings: SQRDMULH, then a division with ties away from zero.
//
//   high   = min((value * multiplier + 2^30) >> 31, 2^31 - 1)
//   result = sign(high) * floor(|high| / 2^shift + 1/2)
//
//   stage     shallow (2)               deep (7)
//   1         high (multiply_high)      1..4: high (multiply_high)
//   2         result_q                  5: coarse_q: shifted by 0, 8, 16 or 24
//                                       6: halves_q: shifted by the rest
//                                       7: result_q: rounded
//
// Depth 5 has the multiplier of the deep one, and the rest of the shallow one.
//
// Halves are rounded down as they are shifted; `lost` is whether anything was below them.  So a number ends in a half or
// more where the lowest bit of its halves is 1: that is one up, but of a negative number only if it is more.
//
//         value   multiplier   shift        result
//             1         2^30       1             1       0.25: 0.5 goes up to 1, and 0.5 away from zero to 1
//            -3         2^30       1            -1       -1.5 goes up to -1, -0.5 away from zero to -1
//         -2^31        -2^31       0      2^31 - 1
//         -2^31     2^31 - 1      31            -1

`include "require.svh"

module rescale #(
  parameter bit Deep  = 1'b0,
  parameter int Depth = Deep ? lanewise_pkg::RescaleDeep : lanewise_pkg::RescaleShallow
) (
  input  logic        clk_i,
  input  logic        enable_i,
  input  logic [31:0] value_i,
  input  logic [31:0] multiplier_i,
  input  logic [4:0]  shift_i,
  output logic [31:0] result_o
);

  `REQUIRE(legal_depth, Depth == lanewise_pkg::RescaleShallow || Depth == lanewise_pkg::RescaleMultiplied ||
           Depth == lanewise_pkg::RescaleDeep, "rescale: Depth is the register stages and must be 2, 5 or 7")

  localparam bit DeepMultiply  = Depth >= lanewise_pkg::RescaleMultiplied;
  localparam bit DeepShift     = Depth >= lanewise_pkg::RescaleDeep;
  localparam int MultiplyDepth = DeepMultiply ? lanewise_pkg::MultiplyHighDeep : lanewise_pkg::MultiplyHighShallow;

  logic [31:0] high;
  logic [4:0]  shift;
  logic [32:0] coarse_d, coarse;
  logic        coarse_lost_d, coarse_lost;
  logic [2:0]  fine_shift;
  logic [32:0] halves_d, halves;
  logic        lost_d, lost;
  logic [31:0] result_d, result_q;
  logic [63:0] unused_product;

  multiply_high #(
    .Deep(DeepMultiply)
  ) u_multiply_high (
    .clk_i       (clk_i),
    .enable_i    (enable_i),
    .value_i     (value_i),
    .multiplier_i(multiplier_i),
    .result_o    (high),
    .product_o   (unused_product)
  );

  delay_line #(
    .Width(5),
    .Depth(MultiplyDepth)
  ) u_shift (
    .clk_i   (clk_i),
    .enable_i(enable_i),
    .data_i  (shift_i),
    .data_o  (shift)
  );

  assign coarse_d      = $signed({high, 1'b0}) >>> {shift[4:3], 3'b0};
  assign coarse_lost_d = |({high[22:0], 1'b0} & ~(24'hFF_FFFF << {shift[4:3], 3'b0}));
  assign halves_d      = $signed(coarse) >>> fine_shift;
  assign lost_d        = coarse_lost | (|(coarse[6:0] & ~(7'h7F << fine_shift)));
  assign result_d      = halves[32:1] + {31'b0, halves[0] & (lost | ~halves[32])};

  if (DeepShift) begin : gen_deep
    logic [32:0] coarse_q;
    logic        coarse_lost_q;
    logic [2:0]  fine_shift_q;
    logic [32:0] halves_q;
    logic        lost_q;

    assign coarse      = coarse_q;
    assign coarse_lost = coarse_lost_q;
    assign fine_shift  = fine_shift_q;
    assign halves      = halves_q;
    assign lost        = lost_q;

    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        coarse_q      <= coarse_d;
        coarse_lost_q <= coarse_lost_d;
        fine_shift_q  <= shift[2:0];
        halves_q      <= halves_d;
        lost_q        <= lost_d;
      end
    end
  end else begin : gen_shallow
    assign coarse      = coarse_d;
    assign coarse_lost = coarse_lost_d;
    assign fine_shift  = shift[2:0];
    assign halves      = halves_d;
    assign lost        = lost_d;
  end

  assign result_o = result_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) result_q <= result_d;
  end

endmodule
