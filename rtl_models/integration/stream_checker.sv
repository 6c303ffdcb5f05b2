// Assertions and cover properties of a streaming unit, to be bound to it: bind_UNIT.sv does so for each here.
//
// They are the theorems about the handshake (rtl_models/formal/units/handshake.py, streams.py) as a simulator and other
// formal tools read them:
//
//   ready_is_room      ready exactly if a result is taken or none waits            strict units only
//   result_stays       a result that is not taken stays, and so does valid
//   none_invented      no result without a beat inside
//   none_lost          never more beats inside than there are stages
//   on_time            offered to an empty unit whose results are taken, a beat is on the output after Latency edges,
//                      not before and not after                                    strict units only
//   reset_empties      after an edge under reset nothing is valid
//
// Latency 0 is a unit that may take any time, and have any ready.  Beats inside are counted here, from the ports alone.

// verilator lint_off SYNCASYNCNET
// An assertion reads the reset at the clock, and registers read it at once.

module stream_checker #(
  parameter int Latency    = 0,
  parameter int ResultBits = 32
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  valid_i,
  input logic                  ready_o,
  input logic                  valid_o,
  input logic                  ready_i,
  input logic [ResultBits-1:0] result_o
);

  localparam int Most = Latency == 0 ? 1 : Latency;

  int unsigned   held;  // beats inside
  logic [Most:0] alone;  // bit k: a beat came k edges ago to an empty unit, and results were taken since

  logic accepted, delivered;
  assign accepted  = valid_i & ready_o;
  assign delivered = valid_o & ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) held <= 0;
    else held <= held + 32'(accepted) - 32'(delivered);
  end

  assign alone[0] = accepted && held == 0 && ready_i;
  for (genvar k = 1; k <= Most; k++) begin : gen_alone
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) alone[k] <= 1'b0;
      else alone[k] <= alone[k-1] && ready_i;
    end
  end

  result_stays :
  assert property (@(posedge clk_i) disable iff (!rst_ni) valid_o && !ready_i |=> valid_o && $stable(result_o))
  else $error("stream_checker: result_stays: a result that was not taken is gone or has changed");

  none_invented :
  assert property (@(posedge clk_i) disable iff (!rst_ni) valid_o |-> held != 0 || accepted)
  else $error("stream_checker: none_invented: valid_o is 1 where no beat is inside");

  reset_empties :
  assert property (@(posedge clk_i) !rst_ni |=> !valid_o)
  else $error("stream_checker: reset_empties: valid_o is 1 under reset");

  if (Latency != 0) begin : gen_strict
    ready_is_room :
    assert property (@(posedge clk_i) disable iff (!rst_ni) ready_o == (ready_i || !valid_o))
    else $error("stream_checker: ready_is_room: ready_o is not ready_i or no result waiting");

    none_lost :
    assert property (@(posedge clk_i) disable iff (!rst_ni) held <= 32'(Latency))
    else $error("stream_checker: none_lost: more beats went in than came out and there are stages for");

    on_time :
    assert property (@(posedge clk_i) disable iff (!rst_ni) alone[Latency] |-> valid_o)
    else $error("stream_checker: on_time: no result after the latency");

    for (genvar k = 1; k < Latency; k++) begin : gen_early
      not_early :
      assert property (@(posedge clk_i) disable iff (!rst_ni) alone[k] |-> !valid_o)
      else $error("stream_checker: on_time: a result before the latency");
    end
  end

  a_stall :
  cover property (@(posedge clk_i) disable iff (!rst_ni) valid_o && !ready_i);

  a_full_unit_waits :
  cover property (@(posedge clk_i) disable iff (!rst_ni) valid_i && !ready_o);

  beats_back_to_back :
  cover property (@(posedge clk_i) disable iff (!rst_ni) accepted && $past(accepted));

  results_back_to_back :
  cover property (@(posedge clk_i) disable iff (!rst_ni) delivered && $past(delivered));

  a_bubble :
  cover property (@(posedge clk_i) disable iff (!rst_ni) accepted && !$past(accepted) && held != 0);

  a_stall_ends :
  cover property (@(posedge clk_i) disable iff (!rst_ni) delivered && $past(valid_o && !ready_i));

endmodule

// verilator lint_on SYNCASYNCNET
