// A signed number of 32 bits, limited to bounds that are bytes; `signed_i` says how the bytes are read.
//
//   result = min(max(value, minimum), maximum)        minimum <= maximum
//
//   signed  minimum  maximum      value   result
//        0        0      255        256      255
//        0        0      255         -1        0
//        1     -128      127        128      127
//        0        5      200      -2^31        5

module clamp_to_byte (
  input  logic [31:0] value_i,
  input  logic [7:0]  minimum_i,
  input  logic [7:0]  maximum_i,
  input  logic        signed_i,
  output logic [7:0]  result_o
);

  logic signed [31:0] minimum, maximum;
  logic               below, above;

  assign minimum = {{24{signed_i & minimum_i[7]}}, minimum_i};
  assign maximum = {{24{signed_i & maximum_i[7]}}, maximum_i};

  assign below = $signed(value_i) < minimum;
  assign above = $signed(value_i) > maximum;

  assign result_o = above ? maximum_i : (below ? minimum_i : value_i[7:0]);

endmodule
