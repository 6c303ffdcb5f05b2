// The assertions and cover properties of stream_checker.sv in every instance of transpose1xw.
bind transpose1xw stream_checker #(
  .Latency   (Deep ? lanewise_pkg::Transpose1xwDeep : lanewise_pkg::Transpose1xwShallow),
  .ResultBits(32*Lanes + 33*Chunks + 1)
) u_stream_checker (
  .clk_i   (clk_i),
  .rst_ni  (rst_ni),
  .valid_i (valid_i),
  .ready_o (ready_o),
  .valid_o (valid_o),
  .ready_i (ready_i),
  .result_o({data_o, address_o, write_o, last_o})
);
