// A memory of one side to write and one to read, as block RAM has them: what is read is there after the next edge.
//
// Without reset: a word is undefined until it is written.  `data_o` stays while `read_i` is 0.  A word that is written
// and read at the same edge is read as it was before in simulation, and as anything in block RAM: do not.
//
//   write_i, word 3    A    -    B    -    -
//   read_i, word 3     -    1    1    1    0
//   data_o             .    .    A    A    B       before the rising edge that ends the cycle

`include "require.svh"

module tile_buffer #(
  parameter  int Width       = 36,
  parameter  int Depth       = 64,
  localparam int AddressBits = $clog2(Depth)
) (
  input  logic                   clk_i,

  input  logic                   write_i,
  input  logic [AddressBits-1:0] write_address_i,
  input  logic [Width-1:0]       data_i,

  input  logic                   read_i,
  input  logic [AddressBits-1:0] read_address_i,
  output logic [Width-1:0]       data_o
);

  `REQUIRE(legal_depth, Depth >= 2, "tile_buffer: Depth is the number of words and must be 2 or more")

  (* no_rw_check *)  // else yosys puts logic around the block RAM for a word that is written and read at once
  logic [Width-1:0] words_q [Depth];
  logic [Width-1:0] data_q;

  assign data_o = data_q;

  always_ff @(posedge clk_i) begin
    if (write_i) words_q[write_address_i] <= data_i;
    if (read_i) data_q <= words_q[read_address_i];
  end

endmodule
