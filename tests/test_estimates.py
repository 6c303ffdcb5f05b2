"""Estimates and checksums against values that others published."""

from __future__ import annotations

import random
import zlib

import pytest

from isa.evaluate.exact import Evaluation
from isa.lane import Lane, constant
from isa.semantics.estimate import (
    reciprocal_estimate,
    reciprocal_lane,
    reciprocal_square_root_estimate,
    reciprocal_square_root_lane,
)
from sim import Machine
from support.engines import CODE, PAGE


def test_a_reciprocal_estimate_is_near_the_reciprocal() -> None:
    worst = max(abs(reciprocal_estimate(a) / 256 * (a + 0.5) / 512 - 1) for a in range(256, 512))
    assert worst < 2**-8


def test_a_reciprocal_square_root_estimate_is_near_the_reciprocal_square_root() -> None:
    worst = max(abs(reciprocal_square_root_estimate(a) / 256 * ((a + 0.5) / 512) ** 0.5 - 1) for a in range(128, 512))
    assert worst < 2**-8


def test_both_estimates_have_nine_bits_of_which_the_highest_is_set() -> None:
    estimates = [reciprocal_estimate(a) for a in range(256, 512)]
    estimates += [reciprocal_square_root_estimate(a) for a in range(128, 512)]
    assert (min(estimates) >= 256, max(estimates) <= 511) == (True, True)


def value(lane: Lane) -> int:
    return Evaluation(Machine()).value(lane)


def test_the_lane_functions_are_the_estimates() -> None:
    reciprocals = [value(reciprocal_lane(constant(a))) for a in range(256, 512)]
    roots = [value(reciprocal_square_root_lane(constant(a))) for a in range(128, 512)]
    assert (reciprocals, roots) == (
        [reciprocal_estimate(a) for a in range(256, 512)],
        [reciprocal_square_root_estimate(a) for a in range(128, 512)],
    )


CRC32B, CRC32H, CRC32W, CRC32X = 0x1AC14000, 0x1AC14400, 0x1AC14800, 0x9AC14C00
"""Of w0 and w1 or x1, into w0."""
CASTAGNOLI = 1 << 12
CHECK = b"123456789"


def checksum(word: int, size: int, data: bytes) -> int:
    """The data in words of that size through the instruction, from all ones, inverted at the end."""
    machine = Machine()
    machine.memory.map(CODE, PAGE, "rx")
    machine.memory.write(CODE, word.to_bytes(4, "little"))
    machine.x[0] = 2**32 - 1
    for at in range(0, len(data), size):
        machine.pc, machine.x[1] = CODE, int.from_bytes(data[at : at + size], "little")
        machine.run(max_instructions=1)
    return machine.x[0] ^ 2**32 - 1


@pytest.mark.parametrize(("word", "size"), [(CRC32B, 1), (CRC32H, 2), (CRC32W, 4), (CRC32X, 8)])
def test_crc32_is_that_of_zlib(word: int, size: int) -> None:
    data = random.Random(11).randbytes(64)
    assert checksum(word, size, data) == zlib.crc32(data)


def test_crc32c_of_the_check_string_is_the_published_one() -> None:
    """RFC 3720, B.4, and the catalogue of parametrised CRC algorithms: CRC-32/ISCSI."""
    assert checksum(CRC32B | CASTAGNOLI, 1, CHECK) == 0xE3069283


@pytest.mark.parametrize(("word", "size"), [(CRC32H, 2), (CRC32W, 4), (CRC32X, 8)])
def test_crc32c_does_not_depend_on_the_size_of_the_words(word: int, size: int) -> None:
    data = random.Random(12).randbytes(64)
    assert checksum(word | CASTAGNOLI, size, data) == checksum(CRC32B | CASTAGNOLI, 1, data)
