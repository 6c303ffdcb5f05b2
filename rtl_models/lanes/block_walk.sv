// Where one is in a walk over `total_i` numbers in blocks of `Block`, each of which takes `steps_i` steps.
//
// The last block has the numbers that are left.  `advance_i` moves on to the next step, after the last one of all to the
// first.  `steps_i` and `total_i` are 1 or more, and stay as they are while a walk is on its way; with OneStep `steps_i` is 1.
// Block 4, 2 steps, 6 numbers, advanced in every cycle:
//
//   step_o     0    1    0    1    0
//   count_o    4    4    2    2    4
//   ends_o     0    1    0    1    0       the last step of a block
//   last_o     0    0    0    1    0       of the last block

`include "require.svh"

module block_walk #(
  parameter  int Block     = 4,
  parameter  bit OneStep   = 1'b0,
  localparam int CountBits = $clog2(Block + 1)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 advance_i,
  input  logic [15:0]          steps_i,
  input  logic [15:0]          total_i,
  output logic [15:0]          step_o,
  output logic [CountBits-1:0] count_o,
  output logic                 ends_o,
  output logic                 last_o
);

  `REQUIRE(legal_block, Block >= 2 && Block <= 256, "block_walk: Block is the numbers of a block and must be 2 to 256")

  logic [15:0] step_q, done_q;  // done_q: the numbers of the blocks before this one
  logic [15:0] left;
  logic        is_last_block;

  assign left          = total_i - done_q;
  assign is_last_block = left <= 16'(Block);
  assign step_o        = step_q;
  assign count_o       = is_last_block ? CountBits'(left) : CountBits'(Block);
  assign ends_o        = OneStep || step_q == steps_i - 16'd1;
  assign last_o        = ends_o & is_last_block;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= '0;
      done_q <= '0;
    end else if (advance_i) begin
      step_q <= ends_o ? '0 : step_q + 16'd1;
      if (last_o) done_q <= '0;
      else if (ends_o) done_q <= done_q + 16'(Block);
    end
  end

endmodule
