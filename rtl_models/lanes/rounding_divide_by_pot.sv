// A signed number divided by 2^shift, ties away from zero, the way vector code does it.
//
// The rounding shift of AdvSIMD has ties up.  One is taken off a negative number first, so that its ties go down; it is
// taken off where shift is not 0, by SQADD of the sign of a AND -shift:
//
//   result = SRSHL(SQADD(a, (a AND -shift) >> (Width-1)), -shift)
//
// `saturated_o` is what this sequence adds to FPSR.QC: it is set where a is MIN and shift is not 0, although the result
// is exact.
// At Width 8:
//
//       a  shift  result  saturated
//       3      1       2      0       1.5: away from zero
//      -3      1      -2      0       -1.5: away from zero, SRSHL alone gives -1
//      -1      0      -1      0
//    -128      0    -128      0
//    -128      7      -1      1
//     -64      7      -1      0       -0.5

`include "require.svh"

module rounding_divide_by_pot #(
  parameter int Width = 32
) (
  input  logic [Width-1:0]         a_i,
  input  logic [$clog2(Width)-1:0] shift_i,
  output logic [Width-1:0]         result_o,
  output logic                     saturated_o
);

  // Else shift_i could be Width or more, where a MIN that lost its fix-up would come out as 0.
  `REQUIRE(legal_width, Width >= 2 && Width <= 64 && Width == 1 << $clog2(Width),
           "rounding_divide_by_pot: Width is the bits of a lane and must be a power of two, 2 to 64")

  logic [7:0]       count;
  logic [Width-1:0] fix_up;
  logic [Width-1:0] fixed;
  logic             unused_saturated;

  assign count  = -{{(8-$clog2(Width)){1'b0}}, shift_i};
  assign fix_up = {Width{a_i[Width-1] & count[7]}};

  sqadd #(
    .Width(Width)
  ) u_sqadd (
    .a_i        (a_i),
    .b_i        (fix_up),
    .result_o   (fixed),
    .saturated_o(saturated_o)
  );

  srshl #(
    .Width(Width)
  ) u_srshl (
    .a_i        (fixed),
    .shift_i    (count),
    .result_o   (result_o),
    .saturated_o(unused_saturated)
  );

endmodule
