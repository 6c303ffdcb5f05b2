// SUB: the low bits of the difference.  It is the same for signed and unsigned lanes, and never saturates.
//
// At Width 8, signed:
//
//       a     b   result  saturated
//     100    27      73       0
//    -128     1     127       0       wraps
//       0  -128    -128       0

module sub #(
  parameter int unsigned Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic [Width-1:0] result_o,
  output logic             saturated_o
);

  if (Width < 1) begin : gen_illegal_width
    $error("sub: Width is the bits of a lane and must be 1 or more");
  end

  assign result_o    = a_i - b_i;
  assign saturated_o = 1'b0;

endmodule
