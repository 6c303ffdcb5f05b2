"""C generated from expressions against the exact evaluator; `tests/long/long_generated_c.py` runs every word."""

from __future__ import annotations

import faulthandler
from collections import Counter
from collections.abc import Iterator
from ctypes import CDLL, byref, c_int64, c_uint8, c_uint64, c_void_p
from functools import cache
from itertools import product
from multiprocessing import get_context

import pytest

from isa.encodings import recorded_words
from isa.evaluate import c
from isa.evaluate.exact import Evaluation
from isa.evaluate.floating.formats import FZ, FZ16, IXC
from isa.instruction import lanes_of
from isa.lane import (
    S16,
    S32,
    S64,
    U8,
    U64,
    Floating,
    Int,
    Lane,
    Place,
    Write,
    constant,
    divide,
    load,
    maximum,
    minimum,
    pick,
    read,
    walk,
)
from sim.toolchain.host import host_library
from support.floating_states import FloatingStates
from support.generated_c import UNDEFINED_TRAPS, Compiled, decoded, words_in_c

CHUNKS, STATES = 4, 10
NOT_YET = {"of the format f16": 257, "of the format bf16": 3, "of the format u33": 1, "not by the rules of FPCR": 5,
           "multiply_extended": 10, "to_integral_bounded": 20, "reciprocal_estimate": 5, "reciprocal_root_estimate": 5,
           "reciprocal_step": 5, "reciprocal_root_step": 5, "reciprocal_exponent": 2, "convert": 3}  # fmt: skip
"""How many forms the writer refuses, by what they do."""
FLOATING_SEED, FLOATING_STATES = 4, 16

Change = tuple[str, str, str]
PLANTED: tuple[Change, ...] = (
    ("sqrdmulh .8h,.8h,.8h", "(int32_t)15", "(int32_t)14"),
    ("sqadd .4s,.4s,.4s", "(int64_t)2147483647", "(int64_t)2147483646"),
    ("sqadd .4s,.4s,.4s", "saturated |=", "saturated &="),
    ("sqadd .4s,.4s,.4s", "__builtin_convertvector(a2, s64x4)", "__builtin_convertvector(a1, s64x4)"),
    ("cmgt .8h,.8h,.8h", "a1 < a2", "a1 <= a2"),
    ("uaddlp .8h,.16b", "a1[15]", "a1[14]"),
    ("ushl .4s,.4s,.4s", "~t", "t"),
    ("sqadd .2d,.2d,.2d", "9223372036854775807LL :", "9223372036854775806LL :"),
    ("sqadd .2d,.2d,.2d", "i < 2", "i < 1"),
    ("addv s,.4s", "= {0}", "= {1, 1, 1, 1}"),
    ("adds x,x,x", "<< 2", "<< 3"),
    ("str x,[x]", "!store_bytes", "0 && !store_bytes"),
    ("ld1 {4}.16b,[x]", "return 1", "return 0"),
    ("ldr x,[x],# post", "S->x[r1] = ", "S->x[r1] += "),
    ("stxr w,x,[x]", "memcpy(S->monitor, &", "memcpy(S->v[0], &"),
    ("b #", "S->pc = ", "S->pc += "),
    ("nop", "S->pc += 4", "S->pc += 8"),
)


@cache
def in_c() -> tuple[dict[str, tuple[int, ...]], dict[str, str]]:
    """Not when this module is imported: every process of a run imports it, and it costs seconds."""
    return words_in_c(every=False)


def word_of(name: str) -> int:
    (word,) = in_c()[0][name]
    return word


def differences(words: dict[str, tuple[int, ...]], states: int, *flags: str) -> list[str]:
    compiled = Compiled([word for each in words.values() for word in each], *flags)
    pairs = [(name, word) for name, each in words.items() for word in each]
    return [found for name, word in pairs if (found := compiled.difference(name, word, states))]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_form_does_what_the_exact_evaluator_says(chunk: int) -> None:
    written, _ = in_c()
    words = {name: written[name] for name in list(written)[chunk::CHUNKS]}
    assert len(words) > 500
    assert differences(words, STATES, "-O0") == []


def has_floating_point(name: str) -> bool:
    return any(isinstance(node, Floating) for node in walk(lanes_of(decoded(recorded_words()[name][0]).writes)))


def refused_for(reason: str) -> str:
    """The reason without formats and rounding."""
    why = reason.removeprefix("floating point has no C yet: ")
    return why if " the " in why else why.split()[0]


@pytest.mark.slow
def test_what_is_not_in_c_is_floating_point_and_counted() -> None:
    written, refused = in_c()
    assert Counter(map(refused_for, refused.values())) == NOT_YET
    assert all(map(has_floating_point, refused))
    assert len(written) == len(recorded_words()) - sum(NOT_YET.values())


def floating_point() -> list[str]:
    """The forms in C that have floating point."""
    return [name for name in in_c()[0] if has_floating_point(name)]


def outcomes(compiled: Compiled, word: int, states: int, fpcr: int = 0, fpsr: int = IXC) -> Iterator[str | None]:
    """What C does otherwise than the exact evaluator over so many hard states: None where it leaves them."""
    given = FloatingStates(decoded(word), FLOATING_SEED)
    return (compiled.difference_from(word, given.hard(fpcr, fpsr)) for _ in range(states))


@pytest.mark.slow
def test_floating_point_of_the_host_is_that_of_the_exact_evaluator() -> None:
    words = {name: word_of(name) for name in floating_point()}
    compiled = Compiled(list(words.values()), "-O0")
    found = {name: list(outcomes(compiled, word, FLOATING_STATES)) for name, word in words.items()}
    assert len(found) > 300
    assert [line for lines in found.values() for line in lines if line] == []
    assert [name for name, lines in found.items() if set(lines) == {None}] == []


@pytest.mark.parametrize("flags", [{"fpsr": 0}, *({"fpcr": bits} for bits in (FZ, FZ16, 1 << 22, 1 << 23))])
def test_the_host_leaves_what_the_registers_do_not_allow(flags: dict[str, int]) -> None:
    word = word_of("fadd .4s,.4s,.4s")
    assert set(outcomes(Compiled([word]), word, 40, **flags)) == {None}


WEAKENED: tuple[tuple[str, str, str, dict[str, int]], ...] = (
    ("fadd s,s,s", "S->fpsr & 16 &&", "", {"fpsr": 0}),
    ("fadd s,s,s", "S->fpcr & ", "0 & ", {"fpcr": 1 << 22}),
    ("fadd s,s,s", "<= FLT_MAX", "<= INFINITY", {}),
    ("fmul d,d,d", "> DBL_MIN", ">= DBL_MIN", {}),
    ("fmul s,s,s", "== 0 && (", "== 0 || (", {}),
    ("fmadd s,s,s,s", "== 0 && (", "== 0 || (", {}),
    ("fmadd s,s,s,s", "> FLT_MIN", "> 0", {}),
    ("fcvt s,d", "> FLT_MIN", "> 0", {}),
    ("fmax s,s,s", "!= 0", "== 0", {}),
    ("fmin s,s,s", "applies &=", "applies |=", {}),
    ("fcmgt s,s,s", "applies &=", "applies |=", {}),
    ("fcmp s,s", "applies &=", "applies |=", {}),
    ("fcvtzs w,s", "< 0x1p31f", "< 0x1p33f", {}),
    ("fcvtzu w,s", ">= 0", ">= -9", {}),
    ("frintn s,s", "- t", "== t", {}),
)
"""A form, a change of its guards, and the registers where they are not the usual."""


@pytest.mark.parametrize(("name", "text", "other", "flags"), WEAKENED)
def test_a_weakened_guard_is_noticed(name: str, text: str, other: str, flags: dict[str, int]) -> None:
    word = word_of(name)
    compiled = Compiled([word], "-O0", change=lambda c_text: replaced(c_text, text, other))
    assert any(outcomes(compiled, word, 1500, **flags))


def replaced(c_text: str, text: str, other: str) -> str:
    """The C with a change to its first instruction, which must have something to change."""
    before, function = c_text.split("static int f0(")
    assert text in function
    return f"{before}static int f0({function.replace(text, other)}"


@pytest.mark.parametrize(("name", "text", "other"), PLANTED)
def test_a_planted_mistake_is_seen(name: str, text: str, other: str) -> None:
    word = word_of(name)
    compiled = Compiled([word], "-O0", change=lambda c_text: replaced(c_text, text, other))
    assert compiled.difference(name, word, 24)


def ended(*names: str, text: str = "", other: str = "", states: int = STATES) -> int | None:
    """The exit code of a process that runs these forms and that undefined behaviour ends; 1 where they differ."""

    def run() -> None:
        faulthandler.disable()
        words = [word_of(name) for name in names]
        compiled = Compiled(words, *UNDEFINED_TRAPS, change=lambda c_text: c_text.replace(text, other or text))
        found: list[str | None] = [
            compiled.difference(name, word, states) for name, word in zip(names, words, strict=True)
        ]
        for name, word in zip(names, words, strict=True):
            found += outcomes(compiled, word, states) if has_floating_point(name) else []
        raise SystemExit(int(any(found)))

    process = get_context("fork").Process(target=run)
    process.start()
    process.join()
    return process.exitcode


@pytest.mark.slow
def test_nothing_that_a_share_of_the_forms_does_is_undefined() -> None:
    assert ended(*list(in_c()[0])[3::32]) == 0


def test_undefined_behaviour_is_seen() -> None:
    code = ended("sqshl s,s,s", text="(uint64_t)a", other="(int64_t)a")
    assert code is not None
    assert code < 0


def test_the_text_is_the_same_in_every_run_and_reads_as_c() -> None:
    pattern = decoded(word_of("sqrdmulh .8h,.8h,.8h")).pattern
    assert c.instruction("sqrdmulh_8h", pattern.open_writes(), pattern.register_count, pattern.text) == (
        """\
/* sqrdmulh v_.8h, v_.8h, v_.8h */
static int sqrdmulh_8h(State *S, Memory *M, unsigned r0, unsigned r1, unsigned r2) {
  unsigned saturated = 0;
  uint16_t o0[8];
  s16x8 a1;
  memcpy(&a1, S->v[r1], 16);
  s16x8 a2;
  memcpy(&a2, S->v[r2], 16);
  const s32x8 t3 = (__builtin_convertvector(a1, s32x8) * __builtin_convertvector(a2, s32x8));
  const s32x8 t4 = (t3 + ((s32x8){0} + (int32_t)16384));
  const s32x8 t5 = (t4 >> ((s32x8){0} + (int32_t)15));
  const s32x8 t6 = (s32x8)(t5 > ((s32x8){0} + (int32_t)32767));
  const s32x8 t7 = (t6 & ((s32x8){0} + (int32_t)32767)) | (~t6 & t5);
  saturated |= ANY(t7 != t5);
  const s16x8 t8 = __builtin_convertvector(t7, s16x8);
  const u16x8 t9 = ((u16x8)t8);
  memcpy(o0, &t9, 16);
  memcpy(S->v[r0], o0, 16);
  if (saturated) S->fpsr |= 134217728;
  S->pc += 4;
  return 0;
}
"""
    )


def operand(number: int, kind: Int) -> Lane:
    return kind.field(read(Place("v", number)), 0)


A, B = operand(0, S64), operand(1, S64)
EXPRESSIONS: dict[str, Lane] = {
    "sum": S64.saturate(A + B),
    "high": S64.saturate(A * B + (1 << 62) >> 63),
    "wrapped": S64.wrap(A * B * B - A),
    "quotient": divide(A, B),
    "remainder": S64.wrap(A - divide(A, B) * B),
    "shifted": S32.saturate(A >> U8.wrap(B)),
    "sign": (A >> 100) - (S32.wrap(B) >> 40),
    "sign field": S16.field(S32.wrap(A), 40) + (U8.field(U8.wrap(B), 9) | 1),
    "shifted left": S64.wrap(S32.wrap(A) << maximum(minimum(U8.wrap(B), 70), 0)),
    "extremes": minimum(A, 1 << 63) - maximum(B, -(1 << 64)),
    "order": (A < B) + A.equals(B),
    "bits": (A & -256) ^ (B | 1),
    "odd field": Int(5, True).field(A, 3) * Int(33, False).field(B, 7),
    "far field": U64.field(A * B, 64) ^ S16.field(A, 48),
    "looked up": pick(S16.wrap(B), [A, 7, B, -(1 << 63)], A - B),
}


class Operands:
    """Operands in the low bits of registers v0 and v1, other bits above them."""

    def __init__(self, *values: int) -> None:
        self.values = values

    def read(self, place: Place) -> int:
        assert isinstance(place.index, int)
        return self.values[place.index] % 2**64 | 0xA5 << 64

    def load(self, address: int, size: int) -> bytes:
        raise AssertionError("operands have no memory")


CORNERS = (0, 1, -1, 2, 7, -8, 1 << 31, -(1 << 31), (1 << 63) - 1, -(1 << 63), 0x123456789ABCDEF, -0x0FEDCBA987654321)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_an_expression_of_operands_does_what_the_exact_evaluator_says(name: str) -> None:
    lane = EXPRESSIONS[name]
    function = c.expression("f", U64.field(lane, 0), [S64, S64])  # ctypes knows no 128 bits
    entry = "uint64_t run(int64_t a, int64_t b, uint8_t *clamps) { return f(a, b, clamps); }"
    run = CDLL(str(host_library(f"#include <stdint.h>\n{function}{entry}", "-O1"))).run
    run.argtypes, run.restype = (c_int64, c_int64, c_void_p), c_uint64
    clamps = c_uint8()
    for a, b in product(CORNERS, repeat=2):
        evaluation = Evaluation(Operands(a, b))
        expected = evaluation.value(lane) % 2**64
        assert (run(a, b, byref(clamps)), clamps.value) == (expected, evaluation.saturated), (a, b)


@pytest.mark.parametrize("lane", [read(Place("x", 0)), read(Place("v", 0)) + 1, load(constant(0), 8)])
def test_an_expression_of_more_than_operands_is_refused(lane: Lane) -> None:
    with pytest.raises(c.NotInC, match="of operands, only lanes of registers are read"):
        c.expression("f", U8.field(lane, 0), [S64])


def test_a_number_of_more_than_128_bits_is_refused_by_name() -> None:
    with pytest.raises(c.NotInC, match="does not fit a type of C"):
        c.expression("f", A * B * B >> 64, [S64, S64])


def test_a_part_of_a_register_gets_no_more_than_its_bits() -> None:
    writes = (Write(Place("nzcv"), 4, [read(Place("x", 0))]),)
    assert "(t0 & 15)" in c.instruction("f", writes, 0, "")
