"""RMIF at every rotation: the recorded words have only a few."""

from __future__ import annotations

import pytest

from support.engines import Engine, loaded

RMIF_X2 = 0xBA000440
VALUE = 0x9ABC_DEF0_1234_567B


@pytest.mark.parametrize("lsb", range(64))
def test_rmif_takes_four_bits_of_the_rotated_register(engine: Engine, lsb: int) -> None:
    loaded(engine, (RMIF_X2 | lsb << 15 | 15).to_bytes(4, "little"))
    engine.x[2] = VALUE
    engine.run(max_instructions=1)
    assert engine.nzcv == (VALUE << 64 | VALUE) >> lsb & 15


@pytest.mark.parametrize("mask", range(16))
def test_rmif_keeps_the_flags_outside_of_the_mask(engine: Engine, mask: int) -> None:
    loaded(engine, (RMIF_X2 | mask).to_bytes(4, "little"))
    engine.x[2], engine.nzcv = 0b0101, 0b1010
    engine.run(max_instructions=1)
    assert engine.nzcv == 0b0101 & mask | 0b1010 & ~mask
