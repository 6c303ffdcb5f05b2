// Two places for words of a stream, so that no output depends on an input within the cycle: not ready, valid or data.
//
// In front of a unit it cuts the way of ready_i through valid_pipeline to whoever sends; behind one, that of valid and the
// data.  A word a cycle goes through, one cycle later.  The second place is for the word that comes in the cycle in which
// the receiver stops:
//
//   cycle        0   1   2   3   4   5
//   valid_i      A   B   C   C   C   -
//   ready_o      1   1   0   0   1   1
//   valid_o      0   A   A   A   B   C
//   ready_i      1   0   0   1   1   1

module spill_register #(
  parameter int Bits = 32
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            valid_i,
  output logic            ready_o,
  input  logic [Bits-1:0] data_i,
  output logic            valid_o,
  input  logic            ready_i,
  output logic [Bits-1:0] data_o
);

  logic            shown_q, kept_q;  // whether there is a word in the first place, and in the second
  logic [Bits-1:0] data_q, spare_q;
  logic            move;

  assign move    = ready_i || !shown_q;
  assign ready_o = !kept_q;
  assign valid_o = shown_q;
  assign data_o  = data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      shown_q <= 1'b0;
      kept_q  <= 1'b0;
    end else if (move) begin
      shown_q <= kept_q || valid_i;
      kept_q  <= 1'b0;
    end else if (ready_o) begin
      kept_q <= valid_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (move) data_q <= kept_q ? spare_q : data_i;
    if (ready_o) spare_q <= data_i;
  end

endmodule
