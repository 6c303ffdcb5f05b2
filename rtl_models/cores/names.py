"""Which cores there are."""

from __future__ import annotations

from typing import Final

CORES: Final = ("gemm_core",)
"""Modules `lanes/<name>.sv` that are a whole of lanes and units, with registers and streams of their own."""
