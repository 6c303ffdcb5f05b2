// FMLA of float32 with a byte as one factor, as a pipeline: accumulator + byte * factor, rounded once, ties to even.
//
// Numbers are the bits of float32, subnormal ones and infinities among them.  Every NaN is the default one, as where
// FPCR.DN is set.
//
//   byte * factor   32 bits of product, exact: no multiple of anything below the lowest bit that float32 has
//   sum             84 bits: both at their places; what is farther apart than that is moved nearer, and is then still
//                   less than a quarter of the other's last place
//   normalised      the sum, its leading 1 at the top, but not moved beyond the lowest exponent
//   result          rounded; a carry out of the fraction goes on into the exponent, at last to infinity
//
//   stage     shallow (2)               deep (4)
//   1         sum_q, of_sum_q           product_q, addend_q, gap_q, of_product_q
//   2         result_q                  sum_q, of_sum_q
//   3                                   normalised_q, spare_q, is_below_q, flags_q
//   4                                   result_q
//
//   accumulator   byte   factor       result
//             0      2   3F800001     40000001       1 + 2^-23, doubled
//      3F800000      1   33800000     3F800000       1 + 2^-24: a tie, to even
//      BF800000    255   3B808081     337E0000       a rounded 1/255: what its product has above 1
//      80000000      1   80000000     80000000       -0 and -0
//      00000000      0   7F800000     7FC00000       0 times infinity

module fmla_byte #(
  parameter bit Deep = 1'b0
) (
  input  logic        clk_i,
  input  logic        enable_i,
  input  logic [31:0] accumulator_i,
  input  logic [7:0]  byte_i,
  input  logic [31:0] factor_i,
  output logic [31:0] result_o
);

  localparam int          Window     = 84;
  localparam logic [31:0] DefaultNaN = 32'h7FC00000;
  localparam logic [30:0] Infinity   = 31'h7F800000;

  logic        sign, factor_sign;
  logic [7:0]  field, factor_field, exponent, factor_exponent;
  logic [22:0] fraction, factor_fraction;

  assign {sign, field, fraction}                      = accumulator_i;
  assign {factor_sign, factor_field, factor_fraction} = factor_i;
  // Subnormal numbers, which have no leading 1, have the exponent of the lowest that do.
  assign exponent        = field | 8'(~|field);
  assign factor_exponent = byte_i == '0 ? '0 : factor_field | 8'(~|factor_field);

  // The product, and how far the top of the addend lies below that of the window.
  logic [31:0]       product_d, product;
  logic [23:0]       addend_d, addend;
  logic signed [9:0] below_top;
  logic [8:0]        gap_d, gap;

  assign product_d = byte_i * {|factor_field, factor_fraction};
  assign addend_d  = {|field, fraction};
  assign below_top = $signed({2'b0, factor_exponent}) - $signed({2'b0, exponent}) + 10'sd34;
  assign gap_d     = below_top[9] ? '0 : below_top[8:0];

  // How far the top of the window lies above the lowest exponent; whether the result is no number, whether it is
  // infinite; the sign of the product, or of the infinity; whether the addend has the other sign.
  logic [9:0] room_d, room, room_of_sum;
  logic [3:0] flags_d, flags, flags_of_sum, flags_of_result;
  logic       is_nan, is_infinite, subtract;

  assign subtract    = sign ^ factor_sign;
  assign is_infinite = &field | &factor_field;
  assign is_nan      = (&field & |fraction) | (&factor_field & (|factor_fraction | byte_i == '0))
                     | (&field & &factor_field & subtract);
  assign room_d      = 10'(exponent) + 10'(gap_d) - 10'd1;
  assign flags_d     = {is_nan, is_infinite, &field & ~&factor_field ? sign : factor_sign, subtract};

  // The sum of both, negative where the addend takes more away than there is.
  logic [Window-1:0] placed;
  logic [Window:0]   sum_d, sum_q;
  logic [13:0]       of_sum_q;  // room, flags

  assign placed = {addend, 60'b0} >> (gap > 9'd60 ? 6'd60 : gap[5:0]);
  assign sum_d  = {27'b0, product, 26'b0} + ({1'b0, placed} ^ {(Window+1){flags[0]}}) + (Window+1)'(flags[0]);

  assign {room_of_sum, flags_of_sum} = of_sum_q;

  // Its magnitude moved to the top by powers of two, as far as there is room.
  logic [7:0][Window-1:0] moved;
  logic [7:0][9:0]        spare_of;

  assign moved[7]    = (sum_q[Window-1:0] ^ {Window{sum_q[Window]}}) + Window'(sum_q[Window]);
  assign spare_of[7] = room_of_sum;

  for (genvar k = 6; k >= 0; k--) begin : gen_move
    logic moves;

    assign moves       = ~|moved[k+1][Window-1 -: 1 << k] & spare_of[k+1] >= 10'(1 << k);
    assign moved[k]    = moves ? moved[k+1] << (1 << k) : moved[k+1];
    assign spare_of[k] = moves ? spare_of[k+1] - 10'(1 << k) : spare_of[k+1];
  end

  // Rounded.  A difference of equal numbers is +0.
  logic [Window-1:0] normalised;
  logic [9:0]        spare;
  logic              is_below, goes_up, result_sign;
  logic [32:0]       rounded;
  logic [31:0]       result_d, result_q;

  assign goes_up     = normalised[59] & (normalised[60] | (|normalised[58:0]));
  assign rounded     = {normalised[Window-1] ? spare + 10'd1 : 10'd0, normalised[82:60]} + 33'(goes_up);
  assign result_sign = flags_of_result[1]
                     ^ (~flags_of_result[2] & (normalised == '0 ? flags_of_result[0] & flags_of_result[1] : is_below));

  always_comb begin
    if (flags_of_result[3]) result_d = DefaultNaN;
    else if (flags_of_result[2] || rounded >= {2'b0, Infinity}) result_d = {result_sign, Infinity};
    else result_d = {result_sign, rounded[30:0]};
  end

  if (Deep) begin : gen_deep
    logic [31:0]       product_q;
    logic [23:0]       addend_q;
    logic [8:0]        gap_q;
    logic [13:0]       of_product_q;  // room, flags
    logic [Window-1:0] normalised_q;
    logic [9:0]        spare_q;
    logic              is_below_q;
    logic [3:0]        flags_q;

    assign product         = product_q;
    assign addend          = addend_q;
    assign gap             = gap_q;
    assign {room, flags}   = of_product_q;
    assign normalised      = normalised_q;
    assign spare           = spare_q;
    assign is_below        = is_below_q;
    assign flags_of_result = flags_q;

    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        product_q    <= product_d;
        addend_q     <= addend_d;
        gap_q        <= gap_d;
        of_product_q <= {room_d, flags_d};
        normalised_q <= moved[0];
        spare_q      <= spare_of[0];
        is_below_q   <= sum_q[Window];
        flags_q      <= flags_of_sum;
      end
    end
  end else begin : gen_shallow
    assign product         = product_d;
    assign addend          = addend_d;
    assign gap             = gap_d;
    assign room            = room_d;
    assign flags           = flags_d;
    assign normalised      = moved[0];
    assign spare           = spare_of[0];
    assign is_below        = sum_q[Window];
    assign flags_of_result = flags_of_sum;
  end

  assign result_o = result_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      sum_q    <= sum_d;
      of_sum_q <= {room, flags};
      result_q <= result_d;
    end
  end

endmodule
