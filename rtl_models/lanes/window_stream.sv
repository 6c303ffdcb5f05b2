// An image in, the words of its windows out: `Rows` windows at once, word by word, as a product takes rows.
//
// The image comes in beats of four words, row by row and pixel by pixel; what the last beat has beyond its end has no
// effect.  It is kept in block RAM, once for each of the rows, which all read at once.  When it is there, its windows
// follow (window_walk): a word of what is not in the image has four times `zero_i`.  They have no end; `clear_i` is
// given when enough of them were taken, and what was offered then is lost.  An image that has no room is not to be
// offered: `fits_o`.  4 rows, an image of one beat, windows of one pixel of two words:
//
//   cycle     0       1 to 4    5       6       7       8 to 10    11      12
//             in      found     0 read  0 out   1 out
//                                       1 read  found    found     0 read  0 out      of the next four windows

`include "require.svh"

module window_stream #(
  parameter int Rows  = 4,
  parameter int Image = 1024
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               clear_i,

  input  logic [11:0]        image_width_i,
  input  logic [11:0]        image_height_i,
  input  logic [7:0]         pixel_words_i,
  input  logic [11:0]        out_width_i,
  input  logic [3:0]         window_width_i,
  input  logic [3:0]         window_height_i,
  input  logic [3:0]         stride_x_i,
  input  logic [3:0]         stride_y_i,
  input  logic [3:0]         left_i,
  input  logic [3:0]         top_i,
  input  logic [7:0]         zero_i,
  output logic               fits_o,

  input  logic               valid_i,
  output logic               ready_o,
  input  logic [127:0]       data_i,

  output logic               valid_o,
  input  logic               ready_i,
  output logic [32*Rows-1:0] data_o
);

  `REQUIRE(legal_image, Image >= 8 && Image <= 1048576 && Image == 1 << $clog2(Image),
           "window_stream: Image is the words of the largest image and must be a power of two, 8 to 1048576")

  localparam int AddressBits = $clog2(Image);
  localparam int BeatBits    = AddressBits - 2;

  // The image in.
  logic [31:0]       words;
  logic [BeatBits:0] beats, held_q;
  logic              accepted, is_there;

  assign words    = 32'(image_width_i) * 32'(image_height_i) * 32'(pixel_words_i);
  assign fits_o   = words <= 32'(Image);
  assign beats    = (BeatBits+1)'((words + 32'd3) >> 2);
  assign is_there = fits_o && held_q == beats;
  assign ready_o  = ~is_there;
  assign accepted = valid_i & ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) held_q <= '0;
    else held_q <= clear_i ? '0 : held_q + (BeatBits+1)'(accepted);
  end

  // The words of the windows.
  logic                        found, reads, valid_q;
  logic [AddressBits*Rows-1:0] address;
  logic [Rows-1:0]             in_image, in_image_q;
  logic [2*Rows-1:0]           word_q;

  assign reads   = is_there & found & (~valid_q | ready_i);
  assign valid_o = valid_q;

  window_walk #(
    .Rows       (Rows),
    .AddressBits(AddressBits)
  ) u_window_walk (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .clear_i        (clear_i),
    .image_width_i  (image_width_i),
    .image_height_i (image_height_i),
    .pixel_words_i  (pixel_words_i),
    .out_width_i    (out_width_i),
    .window_width_i (window_width_i),
    .window_height_i(window_height_i),
    .stride_x_i     (stride_x_i),
    .stride_y_i     (stride_y_i),
    .left_i         (left_i),
    .top_i          (top_i),
    .run_i          (is_there),
    .ready_o        (found),
    .advance_i      (reads),
    .address_o      (address),
    .inside_o       (in_image)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else valid_q <= (reads | (valid_q & ~ready_i)) & ~clear_i;
  end

  always_ff @(posedge clk_i) begin
    if (reads) in_image_q <= in_image;
  end

  for (genvar row = 0; row < Rows; row++) begin : gen_rows
    logic [127:0] beat;

    tile_buffer #(
      .Width(128),
      .Depth(Image / 4)
    ) u_image (
      .clk_i          (clk_i),
      .write_i        (accepted),
      .write_address_i(held_q[BeatBits-1:0]),
      .data_i         (data_i),
      .read_i         (reads),
      .read_address_i (address[AddressBits*row+2 +: BeatBits]),
      .data_o         (beat)
    );

    always_ff @(posedge clk_i) begin
      if (reads) word_q[2*row +: 2] <= address[AddressBits*row +: 2];
    end

    assign data_o[32*row +: 32] = in_image_q[row] ? beat[32*word_q[2*row +: 2] +: 32] : {4{zero_i}};
  end

endmodule
