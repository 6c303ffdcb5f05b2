"""Semantics as text: read back it computes what the exact evaluator does, and it reads as Arm's manual does."""

from __future__ import annotations

import pytest

from isa.catalogue import alike, instruction_of
from isa.decode import decode
from isa.encodings import recorded_words
from isa.evaluate import exact
from isa.instruction import Instruction
from isa.lane import S8, S16, S32, U8, Place, pick, read
from isa.rows import TABLE
from isa.text.expressions import expression, number
from isa.text.holes import filled
from isa.text.statements import statements
from sim import Machine, MemoryFault
from sim.verify.states import CODE, DATA, DATA_SIZE, States
from support.lane_language import execute
from support.sampled import sampled

CHUNKS = 8
STATES = (0, 2, 5, 9, 14, 19, 23)
V1, V2 = read(Place("v", 1)), read(Place("v", 2))


def instruction(text: str) -> Instruction:
    found = instruction_of(text)
    assert found is not None, text
    return found


def lines(text: str) -> list[str]:
    """The statements of an instruction, with their range."""
    made = statements(instruction(text))
    return [f"{line.text} ({line.lanes})" if line.lanes > 1 else line.text for line in made]


class Both:
    """Two machines with the same memory: one runs the exact evaluator, the other what the text says."""

    def __init__(self, data: bytes) -> None:
        self.exact, self.told = Machine(), Machine()
        for machine in (self.exact, self.told):
            machine.memory.map(CODE, 4096, "rx")
            machine.memory.map(DATA, DATA_SIZE, "rw")
            machine.memory.write(DATA, data)

    def run(self, instruction: Instruction) -> str:
        """Execute the instruction from the state of the first; what differs, or ""."""
        self.told.registers.copy(self.exact.registers)
        self.exact.pc = self.told.pc = CODE
        try:
            exact.execute(instruction, self.exact)
        except MemoryFault:
            with pytest.raises(MemoryFault):
                execute(statements(instruction), self.told)
            self.told.memory.write(DATA, self.exact.memory.read(DATA, DATA_SIZE))  # statements are no single access
            return ""
        execute(statements(instruction), self.told)
        return self._difference()

    def _difference(self) -> str:
        one, other = self.exact, self.told
        if vars(one.registers) != vars(other.registers) or one.pc != other.pc:
            return "registers differ"
        return "" if one.memory.read(DATA, DATA_SIZE) == other.memory.read(DATA, DATA_SIZE) else "memory differs"


@pytest.mark.slow
@pytest.mark.parametrize("chunk", sampled(range(CHUNKS), 8))
def test_the_text_of_every_form_computes_what_the_exact_evaluator_computes(chunk: int) -> None:
    found = []
    for name, words in sorted(recorded_words().items())[chunk::CHUNKS]:
        states = States(name, 1)
        both, decoded = Both(states.data), decode(words[-1].to_bytes(4, "little"), CODE)
        for state in STATES:
            states.fill(both.exact.registers, state, words[-1])
            difference = both.run(decoded)
            if difference:
                found.append(f"{decoded.text}: {statements(decoded)}: {difference}, state {state}")
                break
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add v0.4s, v1.4s, v2.4s", ["v0.s[i] = wrap u32 (v1.s[i] + v2.s[i]) (4)"]),
        ("sqadd v0.8h, v1.8h, v2.8h", ["v0.h[i] = saturate s16 (s16 v1.h[i] + s16 v2.h[i]) (8)"]),
        (
            "sqrdmulh v0.4s, v1.4s, v2.s[1]",
            ["v0.s[i] = saturate s32 ((s32 v1.s[i] * s32 v2.s[1] + 2^30) >> 31) (4)"],
        ),
        ("umull2 v0.8h, v1.16b, v2.16b", ["v0.h[i] = v1.b[i + 8] * v2.b[i + 8] (8)"]),
        (
            "sdot v0.4s, v1.16b, v2.16b",
            ["v0.s[i] = wrap s32 (s32 v0.s[i] + sum k=0..3 (s8 v1.b[4*i + k] * s8 v2.b[4*i + k])) (4)"],
        ),
        ("sqxtn2 v0.8h, v1.4s", ["v0.h[i + 4] = saturate s16 (s32 v1.s[i]) (4)"]),
        ("saba v0.16b, v1.16b, v2.16b", ["v0.b[i] = wrap s8 (s8 v0.b[i] + abs(s8 v1.b[i] - s8 v2.b[i])) (16)"]),
        ("cmge v0.2d, v1.2d, v2.2d", ["v0.d[i] = -(s64 v1.d[i] >= s64 v2.d[i]) (2)"]),
        ("sqadd s0, s1, s2", ["v0.s[0] = saturate s32 (s32 v1.s[0] + s32 v2.s[0])", "v0<127:32> = 0"]),
        ("addv h0, v1.4h", ["v0.h[0] = wrap u16 (sum k=0..3 (v1.h[k]))", "v0<127:16> = 0"]),
        ("rev64 v0.8b, v1.8b", ["v0.b[i] = v1.b[7 - i] (8)", "v0<127:64> = 0"]),
        ("zip1 v0.8h, v1.8h, v2.8h", ["v0.h[2*i] = v1.h[i] (4)", "v0.h[2*i + 1] = v2.h[i] (4)"]),
        ("zip1 v0.2d, v1.2d, v2.2d", ["v0.d[0] = v1.d[0]", "v0.d[1] = v2.d[0]"]),
        ("ext v0.16b, v1.16b, v2.16b, #0xe", ["v0.b[i] = v1.b[i + 14] (2)", "v0.b[i + 2] = v2.b[i] (14)"]),
        ("tbl v0.16b, {v1.16b}, v2.16b", ["v0.b[i] = table(v1.b[0..15])[v2.b[i]] else 0 (16)"]),
        ("pmul v0.16b, v1.16b, v2.16b", ["v0.b[i] = wrap u8 (eor k=0..7 ((v1.b[i] << k) * v2.b[i]<k>)) (16)"]),
        ("rbit v0.16b, v1.16b", ["v0.b[i] = or k=0..7 (v1.b[i]<k> << 7 - k) (16)"]),
        ("mov v0.s[1], v1.s[3]", ["v0.s[1] = v1.s[3]"]),
        ("ld2 {v0.4s, v1.4s}, [x2]", ["v0.s[i] = mem32[x2 + 8*i] (4)", "v1.s[i] = mem32[x2 + 8*i + 4] (4)"]),
        ("stp x0, x1, [sp, #-0x10]!", ["mem64[sp - 16] = x0", "mem64[sp - 8] = x1", "sp = wrap u64 (sp - 16)"]),
        ("ldrsb w0, [x1, w2, sxtw]", ["w0 = wrap u32 (s8 mem8[x1 + s32 w2])"]),
        ("csel w0, w1, w2, ne", ["w0 = if Z == 0 then w1 else w2"]),
        ("cbz x0, #0x1000", ["pc = if x0 == 0 then 2^12 else wrap u64 (pc + 4)"]),
        (
            "subs w0, w1, w2",
            ["w0 = wrap u32 (w1 - w2)", "V = wrap s32 (w1 - w2) != s32 w1 - s32 w2", "C = w1 - w2 >= 0",
             "Z = wrap u32 (w1 - w2) == 0", "N = wrap s32 (w1 - w2) < 0"],
        ),
        ("fadd v0.4s, v1.4s, v2.4s", ["v0.s[i] = add f32 (v1.s[i], v2.s[i]) (4)"]),
    ],
)  # fmt: skip
def test_the_text_reads_as_the_operation_of_arms_manual(text: str, expected: list[str]) -> None:
    assert lines(text) == expected


def test_a_move_to_itself_is_shown_where_it_clears_the_upper_half() -> None:
    assert (lines("mov w0, w0"), lines("mov v0.s[1], v0.s[1]")) == (["w0 = w0"], [])


def test_what_is_used_twice_has_a_name() -> None:
    total = S8.field(V1, 0) + S8.field(V2, 8)
    written = expression(S8.saturate(total) * total)
    assert written.definitions == (("t1", "s8 v1.b[⟨0⟩] + s8 v2.b[⟨1⟩]"),)
    assert written.text == "saturate s8 (t1) * t1"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (999, "999"), (1 << 30, "2^30"), (-(1 << 31), "-2^31"), (0xFFFF, "0xffff"), (-1, "-1"), (1000, "0x3e8")],
)
def test_numbers_are_read_easily(value: int, text: str) -> None:
    assert number(value) == text


def test_lanes_that_differ_in_more_than_their_number_are_listed_one_by_one() -> None:
    assert [line.lanes for line in statements(instruction("trn1 v0.2d, v1.2d, v2.2d"))] == [1, 1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (S8.field(V1, 0), U8.field(V1, 0)),
        (S8.field(V1, 0), S8.field(V1, 8)),
        (S16.field(V1, 0), S8.field(V1, 0)),
        (S32.wrap(V1 + V2), S32.saturate(V1 + V2)),
        (V1 - V2, V2 - V1),
        ((V1 + V2) * V2, V1 + V2 * V2),
        (V1 >> 1, V1 << 1),
        (V1 & V2, V1 | V2),
        (pick(V1, [1, 2], 3), pick(V1, [2, 1], 3)),
    ],
)
def test_different_expressions_have_different_texts(one: object, other: object) -> None:
    texts = [filled(expression(lane).text) for lane in (one, other)]  # type: ignore[arg-type]
    assert texts[0] != texts[1]


def test_arrangements_with_one_text_are_shown_once() -> None:
    groups = list(alike([form for form in TABLE.forms.values() if form.mnemonic == "sqrdmulh"]))
    assert [group.example.form.shape for group in groups] == [".4s,.4s,.4s", ".4s,.4s,.s[i]", "s,s,.s[i]"]


def test_of_alike_arrangements_the_one_of_four_words_is_shown() -> None:
    forms = [form for form in TABLE.forms.values() if form.mnemonic == "sqadd"]
    assert [group.example.form.shape for group in alike(forms)] == [".4s,.4s,.4s", "d,d,d"]
