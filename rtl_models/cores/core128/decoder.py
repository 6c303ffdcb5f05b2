"""The decoder of `core128` as SystemVerilog: which row takes a word, its registers, its immediate, its index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from isa.decode.unpredictable import RULE_FIELDS, RULES, FixedBits, RegisterOverlap
from isa.lane import Place
from rtl_models.cores.core128.immediates import LOGICAL, LOGICAL_W
from rtl_models.cores.core128.rows import FIELDS, CoreRow, FieldName, encoded_immediates
from rtl_models.cores.core128.units import lane128, units_of
from sim.timing.model.core import Core

PIPES: Final = ("X", "LANE", "MEM", "B")
KINDS: Final = {"none": 0, "general": 1, "stack": 2, "vector": 3}
_FLAGS: Final = Place("nzcv")
_TRUTHS: Final = (
    *(f"reads_{name}" for name in (*FIELDS, "flags")), "writes_d", "writes_a", "writes_n", "writes_flags",
    "branches", "loads", "stores", "multiplies", "sums", "is_vector", "has_pipe",
)  # fmt: skip
"""What is known of a row, in the order of its facts."""


def classes_of(rows: Sequence[CoreRow]) -> list[str]:
    """The timing classes of rows, sorted."""
    return sorted({row.timing for row in rows})


def latencies(rows: Sequence[CoreRow], core: Core) -> int:
    """The latency of each class, five bits each, the first lowest."""
    return _packed([int(core.timing(name).latency) for name in classes_of(rows)])


def occupations(rows: Sequence[CoreRow], core: Core) -> int:
    """For how long each class occupies its pipe, five bits each, the first lowest."""
    return _packed([int(sum(use.cycles for use in core.timing(name).uses)) for name in classes_of(rows)])


def _packed(numbers: Sequence[int]) -> int:
    return sum(number << 5 * place for place, number in enumerate(numbers))


def package_text(rows: Sequence[CoreRow]) -> str:
    """What decoder and core share."""
    classes, core = classes_of(rows), lane128()
    bits = 5 * len(classes)
    lines = [f"  // {number}: {name}" for number, name in enumerate(classes)]
    return "\n".join([
        "// What the decoder of core128 says of a word.  Written by rtl_models/cores/core128.", "",
        "package core128_pkg;", "",
        "  // Timing classes, the first in the low bits of a vector:", *lines, "",
        f"  localparam int Classes = {len(classes)};",
        f"  localparam logic [{bits - 1}:0] Lane128Latencies   = {bits}'h{latencies(rows, core):x};",
        f"  localparam logic [{bits - 1}:0] Lane128Occupations = {bits}'h{occupations(rows, core):x};",
        "  localparam logic [6:0] NoRegister = 7'd127;", "",
        "  typedef struct packed {",
        *(f"    logic [6:0] {name};" for name in FIELDS),
        *(f"    logic reads_{name};" for name in FIELDS),
        "    logic reads_flags;", "    logic writes_d;", "    logic writes_a;", "    logic writes_n;",
        "    logic writes_flags;", "    logic branches;", "    logic loads;", "    logic stores;",
        "    logic multiplies;  // and adds to an accumulator, which it takes late",
        "    logic sums;        // adds otherwise to an accumulator, which it takes late",
        "    logic is_vector;", "    logic has_pipe;", "    logic [1:0] pipe;", "    logic [5:0] bytes;",
        "    logic       lists_d;  // the list begins with Rd, else with Rn",
        "    logic [1:0] further;  // registers of a list that are read after the first",
        "    logic [7:0] timing;", "  } decoded_t;", "", "endpackage", "",
    ])  # fmt: skip


def decoder_text(rows: Sequence[CoreRow]) -> str:
    """The module."""
    classes = classes_of(rows)
    immediates = ["none", *(encoded.name for encoded in encoded_immediates(rows))]
    indices = list(dict.fromkeys(row.index_bits for row in rows))
    matches = [line for number, row in reversed(list(enumerate(rows))) for line in _match(number, row, indices)]
    facts = [
        f"      11'd{number}: facts = {_facts(row, classes, immediates, indices)};" for number, row in enumerate(rows)
    ]
    gathered = [
        "{" + ", ".join(f"word_i[{bit}]" for bit in reversed(bits)) + "}" if bits else "1'b0" for bits in indices
    ]
    chosen = [f"  assign index_{k} = {text};" for k, text in enumerate(gathered)]
    cases = [
        f"      6'd{number}: immediate_o = {encoded.text};"
        for number, encoded in enumerate(encoded_immediates(rows), 1)
    ]
    declared = [f"  logic [{max(len(bits), 1) - 1}:0] index_{k};" for k, bits in enumerate(indices)]
    index_cases = [f"      6'd{k}: index_o = 9'(index_{k});" for k in range(len(indices))]
    masks = [f"(immediate_kind == {immediates.index(encoded.name)})" for encoded in (LOGICAL, LOGICAL_W)]
    registers = [f"  logic [6:0] {', '.join(f'register_{name}' for name in FIELDS)};"]
    registers += [f"  assign register_{name} = {_register(name, k)};" for k, name in enumerate(FIELDS)]
    registers += [f"  assign decoded_o.{name} = register_{name};" for name in FIELDS]
    return "\n".join([
        "// A word of AArch64: which row takes it, what it reads and writes.  Written by rtl_models/cores/core128 from",
        "// the instruction table, whose words were decoded to see which of their bits are fixed.", "",
        "module core128_decode", "  import core128_pkg::*;", "(",
        "  input  logic [31:0] word_i,", "  output logic [10:0] row_o,", "  output logic        legal_o,",
        "  output decoded_t    decoded_o,", "  output logic [8:0]  index_o,", "  output logic [63:0] immediate_o",
        ");", "",
        *declared, f"  logic [{_FACT_BITS - 1}:0] facts;", "  logic        found;", "  logic        unpredictable;",
        "  logic [63:0] bit_mask;", "  logic        bit_mask_valid;", "", *chosen, "",
        "  // The later a row stands here, the more of its bits are fixed.",
        "  always_comb begin", "    row_o = '0;", "    found = 1'b0;", *matches, "  end", "",
        "  always_comb begin", "    case (row_o)", *facts, "      default: facts = '0;", "    endcase", "  end", "",
        "  logic [7:0] kinds;", "  logic       narrow_m;", "  logic [5:0] immediate_kind, index_kind;", "",
        "  assign {kinds, narrow_m, immediate_kind, index_kind,",
        *(f"          decoded_o.{name}," for name in _TRUTHS),
        *(f"          decoded_o.{name}," for name in ("pipe", "bytes", "lists_d", "further")),
        "          decoded_o.timing} = facts;", "",
        *registers,
        "",
        "  function automatic logic [6:0] register(input logic [1:0] kind, input logic [4:0] number);",
        "    case (kind)", "      2'd1: register = (number == 5'd31) ? NoRegister : {2'b00, number};",
        "      2'd2: register = {2'b00, number};", "      2'd3: register = {2'b01, number};",
        "      default: register = NoRegister;", "    endcase", "  endfunction", "",
        "  always_comb begin", "    case (index_kind)", *index_cases, "      default: index_o = '0;",
        "    endcase", "  end", "",
        "  always_comb begin", "    case (immediate_kind)", *cases, "      default: immediate_o = '0;",
        "    endcase", "  end", "",
        *_bit_mask(), "", *_unpredictable(rows), "",
        f"  assign legal_o = found & ~unpredictable & (bit_mask_valid | ~({' | '.join(masks)}));",
        "", "endmodule", "",
    ])  # fmt: skip


def _field(name: FieldName) -> str:
    return f"word_i[{FIELDS[name] + 4}:{FIELDS[name]}]"


def _register(name: FieldName, number: int) -> str:
    lsb, whole = FIELDS[name], _field(name)
    field = f"narrow_m ? {{1'b0, word_i[{lsb + 3}:{lsb}]}} : {whole}" if name == "m" else whole
    return f"register(kinds[{2 * number + 1}:{2 * number}], {field})"


def _match(number: int, row: CoreRow, indices: Sequence[tuple[int, ...]]) -> list[str]:
    condition = f"(word_i & 32'h{row.mask:08x}) == 32'h{row.value:08x}"
    size = 1 << len(row.index_bits)
    if len(row.indices) < size:
        allowed = sum(1 << index for index in row.indices)
        condition += f" && 1'({size}'h{allowed:x} >> index_{indices.index(row.index_bits)})"
    if row.is_alike:
        condition += f" && {_field('n')} == {_field('m')}"
    return [
        f"    if ({condition}) begin  // {row.form}",
        f"      row_o = 11'd{number};",
        "      found = 1'b1;",
        "    end",
    ]


_FACT_BITS: Final = 8 + 1 + 6 + 6 + 16 + 2 + 6 + 3 + 8
"""Kinds of registers, whether Rm is short, immediate, index, 16 truths, pipe, bytes, list, timing class."""


def _facts(row: CoreRow, classes: Sequence[str], immediates: Sequence[str], indices: Sequence[tuple[int, ...]]) -> str:
    registers = {name: row.register(name) for name in FIELDS}
    kinds, reads = 0, []
    for number, register in enumerate(registers.values()):
        kind = "none"
        if register is not None:
            kind = "vector" if register.file == "v" else "stack" if register.is_sp else "general"
        kinds |= KINDS[kind] << 2 * number
        reads.append(register is not None and register.is_read)
    units = units_of(row)
    pipes = [pipe for use in lane128().timing(row.timing).uses for pipe in use.pipes]
    store = row.store
    size = row.load.size if row.load is not None else 0
    if store is not None:
        size = store.place.size if not isinstance(store.place, Place) else 0
    written = {name for name in FIELDS if (register := registers[name]) is not None and register.is_written}
    files = {write.place.file for write in row.writes if isinstance(write.place, Place)}
    truths = [
        *reads, _FLAGS in row.reads, "d" in written, "a" in written, "n" in written, "nzcv" in files, "pc" in files,
        row.load is not None, store is not None, "mla" in units, "accumulate" in units, "vector" in units,
        bool(pipes),
    ]  # fmt: skip
    parts = [
        (kinds, 8), (row.fields.get("m", 5) == 4, 1),
        (immediates.index(row.immediate.encoded.name if row.immediate else "none"), 6),
        (indices.index(row.index_bits), 6), *((truth, 1) for truth in truths),
        (PIPES.index(pipes[0]) if pipes else 0, 2), (size, 6), (row.further[0] == "d", 1), (row.further[1], 2),
        (classes.index(row.timing), 8),
    ]  # fmt: skip
    number = 0
    for value, bits in parts:
        if int(value) >> bits:
            raise ValueError(f"{value} has more than {bits} bits")
        number = number << bits | int(value)
    return f"{_FACT_BITS}'h{number:x}"


def _bit_mask() -> list[str]:
    """DecodeBitMasks: S + 1 ones in an element of 2 to 64 bits, rotated right by R, in every element (Arm ARM C6.2)."""
    lines = [
        "  always_comb begin", "    bit_mask       = '0;", "    bit_mask_valid = 1'b0;",
        "    case (1'b1)",
    ]  # fmt: skip
    for length in range(6, 0, -1):
        size, most = 1 << length, (1 << length) - 1
        top = "word_i[22]" if length == 6 else f"~word_i[{10 + length}]"
        ones = f"{size}'((65'd2 << word_i[{9 + length}:10]) - 65'd1)"
        rotated = f"{{2{{{ones}}}}} >> word_i[{15 + length}:16]"
        lines += [
            f"      {top}: begin  // elements of {size} bits",
            f"        bit_mask       = {{{64 // size}{{{size}'({rotated})}}}};",
            f"        bit_mask_valid = word_i[{9 + length}:10] != {length}'d{most};", "      end",
        ]  # fmt: skip
    return [*lines, "      default: bit_mask_valid = 1'b0;", "    endcase", "  end"]


def _unpredictable(rows: Sequence[CoreRow]) -> list[str]:
    """Words of listed forms of which Arm leaves open what they do (`isa.decode.unpredictable`)."""
    lines = ["  always_comb begin", "    unpredictable = 1'b0;"]
    for rule in RULES:
        if not any(not (rule.value ^ row.value) & rule.mask & row.mask for row in rows):
            continue
        match rule:
            case RegisterOverlap(mask, value, one, others):
                field = _five(one)
                same = " || ".join(f"{field} == {_five(other)}" for other in others)
                stack = f" && {field} != 5'd31" if one == "n" else ""
                wrong = f"({same}){stack}"
            case FixedBits(mask, value, bits, bit):
                wrong = f"(word_i & 32'h{bits:08x}) != 32'h{bits * bit:08x}"
        lines.append(f"    if ((word_i & 32'h{mask:08x}) == 32'h{value:08x} && {wrong}) unpredictable = 1'b1;")
    return [*lines, "  end"]


def _five(name: str) -> str:
    return f"word_i[{RULE_FIELDS[name] + 4}:{RULE_FIELDS[name]}]"
