// Rows cut into chunks of 16 bytes, and the place of each: chunk number `block` of row `y` goes to
//
//   address = destination + 16 * (block * height + y)       modulo 2^32
//
// which is chunk 0 of all rows in order, then chunk 1 of all rows, and so on.
//
// A frame is `height` rows of `width` elements of `element` bytes, row after row.  A beat is
// Lanes / 4 chunks of a row.  A row starts with a new beat: its last beat may have fewer chunks,
// those beyond having `write_o` 0.  What lies behind the end of the row stays as it came, or
// becomes 0 with `zero_tail`.  The settings of a frame are those that come with its first beat.
// Lanes 4, width 5 of 4 bytes each, height 2, zero_tail 1:
//
//   data_i       address_o         data_o       last_o
//   r0 r1 r2 r3  destination       r0 r1 r2 r3       0
//   r4  x  x  x  destination + 32  r4  0  0  0       0
//   s0 s1 s2 s3  destination + 16  s0 s1 s2 s3       0
//   s4  x  x  x  destination + 48  s4  0  0  0       1       the next beat starts a frame
//
//   stage  shallow                              deep
//       1  place of the beat, chunks, tail      place of the beat
//       2                                       chunks, tail

`include "require.svh"

module transpose1xw #(
  parameter  int Lanes  = 4,
  parameter  bit Deep   = 1'b0,
  localparam int Chunks = Lanes / 4
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [32*Lanes-1:0]  data_i,
  input  logic [31:0]          destination_i,  // a multiple of 16
  input  logic [15:0]          width_i,        // elements, 1 or more
  input  logic [15:0]          height_i,       // rows, 1 or more
  input  logic [2:0]           element_i,      // bytes: 1, 2 or 4
  input  logic                 zero_tail_i,

  output logic                 valid_o,
  input  logic                 ready_i,
  output logic [32*Lanes-1:0]  data_o,
  output logic [32*Chunks-1:0] address_o,      // of each chunk
  output logic [Chunks-1:0]    write_o,        // whether it is there
  output logic                 last_o          // of the frame
);

  `REQUIRE(legal_lanes, Lanes == 4 || Lanes == 8 || Lanes == 16, "transpose1xw: Lanes must be 4, 8 or 16")

  localparam int Latency   = Deep ? lanewise_pkg::Transpose1xwDeep : lanewise_pkg::Transpose1xwShallow;
  localparam int CountBits = $clog2(4 * Lanes) + 1;

  logic enable;

  valid_pipeline #(
    .Depth(Latency)
  ) u_valid_pipeline (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (valid_i),
    .ready_o (ready_o),
    .valid_o (valid_o),
    .ready_i (ready_i),
    .enable_o(enable)
  );

  logic [31:0]          address_walked, step_walked;
  logic [CountBits-1:0] bytes_walked;
  logic                 zero_tail_walked, last_walked;

  frame_walk #(
    .BeatBytes(4 * Lanes)
  ) u_frame_walk (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .accepted_i   (valid_i & enable),
    .destination_i(destination_i),
    .width_i      (width_i),
    .height_i     (height_i),
    .element_i    (element_i),
    .zero_tail_i  (zero_tail_i),
    .address_o    (address_walked),
    .bytes_o      (bytes_walked),
    .step_o       (step_walked),
    .zero_tail_o  (zero_tail_walked),
    .last_o       (last_walked)
  );

  // The beat and its place, before the stage of the outputs.
  logic [32*Lanes-1:0]  data;
  logic [31:0]          address, step;
  logic [CountBits-1:0] bytes;
  logic                 zero_tail, last;

  if (Deep) begin : gen_placed
    delay_line #(
      .Width(32 * Lanes + 64 + CountBits + 2),
      .Depth(1)
    ) u_placed (
      .clk_i   (clk_i),
      .enable_i(enable),
      .data_i  ({data_i, address_walked, step_walked, bytes_walked, zero_tail_walked, last_walked}),
      .data_o  ({data, address, step, bytes, zero_tail, last})
    );
  end else begin : gen_offered
    assign {data, address, step, bytes, zero_tail, last} =
           {data_i, address_walked, step_walked, bytes_walked, zero_tail_walked, last_walked};
  end

  logic [32*Lanes-1:0]  data_d, data_q;
  logic [32*Chunks-1:0] address_d, address_q;
  logic [Chunks-1:0]    write_d, write_q;
  logic                 last_q;

  for (genvar k = 0; k < 4 * Lanes; k++) begin : gen_bytes
    assign data_d[8*k +: 8] = zero_tail && bytes <= CountBits'(k) ? 8'b0 : data[8*k +: 8];
  end

  for (genvar k = 0; k < Chunks; k++) begin : gen_chunks
    logic [31:0] single, double;

    assign single = k % 2 == 1 ? step : '0;
    assign double = k / 2 == 1 ? step << 1 : '0;

    assign address_d[32*k +: 32] = address + (single + double);
    assign write_d[k]            = bytes > CountBits'(16 * k);
  end

  always_ff @(posedge clk_i) begin
    if (enable) begin
      data_q    <= data_d;
      address_q <= address_d;
      write_q   <= write_d;
      last_q    <= last;
    end
  end

  assign data_o    = data_q;
  assign address_o = address_q;
  assign write_o   = write_q;
  assign last_o    = last_q;

endmodule
