// A byte times a float32 added to another, in one rounding or in two, as a pipeline.
//
//   accumulator + byte * factor       fused: FMLA
//   accumulator + (byte * factor)     `unfused_i`: the product rounded by itself, FMUL and FADD
//
// Both are `fmla_byte`: a product is what is added to -0, and a sum is a product by 1.
//
//   stage     shallow (4)               deep (22)
//   1, 2      the product rounded       1..11
//   3, 4      added                     12..22
//
//   accumulator   byte   factor       unfused     result
//      BF800000    255   3B808081           0   337E0000       what the product has above 1
//      BF800000    255   3B808081           1   00000000       1 less 1

module add_scaled_byte #(
  parameter bit Deep = 1'b0
) (
  input  logic        clk_i,
  input  logic        enable_i,
  input  logic [31:0] accumulator_i,
  input  logic [7:0]  byte_i,
  input  logic [31:0] factor_i,
  input  logic        unfused_i,
  output logic [31:0] result_o
);

  localparam int          Depth     = Deep ? lanewise_pkg::FmlaByteDeep : lanewise_pkg::FmlaByteShallow;
  localparam logic [31:0] MinusZero = 32'h80000000;

  logic [31:0] accumulator, factor, product;
  logic [7:0]  number;
  logic        unfused;

  fmla_byte #(
    .Deep(Deep)
  ) u_product (
    .clk_i        (clk_i),
    .enable_i     (enable_i),
    .accumulator_i(MinusZero),
    .byte_i       (byte_i),
    .factor_i     (factor_i),
    .result_o     (product)
  );

  delay_line #(
    .Width(73),
    .Depth(Depth)
  ) u_operands (
    .clk_i   (clk_i),
    .enable_i(enable_i),
    .data_i  ({accumulator_i, byte_i, factor_i, unfused_i}),
    .data_o  ({accumulator, number, factor, unfused})
  );

  fmla_byte #(
    .Deep(Deep)
  ) u_sum (
    .clk_i        (clk_i),
    .enable_i     (enable_i),
    .accumulator_i(accumulator),
    .byte_i       (unfused ? 8'd1 : number),
    .factor_i     (unfused ? product : factor),
    .result_o     (result_o)
  );

endmodule
