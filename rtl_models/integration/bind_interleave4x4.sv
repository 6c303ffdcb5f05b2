// The assertions and cover properties of stream_checker.sv in every instance of interleave4x4.
bind interleave4x4 stream_checker #(
  .Latency   (Deep ? lanewise_pkg::Interleave4x4Deep : lanewise_pkg::Interleave4x4Shallow),
  .ResultBits(32*Lanes)
) u_stream_checker (
  .clk_i   (clk_i),
  .rst_ni  (rst_ni),
  .valid_i (valid_i),
  .ready_o (ready_o),
  .valid_o (valid_o),
  .ready_i (ready_i),
  .result_o(data_o)
);
