// quantize_down with a bias, a multiplier and a shift for each channel, from tables instead of ports.
//
// A row is `channels_i` accumulators, in beats of `Lanes`; it starts with a new beat, so that in its last one the lanes
// from the end of the row on have results that mean nothing.  Each accepted beat moves on along the row, the last back
// to the start.  The tables are written through the ports of config_registers of the same names; a write of the number
// of channels restarts the row.  The rest of the configuration travels with the beat, as do what is read of the tables.
//
// Lanes 4, channels 5, offset 0, bounds 0 to 255, bias 0, multiplier 2^30 (a half), channel c with shift c:
//
//   accumulator_i (lane 0 first)   result_o
//   200 200 200 200                100 50 25 13      channels 0 to 3: 12.5 is rounded away from zero
//   200   .   .   .                  6 .. .. ..      channel 4
//   200 200 200 200                100 50 25 13      the next row
//
// Stages and depths are those of quantize_down: the tables are read in the cycle in which the beat is offered.

`include "require.svh"

module quantize_down_channels #(
  parameter int Lanes    = 4,
  parameter bit Deep     = 1'b0,
  parameter int Depth    = Deep ? lanewise_pkg::QuantizeDownChannelsDeep : lanewise_pkg::QuantizeDownChannelsShallow,
  parameter int Channels = 64
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                valid_i,
  output logic                ready_o,
  input  logic [32*Lanes-1:0] accumulator_i,
  input  logic [31:0]         offset_i,
  input  logic [7:0]          minimum_i,
  input  logic [7:0]          maximum_i,
  input  logic                signed_i,
  input  logic [11:0]         channels_i,

  input  logic                table_restart_i,
  input  logic                table_write_i,
  input  logic [11:0]         table_channel_i,
  input  logic [1:0]          table_field_i,
  input  logic [31:0]         table_data_i,

  output logic                valid_o,
  input  logic                ready_i,
  output logic [8*Lanes-1:0]  result_o
);

  `REQUIRE(legal_lanes, Lanes == 4 || Lanes == 8 || Lanes == 16, "quantize_down_channels: Lanes must be 4, 8 or 16")
  `REQUIRE(legal_channels, Channels >= 2 * Lanes && Channels <= 3840 && Channels % Lanes == 0,
           "quantize_down_channels: Channels must be a multiple of Lanes, at least 2 * Lanes and at most 3840")

  logic [32*Lanes-1:0] bias, multiplier;
  logic [5*Lanes-1:0]  shift, unused_left_shift;

  channel_tables #(
    .Lanes   (Lanes),
    .Channels(Channels)
  ) u_channel_tables (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .advance_i   (valid_i & ready_o),
    .restart_i   (table_restart_i),
    .channels_i  (channels_i),
    .write_i     (table_write_i),
    .channel_i   (table_channel_i),
    .field_i     (table_field_i),
    .data_i      (table_data_i),
    .bias_o      (bias),
    .multiplier_o(multiplier),
    .shift_o     (shift),
    .left_shift_o(unused_left_shift)
  );

  quantize_down #(
    .Lanes     (Lanes),
    .Depth     (Depth),
    .PerChannel(1'b1)
  ) u_quantize_down (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .valid_i      (valid_i),
    .ready_o      (ready_o),
    .accumulator_i(accumulator_i),
    .bias_i       (bias),
    .multiplier_i (multiplier),
    .shift_i      (shift),
    .offset_i     (offset_i),
    .minimum_i    (minimum_i),
    .maximum_i    (maximum_i),
    .signed_i     (signed_i),
    .valid_o      (valid_o),
    .ready_i      (ready_i),
    .result_o     (result_o)
  );

endmodule
