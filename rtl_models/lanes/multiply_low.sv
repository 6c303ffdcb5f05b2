// The low half of a product, the same for signed and for unsigned numbers: result = (a * b) mod 2^Width.
//
// One register, or two where it is Deep: then the product is made of three tiles of half the width.  With the halves
// a = a1 * 2^h + a0 and b = b1 * 2^h + b0, h = Width / 2, the fourth tile a1 * b1 is a multiple of 2^Width:
//
//   result = a0 * b0 + ((a0 * b1 + a1 * b0) mod 2^h) * 2^h
//
//   stage  shallow    deep
//       1  product    three tiles
//       2             their sum
//
// At Width 8 in hexadecimal:
//
//     a   b  a0*b0  a0*b1 + a1*b0  result
//    12  34     08      0A =  6+4      A8
//    FF  FF     E1    1C2 -> low 2     01      (-1) * (-1)
//    80  80     00             00      00      only a1 * b1 is not 0

`include "require.svh"

module multiply_low #(
  parameter int Width = 32,
  parameter bit Deep  = 1'b0
) (
  input  logic             clk_i,
  input  logic             enable_i,
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic [Width-1:0] result_o
);

  `REQUIRE(legal_width, Width >= 2 && Width % 2 == 0, "multiply_low: Width must be even, to be halved")

  localparam int Half = Width / 2;

  if (Deep) begin : gen_deep
    logic [Half-1:0]  a_low, a_high, b_low, b_high;
    logic [Width-1:0] low_q;
    logic [Half-1:0]  cross_ab_q, cross_ba_q;
    logic [Width-1:0] result_q;

    assign {a_high, a_low} = a_i;
    assign {b_high, b_low} = b_i;

    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        low_q      <= Width'(a_low) * Width'(b_low);
        cross_ab_q <= a_low * b_high;
        cross_ba_q <= a_high * b_low;
        result_q   <= low_q + {cross_ab_q + cross_ba_q, {Half{1'b0}}};
      end
    end

    assign result_o = result_q;
  end else begin : gen_shallow
    logic [Width-1:0] result_q;

    always_ff @(posedge clk_i) begin
      if (enable_i) result_q <= a_i * b_i;
    end

    assign result_o = result_q;
  end

endmodule
