"""A fault planted in the C source of a built-in kernel, and how many output lanes of its input sets notice it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from shutil import copytree

import numpy as np

from sim.call.call import CompiledKernel
from sim.call.guards.findings import GuardError
from sim.call.kernel_image import open_kernel
from sim.kernels import Kernel
from sim.kernels.kernel import Inputs


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


def compiled_with_fault(
    kernel: Kernel, parts: Sequence[str], file: str, right: str, wrong: str, folder: Path, level: str = "-O2"
) -> CompiledKernel:
    """The kernel's first source, on the machine alone, once `right` is `wrong` in a file of its folder.

    `parts` are the folders of kernels that it includes from, copied to `folder`.  AssertionError where the text is not
    there.
    """
    own = kernel.sources[0].parent
    for part in (own.name, *parts):
        copytree(own.parent / part, folder / part)
    faulty = folder / own.name / file
    text = faulty.read_text()
    assert right in text
    faulty.write_text(text.replace(right, wrong))
    image = open_kernel(kernel, folder / own.name / kernel.sources[0].name, level, *kernel.flags)
    return CompiledKernel(image, kernel, engine="machine")


def is_wrong(compiled: CompiledKernel, kernel: Kernel, inputs: Inputs) -> bool:
    """Whether a call gives other numbers than the golden reference, or reads or writes what it must not."""
    try:
        made = compiled.call(kernel.arguments(inputs), 1).outputs["machine"]
    except GuardError:
        return True
    return any(not np.array_equal(made[name], lanes) for name, lanes in kernel.golden(inputs).items())
