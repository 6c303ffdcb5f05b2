// Where each beat of a frame is: the address of its first chunk, and how many of its bytes belong to the row.
//
// A frame is `height` rows of `width` elements of `element` bytes.  A beat is up to `BeatBytes` bytes of one row, in
// chunks of 16; chunk number `block` of row `y` belongs at destination + 16 * (block * height + y), modulo 2^32.  No
// product is needed: the next chunk of the row is `step` = 16 * height bytes on, the next row 16 bytes on.
//
// The outputs are those of the beat that is offered; `accepted_i` moves on to the next.  The settings of a frame are
// those that come with its first beat: until its last is accepted, others have no effect.  Reset makes the next beat a
// first one.  BeatBytes 32, destination 0, width 10, height 2, element 4 (rows of 40 bytes), beat by beat:
//
//   row  address   bytes  step  last
//     0        0      32    32     0       chunks 0 and 1, at 0 and 32
//     0       64       8    32     0       chunk 2
//     1       16      32    32     0
//     1       80       8    32     1

`include "require.svh"

module frame_walk #(
  parameter  int BeatBytes = 16,
  localparam int CountBits = $clog2(BeatBytes) + 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 accepted_i,

  input  logic [31:0]          destination_i,
  input  logic [15:0]          width_i,
  input  logic [15:0]          height_i,
  input  logic [2:0]           element_i,
  input  logic                 zero_tail_i,

  output logic [31:0]          address_o,
  output logic [CountBits-1:0] bytes_o,
  output logic [31:0]          step_o,
  output logic                 zero_tail_o,
  output logic                 last_o
);

  `REQUIRE(legal_beat, BeatBytes == 16 || BeatBytes == 32 || BeatBytes == 64,
           "frame_walk: BeatBytes must be 16, 32 or 64: 1, 2 or 4 chunks")

  // What a beat has from the frame's first one, and where it is; for the first one itself, the settings say both.
  logic        first_q, zero_tail_q, zero_tail;
  logic [15:0] height_q, height;
  logic [17:0] row_bytes_q, row_bytes, row_bytes_set;
  logic [15:0] rows_q, rows;                // from this one to the last
  logic [17:0] remaining_q, remaining;      // bytes of the row from this beat on
  logic [31:0] row_address_q, row_address;  // of the row's first chunk
  logic [31:0] address_q, address;          // of the beat's first chunk

  // width * element: one bit of element is set.
  assign row_bytes_set = ({2'b0, width_i} & {18{element_i[0]}}) | ({1'b0, width_i, 1'b0} & {18{element_i[1]}})
                       | ({width_i, 2'b0} & {18{element_i[2]}});

  assign zero_tail   = first_q ? zero_tail_i   : zero_tail_q;
  assign height      = first_q ? height_i      : height_q;
  assign row_bytes   = first_q ? row_bytes_set : row_bytes_q;
  assign rows        = first_q ? height_i      : rows_q;
  assign remaining   = first_q ? row_bytes_set : remaining_q;
  assign row_address = first_q ? destination_i : row_address_q;
  assign address     = first_q ? destination_i : address_q;

  logic ends_row;

  assign ends_row    = remaining <= 18'(BeatBytes);
  assign last_o      = ends_row && rows == 16'd1;
  assign address_o   = address;
  assign bytes_o     = ends_row ? CountBits'(remaining) : CountBits'(BeatBytes);
  assign step_o      = {12'b0, height, 4'b0};
  assign zero_tail_o = zero_tail;

  logic [31:0] next_row_address, beat_step;

  assign next_row_address = row_address + 32'd16;
  assign beat_step        = step_o << $clog2(BeatBytes / 16);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (accepted_i) first_q <= last_o;
  end

  always_ff @(posedge clk_i) begin
    if (accepted_i) begin
      zero_tail_q   <= zero_tail;
      height_q      <= height;
      row_bytes_q   <= row_bytes;
      rows_q        <= ends_row ? rows - 16'd1     : rows;
      remaining_q   <= ends_row ? row_bytes        : remaining - 18'(BeatBytes);
      row_address_q <= ends_row ? next_row_address : row_address;
      address_q     <= ends_row ? next_row_address : address + beat_step;
    end
  end

endmodule
