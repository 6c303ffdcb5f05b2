// The settings of all units, written over a bus of 32-bit words.  REGISTERS.md has the map.
//
// An illegal write changes no setting: it sets its bit of STATUS, which stays until a 1 is written
// to it.  `error_o` is 1 while any is set.  The units never see an illegal setting, and go on.
//
//   STATUS[0]  illegal value: out of range, or bits set that belong to no field
//   STATUS[1]  unaligned address, whatever lies there
//   STATUS[2]  unmapped address; in the tables, also a channel from Channels on
//
//   address      data   STATUS after it
//     0x008        31   000   shift is 31
//     0x008        32   001   and stays 31
//     0x00A         1   011
//     0x054         0   111
//     0x000       110   001   in binary
//     0x010   0x10080   001   minimum -128, maximum 0: signed bytes
//     0x010   0x00080   001   128 to 0: refused
//
// Reading takes no cycle and has no effect; an address that holds nothing reads 0, and so do the
// tables, which are kept where they are used: `table_*_o` is the write on its way to them.

`include "require.svh"

module config_registers #(
  parameter int Channels = 64
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        write_i,
  input  logic [15:0] address_i,
  input  logic [31:0] data_i,
  output logic [31:0] read_data_o,
  output logic        error_o,

  output logic [31:0] multiplier_o,
  output logic [4:0]  shift_o,
  output logic [31:0] offset_o,
  output logic [7:0]  minimum_o,
  output logic [7:0]  maximum_o,
  output logic        signed_o,
  output logic [31:0] a_offset_o,
  output logic [31:0] b_offset_o,
  output logic [31:0] constant_o,
  output logic [31:0] destination_o,
  output logic [15:0] width_o,
  output logic [15:0] height_o,
  output logic [2:0]  element_o,
  output logic        zero_tail_o,
  output logic [4:0]  left_shift_o,
  output logic [31:0] a_multiplier_o,
  output logic [4:0]  a_shift_o,
  output logic [31:0] b_multiplier_o,
  output logic [4:0]  b_shift_o,
  output logic [11:0] channels_o,
  output logic [1:0]  rounding_o,
  output logic        unfused_o,
  output logic [11:0] image_width_o,
  output logic [11:0] image_height_o,
  output logic [7:0]  pixel_words_o,
  output logic [11:0] out_width_o,
  output logic [3:0]  window_width_o,
  output logic [3:0]  window_height_o,
  output logic [3:0]  stride_x_o,
  output logic [3:0]  stride_y_o,
  output logic [3:0]  left_o,
  output logic [3:0]  top_o,
  output logic        windows_o,

  output logic        table_restart_o,  // CHANNELS is written: the row starts again
  output logic        table_write_o,
  output logic [11:0] table_channel_o,
  output logic [1:0]  table_field_o,    // 0 bias, 1 multiplier, 2 shift, 3 left shift
  output logic [31:0] table_data_o
);

  `REQUIRE(legal_channels, Channels >= 1 && Channels <= 3840,
           "config_registers: Channels must be 1 to 3840, for which the map has room")

  // The tables: 16 bytes a channel.  An address below them wraps to a channel from 3840 on.
  logic in_tables;

  assign table_channel_o = address_i[15:4] - 12'(lanewise_pkg::AddressTables >> 4);
  assign table_field_o   = address_i[3:2];
  assign table_data_o    = data_i;
  assign in_tables       = 32'(table_channel_o) < Channels;

  // The values that are legal somewhere.
  logic [7:0]  minimum, maximum;
  logic [31:0] element;
  logic        is_shift, is_left_shift, is_bounds, is_destination, is_size, is_element, is_channels;
  logic        is_rounding, is_shift_left, is_image, is_pixels, is_window;

  assign minimum        = data_i[7:0];
  assign maximum        = data_i[15:8];
  assign element        = data_i & ~32'h100;  // without zero_tail
  assign is_shift       = data_i <= 32'd31;
  assign is_left_shift  = data_i <= 32'd20;
  assign is_bounds      = data_i[31:17] == '0 && (data_i[16] ? $signed(minimum) <= $signed(maximum)
                                                             : minimum <= maximum);
  assign is_destination = data_i[3:0] == '0;
  assign is_size        = data_i[15:0] != '0 && data_i[31:16] != '0;
  assign is_element     = element == 32'd1 || element == 32'd2 || element == 32'd4;
  assign is_channels    = data_i >= 32'd1 && data_i <= Channels;
  assign is_rounding    = (data_i & ~32'h100) <= 32'd2;  // without unfused
  assign is_shift_left  = data_i <= 32'd30;
  assign is_image       = {data_i[31:28], data_i[15:12]} == '0 && data_i[11:0] != '0 && data_i[27:16] != '0;
  assign is_pixels      = {data_i[31:28], data_i[15:8]} == '0 && data_i[7:0] != '0 && data_i[27:16] != '0;
  assign is_window      = data_i[31:25] == '0 && data_i[3:0] != '0 && data_i[7:4] != '0
                                              && data_i[11:8] != '0 && data_i[15:12] != '0;

  logic mapped, legal;

  always_comb begin
    mapped = 1'b1;
    legal  = 1'b1;
    case (address_i)
      lanewise_pkg::AddressStatus,
      lanewise_pkg::AddressMultiplier,
      lanewise_pkg::AddressOffset,
      lanewise_pkg::AddressAOffset,
      lanewise_pkg::AddressBOffset,
      lanewise_pkg::AddressConstant,
      lanewise_pkg::AddressAMultiplier,
      lanewise_pkg::AddressBMultiplier: legal = 1'b1;
      lanewise_pkg::AddressShift,
      lanewise_pkg::AddressAShift,
      lanewise_pkg::AddressBShift:      legal = is_shift;
      lanewise_pkg::AddressLeftShift:   legal = is_left_shift;
      lanewise_pkg::AddressBounds:      legal = is_bounds;
      lanewise_pkg::AddressDestination: legal = is_destination;
      lanewise_pkg::AddressSize:        legal = is_size;
      lanewise_pkg::AddressElement:     legal = is_element;
      lanewise_pkg::AddressChannels:    legal = is_channels;
      lanewise_pkg::AddressRounding:    legal = is_rounding;
      lanewise_pkg::AddressImage:       legal = is_image;
      lanewise_pkg::AddressPixels:      legal = is_pixels;
      lanewise_pkg::AddressWindow:      legal = is_window;
      default: begin
        mapped = in_tables;
        legal  = table_field_o[1] == 1'b0 || (table_field_o[0] ? is_shift_left : is_shift);
      end
    endcase
  end

  // What becomes of a write: exactly one of four.
  logic aligned, accepted, illegal, unaligned, unmapped;

  assign aligned   = address_i[1:0] == '0;
  assign unaligned = write_i & ~aligned;
  assign unmapped  = write_i & aligned & ~mapped;
  assign illegal   = write_i & aligned & mapped & ~legal;
  assign accepted  = write_i & aligned & mapped & legal;

  assign table_write_o   = accepted && in_tables;
  assign table_restart_o = accepted && address_i == lanewise_pkg::AddressChannels;

  logic [2:0] status_q, cleared;

  assign cleared = accepted && address_i == lanewise_pkg::AddressStatus ? data_i[2:0] : '0;
  assign error_o = status_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) status_q <= '0;
    else status_q <= (status_q & ~cleared) | {unmapped, unaligned, illegal};
  end

  // One register for each word of the map, as wide as its fields.
  logic [31:0] multiplier_q, offset_q, a_offset_q, b_offset_q, constant_q, destination_q, size_q;
  logic [31:0] a_multiplier_q, b_multiplier_q;
  logic [16:0] bounds_q;
  logic [11:0] channels_q;
  logic [3:0]  element_q;  // zero_tail, element
  logic [4:0]  shift_q, left_shift_q, a_shift_q, b_shift_q;
  logic [2:0]  rounding_q;  // unfused, rounding
  logic [23:0] image_q;   // height, width
  logic [19:0] pixels_q;  // of a row of the output, words
  logic [24:0] window_q;  // windows, top, left, strides, height, width

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      multiplier_q   <= '0;
      shift_q        <= '0;
      offset_q       <= '0;
      bounds_q       <= {1'b0, 8'd255, 8'd0};
      a_offset_q     <= '0;
      b_offset_q     <= '0;
      constant_q     <= '0;
      destination_q  <= '0;
      size_q         <= {16'd1, 16'd1};
      element_q      <= 4'd1;
      left_shift_q   <= '0;
      a_multiplier_q <= '0;
      a_shift_q      <= '0;
      b_multiplier_q <= '0;
      b_shift_q      <= '0;
      channels_q     <= 12'd1;
      rounding_q     <= '0;
      image_q        <= {12'd1, 12'd1};
      pixels_q       <= {12'd1, 8'd1};
      window_q       <= 25'h1111;
    end else if (accepted) begin
      case (address_i)
        lanewise_pkg::AddressMultiplier:  multiplier_q   <= data_i;
        lanewise_pkg::AddressShift:       shift_q        <= data_i[4:0];
        lanewise_pkg::AddressOffset:      offset_q       <= data_i;
        lanewise_pkg::AddressBounds:      bounds_q       <= data_i[16:0];
        lanewise_pkg::AddressAOffset:     a_offset_q     <= data_i;
        lanewise_pkg::AddressBOffset:     b_offset_q     <= data_i;
        lanewise_pkg::AddressConstant:    constant_q     <= data_i;
        lanewise_pkg::AddressDestination: destination_q  <= data_i;
        lanewise_pkg::AddressSize:        size_q         <= data_i;
        lanewise_pkg::AddressElement:     element_q      <= {data_i[8], data_i[2:0]};
        lanewise_pkg::AddressLeftShift:   left_shift_q   <= data_i[4:0];
        lanewise_pkg::AddressAMultiplier: a_multiplier_q <= data_i;
        lanewise_pkg::AddressAShift:      a_shift_q      <= data_i[4:0];
        lanewise_pkg::AddressBMultiplier: b_multiplier_q <= data_i;
        lanewise_pkg::AddressBShift:      b_shift_q      <= data_i[4:0];
        lanewise_pkg::AddressChannels:    channels_q     <= data_i[11:0];
        lanewise_pkg::AddressRounding:    rounding_q     <= {data_i[8], data_i[1:0]};
        lanewise_pkg::AddressImage:       image_q        <= {data_i[27:16], data_i[11:0]};
        lanewise_pkg::AddressPixels:      pixels_q       <= {data_i[27:16], data_i[7:0]};
        lanewise_pkg::AddressWindow:      window_q       <= data_i[24:0];
        default: ;  // STATUS and the tables
      endcase
    end
  end

  always_comb begin
    case (address_i)
      lanewise_pkg::AddressStatus:      read_data_o = 32'(status_q);
      lanewise_pkg::AddressMultiplier:  read_data_o = multiplier_q;
      lanewise_pkg::AddressShift:       read_data_o = 32'(shift_q);
      lanewise_pkg::AddressOffset:      read_data_o = offset_q;
      lanewise_pkg::AddressBounds:      read_data_o = 32'(bounds_q);
      lanewise_pkg::AddressAOffset:     read_data_o = a_offset_q;
      lanewise_pkg::AddressBOffset:     read_data_o = b_offset_q;
      lanewise_pkg::AddressConstant:    read_data_o = constant_q;
      lanewise_pkg::AddressDestination: read_data_o = destination_q;
      lanewise_pkg::AddressSize:        read_data_o = size_q;
      lanewise_pkg::AddressElement:     read_data_o = {23'b0, zero_tail_o, 5'b0, element_o};
      lanewise_pkg::AddressLeftShift:   read_data_o = 32'(left_shift_q);
      lanewise_pkg::AddressAMultiplier: read_data_o = a_multiplier_q;
      lanewise_pkg::AddressAShift:      read_data_o = 32'(a_shift_q);
      lanewise_pkg::AddressBMultiplier: read_data_o = b_multiplier_q;
      lanewise_pkg::AddressBShift:      read_data_o = 32'(b_shift_q);
      lanewise_pkg::AddressChannels:    read_data_o = 32'(channels_q);
      lanewise_pkg::AddressRounding:    read_data_o = {23'b0, unfused_o, 6'b0, rounding_o};
      lanewise_pkg::AddressImage:       read_data_o = {4'b0, image_height_o, 4'b0, image_width_o};
      lanewise_pkg::AddressPixels:      read_data_o = {4'b0, out_width_o, 8'b0, pixel_words_o};
      lanewise_pkg::AddressWindow:      read_data_o = 32'(window_q);
      default:                          read_data_o = '0;
    endcase
  end

  assign multiplier_o                     = multiplier_q;
  assign shift_o                          = shift_q;
  assign offset_o                         = offset_q;
  assign {signed_o, maximum_o, minimum_o} = bounds_q;
  assign a_offset_o                       = a_offset_q;
  assign b_offset_o                       = b_offset_q;
  assign constant_o                       = constant_q;
  assign destination_o                    = destination_q;
  assign {height_o, width_o}              = size_q;
  assign {zero_tail_o, element_o}         = element_q;
  assign left_shift_o                     = left_shift_q;
  assign a_multiplier_o                   = a_multiplier_q;
  assign a_shift_o                        = a_shift_q;
  assign b_multiplier_o                   = b_multiplier_q;
  assign b_shift_o                        = b_shift_q;
  assign channels_o                       = channels_q;
  assign {unfused_o, rounding_o}          = rounding_q;
  assign {image_height_o, image_width_o}  = image_q;
  assign {out_width_o, pixel_words_o}     = pixels_q;
  assign {windows_o, top_o, left_o, stride_y_o, stride_x_o, window_height_o, window_width_o} = window_q;

endmodule
