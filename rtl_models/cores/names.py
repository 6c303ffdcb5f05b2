"""Which cores there are."""

from __future__ import annotations

from typing import Final

CORES: Final = ("gemm_core",)
"""Modules `lanes/<name>.sv` that are a whole of lanes and units, with registers and streams of their own."""
CORE_PARTS: Final = (
    "offset_bytes", "tile_buffer", "block_walk", "mac_array", "row_stream", "window_walk",
    "window_stream",
)  # fmt: skip
"""Modules that only cores are made of; theorems say all that each of them does."""
