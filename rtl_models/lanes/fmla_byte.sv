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
//   stage     shallow (2)               deep (11)
//   1         sum_q, of_sum_q           number_q, significand_q, addend_q, exponents_q, flags_q
//   2         result_q                  product_q, addend_kept_q, gap_q, of_product_q
//   3                                   placed_q, multiplied_q, of_placed_q
//   4                                   sum_q, of_sum_q
//   5                                   moved_q, spare_q: the magnitude, not yet moved
//   6, 7                                the same, moved by 64 or not; by 32
//   8, 9                                by 16 and 8; by 4 and 2
//   10                                  by 1: unrounded_q, of_unrounded_q
//   11                                  result_q
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
  localparam logic [7:0]  Cuts       = 8'b1110_1010;  // k: deep, a register behind the move by 2^k; 7: before all
  localparam logic [31:0] DefaultNaN = 32'h7FC00000;
  localparam logic [30:0] Infinity   = 31'h7F800000;

  logic        sign, factor_sign;
  logic [7:0]  field, factor_field, exponent, factor_exponent;
  logic [22:0] fraction, factor_fraction;
  logic [23:0] significand_d, significand, addend_d, addend;
  logic [7:0]  number;
  logic [15:0] exponents;  // factor, addend

  assign {sign, field, fraction}                      = accumulator_i;
  assign {factor_sign, factor_field, factor_fraction} = factor_i;
  // Subnormal numbers, which have no leading 1, have the exponent of the lowest that do.
  assign exponent        = field | 8'(~|field);
  assign factor_exponent = byte_i == '0 ? '0 : factor_field | 8'(~|factor_field);
  assign significand_d   = {|factor_field, factor_fraction};
  assign addend_d        = {|field, fraction};

  // The product, and how far the top of the addend lies below that of the window.
  logic [31:0]       product_d, product;
  logic signed [9:0] below_top;
  logic [8:0]        gap_d, gap;
  logic [23:0]       addend_kept;

  assign product_d = number * significand;
  assign below_top = $signed({2'b0, exponents[15:8]}) - $signed({2'b0, exponents[7:0]}) + 10'sd34;
  assign gap_d     = below_top[9] ? '0 : below_top[8:0];

  // Whether the result is no number, whether it is infinite; the sign of the product, or of the infinity; whether the
  // addend has the other sign.
  logic [3:0] flags_d, flags, flags_kept, flags_placed, flags_of_sum, flags_moved;
  logic       is_nan, is_infinite, subtract;

  assign subtract    = sign ^ factor_sign;
  assign is_infinite = &field | &factor_field;
  assign is_nan      = (&field & |fraction) | (&factor_field & (|factor_fraction | byte_i == '0))
                     | (&field & &factor_field & subtract);
  assign flags_d     = {is_nan, is_infinite, &field & ~&factor_field ? sign : factor_sign, subtract};

  // Both in the window, and how far its top lies above the lowest exponent.
  logic [Window-1:0] placed_d, placed;
  logic [31:0]       multiplied;
  logic [7:0]        top;  // the exponent of the addend
  logic [9:0]        room_d, room, room_of_sum;

  assign placed_d = {addend_kept, 60'b0} >> (gap > 9'd60 ? 6'd60 : gap[5:0]);
  assign room_d   = 10'(top) + 10'(gap) - 10'd1;

  // The sum of both, negative where the addend takes more away than there is.
  logic [Window:0] sum_d, sum_q;
  logic [13:0]     of_sum_q;  // room, flags

  assign sum_d = {27'b0, multiplied, 26'b0} + ({1'b0, placed} ^ {(Window+1){flags_placed[0]}})
               + (Window+1)'(flags_placed[0]);

  assign {room_of_sum, flags_of_sum} = of_sum_q;

  // Its magnitude moved to the top by powers of two, as far as there is room.
  logic [7:0][Window-1:0] moved_d, moved;
  logic [7:0][9:0]        spare_d, spare;
  logic                   is_below;

  assign moved_d[7] = (sum_q[Window-1:0] ^ {Window{sum_q[Window]}}) + Window'(sum_q[Window]);
  assign spare_d[7] = room_of_sum;

  for (genvar k = 6; k >= 0; k--) begin : gen_move
    logic moves;

    assign moves      = ~|moved[k+1][Window-1 -: 1 << k] & spare[k+1] >= 10'(1 << k);
    assign moved_d[k] = moves ? moved[k+1] << (1 << k) : moved[k+1];
    assign spare_d[k] = moves ? spare[k+1] - 10'(1 << k) : spare[k+1];
  end

  for (genvar k = 7; k >= 0; k--) begin : gen_cut
    if (Deep && Cuts[k]) begin : gen_register
      logic [Window-1:0] moved_q;
      logic [9:0]        spare_q;

      assign moved[k] = moved_q;
      assign spare[k] = spare_q;

      always_ff @(posedge clk_i) begin
        if (enable_i) begin
          moved_q <= moved_d[k];
          spare_q <= spare_d[k];
        end
      end
    end else begin : gen_wire
      assign moved[k] = moved_d[k];
      assign spare[k] = spare_d[k];
    end
  end

  // Rounded.  A difference of equal numbers is +0.
  logic [Window-1:0] normalised;
  logic              is_zero, result_sign;
  logic [32:0]       unrounded_d, unrounded, rounded;
  logic [3:0]        of_unrounded_d, of_unrounded;  // no number, infinite, the sign, goes up
  logic [31:0]       result_d, result_q;

  assign normalised     = moved[0];
  assign is_zero        = normalised == '0;
  assign result_sign    = flags_moved[1]
                        ^ (~flags_moved[2] & (is_zero ? flags_moved[0] & flags_moved[1] : is_below));
  assign unrounded_d    = {normalised[Window-1] ? spare[0] + 10'd1 : 10'd0, normalised[82:60]};
  assign of_unrounded_d = {flags_moved[3:2], result_sign, normalised[59] & (normalised[60] | (|normalised[58:0]))};
  assign rounded        = unrounded + 33'(of_unrounded[0]);

  always_comb begin
    if (of_unrounded[3]) result_d = DefaultNaN;
    else if (of_unrounded[2] || rounded >= {2'b0, Infinity}) result_d = {of_unrounded[1], Infinity};
    else result_d = {of_unrounded[1], rounded[30:0]};
  end

  if (Deep) begin : gen_deep
    logic [7:0]        number_q;
    logic [23:0]       significand_q, addend_q, addend_kept_q;
    logic [15:0]       exponents_q;
    logic [3:0]        flags_q;
    logic [31:0]       product_q, multiplied_q;
    logic [8:0]        gap_q;
    logic [11:0]       of_product_q;  // exponent, flags
    logic [Window-1:0] placed_q;
    logic [13:0]       of_placed_q;  // room, flags
    logic [32:0]       unrounded_q;
    logic [3:0]        of_unrounded_q;

    assign number               = number_q;
    assign significand          = significand_q;
    assign addend               = addend_q;
    assign exponents            = exponents_q;
    assign flags                = flags_q;
    assign product              = product_q;
    assign addend_kept          = addend_kept_q;
    assign gap                  = gap_q;
    assign {top, flags_kept}    = of_product_q;
    assign placed               = placed_q;
    assign multiplied           = multiplied_q;
    assign {room, flags_placed} = of_placed_q;
    assign unrounded            = unrounded_q;
    assign of_unrounded         = of_unrounded_q;

    delay_line #(
      .Width(5),
      .Depth($countones(Cuts))
    ) u_flags (
      .clk_i   (clk_i),
      .enable_i(enable_i),
      .data_i  ({sum_q[Window], flags_of_sum}),
      .data_o  ({is_below, flags_moved})
    );

    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        number_q       <= byte_i;
        significand_q  <= significand_d;
        addend_q       <= addend_d;
        exponents_q    <= {factor_exponent, exponent};
        flags_q        <= flags_d;
        product_q      <= product_d;
        addend_kept_q  <= addend;
        gap_q          <= gap_d;
        of_product_q   <= {exponents[7:0], flags};
        placed_q       <= placed_d;
        multiplied_q   <= product;
        of_placed_q    <= {room_d, flags_kept};
        unrounded_q    <= unrounded_d;
        of_unrounded_q <= of_unrounded_d;
      end
    end
  end else begin : gen_shallow
    assign number       = byte_i;
    assign significand  = significand_d;
    assign addend       = addend_d;
    assign exponents    = {factor_exponent, exponent};
    assign flags        = flags_d;
    assign product      = product_d;
    assign addend_kept  = addend;
    assign gap          = gap_d;
    assign top          = exponents[7:0];
    assign flags_kept   = flags;
    assign placed       = placed_d;
    assign multiplied   = product;
    assign room         = room_d;
    assign flags_placed = flags_kept;
    assign is_below     = sum_q[Window];
    assign flags_moved  = flags_of_sum;
    assign unrounded    = unrounded_d;
    assign of_unrounded = of_unrounded_d;
  end

  assign result_o = result_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      sum_q    <= sum_d;
      of_sum_q <= {room, flags_placed};
      result_q <= result_d;
    end
  end

endmodule
