"""Faults of `core128`: expressions of its text, and what stands there instead where a run is given their number.

All are planted in one simulator, which takes the number of a fault as `+fault=N` and has none at 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from rtl_models.cores.core128.design import FOLDER, generated

CORE: Final = "core128.sv"
DECODER: Final = "core128_decode.sv"
CHOICE: Final = """
  int fault;
  initial if (!$value$plusargs("fault=%d", fault)) fault = 0;
"""


class PlantedFault(NamedTuple):
    """In a file of the design the wrong expression in the place of a right one, the first behind some text."""

    name: str
    file: str
    right: str
    wrong: str
    behind: str = ""


def _core(name: str, right: str, wrong: str, behind: str = "") -> PlantedFault:
    return PlantedFault(name, CORE, right, wrong, behind)


def _decode(name: str, right: str, wrong: str, behind: str = "") -> PlantedFault:
    return PlantedFault(name, DECODER, right, wrong, behind)


_NUMBER: Final = "{2'b00, number}"
_NOT_31: Final = f"(number == 5'd31) ? NoRegister : {_NUMBER}"
_ACCESSES: Final = "decoded.loads | decoded.stores"
FAULTS: Final = (
    # decode
    _decode("bits of an immediate in another order", "{word_i[22:21], 4'b0}", "{word_i[21], word_i[22], 4'b0}"),
    _decode("a scaled immediate that is not scaled", "64'(word_i[21:10]) << 3", "64'(word_i[21:10])"),
    _decode("branches go forward", "{{43{word_i[23]}}, word_i[23:5], 2'b0}", "{44'b0, word_i[22:5], 2'b0}"),
    _decode("Rm of four bits taken as five", "narrow_m ? {1'b0, word_i[19:16]} : word_i[20:16]", "word_i[20:16]"),
    _decode("31 is the stack pointer everywhere", _NOT_31, _NUMBER),
    _decode("31 is the zero register everywhere", _NUMBER, _NOT_31, "2'd2: register"),
    _decode("words that Arm leaves open are legal", "found & ~unpredictable", "found"),
    _decode("a bit mask of ones alone is legal", "word_i[15:10] != 6'd63", "1'b1"),
    _decode("a bit mask is not rotated", "word_i[21:16]", "6'd0", "// elements of 64 bits"),
    _decode("a word of no row is legal", "found & ~unpredictable", "1'b1"),
    # issue
    _core("Rn is not waited for", "~decoded.reads_n | is_there(decoded.n)", "1'b1"),
    _core("Rm is not waited for", "~decoded.reads_m | is_there(decoded.m)", "1'b1"),
    _core("Ra is not waited for", "~decoded.reads_a | is_there(decoded.a)", "1'b1"),
    _core("Rd is not waited for", "~decoded.reads_d | accumulator_there", "1'b1"),
    _core("flags are not waited for", "~decoded.reads_flags | is_there(7'd64)", "1'b1"),
    _core("the last of a list is not waited for", "2'(k) <= decoded.further", "2'(k) < decoded.further"),
    _core("what is dropped is waited for", "decoded.writes_d & (decoded.d == NoRegister)", "1'b0"),
    _core("a pipe is not waited for", "pipe_q[decoded.pipe] == 0", "1'b1"),
    _core("a pipe is held a cycle longer", "occupation - 5'd1", "occupation"),
    _core("branches are not held apart", "taken_q == 0", "1'b1"),
    _core("every branch counts as taken", "next_pc != pc_q + 64'd4", "1'b1"),
    # forwarding to accumulators
    _core("an accumulator that is a factor is waited for less", "decoded.d[4:0] != word[9:5]", "1'b1"),
    _core("products are waited for in full", "mla_wait_q[decoded.d] == 0", "busy_q[decoded.d] == 0"),
    _core("sums are waited for in full", "sum_wait_q[decoded.d] == 0", "busy_q[decoded.d] == 0"),
    _core("every result is forwarded as a product", "latency - 5'd1", "5'(MlaForward - 1)", "mla_wait_q[decoded.d] <="),
    _core("a product of another instruction", "stage[MlaLatency-1].tag == stage[k-1].sum_tag", "1'b1"),
    _core("a sum of another instruction", "stage[SumLatency-1].tag == stage[k-1].sum_tag", "1'b1"),
    _core("the old accumulator", "~(decoded.multiplies | decoded.sums) | is_there(decoded.d)", "1'b1"),
    # scoreboard and write-back
    _core("a register is there at once", "latency - 5'd1", "5'd0", "busy_q[decoded.d]     <="),
    _core("the second register is there at once", "latency - 5'd1", "5'd0", "busy_q[decoded.a]     <="),
    _core("a base is there a cycle late", "5'(BaseLatency - 1)", "5'(BaseLatency)"),
    _core("flags are there at once", "latency - 5'd1", "5'd0", "busy_q[64]  <="),
    _core("who wrote last is forgotten", "is_new || owner_q[number] == tag", "1'b1"),
    _core("who wrote flags last is forgotten", "is_owner(7'd64, stage[k].tag, k == 0)", "1'b1"),
    _core("flags of another stage", "stage[k].flags", "stage[k == 0 ? 1 : k - 1].flags"),
    _core("the commit port tells a cycle less", "32'(last.latency)", "32'(last.latency) - 32'd1"),
    _core("the commit port tells a cycle more of stores", "32'd1", "32'd2", "32'(last.latency) :"),
    # QC
    _core("QC is never set", "decoded.is_vector & saturated", "1'b0"),
    _core("QC is set by loads", "last.saturated", "last.saturated | last.loads"),
    # loads and stores
    _core("bytes of a load from a place next to theirs", "{stage_q[1].offset, 3'b0}", "{stage_q[1].offset[3:1], 4'b0}"),
    _core("bytes of a store at the beginning of the row", "{address[3:0], 3'b0}", "7'b0", "access_data_o    ="),
    _core("a byte too many is stored", "(48'd1 << decoded.bytes) - 48'd1", "(48'd2 << decoded.bytes) - 48'd1"),
    _core("rows are addressed by pairs", "{address[63:4], 4'b0}", "{address[63:5], 5'b0}"),
    _core("the fourth of a list is the third", "first_of_list+5'(k)", "first_of_list + 5'(k == 3 ? 2 : k)"),
    _core("the two registers of a pair are alike", "aligned_second", "aligned_first", "stage[k].second ="),
    # branches
    _core("a branch goes on", "decoded.branches ? next_pc : pc_q + 64'd4", "pc_q + 64'd4"),
    # what stops it
    _core("there is an error after the end", "(can_issue)", "(run_i)", "cycle_q + 32'd1"),
    _core("an illegal word does nothing", "!legal", "1'b0"),
    _core("data go on behind their end", "data_bytes_i - in_data >= bytes", "1'b1"),
    _core("code can be written", "~decoded.stores", "1'b1"),
    _core("the stack pointer need not be aligned", "n[3:0] == 0", "1'b1"),
    _core("words are fetched from anywhere", "pc_q - code_base_i < code_bytes_i", "1'b1"),
    _core("an address counts before it is there", f"operands_there & ({_ACCESSES})", _ACCESSES),
)  # fmt: skip


def planted() -> Mapping[str, str]:
    """The texts of the design with all faults, each where its number is chosen."""
    texts = {CORE: (FOLDER / CORE).read_text(), DECODER: generated()[DECODER]}
    changed = {}
    for file, text in texts.items():
        places: dict[int, list[tuple[int, PlantedFault]]] = {}
        for number, fault in enumerate(FAULTS, 1):
            if fault.file == file:
                at = text.index(fault.right, text.index(fault.behind) + len(fault.behind))
                places.setdefault(at, []).append((number, fault))
        for at, found in sorted(places.items(), reverse=True):
            (right,) = {fault.right for _, fault in found}
            chosen = right
            for number, fault in found:
                chosen = f"((fault == {number}) ? ({fault.wrong}) : ({chosen}))"
            text = text[:at] + chosen + text[at + len(right) :]
        head, body = text.split("\n);\n", 1)
        changed[file] = f"{head}\n);\n{CHOICE}{body}"
    return changed
