"""Synthesis by the tools themselves: half a minute for each design, so not among the tests that always run."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtl_models.synthesis.designs import Design
from rtl_models.synthesis.figures import figures_of
from rtl_models.synthesis.netlist import Size, synthesize

pytestmark = pytest.mark.rtl


def test_four_adders_of_32_bits_take_a_cell_for_every_bit_and_have_a_clock(tmp_path: Path) -> None:
    found = figures_of(Design("add", 4, None), 200, [1], tmp_path)
    assert found.size == Size(cells=4 * 32, multipliers=0, flip_flops=0, block_rams=0)
    assert found.megahertz


@pytest.mark.parametrize("profile", ["shallow", "deep"])
def test_a_product_of_32_bits_takes_four_multipliers_of_18(profile: str, tmp_path: Path) -> None:
    size = synthesize(Design("rescale", 4, "deep" if profile == "deep" else "shallow"), tmp_path)
    assert size.multipliers == 4 * 4
