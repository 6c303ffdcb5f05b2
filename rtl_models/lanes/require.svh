// `REQUIRE(name, condition, sentence): a parameter that breaks the condition stops elaboration with the sentence.
//
// Icarus 11 reads no elaboration task: there the simulation stops before its first event.

`ifndef LANEWISE_REQUIRE_SVH
`define LANEWISE_REQUIRE_SVH

`ifdef __ICARUS__
`define REQUIRE(name, condition, sentence) \
  initial if (!(condition)) $fatal(1, sentence);
`else
`define REQUIRE(name, condition, sentence) \
  if (!(condition)) begin : gen_``name \
    $error(sentence); \
  end
`endif

`endif
