"""Failing input sets, kept in Hypothesis's database of examples from one run to the next."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256

from sim.kernels.kernel import Inputs, Kernel
from sim.shrink.literal import as_bytes, from_bytes
from sim.shrink.search import forget, save, saved


class Kept:
    """The input sets of a kernel that failed in checks of one manner, such as ("O2", "lockstep").

    The kernel is known by its title, its symbol and where its sources lie from here.
    """

    def __init__(self, kernel: Kernel, manner: Sequence[str]) -> None:
        sources = [os.path.relpath(source) for source in kernel.sources]
        text = "\0".join((kernel.title, kernel.symbol, *sources, *manner))
        self._kernel, self._key = kernel, b"lanewise " + sha256(text.encode()).digest()

    def inputs(self) -> Iterator[Inputs]:
        """Those that the kernel takes still, the simplest first; the others are dropped."""
        like = next(iter(self._kernel.corners()), {})
        for data in saved(self._key):
            try:
                inputs = from_bytes(data, like)
                self._kernel.expected(inputs)
                is_one = self._kernel.accepts(inputs)
            except Exception:  # of another version of the kernel, or of another program
                is_one = False
            if is_one:
                yield inputs
            else:
                forget(self._key, data)

    def save(self, inputs: Inputs) -> None:
        """Keep one, if it can be written down."""
        with suppress(TypeError):
            save(self._key, as_bytes(inputs))

    def forget(self, inputs: Inputs) -> None:
        """Keep it no longer."""
        forget(self._key, as_bytes(inputs))
