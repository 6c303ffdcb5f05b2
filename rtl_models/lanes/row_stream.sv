// The rows of a tile, loaded all at once, handed on one by one.
//
// `load_i` comes only where `free_o` is 1: no row waits, or the last one is taken in the same cycle.  The first row is in
// the low bits; `rows_i`, 1 to Rows, says how many there are.  Rows 4, two tiles, of three rows and of one:
//
//   load_i       A    0    0    0    B    0
//   ready_i      1    1    0    1    1    1
//   valid_o      0    1    1    1    1    1
//   row_o        .   A0   A1   A1   A2   B0
//   last_o       0    0    0    0    1    1
//   free_o       1    0    0    0    1    1

`include "require.svh"

module row_stream #(
  parameter  int Rows      = 4,
  parameter  int Width     = 32,
  localparam int CountBits = $clog2(Rows + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic                  load_i,
  input  logic [CountBits-1:0]  rows_i,
  input  logic [Width*Rows-1:0] tile_i,
  output logic                  free_o,

  output logic                  valid_o,
  input  logic                  ready_i,
  output logic [Width-1:0]      row_o,
  output logic                  last_o
);

  `REQUIRE(legal_rows, Rows >= 2, "row_stream: Rows is the rows of a tile and must be 2 or more")

  logic [CountBits-1:0]  left_q;  // rows not yet taken
  logic [Width*Rows-1:0] tile_q;

  assign valid_o = left_q != '0;
  assign last_o  = left_q == CountBits'(1);
  assign free_o  = ~valid_o | (last_o & ready_i);
  assign row_o   = tile_q[Width-1:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) left_q <= '0;
    else if (load_i) left_q <= rows_i;
    else if (valid_o & ready_i) left_q <= left_q - CountBits'(1);
  end

  always_ff @(posedge clk_i) begin
    if (load_i) tile_q <= tile_i;
    else if (ready_i) tile_q <= tile_q >> Width;
  end

endmodule
