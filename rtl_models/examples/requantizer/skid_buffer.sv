// A place for the beat that is on its way when the ready of the output falls, so that no ready runs through.
module skid_buffer #(
  parameter Bits = 8
) (
  input             clk,
  input             rst,
  input             s_valid,
  output            s_ready,
  input  [Bits-1:0] s_data,
  output            m_valid,
  input             m_ready,
  output [Bits-1:0] m_data
);
  reg            full;
  reg [Bits-1:0] kept;

  assign s_ready = !full;
  assign m_valid = full || s_valid;
  assign m_data  = full ? kept : s_data;

  always @(posedge clk) begin
    if (rst) full <= 0;
    else if (m_ready) full <= 0;
    else if (s_valid) full <= 1;
    if (s_valid && s_ready) kept <= s_data;
  end
endmodule
