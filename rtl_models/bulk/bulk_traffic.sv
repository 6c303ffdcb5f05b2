// Commands and beats out of memories, through a unit under stalls, its results into a memory: no Python in between.
//
// On start_i the files "commands" and "operands" are read; when done_o rises, the results are in the file "results".  A
// command is {kind, address, data}: kind 1 writes a configuration register, kind 2 sends `data` beats, kind 0 ends the
// list.  bulk_stalls says what offers_i and takes_i mean: when a beat is offered, and when a result is taken.  A beat
// that was offered stays so until it is accepted.  While none is offered, the unit sees the next one inverted.
//
// Counted: in `cycles_o` those in which a beat could be offered; the beats accepted and the results delivered; in
// `unstable_o` the cycles in which a result that was valid and not taken has vanished or changed.  `hung_o`: as many
// cycles as the patience have passed without a write, a beat accepted or its result taken.

module bulk_traffic #(
  parameter int OperandBits = 8,
  parameter int ResultBits  = 8,
  parameter int Beats       = 65535,
  parameter int Commands    = 8192
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic                   start_i,
  input  logic [1:0]             offers_i,
  input  logic [1:0]             takes_i,
  input  logic [31:0]            seed_i,   // neither 0 nor all ones
  output logic                   done_o,
  output logic [31:0]            cycles_o,
  output logic [31:0]            accepted_o,
  output logic [31:0]            delivered_o,
  output logic [31:0]            unstable_o,
  output logic                   hung_o,

  output logic                   write_o,
  output logic [15:0]            address_o,
  output logic [31:0]            data_o,

  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [OperandBits-1:0] operand_o,
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [ResultBits-1:0]  result_i
);

  localparam int Patience = 512;
  localparam int Tail     = 64;  // cycles at the end in which a result too many shows
  localparam int Results  = Beats + Tail;

  localparam logic [15:0] KindEnd   = 16'd0;
  localparam logic [15:0] KindWrite = 16'd1;
  localparam logic [15:0] KindBeats = 16'd2;

  logic [63:0]            commands[Commands];
  logic [OperandBits-1:0] operands[Beats];
  logic [ResultBits-1:0]  results [Results];

  logic                  running_q, tail_q, offered_q, waited_q;
  logic [31:0]           command_q, sent_q, quiet_q;
  logic [ResultBits-1:0] result_q;

  logic [63:0] command;
  logic [15:0] kind;
  logic        sends, offers, takes, accepted, taken, last, moved, complete, over;

  bulk_stalls u_offers (
    .clk_i    (clk_i),
    .restart_i(start_i),
    .seed_i   (seed_i),
    .pattern_i(offers_i),
    .go_o     (offers)
  );

  bulk_stalls u_takes (
    .clk_i    (clk_i),
    .restart_i(start_i),
    .seed_i   (~seed_i),
    .pattern_i(takes_i),
    .go_o     (takes)
  );

  assign command   = commands[command_q];
  assign kind      = command[63:48];
  assign sends     = running_q && !tail_q;
  assign write_o   = sends && kind == KindWrite;
  assign address_o = command[47:32];
  assign data_o    = command[31:0];

  assign valid_o   = sends && kind == KindBeats && (offered_q || offers);
  assign operand_o = valid_o ? operands[accepted_o] : ~operands[accepted_o];
  assign ready_o   = running_q && (tail_q || takes);

  assign accepted  = valid_o && ready_i;
  assign taken     = valid_i && ready_o;
  assign last      = accepted && sent_q + 1 == data_o;
  assign moved     = accepted || write_o || (taken && delivered_o < accepted_o);
  assign complete  = kind == KindEnd && delivered_o >= accepted_o;
  assign over      = running_q && tail_q && quiet_q == Tail;

  integer file, ignored;

  // verilator lint_off BLKSEQ
  always @(posedge clk_i) begin
    if (start_i) begin
      file    = $fopen("commands", "rb");
      ignored = $fread(commands, file);
      $fclose(file);
      file    = $fopen("operands", "rb");
      ignored = $fread(operands, file);
      $fclose(file);
    end
    if (running_q && taken && delivered_o < Results) results[delivered_o] <= result_i;
    if (over && delivered_o != 0) begin
      $writememh("results", results, 0, (delivered_o < Results ? delivered_o : Results) - 1);
    end
  end
  // verilator lint_on BLKSEQ

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      done_o    <= 1'b0;
    end else if (start_i) begin
      running_q   <= 1'b1;
      tail_q      <= 1'b0;
      offered_q   <= 1'b0;
      waited_q    <= 1'b0;
      command_q   <= '0;
      sent_q      <= '0;
      quiet_q     <= '0;
      done_o      <= 1'b0;
      cycles_o    <= '0;
      accepted_o  <= '0;
      delivered_o <= '0;
      unstable_o  <= '0;
      hung_o      <= 1'b0;
    end else if (running_q) begin
      offered_q   <= valid_o && !accepted;
      sent_q      <= last ? '0 : sent_q + 32'(accepted);
      command_q   <= command_q + 32'(last || write_o);
      accepted_o  <= accepted_o + 32'(accepted);
      delivered_o <= delivered_o + 32'(taken);
      cycles_o    <= cycles_o + 32'(sends && kind == KindBeats);

      waited_q    <= valid_i && !ready_o;
      result_q    <= result_i;
      unstable_o  <= unstable_o + 32'(waited_q && !(valid_i && result_i === result_q));

      quiet_q     <= moved && !tail_q ? '0 : quiet_q + 1;
      if (!tail_q && (complete || quiet_q == Patience)) begin
        tail_q    <= 1'b1;
        hung_o    <= !complete;
        quiet_q   <= '0;
      end
      if (over) begin
        running_q <= 1'b0;
        done_o    <= 1'b1;
      end
    end
  end

endmodule
