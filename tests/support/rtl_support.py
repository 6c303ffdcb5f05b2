"""Marks that tests of hardware share."""

from __future__ import annotations

import shutil

import pytest

needs_icarus = pytest.mark.skipif(
    shutil.which("iverilog") is None, reason="the simulator icarus, which knows X, is not installed"
)
