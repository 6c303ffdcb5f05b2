"""The sources that the toolchain's tests build, and how they look at the result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sim.toolchain.image import Image

SUM = "int kernel(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }\n"
HEADER_USER = '#include "factor.h"\nint kernel(int x) { return x * FACTOR; }\n'
Write = Callable[[str, str], Path]


def code(image: Image) -> bytes:
    return image.code_of("kernel")
