// The end of a requantization: the offset added, which wraps, then the bounds; `signed_i` says how these are read.
//
//   result = min(max(wrap(value + offset), minimum), maximum)        minimum <= maximum
//
//   stage     shallow (1)               deep (3)
//   1         clamp_to_byte             placed_q: the offset added
//   2, 3                                clamp_to_byte
//
//       value    offset  signed  minimum  maximum   result
//          10         2       0        0      255       12
//        -300        10       1     -128      127     -128
//          10  2^31 - 1       0        0      255        0       the sum wraps

module output_stages #(
  parameter bit Deep = 1'b0
) (
  input  logic        clk_i,
  input  logic        enable_i,
  input  logic [31:0] value_i,
  input  logic [31:0] offset_i,
  input  logic [7:0]  minimum_i,
  input  logic [7:0]  maximum_i,
  input  logic        signed_i,
  output logic [7:0]  result_o
);

  logic [31:0] placed_d, placed;
  logic [7:0]  minimum, maximum;
  logic        is_signed;

  assign placed_d = value_i + offset_i;

  if (Deep) begin : gen_deep
    logic [31:0] placed_q;
    logic [7:0]  minimum_q, maximum_q;
    logic        signed_q;

    assign placed    = placed_q;
    assign minimum   = minimum_q;
    assign maximum   = maximum_q;
    assign is_signed = signed_q;

    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        placed_q  <= placed_d;
        minimum_q <= minimum_i;
        maximum_q <= maximum_i;
        signed_q  <= signed_i;
      end
    end
  end else begin : gen_shallow
    assign placed    = placed_d;
    assign minimum   = minimum_i;
    assign maximum   = maximum_i;
    assign is_signed = signed_i;
  end

  clamp_to_byte #(
    .Deep(Deep)
  ) u_clamp_to_byte (
    .clk_i    (clk_i),
    .enable_i (enable_i),
    .value_i  (placed),
    .minimum_i(minimum),
    .maximum_i(maximum),
    .signed_i (is_signed),
    .result_o (result_o)
  );

endmodule
