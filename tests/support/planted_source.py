"""A fault planted in the C source of a built-in kernel, and how many output lanes of its input sets notice it."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np

from sim.call.call import CompiledKernel
from sim.call.kernel_image import open_kernel
from sim.kernels import Kernel


def wrong_lanes(
    kernel: Kernel, source: int, right: str, wrong: str, folder: Path, corners: int = 20, random: int = 40
) -> int:
    """Output lanes that source number `source` gets wrong, at -O2 on the machine alone, once `right` is `wrong`.

    Compared on the first corners and on random input sets; the copy of the source, with what it includes beside it, is
    written to `folder`.  AssertionError where the text is not there.
    """
    original = kernel.sources[source]
    for header in original.parent.glob("*.h"):
        (folder / header.name).write_text(header.read_text())
    text, copy = original.read_text(), folder / original.name
    assert right in text
    copy.write_text(text.replace(right, wrong))
    compiled = CompiledKernel(open_kernel(kernel, copy, "-O2", *kernel.flags), kernel, engine="machine")
    rng, found = np.random.default_rng(7), 0
    for inputs in (*islice(kernel.corners(), corners), *(kernel.sample(rng) for _ in range(random))):
        made = compiled.call(kernel.arguments(inputs), 1).outputs["machine"]
        found += sum(int((made[name] != lanes).sum()) for name, lanes in kernel.golden(inputs).items())
    return found
