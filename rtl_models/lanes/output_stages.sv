// `requantize_output` as a pipeline.
//
//   stage     shallow (1)               deep (2)
//   1         result_q                  placed_q: the offset added
//   2                                   result_q: clamped

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

  logic [7:0] result_d, result_q;

  if (Deep) begin : gen_deep
    logic [31:0] placed_q;
    logic [7:0]  minimum_q, maximum_q;
    logic        signed_q;

    clamp_to_byte u_clamp_to_byte (
      .value_i  (placed_q),
      .minimum_i(minimum_q),
      .maximum_i(maximum_q),
      .signed_i (signed_q),
      .result_o (result_d)
    );

    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        placed_q  <= value_i + offset_i;
        minimum_q <= minimum_i;
        maximum_q <= maximum_i;
        signed_q  <= signed_i;
      end
    end
  end else begin : gen_shallow
    requantize_output u_requantize_output (
      .value_i  (value_i),
      .offset_i (offset_i),
      .minimum_i(minimum_i),
      .maximum_i(maximum_i),
      .signed_i (signed_i),
      .result_o (result_d)
    );
  end

  assign result_o = result_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) result_q <= result_d;
  end

endmodule
