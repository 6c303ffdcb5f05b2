// A number divided by 2^shift, rounded as the setting says.
//
//   rounding_i   result
//   0            sign(value) * floor(|value| / 2^shift + 1/2)     to the nearest, ties away from zero
//   1            floor(value / 2^shift + 1/2)                     to the nearest, ties up
//   2            floor(value / 2^shift)                           down
//
//   stage     shallow (1)               deep (3)
//   1         result_q                  fixed_q: one less where negative, for ties away
//   2                                   halves_q: shifted, the half cut off that rounding down drops
//   3                                   result_q: rounded, ties up
//
//         value   shift   rounding     result
//             3       1          0          2
//            -3       1          0         -2
//            -3       1          1         -1
//            -3       1          2         -2
//             3       1          2          1

module shift_rounded #(
  parameter bit Deep = 1'b0
) (
  input  logic        clk_i,
  input  logic        enable_i,
  input  logic [31:0] value_i,
  input  logic [4:0]  shift_i,
  input  logic [1:0]  rounding_i,
  output logic [31:0] result_o
);

  logic [32:0] fixed_d, fixed;
  logic [4:0]  shift;
  logic        down;
  logic [32:0] shifted, halves_d, halves;
  logic [31:0] result_d, result_q;

  // The shift has ties up: for ties away a negative number loses 1 first, where there is something to shift.
  assign fixed_d  = {value_i[31], value_i} - {32'b0, value_i[31] & (|shift_i) & ~(|rounding_i)};
  assign shifted  = 33'($signed({fixed, 1'b0}) >>> shift);
  assign halves_d = {shifted[32:1], shifted[0] & ~down};

  round_halves #(
    .Width(32)
  ) u_round_halves (
    .halves_i(halves),
    .result_o(result_d)
  );

  if (Deep) begin : gen_deep
    logic [32:0] fixed_q;
    logic [4:0]  shift_q;
    logic        down_q;
    logic [32:0] halves_q;

    assign fixed  = fixed_q;
    assign shift  = shift_q;
    assign down   = down_q;
    assign halves = halves_q;

    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        fixed_q  <= fixed_d;
        shift_q  <= shift_i;
        down_q   <= rounding_i[1];
        halves_q <= halves_d;
      end
    end
  end else begin : gen_shallow
    assign fixed  = fixed_d;
    assign shift  = shift_i;
    assign down   = rounding_i[1];
    assign halves = halves_d;
  end

  assign result_o = result_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) result_q <= result_d;
  end

endmodule
