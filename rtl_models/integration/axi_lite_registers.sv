// AXI4-Lite in front of the bus of `config_registers`: a word a write, a word a read.
//
// A write is made when its address and its data are both there and no response waits; its response comes a cycle later.
// OKAY is the response where all four bytes are written.  A write of fewer is not made: SLVERR.  What the registers refuse
// is in STATUS, as over any other bus.  A read waits for the cycle of a write, as the bus has one address.
//
//   cycle        0      1      2      3
//   awvalid      1      1      0      0
//   wvalid       0      1      0      0
//   awready      0      1      0      0       with wready
//   write_o      0      1      0      0
//   bvalid       0      0      1      0       bready 1
//   arvalid      0      1      1      0
//   arready      0      0      1      0       the write went first
//   rvalid       0      0      0      1

module axi_lite_registers (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [15:0] s_axil_awaddr,
  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic [31:0] s_axil_wdata,
  input  logic [3:0]  s_axil_wstrb,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  output logic [1:0]  s_axil_bresp,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  input  logic [15:0] s_axil_araddr,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  output logic [31:0] s_axil_rdata,
  output logic [1:0]  s_axil_rresp,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,

  output logic        write_o,
  output logic [15:0] address_o,
  output logic [31:0] data_o,
  input  logic [31:0] read_data_i
);

  logic        taken, asked;  // a write and a read that move in this cycle
  logic        written_q, partial_q, read_q;
  logic [31:0] read_data_q;

  assign taken = rst_ni & s_axil_awvalid & s_axil_wvalid & (s_axil_bready | ~written_q);
  assign asked = rst_ni & s_axil_arvalid & ~taken & (s_axil_rready | ~read_q);

  assign s_axil_awready = taken;
  assign s_axil_wready  = taken;
  assign s_axil_arready = asked;
  assign s_axil_bvalid  = written_q;
  assign s_axil_bresp   = {partial_q, 1'b0};
  assign s_axil_rvalid  = read_q;
  assign s_axil_rresp   = 2'b00;
  assign s_axil_rdata   = read_data_q;

  assign write_o   = taken & (&s_axil_wstrb);
  assign address_o = taken ? s_axil_awaddr : s_axil_araddr;
  assign data_o    = s_axil_wdata;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      written_q <= 1'b0;
      read_q    <= 1'b0;
    end else begin
      written_q <= taken | (written_q & ~s_axil_bready);
      read_q    <= asked | (read_q & ~s_axil_rready);
    end
  end

  always_ff @(posedge clk_i) begin
    if (taken) partial_q <= ~(&s_axil_wstrb);
    if (asked) read_data_q <= read_data_i;
  end

endmodule
