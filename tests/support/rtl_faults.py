"""Modules that are wrong on purpose, in folders that go before the package's own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rtl_models.tools.sources import LANES
from sim.toolchain.kept import write_whole
from sim.toolchain.tools import cache_directory

AT_DEPTHS: Final[Mapping[str, tuple[str, int, tuple[str, str, str]]]] = {
    "a valid bit one stage short": (
        "quantize_down", 7, ("quantize_down", ".Depth(Depth)\n  ) u_valid", ".Depth(Depth - 1)\n  ) u_valid"),
    ),
    "a valid bit one stage late": (
        "quantized_multiplier", 6,
        ("quantized_multiplier", ".Depth(Depth)", ".Depth(Depth == 6 ? 7 : Depth)"),
    ),
    "a part of the depth below": (
        "quantize_down", 7, ("quantize_down", "? lanewise_pkg::RescaleMultiplied", "? lanewise_pkg::RescaleShallow"),
    ),
    "bounds of the depth below": (
        "requantize", 11, ("requantize", "Depth >= lanewise_pkg::RequantizeBounded", "DeepFirst"),
    ),
    "a shift that does not wait for its product": (
        "quantized_add", 13, ("rescale", "MultiplyDepth = DeepMultiply ?", "MultiplyDepth = DeepShift ?"),
    ),
    "an offset that comes a stage late": (
        "requantize", 11, ("requantize", "(DeepFirst ? 2 : 1)", "(DeepOutput ? 2 : 1)"),
    ),
    "a constant that does not wait for the products": (
        "offset_contribution", 3, ("offset_contribution", "if (DeepMultiply) begin", "if (DeepSum) begin"),
    ),
    "bounds that come a stage early": (
        "integer_scale", 7, ("integer_scale", "ClampDepth    = DeepClamp ?", "ClampDepth    = DeepShift ?"),
    ),
}  # fmt: skip
"""By what is wrong the unit, a depth between shallow and deep at which it is, and what is planted."""


def planted(module: str, right: str, wrong: str) -> Path:
    """A folder with the module in which one text is replaced by another.

    It lies in the cache and is the same every time, so that its simulator is built only once.
    """
    text = wrong_text(module, right, wrong)
    folder = cache_directory() / "rtl" / f"planted-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    file = folder / f"{module}.sv"
    if not file.is_file():
        write_whole(file, text.encode())
    return folder


def wrong_text(module: str, right: str, wrong: str) -> str:
    """The module's text with one text replaced, which must be in it once."""
    text = (LANES / f"{module}.sv").read_text()
    if text.count(right) != 1:
        raise ValueError(f"{module}.sv has {text.count(right)} times {right!r}, not once")
    return text.replace(right, wrong)


def planted_at_one_number() -> Path:
    """SQADD that is wrong for a = 37 and every positive b from 12 on: the smallest such pair is (37, 12)."""
    wrong = "assign result_o = (a_i == 37 && b_i > 11 && !b_i[Width-1]) ? '0 :"
    return planted("sqadd", "assign result_o    =", wrong)
