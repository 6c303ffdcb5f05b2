// One side of a handshake decides, cycle by cycle, whether it would go on: pseudo-random, from a seed.
//
//   pattern_i   goes on
//           0   always
//           1   in seven of eight cycles
//           2   in one of four cycles
//           3   in runs of 1 to 64 cycles, with pauses like them between

module bulk_stalls (
  input  logic        clk_i,
  input  logic        restart_i,
  input  logic [31:0] seed_i,     // not 0
  input  logic [1:0]  pattern_i,
  output logic        go_o
);

  logic [31:0] random_q, first, second, random_d;
  logic [5:0]  left_q;
  logic        run_q, often, seldom;

  // Xorshift.
  assign first    = random_q ^ (random_q << 13);
  assign second   = first ^ (first >> 17);
  assign random_d = second ^ (second << 5);

  always_ff @(posedge clk_i) begin
    if (restart_i) begin
      random_q <= seed_i;
      left_q   <= '0;
      run_q    <= 1'b0;
    end else begin
      random_q <= random_d;
      left_q   <= left_q == '0 ? random_q[13:8] : left_q - 1'b1;
      run_q    <= run_q ^ (left_q == '0);
    end
  end

  assign often  = random_q[2:0] != '0;
  assign seldom = random_q[1:0] == '0;

  always_comb begin
    case (pattern_i)
      2'd0:    go_o = 1'b1;
      2'd1:    go_o = often;
      2'd2:    go_o = seldom;
      default: go_o = run_q;
    endcase
  end

endmodule
