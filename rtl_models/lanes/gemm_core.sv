// A quantized matrix product in an array of Rows x Columns lanes, its result requantized: one layer after the other.
//
//   sum[m][n]    = the sum over k of (a[m][k] + a_offset) * (b[k][n] + b_offset)                   M x N, wrapped
//   result[m][n] = requantize(sum[m][n]) with bias, multiplier and shifts of channel n
//
// The settings are those of config_registers, whose bus is on the ports: M is `height`, K is `width`, N is `channels`;
// `signed` says how the bytes of a, b and the bounds are read.  They must stay as they are while `busy_o` is 1: a layer
// begins with its first beat.  No beat is accepted, and `error_o` is 1, while the settings are no layer that fits: K is
// at most 4 * Steps, and an offset must be minus a zero point, which is a byte.  Where `windows` is 1, the rows of a are
// windows of an image (window_stream), which must have room, and K the bytes of a window.
//
// The streams follow AXI4-Stream; where M, N or K is no multiple of the block, what is beyond it in a beat has no effect:
//
//   stream  a beat has                                     in the order
//   a       four bytes along k of each of Rows rows        blocks of rows; in each, k
//           or, in the low bits, 16 bytes of an image      rows of the image; in each, pixels
//   b       four bytes along k of each of Columns columns  blocks of columns; in each, k
//   result  Columns bytes of one row, those with keep_o    blocks of rows; in each, blocks of columns; in each, rows
//
// `last_o` marks the last beat of a layer.  b stays in its buffer until the layer is over; of a there is room for two
// blocks of rows and more, so that the next one comes while one is multiplied.  The next layer may begin as soon as the
// last step of one is made.  In the array a step takes a cycle, and a tile S = ceil(K / 4) steps:
//
//   cycle     0          1           2                    3            S + 2
//   of step   0: in      0: read     0: multiplied        ...          S: row 0 goes to requantize
//
// A tile waits in its last step while rows of the one before have not gone.  cores/gemm_cycles.py has every cycle.

`include "require.svh"

module gemm_core #(
  parameter int Rows     = 4,
  parameter int Columns  = 4,
  parameter int Steps    = 64,
  parameter int Channels = 64,
  parameter int Image    = 1024,
  parameter bit Deep     = 1'b0
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic                  bus_write_i,
  input  logic [15:0]           bus_address_i,
  input  logic [31:0]           bus_data_i,
  output logic [31:0]           bus_read_data_o,
  output logic                  error_o,
  output logic                  busy_o,

  input  logic                  a_valid_i,
  output logic                  a_ready_o,
  input  logic [32*Rows-1:0]    a_data_i,

  input  logic                  b_valid_i,
  output logic                  b_ready_o,
  input  logic [32*Columns-1:0] b_data_i,

  output logic                  valid_o,
  input  logic                  ready_i,
  output logic [8*Columns-1:0]  result_o,
  output logic [Columns-1:0]    keep_o,
  output logic                  last_o
);

  `REQUIRE(legal_rows, Rows >= 4 && Rows <= 16, "gemm_core: Rows must be 4 to 16")
  `REQUIRE(legal_columns, Columns == 4 || Columns == 8 || Columns == 16, "gemm_core: Columns must be 4, 8 or 16")
  `REQUIRE(legal_steps, Steps >= 2 && Steps <= 16384 && Steps == 1 << $clog2(Steps),
           "gemm_core: Steps is the steps of the longest k and must be a power of two, 2 to 16384")
  `REQUIRE(legal_channels, Channels >= 2 * Columns && Channels <= 3840 && Channels % Columns == 0,
           "gemm_core: Channels must be a multiple of Columns, at least 2 * Columns and at most 3840")

  localparam int ADepth      = 2 * Steps;
  localparam int BDepth      = Steps * Channels / Columns;
  localparam int AAddress    = $clog2(ADepth);
  localparam int BAddress    = $clog2(BDepth);
  localparam int RowCount    = $clog2(Rows + 1);
  localparam int ColumnCount = $clog2(Columns + 1);
  localparam int OutputDepth = Deep ? lanewise_pkg::RequantizeDeep : lanewise_pkg::RequantizeShallow;

  // The settings.
  logic        status_error;
  logic [31:0] offset, a_offset, b_offset;
  logic [15:0] width, height;
  logic [7:0]  minimum, maximum;
  logic        is_signed;
  logic [11:0] channels;
  logic [1:0]  rounding;
  logic [11:0] image_width, image_height, out_width;
  logic [7:0]  pixel_words;
  logic [3:0]  window_width, window_height, stride_x, stride_y, left, top;
  logic        windows;
  logic        table_restart, table_write;
  logic [11:0] table_channel;
  logic [1:0]  table_field;
  logic [31:0] table_data;

  // verilator lint_off PINCONNECTEMPTY
  // The settings of other units.
  config_registers #(
    .Channels(Channels)
  ) u_config_registers (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .write_i        (bus_write_i),
    .address_i      (bus_address_i),
    .data_i         (bus_data_i),
    .read_data_o    (bus_read_data_o),
    .error_o        (status_error),
    .multiplier_o   (),
    .shift_o        (),
    .offset_o       (offset),
    .minimum_o      (minimum),
    .maximum_o      (maximum),
    .signed_o       (is_signed),
    .a_offset_o     (a_offset),
    .b_offset_o     (b_offset),
    .constant_o     (),
    .destination_o  (),
    .width_o        (width),
    .height_o       (height),
    .element_o      (),
    .zero_tail_o    (),
    .left_shift_o   (),
    .a_multiplier_o (),
    .a_shift_o      (),
    .b_multiplier_o (),
    .b_shift_o      (),
    .channels_o     (channels),
    .rounding_o     (rounding),
    .unfused_o      (),
    .image_width_o  (image_width),
    .image_height_o (image_height),
    .pixel_words_o  (pixel_words),
    .out_width_o    (out_width),
    .window_width_o (window_width),
    .window_height_o(window_height),
    .stride_x_o     (stride_x),
    .stride_y_o     (stride_y),
    .left_o         (left),
    .top_o          (top),
    .windows_o      (windows),
    .table_restart_o(table_restart),
    .table_write_o  (table_write),
    .table_channel_o(table_channel),
    .table_field_o  (table_field),
    .table_data_o   (table_data)
  );
  // verilator lint_on PINCONNECTEMPTY

  logic [15:0]        steps;  // of a tile
  logic signed [31:0] lowest, highest;
  logic               has_room, is_window, fits;

  assign steps   = 16'((17'(width) + 17'd3) >> 2);
  assign lowest  = is_signed ? -32'sd127 : -32'sd255;
  assign highest = is_signed ? 32'sd128 : 32'sd0;
  assign fits    = steps <= 16'(Steps) && $signed(a_offset) >= lowest && $signed(a_offset) <= highest
                                       && $signed(b_offset) >= lowest && $signed(b_offset) <= highest
                                       && (~windows | (has_room & is_window));
  assign error_o = status_error | ~fits;


  // The rows of a, or the windows of an image that comes in their place.
  logic [15:0]        window_words;
  logic               image_valid, image_ready, window_valid, finishes;
  logic [7:0]         zero;
  logic               a_offered, a_takes, a_accepted, a_moves;  // a_moves: a beat of the stream, a_accepted: of rows
  logic [32*Rows-1:0] a_bytes, window_bytes;

  assign window_words = 16'(window_width) * 16'(window_height) * 16'(pixel_words);
  assign is_window    = {2'b00, width} == {window_words, 2'b00};
  assign a_offered    = windows ? window_valid : a_valid_i;
  assign a_bytes      = windows ? window_bytes : a_data_i;
  assign a_ready_o    = windows ? fits & image_ready : a_takes;
  assign a_accepted   = a_offered & a_takes;
  assign a_moves      = a_valid_i & a_ready_o;
  assign image_valid  = a_moves & windows;
  assign zero         = 8'd0 - a_offset[7:0];

  window_stream #(
    .Rows (Rows),
    .Image(Image)
  ) u_window_stream (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .clear_i        (finishes),
    .image_width_i  (image_width),
    .image_height_i (image_height),
    .pixel_words_i  (pixel_words),
    .out_width_i    (out_width),
    .window_width_i (window_width),
    .window_height_i(window_height),
    .stride_x_i     (stride_x),
    .stride_y_i     (stride_y),
    .left_i         (left),
    .top_i          (top),
    .zero_i         (zero),
    .fits_o         (has_room),
    .valid_i        (image_valid),
    .ready_o        (image_ready),
    .data_i         (a_data_i[127:0]),
    .valid_o        (window_valid),
    .ready_i        (a_takes),
    .data_o         (window_bytes)
  );

  // In: each word with its offsets into its buffer.  A stream is done until the last step of the layer is made.
  logic                  b_accepted, b_ends, a_last, b_last, a_done_q, b_done_q;
  logic [3:0]            tail, b_keep;  // the bytes of a word that are within K: of the last one, of this one
  logic [36*Rows-1:0]    a_numbers, a_word;
  logic [36*Columns-1:0] b_numbers, b_word;
  logic [AAddress:0]     a_held_q;  // words from the one at a_base_q on
  logic [AAddress-1:0]   a_base_q;  // where the block of rows begins that is multiplied
  logic [BAddress:0]     b_held_q;

  assign a_takes    = fits & ~a_done_q & (a_held_q != (AAddress+1)'(ADepth));
  assign b_ready_o  = fits & ~b_done_q;
  assign b_accepted = b_valid_i & b_ready_o;

  assign tail   = {width[1:0] == 2'd0, width[1:0] == 2'd0 || width[1:0] == 2'd3, width[1:0] != 2'd1, 1'b1};
  assign b_keep = b_ends ? tail : '1;  // what meets a 0 of b in a counts for nothing

  // verilator lint_off PINCONNECTEMPTY
  // Only where a walk ends is asked.
  block_walk #(
    .Block(Rows)
  ) u_a_walk (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .advance_i(a_accepted),
    .steps_i  (steps),
    .total_i  (height),
    .step_o   (),
    .count_o  (),
    .ends_o   (),
    .last_o   (a_last)
  );

  block_walk #(
    .Block(Columns)
  ) u_b_walk (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .advance_i(b_accepted),
    .steps_i  (steps),
    .total_i  ({4'b0, channels}),
    .step_o   (),
    .count_o  (),
    .ends_o   (b_ends),
    .last_o   (b_last)
  );
  // verilator lint_on PINCONNECTEMPTY

  offset_bytes #(
    .Words(Rows)
  ) u_a_bytes (
    .data_i  (a_bytes),
    .signed_i(is_signed),
    .offset_i(a_offset[8:0]),
    .keep_i  (4'b1111),
    .result_o(a_numbers)
  );

  offset_bytes #(
    .Words(Columns)
  ) u_b_bytes (
    .data_i  (b_data_i),
    .signed_i(is_signed),
    .offset_i(b_offset[8:0]),
    .keep_i  (b_keep),
    .result_o(b_numbers)
  );

  // The steps: tile after tile, where both words are there.
  logic                   moves, reads, tile_ends, pass_ends;
  logic [15:0]            step;
  logic [RowCount-1:0]    rows;
  logic [ColumnCount-1:0] columns;
  logic                   is_last_pass;
  logic [BAddress-1:0]    b_at_q;

  assign reads    = moves && 16'(a_held_q) > step && b_held_q > {1'b0, b_at_q};
  assign finishes = reads & pass_ends & is_last_pass;

  // verilator lint_off PINCONNECTEMPTY
  // A pass over the columns is one step of the walk over the rows, which so always ends its block.
  block_walk #(
    .Block(Columns)
  ) u_column_walk (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .advance_i(reads),
    .steps_i  (steps),
    .total_i  ({4'b0, channels}),
    .step_o   (step),
    .count_o  (columns),
    .ends_o   (tile_ends),
    .last_o   (pass_ends)
  );

  block_walk #(
    .Block  (Rows),
    .OneStep(1'b1)
  ) u_row_walk (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .advance_i(reads & pass_ends),
    .steps_i  (16'd1),
    .total_i  (height),
    .step_o   (),
    .count_o  (rows),
    .ends_o   (),
    .last_o   (is_last_pass)
  );
  // verilator lint_on PINCONNECTEMPTY

  logic [AAddress-1:0] a_write_at, a_read_at;
  logic [BAddress-1:0] b_write_at;

  assign a_write_at = a_base_q + AAddress'(a_held_q);
  assign a_read_at  = a_base_q + AAddress'(step);
  assign b_write_at = BAddress'(b_held_q);

  tile_buffer #(
    .Width(36 * Rows),
    .Depth(ADepth)
  ) u_a_buffer (
    .clk_i          (clk_i),
    .write_i        (a_accepted),
    .write_address_i(a_write_at),
    .data_i         (a_numbers),
    .read_i         (reads),
    .read_address_i (a_read_at),
    .data_o         (a_word)
  );

  tile_buffer #(
    .Width(36 * Columns),
    .Depth(BDepth)
  ) u_b_buffer (
    .clk_i          (clk_i),
    .write_i        (b_accepted),
    .write_address_i(b_write_at),
    .data_i         (b_numbers),
    .read_i         (reads),
    .read_address_i (b_at_q),
    .data_o         (b_word)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      a_done_q <= 1'b0;
      b_done_q <= 1'b0;
      a_held_q <= '0;
      a_base_q <= '0;
      b_held_q <= '0;
      b_at_q   <= '0;
    end else begin
      a_done_q <= (a_done_q | (a_accepted & a_last)) & ~finishes;
      b_done_q <= (b_done_q | (b_accepted & b_last)) & ~finishes;
      a_held_q <= a_held_q + (AAddress+1)'(a_accepted) - (reads & pass_ends ? (AAddress+1)'(steps) : '0);
      b_held_q <= finishes ? '0 : b_held_q + (BAddress+1)'(b_accepted);
      if (reads & pass_ends) a_base_q <= a_base_q + AAddress'(steps);
      if (reads) b_at_q <= pass_ends ? '0 : b_at_q + BAddress'(1);
    end
  end

  // The array, a cycle after the buffers were read.  A tile's last step waits until its rows can go.
  logic                       stepping_q, first_q, ends_q, final_q;  // final_q: of the layer's last tile
  logic [RowCount-1:0]        rows_q;
  logic [ColumnCount-1:0]     columns_q;
  logic                       free, loads;
  logic [32*Rows*Columns-1:0] sums;

  assign moves = ~(stepping_q & ends_q) | free;
  assign loads = stepping_q & ends_q & free;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) stepping_q <= 1'b0;
    else if (moves) stepping_q <= reads;
  end

  always_ff @(posedge clk_i) begin
    if (reads) begin
      first_q   <= step == '0;
      ends_q    <= tile_ends;
      final_q   <= finishes;
      rows_q    <= rows;
      columns_q <= columns;
    end
  end

  mac_array #(
    .Rows   (Rows),
    .Columns(Columns)
  ) u_mac_array (
    .clk_i  (clk_i),
    .step_i (stepping_q & moves),
    .first_i(first_q),
    .a_i    (a_word),
    .b_i    (b_word),
    .sums_o (sums)
  );

  // Out: the tile row by row, requantized.
  logic                  row_valid, row_ready, row_last;
  logic [32*Columns-1:0] row, bias, multiplier;
  logic [5*Columns-1:0]  shift, left_shift;
  logic                  out_final_q;
  logic [Columns-1:0]    out_keep_q;

  row_stream #(
    .Rows (Rows),
    .Width(32 * Columns)
  ) u_row_stream (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .load_i (loads),
    .rows_i (rows_q),
    .tile_i (sums),
    .free_o (free),
    .valid_o(row_valid),
    .ready_i(row_ready),
    .row_o  (row),
    .last_o (row_last)
  );

  always_ff @(posedge clk_i) begin
    if (loads) begin
      out_final_q <= final_q;
      out_keep_q  <= Columns'((32'd1 << columns_q) - 32'd1);
    end
  end

  channel_tables #(
    .Lanes     (Columns),
    .Channels  (Channels),
    .LeftShifts(1'b1)
  ) u_channel_tables (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .advance_i   (row_valid & row_ready & row_last),
    .restart_i   (table_restart),
    .channels_i  (channels),
    .write_i     (table_write),
    .channel_i   (table_channel),
    .field_i     (table_field),
    .data_i      (table_data),
    .bias_o      (bias),
    .multiplier_o(multiplier),
    .shift_o     (shift),
    .left_shift_o(left_shift)
  );

  requantize #(
    .Lanes(Columns),
    .Deep (Deep)
  ) u_requantize (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .valid_i      (row_valid),
    .ready_o      (row_ready),
    .accumulator_i(row),
    .bias_i       (bias),
    .multiplier_i (multiplier),
    .left_shift_i (left_shift),
    .shift_i      (shift),
    .rounding_i   (rounding),
    .offset_i     (offset),
    .minimum_i    (minimum),
    .maximum_i    (maximum),
    .signed_i     (is_signed),
    .valid_o      (valid_o),
    .ready_i      (ready_i),
    .result_o     (result_o)
  );

  delay_line #(
    .Width(Columns + 1),
    .Depth(OutputDepth)
  ) u_marks (
    .clk_i   (clk_i),
    .enable_i(row_ready),
    .data_i  ({out_final_q & row_last, out_keep_q}),
    .data_o  ({last_o, keep_o})
  );

  // Layers that have begun and are not over: one in the buffers, the others with one beat each behind them.
  logic [4:0] layers_q;
  logic       begun_q, begins, ends;

  assign begins = (a_moves | b_accepted) & ~begun_q;
  assign ends   = valid_o & ready_i & last_o;
  assign busy_o = layers_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begun_q  <= 1'b0;
      layers_q <= '0;
    end else begin
      begun_q  <= (begun_q | begins) & ~finishes;
      layers_q <= layers_q + 5'(begins) - 5'(ends);
    end
  end

endmodule
