// N accumulators a beat brought down to bytes, as an Arm Compute Library output stage does it.
module requantizer #(
  parameter N = 4
) (
  input                  clk,
  input                  rst,         // synchronous
  input                  s_valid,
  output                 s_ready,
  input      [32*N-1:0]  s_acc,
  input      [32*N-1:0]  s_bias,
  input      [31:0]      cfg_mult,
  input      [4:0]       cfg_shift,
  input      [31:0]      cfg_zero,
  input      [7:0]       cfg_low,
  input      [7:0]       cfg_high,
  input                  cfg_int8,
  output                 m_valid,
  input                  m_ready,
  output reg [8*N-1:0]   m_bytes
);
  localparam Config = 32 + 5 + 32 + 8 + 8 + 1;
  localparam Word   = 64 * N + Config;

  // the ready of the input is a register: skid_buffer keeps the beat that comes one cycle too late
  wire            taken_valid, taken_ready;
  wire [Word-1:0] taken;

  skid_buffer #(.Bits(Word)) skid (
    .clk(clk), .rst(rst),
    .s_valid(s_valid), .s_ready(s_ready),
    .s_data({s_acc, s_bias, cfg_mult, cfg_shift, cfg_zero, cfg_low, cfg_high, cfg_int8}),
    .m_valid(taken_valid), .m_ready(taken_ready), .m_data(taken)
  );

  // a stage moves when the one after it does, or is empty: bubbles close up while the output waits
  reg  [6:1] valid;
  wire [7:1] go;

  assign go[7]       = m_ready;
  assign taken_ready = go[1];
  assign m_valid     = valid[6];

  genvar k;
  generate
    for (k = 1; k <= 6; k = k + 1) begin : stage
      assign go[k] = !valid[k] || go[k+1];
    end
  endgenerate

  always @(posedge clk) begin
    if (rst) valid <= 0;
    else begin
      if (go[1]) valid[1] <= taken_valid;
      if (go[2]) valid[2] <= valid[1];
      if (go[3]) valid[3] <= valid[2];
      if (go[4]) valid[4] <= valid[3];
      if (go[5]) valid[5] <= valid[4];
      if (go[6]) valid[6] <= valid[5];
    end
  end

  reg [Config-1:0] config1, config2, config3, config4, config5;

  always @(posedge clk) begin
    if (go[1]) config1 <= taken[Config-1:0];
    if (go[2]) config2 <= config1;
    if (go[3]) config3 <= config2;
    if (go[4]) config4 <= config3;
    if (go[5]) config5 <= config4;
  end

  wire [31:0] multiplier = config1[85:54];
  wire [4:0]  shift      = config4[53:49];
  wire [31:0] zero       = config5[48:17];
  wire        int8       = config5[0];
  // one bit more, so that a bound is the same number however it is read
  wire signed [8:0] low  = {int8 & config5[16], config5[16:9]};
  wire signed [8:0] high = {int8 & config5[8], config5[8:1]};

  genvar lane;
  generate
    for (lane = 0; lane < N; lane = lane + 1) begin : numbers
      reg  signed [31:0] biased, rounded, quotient;
      reg  signed [63:0] product, raised;
      // of the division ties go away from zero: below zero the half is one unit less
      wire signed [32:0] half    = (33'sd1 <<< shift) >>> 1;
      wire signed [32:0] less    = {33{rounded[31] && shift != 0}};
      wire signed [31:0] placed  = quotient + zero;
      wire signed [31:0] least   = low;
      wire signed [31:0] most    = high;
      wire signed [31:0] bounded = placed < least ? least : placed > most ? most : placed;

      always @(posedge clk) begin
        if (go[1]) biased   <= taken[Config + 32*(N + lane) +: 32] + taken[Config + 32*lane +: 32];
        if (go[2]) product  <= biased * $signed(multiplier);
        if (go[3]) raised   <= product + 64'sd1073741824;  // of the product ties go up
        if (go[4]) rounded  <= !raised[63] && raised[62] ? 32'h7fffffff : raised[62:31];
        if (go[5]) quotient <= (rounded + half + less) >>> shift;
        if (go[6]) m_bytes[8*lane +: 8] <= bounded[7:0];
      end
    end
  endgenerate
endmodule
