// The end of a requantization: the offset added, which wraps, then the bounds; `signed_i` says how these are read.
//
//   result = min(max(wrap(value + offset), minimum), maximum)        minimum <= maximum
//
//       value    offset  signed  minimum  maximum   result
//          10         2       0        0      255       12
//        -300        10       1     -128      127     -128
//          10  2^31 - 1       0        0      255        0       the sum wraps

module requantize_output (
  input  logic [31:0] value_i,
  input  logic [31:0] offset_i,
  input  logic [7:0]  minimum_i,
  input  logic [7:0]  maximum_i,
  input  logic        signed_i,
  output logic [7:0]  result_o
);

  logic [31:0] placed;

  assign placed = value_i + offset_i;

  clamp_to_byte u_clamp_to_byte (
    .value_i  (placed),
    .minimum_i(minimum_i),
    .maximum_i(maximum_i),
    .signed_i (signed_i),
    .result_o (result_o)
  );

endmodule
