// Four rows column by column, as matrix A is laid out for a multiplication in blocks of four rows.
//
//   element 4 * k + r of the result = element k of row r        r = 0..3
//
// A beat has as many bytes of each of four rows as there are lanes, row 0 in the low bits; so the results in the order of
// the beats are the interleaved rows, however long these are.  `element_i` is the bytes of an element: 1, 2 or 4.
//
//   stage     shallow (1)               deep (2)
//   1         result_q                  data_q
//   2                                   result_q
//
//   Lanes   element   data, the highest byte first                    result
//       4         1   33323130 23222120 13121110 03020100             33231303 32221202 31211101 30201000
//       4         2   33323130 23222120 13121110 03020100             33322322 13120302 31302120 11100100
//       4         4   33323130 23222120 13121110 03020100             33323130 23222120 13121110 03020100

`include "require.svh"

module interleave4x4 #(
  parameter int Lanes = 4,
  parameter bit Deep  = 1'b0
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                valid_i,
  output logic                ready_o,
  input  logic [32*Lanes-1:0] data_i,
  input  logic [2:0]          element_i,

  output logic                valid_o,
  input  logic                ready_i,
  output logic [32*Lanes-1:0] data_o
);

  `REQUIRE(legal_lanes, Lanes == 4 || Lanes == 8 || Lanes == 16, "interleave4x4: Lanes must be 4, 8 or 16")

  localparam int Depth = Deep ? lanewise_pkg::Interleave4x4Deep : lanewise_pkg::Interleave4x4Shallow;

  logic                enable;
  logic [32*Lanes-1:0] data, result_d, result_q;
  logic [1:0]          wide;  // elements of four bytes, of two
  logic                unused_element;

  assign unused_element = element_i[0];

  valid_pipeline #(
    .Depth(Depth)
  ) u_valid_pipeline (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (valid_i),
    .ready_o (ready_o),
    .valid_o (valid_o),
    .ready_i (ready_i),
    .enable_o(enable)
  );

  if (Deep) begin : gen_deep
    logic [32*Lanes-1:0] data_q;
    logic [1:0]          wide_q;

    assign data = data_q;
    assign wide = wide_q;

    always_ff @(posedge clk_i) begin
      if (enable) begin
        data_q <= data_i;
        wide_q <= element_i[2:1];
      end
    end
  end else begin : gen_shallow
    assign data = data_i;
    assign wide = element_i[2:1];
  end

  // Byte k of the result is of row (k / element) % 4, and there byte k / (4 * element) * element + k % element.
  for (genvar k = 0; k < 4 * Lanes; k++) begin : gen_byte
    localparam int Single = Lanes * (k % 4) + k / 4;
    localparam int Double = Lanes * (k / 2 % 4) + 2 * (k / 8) + k % 2;
    localparam int Quad   = Lanes * (k / 4 % 4) + 4 * (k / 16) + k % 4;

    assign result_d[8*k +: 8] = wide[1] ? data[8*Quad +: 8] : wide[0] ? data[8*Double +: 8] : data[8*Single +: 8];
  end

  always_ff @(posedge clk_i) begin
    if (enable) result_q <= result_d;
  end

  assign data_o = result_q;

endmodule
