// Quantized bytes with their offset, as numbers of 9 bits; the bytes of a word that do not count become 0.
//
//   result = wrap(byte + offset) where keep_i has a 1, else 0
//
// `signed_i` says how a byte is read.  A byte less its zero point always fits.  keep_i is the same for all `Words`.
//
//   signed  byte  offset  keep   result
//        0   200    -255     1      -55
//        1  -128    -127     1     -255
//        1   127     128     1      255
//        0   200    -255     0        0
//        0   255       1     1     -256       wraps: 255 is the highest

`include "require.svh"

module offset_bytes #(
  parameter int Words = 4
) (
  input  logic [32*Words-1:0] data_i,
  input  logic                signed_i,
  input  logic [8:0]          offset_i,
  input  logic [3:0]          keep_i,
  output logic [36*Words-1:0] result_o
);

  `REQUIRE(legal_words, Words >= 1, "offset_bytes: Words is the words of four bytes and must be 1 or more")

  for (genvar k = 0; k < 4 * Words; k++) begin : gen_bytes
    logic [8:0] number;

    assign number               = {signed_i & data_i[8*k+7], data_i[8*k +: 8]} + offset_i;
    assign result_o[9*k +: 9] = keep_i[k%4] ? number : '0;
  end

endmodule
