// The assertions and cover properties of stream_checker.sv in every instance of quantize_down.
bind quantize_down stream_checker #(
  .Latency   (Depth),
  .ResultBits(8*Lanes)
) u_stream_checker (
  .clk_i   (clk_i),
  .rst_ni  (rst_ni),
  .valid_i (valid_i),
  .ready_o (ready_o),
  .valid_o (valid_o),
  .ready_i (ready_i),
  .result_o(result_o)
);
