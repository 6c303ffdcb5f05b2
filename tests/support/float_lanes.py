"""What `fmla_byte` and `float_to_byte` are proved to be, as C, beside the float32 arithmetic of this computer."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Final, NamedTuple

from isa.evaluate.c import expression
from isa.lane import U1, U8, U32, Int, Lane, Place, read
from rtl_models.formal import floats
from sim.toolchain.host import host_library

Steps = Callable[..., Lane]
FMLA: Final = (U32, U8, U32)
TO_BYTE: Final = (U32, U1)

_LOOPS: Final = """
static float number(uint32_t bits) { float f; memcpy(&f, &bits, 4); return f; }
static uint32_t bits(float f) { uint32_t b; memcpy(&b, &f, 4); return f != f ? 0x7FC00000u : b; }

static uint64_t state;
static uint64_t draw(void) {  /* xorshift64* */
  state ^= state >> 12; state ^= state << 25; state ^= state >> 27;
  return state * 0x2545F4914F6CDD1DULL;
}

/* Any bits; few of them set, or all but few; subnormal; beside a power of two. */
static uint32_t any_number(void) {
  const uint64_t random = draw();
  const uint32_t low = (uint32_t)random, sign = low & 0x80000000u;
  switch (random >> 61) {
    case 0: return sign | (low & 0x007FFFFFu);
    case 1: return sign | ((1u << (random >> 32) % 31) - (random >> 40) % 2);
    case 2: return low & (uint32_t)draw() & (uint32_t)draw();
    case 3: return low | (uint32_t)draw() | (uint32_t)draw();
    default: return low;
  }
}

/* Vectors of which half have an accumulator beside the product: it cancels all of it, or lies up to 40 places away. */
uint64_t compare_fmla(uint64_t seed, uint64_t count, uint32_t *differs) {
  state = seed * 2 + 1;
  for (uint64_t at = 0; at < count; ++at) {
    uint32_t accumulator = any_number();
    const uint32_t factor = any_number();
    const uint8_t byte = draw() >> 56;
    const uint64_t random = draw();
    if (random & 1) {
      accumulator = bits((float)byte * number(factor)) ^ 0x80000000u;
      if (random & 2) accumulator += (uint32_t)(random >> 40) % 9 - 4;
      if (random & 4) accumulator += ((uint32_t)(random >> 48) % 81 - 40) << 23;
      if (random & 8) accumulator ^= 0x80000000u;
    }
    uint8_t clamps;
    const uint32_t given = fmla_steps(accumulator, byte, factor, &clamps);
    const uint32_t expected = bits(fmaf((float)byte, number(factor), number(accumulator)));
    if (given != expected) {
      const uint32_t found[] = {accumulator, byte, factor, given, expected};
      memcpy(differs, found, sizeof found);
      return at;
    }
  }
  return count;
}

static uint8_t clamped(float whole) { return whole > 0 ? whole < 255 ? (uint8_t)whole : 255 : 0; }

/* Numbers of both ways to round: rint, which is FCVTNS, and a half added, which is rounded, then cut off. */
uint64_t compare_to_byte(uint64_t first, uint64_t count, uint32_t *differs) {
  for (uint64_t at = 0; at < count; ++at) {
    const uint32_t value = (uint32_t)(first + at);
    const float v = number(value), half = v > 0 ? v + 0.5f : v - 0.5f;
    uint8_t clamps;
    const uint8_t expected[] = {clamped(rintf(v)), clamped(truncf(half))};
    for (uint32_t away = 0; away < 2; ++away) {
      const uint8_t given = byte_steps(value, away, &clamps);
      if (given != expected[away]) {
        const uint32_t found[] = {value, away, given, expected[away]};
        memcpy(differs, found, sizeof found);
        return at;
      }
    }
  }
  return count;
}
"""


class Compared(NamedTuple):
    """How many vectors agreed, up to the first that differs: its operands, what is given and expected."""

    vectors: int
    differs: tuple[int, ...]


class FloatLanes:
    """The steps compiled; others may be given in the place of those that are proved."""

    def __init__(self, multiply_add: Steps = floats.multiply_add, to_byte: Steps = floats.to_byte) -> None:
        texts = [
            expression("fmla_steps", multiply_add(*operands(FMLA)), FMLA),
            expression("byte_steps", to_byte(*operands(TO_BYTE)), TO_BYTE),
        ]
        headers = "".join(f"#include <{name}.h>\n" for name in ("math", "stdint", "string"))
        self._library = ctypes.CDLL(str(host_library(headers + "\n".join(texts) + _LOOPS, "-lm")))

    def fmla(self, seed: int, count: int) -> Compared:
        """Random vectors and corners of `fmla_byte`."""
        return self._compared("compare_fmla", seed, count, 5)

    def to_byte(self, first: int, count: int) -> Compared:
        """So many numbers of `float_to_byte` from the one with these bits on, rounded both ways."""
        return self._compared("compare_to_byte", first, count, 4)

    def _compared(self, function: str, first: int, count: int, shown: int) -> Compared:
        compare = self._library[function]
        compare.restype = ctypes.c_uint64
        differs = (ctypes.c_uint32 * shown)()
        agreeing = compare(ctypes.c_uint64(first), ctypes.c_uint64(count), differs)
        return Compared(agreeing, () if agreeing == count else tuple(differs))


def operands(kinds: tuple[Int, ...]) -> list[Lane]:
    """A number of each type in the low bits of v0, v1, ..."""
    sources = [U32.field(read(Place("v", register)), 0) for register in range(len(kinds))]
    return [kind.field(source, 0) for kind, source in zip(kinds, sources, strict=True)]
