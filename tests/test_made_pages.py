"""The pages of the documentation that are made of what the program says leave nothing out."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from isa.rows import TABLE
from rtl_models.command.group import HardwareCommands
from sim.command.app import Lanewise
from sim.golden.layers import bilinear, mean, softmax
from sim.golden.registry.conventions import CONVENTIONS

MADE: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[1] / "docs/made_pages.py"))


@pytest.mark.slow
def test_every_command_has_its_help_on_the_page() -> None:
    lines = list(MADE["help_page"]())
    within = {f"### lanewise rtl {name}" for name in HardwareCommands.COMMANDS}
    assert {f"## lanewise {name}" for name in Lanewise.COMMANDS} | within <= set(lines)
    assert sum("Usage: lanewise" in line for line in lines) == sum(line.startswith("##") for line in lines)


@pytest.mark.slow
def test_every_convention_is_on_the_page_and_told_from_the_first_of_its_family() -> None:
    lines = list(MADE["conventions_page"]())
    families = {convention.family.name for convention in CONVENTIONS.values()}
    assert [line[4:] for line in lines if line.startswith("### ")] == list(CONVENTIONS)
    assert sum(line.startswith("Beside ") for line in lines) == len(CONVENTIONS) - len(families)


def test_every_convention_of_whole_layers_is_on_the_page() -> None:
    """Each golden arithmetic that layers are told by, with the types that it is defined of."""
    lines = [line.split(" | ") for line in MADE["layer_conventions_page"]() if line.startswith("| `")]
    listed = {line[0].strip("|` ") for line in lines}
    means = {name for name in vars(mean) if name.startswith("mean_")}
    assert {*softmax.WAYS, *softmax.WAYS_OF_INT16, *softmax.WAYS_OF_ONNX, *means} <= listed
    assert {"hard_swish", "hard_swish_by_vector", "leaky_relu_of_8_bits", "double_rounding_of_negated"} <= listed
    assert {"activation_in_float32", "activation_in_fixed_point", "activation_by_quotient"} <= listed
    assert {"activation_by_table_of_16_bits", "activation_in_fixed_point_of_16_bits"} <= listed
    assert {*bilinear.IN_INTEGERS, *bilinear.IN_REALS, *bilinear.BY_XNNPACK, "bilinear_in_float32_cut"} <= listed
    assert {"subtract_tflite", "subtract_xnnpack", "subtract_tflite_pot", "l2_by_double_rounding"} <= listed
    of_types = {line[0].strip("|` "): line[1] for line in lines}
    assert of_types["mean_by_reciprocal"] == "int8, uint8"
    assert (of_types["add_avx2_of_int8"], of_types["add_avx2"]) == ("int8", "uint8")
    assert of_types["softmax_by_interpolation"] == "int16 to int16"
    assert of_types["softmax_in_fixed_point"] == "int8 to int8, uint8 to uint8, int8 to int16, uint8 to int16"


def test_every_mnemonic_is_on_the_page_of_its_letter() -> None:
    pages = dict(MADE["instruction_pages"]())
    mnemonics = {form.mnemonic for form in TABLE.forms.values()}
    assert set(pages) == {"README", *(mnemonic[0] for mnemonic in mnemonics)}
    few = [line[3:] for letter in "dr" for line in pages[letter] if line.startswith("## ")]
    assert few == sorted(mnemonic for mnemonic in mnemonics if mnemonic[0] in "dr")


def test_links_of_built_pages_that_lead_nowhere_are_told(tmp_path: Path) -> None:
    """`make docs` warns of them, and a warning is an error."""
    dead_links = runpy.run_path(str(Path(__file__).parents[1] / "docs/dead_links.py"))["dead_links"]
    (tmp_path / "in").mkdir()
    (tmp_path / "in/one.html").write_text(
        '<h1 id="top">1</h1><a href="#top"></a><a href="#none"></a><a href="../two.html#here"></a>'
        '<a href="../two.html#there"></a><a href="FILE:LINE"></a><img src="../no%20picture.svg">'
        '<a href="https://example.org/none">'
    )
    (tmp_path / "two.html").write_text('<p id="here"><a href="in/one.html"></a><a href="in"></a>')
    told = ["#none", "../two.html#there", "FILE:LINE", "../no%20picture.svg"]
    assert [*dead_links(tmp_path)] == [*(f"in/one.html: {link}" for link in told), "two.html: in"]
