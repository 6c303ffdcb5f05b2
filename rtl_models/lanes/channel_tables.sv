// Bias, multiplier and shifts of every channel, read for `Lanes` channels at a time, along a row.
//
// A row is `channels_i` numbers: its beats have the channels 0 to Lanes - 1, then the next Lanes,
// and so on.  `advance_i` moves on to the next beat, after the last of a row to the first; reset
// and `restart_i` go back there from anywhere.  What the last beat gives for channels from
// `channels_i` on means nothing.  Lanes 4, channels 6:
//
//   advance_i       1    1    0    1    1    1
//   restart_i       0    0    0    0    1    0
//   channels read  0-3  4-7  0-3  0-3  4-7  0-3
//
// Only with LeftShifts there is a left shift of each channel; else it is 0 and not written.
//
// Memories without reset: a channel is undefined until it is written.  Reading takes no cycle; a
// beat that is accepted while its channel is written has the value from before.  The host writes
// channels below Channels (config_registers refuses others) and sets 1 to Channels of them.
//
// Tables of more than 32 beats are for block RAM, whose address is a register: it gets the next beat at the edge that
// `beat_q` does, so that what is read, and when, is as in the smaller ones.  Such a register has no reset of its own:
// a reset lasts for an edge of the clock or more.

`include "require.svh"

module channel_tables #(
  parameter int Lanes      = 4,
  parameter int Channels   = 64,
  parameter bit LeftShifts = 1'b0,
  parameter bit BlockRam   = Channels > 32 * Lanes
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                advance_i,
  input  logic                restart_i,
  input  logic [11:0]         channels_i,

  input  logic                write_i,
  input  logic [11:0]         channel_i,
  input  logic [1:0]          field_i,  // 0 bias, 1 multiplier, 2 shift, 3 left shift
  input  logic [31:0]         data_i,

  output logic [32*Lanes-1:0] bias_o,
  output logic [32*Lanes-1:0] multiplier_o,
  output logic [5*Lanes-1:0]  shift_o,
  output logic [5*Lanes-1:0]  left_shift_o
);

  `REQUIRE(legal_lanes, Lanes == 4 || Lanes == 8 || Lanes == 16, "channel_tables: Lanes must be 4, 8 or 16")
  `REQUIRE(legal_channels, Channels >= 2 * Lanes && Channels <= 3840 && Channels % Lanes == 0,
           "channel_tables: Channels must be a multiple of Lanes, at least 2 * Lanes and at most 3840")

  localparam int Beats    = Channels / Lanes;
  localparam int BeatBits = $clog2(Beats);

  logic [BeatBits-1:0] beat_d, beat_q, address;
  logic [31:0]         following;  // the first channel of the next beat
  logic                ends_row;

  assign following = (32'(beat_q) + 32'd1) << $clog2(Lanes);
  assign ends_row  = following >= 32'(channels_i);

  always_comb begin
    beat_d = beat_q;
    if (restart_i) beat_d = '0;
    else if (advance_i) beat_d = ends_row ? '0 : beat_q + BeatBits'(1);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) beat_q <= '0;
    else beat_q <= beat_d;
  end

  if (BlockRam) begin : gen_block_ram
    logic [BeatBits-1:0] address_q;

    assign address = address_q;

    always_ff @(posedge clk_i) address_q <= rst_ni ? beat_d : '0;
  end else begin : gen_no_block_ram
    assign address = beat_q;
  end

  // Each lane has memories of its own: those of the channels lane, lane + Lanes, lane + 2 * Lanes...
  logic [BeatBits-1:0] written_beat;
  logic [11:0]         written_lane;

  assign written_beat = BeatBits'(channel_i >> $clog2(Lanes));
  assign written_lane = channel_i & 12'(Lanes - 1);

  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_lanes
    logic [31:0] bias_q       [Beats];
    logic [31:0] multiplier_q [Beats];
    logic [4:0]  shift_q      [Beats];
    logic        write;

    assign write = write_i && written_lane == 12'(lane);

    always_ff @(posedge clk_i) begin
      if (write && field_i == 2'd0) bias_q[written_beat] <= data_i;
      if (write && field_i == 2'd1) multiplier_q[written_beat] <= data_i;
      if (write && field_i == 2'd2) shift_q[written_beat] <= data_i[4:0];
    end

    assign bias_o[32*lane +: 32]       = bias_q[address];
    assign multiplier_o[32*lane +: 32] = multiplier_q[address];
    assign shift_o[5*lane +: 5]        = shift_q[address];

    if (LeftShifts) begin : gen_left_shifts
      logic [4:0] left_shift_q [Beats];

      always_ff @(posedge clk_i) begin
        if (write && field_i == 2'd3) left_shift_q[written_beat] <= data_i[4:0];
      end

      assign left_shift_o[5*lane +: 5] = left_shift_q[address];
    end else begin : gen_no_left_shifts
      assign left_shift_o[5*lane +: 5] = '0;
    end
  end

endmodule
