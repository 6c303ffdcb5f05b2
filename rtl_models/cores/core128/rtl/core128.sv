// An in-order core of 128 bits that issues one AArch64 instruction a cycle, when its operands and its pipe are there.
//
// What a word means comes from `core128_decode`, what it computes from `core128_scalar`, `_vector`, `_mla`,
// `_accumulate`, `_access` and `_align`; all are written from the instruction table.  Results of latency L issued in cycle t are in the
// registers from cycle t + L on: an instruction moves down a row of stages and writes them from stage L - 1.  A number
// in `busy_q` says how many cycles a register still takes, `owner_q` which instruction is the last to write it, so that a
// slow one does not overwrite what a later one gave.  Accumulators are added in a late stage, by two groups of
// instructions: those that multiply in `MlaStage`, those that shift or add pairs in `SumStage`.  They are taken there from
// the instruction of the same group that makes them.
//
//   cycle          0         1         2         3         4         5
//   sdot v0 ...    issue     stage 1   stage 2   stage 3 adds, v0 is written
//   sdot v0 ...              issue     stage 1   stage 2   stage 3 adds what the first one gave
//   add  x1 ...                        issue, x1 is written
//
// Memory is rows of 16 bytes; an access of up to 32 bytes takes three rows at once, and need not be aligned.  It lies in
// one of two windows, and a stack pointer that it is made by is a multiple of 16, or the core stops: `error_o` says why and
// stays.  It also stops, without an error, at `stop_i`.  While `run_i` is 0 the registers can be set.  A register is
// a number: 0 to 30 general ones, 31 the stack pointer, 32 to 63 vectors, 64 the flags, 65 the program counter.

module core128
  import core128_pkg::*;
#(
  parameter logic [5*Classes-1:0] Latencies    = Lane128Latencies,
  parameter logic [5*Classes-1:0] Occupations  = Lane128Occupations,
  parameter int                   MlaLatency   = 4,  // of those that multiply and add to an accumulator
  parameter int                   MlaForward   = 1,  // from one of them to the accumulator of another
  parameter int                   SumLatency   = 2,  // of the others that add to an accumulator
  parameter int                   SumForward   = 1,
  parameter int                   BaseLatency  = 1,  // of the base of an address that moves
  parameter int                   TakenBranch  = 2,  // cycles from one taken branch to the next
  parameter int                   Depth        = 17  // stages; the last one is where instructions are committed
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         run_i,
  input  logic [63:0]  stop_i,
  // windows, which do not change while it runs: words, which may be read as data too, and data
  input  logic [63:0]  code_base_i,
  input  logic [63:0]  code_bytes_i,
  input  logic [63:0]  data_base_i,
  input  logic [63:0]  data_bytes_i,
  input  logic         set_valid_i,
  input  logic [6:0]   set_register_i,
  input  logic [127:0] set_data_i,
  // words: of the address of the cycle before
  output logic [63:0]  fetch_address_o,
  input  logic [31:0]  fetch_word_i,
  // memory: three rows of 16 bytes, the first at the address; what is read comes in the next cycle
  output logic         access_valid_o,
  output logic         access_write_o,
  output logic [63:0]  access_address_o,
  output logic [47:0]  access_enable_o,
  output logic [383:0] access_data_o,
  input  logic [383:0] access_data_i,
  // state
  output logic         done_o,
  output logic [2:0]   error_o,
  // one instruction that is done, in the order of the program
  output logic         commit_valid_o,
  output logic [63:0]  commit_pc_o,
  output logic [31:0]  commit_word_o,
  output logic [31:0]  commit_issue_o,
  output logic [31:0]  commit_ready_o,
  output logic [6:0]   commit_first_register_o,
  output logic [127:0] commit_first_o,
  output logic [6:0]   commit_second_register_o,
  output logic [127:0] commit_second_o,
  output logic [6:0]   commit_base_register_o,
  output logic [63:0]  commit_base_o,
  output logic         commit_flags_valid_o,
  output logic [3:0]   commit_flags_o,
  output logic         commit_saturated_o
);

  localparam int MlaStage = MlaLatency - MlaForward;
  localparam int SumStage = SumLatency - SumForward;
  localparam logic [2:0] ErrorNone = 0, ErrorWord = 1, ErrorUnaligned = 2, ErrorUnmapped = 3, ErrorFetch = 4;

  typedef struct packed {
    logic         valid;
    logic [5:0]   tag;
    logic [63:0]  pc;
    logic [31:0]  word;
    logic [31:0]  issue;
    logic [4:0]   latency;
    logic [10:0]  row;
    logic [8:0]   index;
    logic         loads;
    logic         multiplies;  // and adds
    logic         sums;
    logic [3:0]   offset;
    logic [127:0] d;
    logic [127:0] n;
    logic [127:0] m;
    logic         has_sum;     // whether d is what an accumulator has
    logic [5:0]   sum_tag;     // else the instruction that gives it
    logic [6:0]   first_register;
    logic [127:0] first;
    logic [6:0]   second_register;
    logic [127:0] second;
    logic [6:0]   base_register;
    logic [63:0]  base;
    logic         has_flags;
    logic [3:0]   flags;
    logic         saturated;
  } entry_t;

  // Architectural state.
  logic [127:0] v_q [32];
  logic [63:0]  x_q [32];
  logic [3:0]   flags_q;
  logic [63:0]  pc_q;
  logic [31:0]  cycle_q;
  logic [2:0]   error_q;
  logic         done_q;

  // What later instructions wait for.
  logic [4:0] busy_q      [65];
  logic [4:0] mla_wait_q  [65];  // of those that multiply, for an accumulator
  logic [4:0] sum_wait_q  [65];
  logic [5:0] owner_q     [65];
  logic [4:0] pipe_q      [4];
  logic [4:0] taken_q;
  logic [5:0] tag_q;

  entry_t stage_q [1:Depth-1];
  entry_t stage   [0:Depth-1];  // with what a stage adds

  // ---------------------------------------------------------------- decode

  decoded_t     decoded;
  logic [63:0]  immediate;
  logic [8:0]   index;
  logic [10:0]  row;
  logic         legal;
  logic [31:0]  word;

  assign word = fetch_word_i;

  core128_decode u_core128_decode (
    .word_i     (word),
    .row_o      (row),
    .legal_o    (legal),
    .decoded_o  (decoded),
    .index_o    (index),
    .immediate_o(immediate)
  );

  function automatic logic [127:0] read_register(input logic [6:0] number);
    read_register = '0;
    if (number < 7'd32) read_register = 128'(x_q[number[4:0]]);
    else if (number < 7'd64) read_register = v_q[number[4:0]];
  endfunction

  logic [127:0] d, n, m, a;
  logic [127:0] further [1:3];  // of a list of registers, after the first
  logic [4:0]   first_of_list;

  assign d = read_register(decoded.d);
  assign n = read_register(decoded.n);
  assign m = read_register(decoded.m);
  assign a = read_register(decoded.a);

  assign first_of_list = decoded.lists_d ? decoded.d[4:0] : decoded.n[4:0];
  for (genvar k = 1; k <= 3; k++) begin : gen_further
    assign further[k] = v_q[first_of_list+5'(k)];
  end

  // ---------------------------------------------------------------- execute

  logic [63:0]  scalar_first, next_pc, address, base;
  logic [127:0] vector_first;
  logic [255:0] stored;
  logic [3:0]   flags;
  logic         saturated;

  core128_scalar u_core128_scalar (
    .row_i      (row),
    .d_i        (d),
    .n_i        (n),
    .m_i        (m),
    .a_i        (a),
    .immediate_i(immediate),
    .index_i    (index),
    .flags_i    (flags_q),
    .pc_i       (pc_q),
    .first_o    (scalar_first),
    .flags_o    (flags),
    .next_pc_o  (next_pc)
  );

  core128_vector u_core128_vector (
    .row_i      (row),
    .d_i        (d),
    .n_i        (n),
    .m_i        (m),
    .a_i        (a),
    .further_1_i(further[1]),
    .further_2_i(further[2]),
    .further_3_i(further[3]),
    .immediate_i(immediate),
    .index_i    (index),
    .first_o    (vector_first),
    .saturated_o(saturated)
  );

  core128_access u_core128_access (
    .row_i      (row),
    .d_i        (d),
    .n_i        (n),
    .m_i        (m),
    .a_i        (a),
    .further_1_i(further[1]),
    .further_2_i(further[2]),
    .further_3_i(further[3]),
    .immediate_i(immediate),
    .index_i    (index),
    .address_o  (address),
    .base_o     (base),
    .data_o     (stored)
  );

  // ---------------------------------------------------------------- issue

  logic        operands_there, accumulator_there, list_there, is_dropped, pipe_there, taken_there, is_taken;
  logic        is_aligned, is_mapped, is_fetched, at_stop, can_issue, issues;
  logic [4:0]  latency, occupation;
  logic [2:0]  error;
  logic [63:0] in_code, in_data, bytes;

  assign latency    = Latencies[5*decoded.timing +: 5];
  assign occupation = Occupations[5*decoded.timing +: 5];

  function automatic logic is_there(input logic [6:0] number);
    is_there = number > 7'd64 || busy_q[number] == 0;
  endfunction

  // What only the zero register would get is not computed, and nothing is waited for.
  assign is_dropped     = decoded.writes_d & (decoded.d == NoRegister) & ~decoded.writes_flags & ~decoded.loads;
  always_comb begin
    list_there = 1'b1;
    for (int k = 1; k <= 3; k++) begin
      if (2'(k) <= decoded.further && busy_q[{2'b01, first_of_list + 5'(k)}] != 0) list_there = 1'b0;
    end
  end

  // An accumulator is waited for less where it is not named as a factor too, be it one that counts for nothing.  Only the
  // first factor can be: `sabal v0, v0, v0` reads no factor, and a second one that another word names is always read.
  always_comb begin
    accumulator_there = is_there(decoded.d);
    if (decoded.d[4:0] != word[9:5]) begin
      if (decoded.multiplies) accumulator_there = mla_wait_q[decoded.d] == 0;
      if (decoded.sums) accumulator_there = sum_wait_q[decoded.d] == 0;
    end
  end

  assign operands_there = is_dropped | (list_there & (~decoded.reads_d | accumulator_there)
                                        & (~decoded.reads_n | is_there(decoded.n))
                                        & (~decoded.reads_m | is_there(decoded.m))
                                        & (~decoded.reads_a | is_there(decoded.a))
                                        & (~decoded.reads_flags | is_there(7'd64)));
  assign pipe_there     = ~decoded.has_pipe | (pipe_q[decoded.pipe] == 0);
  assign is_taken       = decoded.branches & (next_pc != pc_q + 64'd4);
  assign taken_there    = ~is_taken | (taken_q == 0);
  assign bytes          = 64'(decoded.bytes);
  assign in_code        = address - code_base_i;
  assign in_data        = address - data_base_i;
  assign is_aligned     = (decoded.n != 7'd31) | (n[3:0] == 0);
  assign is_mapped      = ((in_data < data_bytes_i) & (data_bytes_i - in_data >= bytes)) |
                          (~decoded.stores & (in_code < code_bytes_i) & (code_bytes_i - in_code >= bytes));
  assign is_fetched     = (pc_q[1:0] == 0) & (pc_q - code_base_i < code_bytes_i);
  assign at_stop        = pc_q == stop_i;
  assign can_issue      = run_i & ~done_q & (error_q == ErrorNone) & ~at_stop;

  always_comb begin
    error = ErrorNone;
    if (!is_fetched) error = ErrorFetch;
    else if (!legal) error = ErrorWord;
    else if (operands_there & (decoded.loads | decoded.stores)) begin
      if (!is_aligned) error = ErrorUnaligned;
      else if (!is_mapped) error = ErrorUnmapped;
    end
  end

  assign issues = can_issue & (error == ErrorNone) & operands_there & pipe_there & taken_there;

  always_comb begin
    if (~issues) fetch_address_o = pc_q;
    else fetch_address_o = decoded.branches ? next_pc : pc_q + 64'd4;
  end

  assign access_valid_o   = issues & (decoded.loads | decoded.stores);
  assign access_write_o   = decoded.stores;
  assign access_address_o = {address[63:4], 4'b0};
  assign access_data_o    = 384'(stored) << {address[3:0], 3'b0};
  assign access_enable_o  = ((48'd1 << decoded.bytes) - 48'd1) << address[3:0];

  // ---------------------------------------------------------------- stages

  logic [127:0] aligned_first, aligned_second, product_sum, sum;
  logic [255:0] loaded;

  assign loaded = 256'(access_data_i >> {stage_q[1].offset, 3'b0});

  core128_align u_core128_align (
    .row_i   (stage_q[1].row),
    .loaded_i(loaded),
    .d_i     (stage_q[1].d),
    .index_i (stage_q[1].index),
    .first_o (aligned_first),
    .second_o(aligned_second)
  );

  core128_mla u_core128_mla (
    .row_i  (stage_q[MlaStage].row),
    .d_i    (stage_q[MlaStage].d),
    .n_i    (stage_q[MlaStage].n),
    .m_i    (stage_q[MlaStage].m),
    .index_i(stage_q[MlaStage].index),
    .first_o(product_sum)
  );

  core128_accumulate u_core128_accumulate (
    .row_i  (stage_q[SumStage].row),
    .d_i    (stage_q[SumStage].d),
    .n_i    (stage_q[SumStage].n),
    .m_i    (stage_q[SumStage].m),
    .index_i(stage_q[SumStage].index),
    .first_o(sum)
  );

  always_comb begin
    stage[0]                 = '0;
    stage[0].valid           = issues;
    stage[0].tag             = tag_q;
    stage[0].pc              = pc_q;
    stage[0].word            = word;
    stage[0].issue           = cycle_q;
    stage[0].latency         = latency;
    stage[0].row             = row;
    stage[0].index           = index;
    stage[0].loads           = decoded.loads;
    stage[0].multiplies      = decoded.multiplies;
    stage[0].sums            = decoded.sums;
    stage[0].offset          = address[3:0];
    stage[0].d               = d;
    stage[0].n               = n;
    stage[0].m               = m;
    stage[0].has_sum         = ~(decoded.multiplies | decoded.sums) | is_there(decoded.d);
    stage[0].sum_tag         = owner_q[decoded.d];
    stage[0].first_register  = decoded.writes_d ? decoded.d : NoRegister;
    stage[0].first           = decoded.is_vector ? vector_first : 128'(scalar_first);
    stage[0].second_register = decoded.writes_a ? decoded.a : NoRegister;
    stage[0].base_register   = decoded.writes_n ? decoded.n : NoRegister;
    stage[0].base            = base;
    stage[0].has_flags       = decoded.writes_flags;
    stage[0].flags           = flags;
    stage[0].saturated       = decoded.is_vector & saturated;
    for (int k = 1; k < Depth; k++) begin
      stage[k] = stage_q[k];
      if (k == 1 && stage_q[k].loads) begin
        stage[k].first  = aligned_first;
        stage[k].second = aligned_second;
      end
      if (k == MlaStage && stage_q[k].multiplies) stage[k].first = product_sum;
      if (k == SumStage && stage_q[k].sums) stage[k].first = sum;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int k = 1; k < Depth; k++) stage_q[k] <= '0;
    end else begin
      for (int k = 1; k < Depth; k++) begin
        stage_q[k] <= stage[k-1];
        // An accumulator that is not there yet comes from the stage in which its instruction writes it.
        if (!stage[k-1].has_sum) begin
          if (stage[k-1].multiplies & stage[MlaLatency-1].valid & (stage[MlaLatency-1].tag == stage[k-1].sum_tag)) begin
            stage_q[k].d       <= stage[MlaLatency-1].first;
            stage_q[k].has_sum <= 1'b1;
          end
          if (stage[k-1].sums & stage[SumLatency-1].valid & (stage[SumLatency-1].tag == stage[k-1].sum_tag)) begin
            stage_q[k].d       <= stage[SumLatency-1].first;
            stage_q[k].has_sum <= 1'b1;
          end
        end
      end
    end
  end

  // ---------------------------------------------------------------- registers

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int k = 0; k < 32; k++) begin
        v_q[k] <= '0;
        x_q[k] <= '0;
      end
      flags_q <= '0;
      pc_q    <= '0;
    end else begin
      pc_q <= fetch_address_o;
      // The oldest first: of two that write in one cycle the later one counts.
      for (int k = Depth - 1; k >= 0; k--) begin
        if (stage[k].valid) begin
          if (stage[k].latency == 5'(k + 1)) begin
            if (stage[k].first_register < 7'd32 && is_owner(stage[k].first_register, stage[k].tag, k == 0))
              x_q[stage[k].first_register[4:0]] <= stage[k].first[63:0];
            if (stage[k].first_register[6:5] == 2'b01 && is_owner(stage[k].first_register, stage[k].tag, k == 0))
              v_q[stage[k].first_register[4:0]] <= stage[k].first;
            if (stage[k].second_register < 7'd32 && is_owner(stage[k].second_register, stage[k].tag, k == 0))
              x_q[stage[k].second_register[4:0]] <= stage[k].second[63:0];
            if (stage[k].second_register[6:5] == 2'b01 && is_owner(stage[k].second_register, stage[k].tag, k == 0))
              v_q[stage[k].second_register[4:0]] <= stage[k].second;
            if (stage[k].has_flags && is_owner(7'd64, stage[k].tag, k == 0)) flags_q <= stage[k].flags;
          end
          if (BaseLatency == k + 1 && stage[k].base_register < 7'd32
              && is_owner(stage[k].base_register, stage[k].tag, k == 0))
            x_q[stage[k].base_register[4:0]] <= stage[k].base;
        end
      end
      if (set_valid_i & ~run_i) begin
        if (set_register_i < 7'd32) x_q[set_register_i[4:0]] <= set_data_i[63:0];
        else if (set_register_i < 7'd64) v_q[set_register_i[4:0]] <= set_data_i;
        else if (set_register_i == 7'd64) flags_q <= set_data_i[3:0];
        else pc_q <= set_data_i[63:0];
      end
    end
  end

  function automatic logic is_owner(input logic [6:0] number, input logic [5:0] tag, input logic is_new);
    is_owner = is_new || owner_q[number] == tag;
  endfunction

  // ---------------------------------------------------------------- what is waited for

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int k = 0; k < 65; k++) begin
        busy_q[k]     <= '0;
        mla_wait_q[k] <= '0;
        sum_wait_q[k] <= '0;
        owner_q[k]    <= '0;
      end
      for (int k = 0; k < 4; k++) pipe_q[k] <= '0;
      taken_q <= '0;
      tag_q   <= '0;
      cycle_q <= '0;
      error_q <= ErrorNone;
      done_q  <= 1'b0;
    end else begin
      for (int k = 0; k < 65; k++) begin
        if (busy_q[k] != 0) busy_q[k] <= busy_q[k] - 5'd1;
        if (mla_wait_q[k] != 0) mla_wait_q[k] <= mla_wait_q[k] - 5'd1;
        if (sum_wait_q[k] != 0) sum_wait_q[k] <= sum_wait_q[k] - 5'd1;
      end
      for (int k = 0; k < 4; k++) if (pipe_q[k] != 0) pipe_q[k] <= pipe_q[k] - 5'd1;
      if (taken_q != 0) taken_q <= taken_q - 5'd1;
      if (issues) begin
        tag_q <= tag_q + 6'd1;
        if (decoded.has_pipe) pipe_q[decoded.pipe] <= occupation - 5'd1;
        if (is_taken) taken_q <= 5'(TakenBranch - 1);
        if (decoded.writes_d && decoded.d < 7'd64) begin
          busy_q[decoded.d]     <= latency - 5'd1;
          mla_wait_q[decoded.d] <= decoded.multiplies ? 5'(MlaForward - 1) : latency - 5'd1;
          sum_wait_q[decoded.d] <= decoded.sums ? 5'(SumForward - 1) : latency - 5'd1;
          owner_q[decoded.d]    <= tag_q;
        end
        if (decoded.writes_a && decoded.a < 7'd64) begin
          busy_q[decoded.a]     <= latency - 5'd1;
          mla_wait_q[decoded.a] <= latency - 5'd1;
          sum_wait_q[decoded.a] <= latency - 5'd1;
          owner_q[decoded.a]    <= tag_q;
        end
        if (decoded.writes_n && decoded.n < 7'd64) begin
          busy_q[decoded.n]  <= 5'(BaseLatency - 1);
          owner_q[decoded.n] <= tag_q;
        end
        if (decoded.writes_flags) begin
          busy_q[64]  <= latency - 5'd1;
          owner_q[64] <= tag_q;
        end
      end
      if (run_i) cycle_q <= cycle_q + 32'd1;
      if (can_issue) error_q <= error;
      if (run_i & at_stop) done_q <= 1'b1;
    end
  end

  assign error_o = error_q;
  assign done_o  = done_q;

  // ---------------------------------------------------------------- commit

  // verilator lint_off UNUSEDSIGNAL
  entry_t last;
  // verilator lint_on UNUSEDSIGNAL
  logic   makes_value;

  assign last        = stage[Depth-1];
  assign makes_value = last.first_register != NoRegister || last.second_register != NoRegister || last.has_flags;

  assign commit_valid_o           = last.valid;
  assign commit_pc_o              = last.pc;
  assign commit_word_o            = last.word;
  assign commit_issue_o           = last.issue;
  assign commit_ready_o           = last.issue + (makes_value ? 32'(last.latency) : 32'd1);
  assign commit_first_register_o  = last.first_register;
  assign commit_first_o           = last.first;
  assign commit_second_register_o = last.second_register;
  assign commit_second_o          = last.second;
  assign commit_base_register_o   = last.base_register;
  assign commit_base_o            = last.base;
  assign commit_flags_valid_o     = last.has_flags;
  assign commit_flags_o           = last.flags;
  assign commit_saturated_o       = last.saturated;

endmodule
