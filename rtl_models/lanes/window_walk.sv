// Where the words of windows are in an image: those of `Rows` windows at once, word by word through the window.
//
// An image has rows of `image_width_i` pixels, each of `pixel_words_i` words one after the other.  Windows begin `stride_x_i`
// pixels apart along a row, `out_width_i` of them, and `stride_y_i` rows apart; the first is `left_i` pixels and `top_i` rows
// before the image.  While `run_i` is 1 the next windows are found, one a cycle, until there are `Rows`: `ready_o`.  Then
// `advance_i` goes on to the next word: along a pixel, along a row of the window, down the window, and to the next windows.
// There is no end: windows that begin below the image are outside.  `clear_i` goes back to the first.  All settings stay
// as they are while there is something to walk through.  Addresses are modulo 2^AddressBits.
//
// 4 windows of 3 x 3 pixels of 1 word, side by side with stride 1, left 1 and top 1, on an image of 4 x 4, all in a row:
//
//   run_i        1    1    1    1    1    1    1    1    1    1
//   advance_i    0    0    0    0    1    1    1    1    1    1
//   ready_o      0    0    0    0    1    1    1    1    1    1
//   address_o    .    .    .    .    .    .    .    .    0    1      of the first window
//   inside_o     .    .    .    .    0    0    0    0    1    1      the pixels above it and to its left are not there

`include "require.svh"

module window_walk #(
  parameter int Rows        = 4,
  parameter int AddressBits = 10
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        clear_i,

  input  logic [11:0]                 image_width_i,
  input  logic [11:0]                 image_height_i,
  input  logic [7:0]                  pixel_words_i,
  input  logic [11:0]                 out_width_i,
  input  logic [3:0]                  window_width_i,
  input  logic [3:0]                  window_height_i,
  input  logic [3:0]                  stride_x_i,
  input  logic [3:0]                  stride_y_i,
  input  logic [3:0]                  left_i,
  input  logic [3:0]                  top_i,

  input  logic                        run_i,
  output logic                        ready_o,
  input  logic                        advance_i,
  output logic [AddressBits*Rows-1:0] address_o,
  output logic [Rows-1:0]             inside_o
);

  `REQUIRE(legal_rows, Rows >= 2, "window_walk: Rows is the windows at once and must be 2 or more")
  `REQUIRE(legal_address, AddressBits >= 2 && AddressBits <= 20, "window_walk: AddressBits must be 2 to 20")

  localparam int RowCount = $clog2(Rows + 1);

  // How far things are apart, in words.
  logic [AddressBits-1:0] line, right, down, padding;

  assign line    = AddressBits'(32'(image_width_i) * 32'(pixel_words_i));
  assign right   = AddressBits'(32'(stride_x_i) * 32'(pixel_words_i));
  assign down    = AddressBits'(32'(stride_y_i) * 32'(line));
  assign padding = AddressBits'(32'(top_i) * 32'(line) + 32'(left_i) * 32'(pixel_words_i));

  // The next window: its place among those of a row, and its first pixel, counted from the first window's.
  logic                   loads, ends_line;
  logic [RowCount-1:0]    loaded_q;
  logic [11:0]            place_q;
  logic [15:0]            x_q;
  logic [19:0]            y_q;
  logic [AddressBits-1:0] at_q, line_at_q;

  assign ready_o   = loaded_q == RowCount'(Rows);
  assign loads     = run_i & ~ready_o;
  assign ends_line = place_q == out_width_i - 12'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      place_q   <= '0;
      x_q       <= '0;
      y_q       <= '0;
      at_q      <= '0;
      line_at_q <= '0;
    end else if (clear_i) begin
      place_q   <= '0;
      x_q       <= '0;
      y_q       <= '0;
      at_q      <= '0;
      line_at_q <= '0;
    end else if (loads) begin
      place_q <= ends_line ? '0 : place_q + 12'd1;
      x_q     <= ends_line ? '0 : x_q + 16'(stride_x_i);
      at_q    <= ends_line ? line_at_q + down : at_q + right;
      if (ends_line) begin
        y_q       <= y_q + 20'(stride_y_i);
        line_at_q <= line_at_q + down;
      end
    end
  end

  // The word: its place in the pixel, the pixel's in the window, and how far it is from the first.
  logic                   ends_pixel, ends_row, ends_window;
  logic [7:0]             word_q;
  logic [3:0]             across_q, below_q;
  logic [AddressBits-1:0] tap_q, tap_line_q;

  assign ends_pixel  = word_q == pixel_words_i - 8'd1;
  assign ends_row    = ends_pixel && across_q == window_width_i - 4'd1;
  assign ends_window = ends_row && below_q == window_height_i - 4'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      loaded_q   <= '0;
      word_q     <= '0;
      across_q   <= '0;
      below_q    <= '0;
      tap_q      <= '0;
      tap_line_q <= '0;
    end else if (clear_i) begin
      loaded_q   <= '0;
      word_q     <= '0;
      across_q   <= '0;
      below_q    <= '0;
      tap_q      <= '0;
      tap_line_q <= '0;
    end else begin
      if (loads) loaded_q <= loaded_q + RowCount'(1);
      else if (advance_i & ends_window) loaded_q <= '0;
      if (advance_i) begin
        word_q <= ends_pixel ? '0 : word_q + 8'd1;
        if (ends_pixel) across_q <= ends_row ? '0 : across_q + 4'd1;
        if (ends_row) begin
          below_q    <= ends_window ? '0 : below_q + 4'd1;
          tap_line_q <= ends_window ? '0 : tap_line_q + line;
          tap_q      <= ends_window ? '0 : tap_line_q + line;
        end else begin
          tap_q <= tap_q + AddressBits'(1);
        end
      end
    end
  end

  // The windows that were found, the last of them in the highest place.
  logic [16*Rows-1:0]          xs_q;
  logic [20*Rows-1:0]          ys_q;
  logic [AddressBits*Rows-1:0] ats_q;

  always_ff @(posedge clk_i) begin
    if (loads) begin
      xs_q  <= {x_q, xs_q[16*Rows-1:16]};
      ys_q  <= {y_q, ys_q[20*Rows-1:20]};
      ats_q <= {at_q, ats_q[AddressBits*Rows-1:AddressBits]};
    end
  end

  // A pixel is outside where its place, less the padding, is negative: then, without a sign, it is beyond the image too.
  for (genvar row = 0; row < Rows; row++) begin : gen_rows
    logic [16:0] x;
    logic [20:0] y;

    assign x = 17'(xs_q[16*row +: 16]) + 17'(across_q) - 17'(left_i);
    assign y = 21'(ys_q[20*row +: 20]) + 21'(below_q) - 21'(top_i);
    assign inside_o[row] = x < 17'(image_width_i) && y < 21'(image_height_i);
    assign address_o[AddressBits*row +: AddressBits] = ats_q[AddressBits*row +: AddressBits] + tap_q - padding;
  end

endmodule
