// The handshake of a pipeline of Depth stages: which stages hold a beat, and the one enable of all their registers.
//
// A beat moves where valid and ready are both 1 at a rising edge.  Everything moves unless a result waits at the end:
//
//   enable = ready_i | ~valid_o
//
// so no beat is lost, doubled or overtaken, and a result stays as it is until it is taken.  Only these bits are reset.
// While rst_ni is 0 nothing is accepted, whatever ready_o says.  ready_o follows ready_i within the cycle and does not
// wait for valid_i; a beat that is offered may be withdrawn.  Where valid_o is 0 a result means nothing.
// At Depth 2, beats A and B and a stall of one cycle (values before the rising edge that ends the cycle):
//
//   cycle        0   1   2   3   4
//   valid_i      A   B   -   -   -
//   ready_o      1   1   0   1   1
//   valid_o      0   0   A   A   B
//   ready_i      0   0   0   1   1
//
// A bubble in front of valid beats is not squeezed out while the last stage waits.

`include "require.svh"

module valid_pipeline #(
  parameter int Depth = 1
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic valid_i,
  output logic ready_o,
  output logic valid_o,
  input  logic ready_i,
  output logic enable_o
);

  `REQUIRE(legal_depth, Depth >= 1, "valid_pipeline: Depth is the number of stages and must be 1 or more")

  logic [Depth-1:0] valid_q;

  assign valid_o  = valid_q[Depth-1];
  assign enable_o = ready_i | ~valid_o;
  assign ready_o  = enable_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (enable_o) valid_q <= Depth'({valid_q, valid_i});
  end

endmodule
