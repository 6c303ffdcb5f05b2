// A signed number of 32 bits, limited to bounds that are bytes; `signed_i` says how the bytes are read.
//
//   result = min(max(value, minimum), maximum)        minimum <= maximum
//
//   stage     shallow (1)               deep (2)
//   1         result_q                  fits_q: in 9 bits; over_q, under_q: compared as if it did
//   2                                   result_q
//
//   signed  minimum  maximum      value   result
//        0        0      255        256      255
//        0        0      255         -1        0
//        1     -128      127        128      127
//        0        5      200      -2^31        5

module clamp_to_byte #(
  parameter bit Deep = 1'b0
) (
  input  logic        clk_i,
  input  logic        enable_i,
  input  logic [31:0] value_i,
  input  logic [7:0]  minimum_i,
  input  logic [7:0]  maximum_i,
  input  logic        signed_i,
  output logic [7:0]  result_o
);

  logic [8:0] least, greatest;
  logic       fits_d, fits, negative, over_d, over, under_d, under;
  logic       above, below;
  logic [7:0] minimum, maximum, low_byte;
  logic [7:0] result_d, result_q;

  assign least    = {signed_i & minimum_i[7], minimum_i};
  assign greatest = {signed_i & maximum_i[7], maximum_i};
  assign fits_d   = value_i[31:8] == {24{value_i[31]}};
  assign over_d   = $signed(value_i[8:0]) > $signed(greatest);
  assign under_d  = $signed(value_i[8:0]) < $signed(least);
  assign above    = fits ? over : ~negative;
  assign below    = fits ? under : negative;
  assign result_d = above ? maximum : (below ? minimum : low_byte);

  if (Deep) begin : gen_deep
    logic       fits_q, negative_q, over_q, under_q;
    logic [7:0] minimum_q, maximum_q, low_byte_q;

    assign fits     = fits_q;
    assign negative = negative_q;
    assign over     = over_q;
    assign under    = under_q;
    assign minimum  = minimum_q;
    assign maximum  = maximum_q;
    assign low_byte = low_byte_q;

    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        fits_q     <= fits_d;
        negative_q <= value_i[31];
        over_q     <= over_d;
        under_q    <= under_d;
        minimum_q  <= minimum_i;
        maximum_q  <= maximum_i;
        low_byte_q <= value_i[7:0];
      end
    end
  end else begin : gen_shallow
    assign fits     = fits_d;
    assign negative = value_i[31];
    assign over     = over_d;
    assign under    = under_d;
    assign minimum  = minimum_i;
    assign maximum  = maximum_i;
    assign low_byte = value_i[7:0];
  end

  assign result_o = result_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) result_q <= result_d;
  end

endmodule
