"""What was aimed at code, kept for the next check of the same code with the same inputs.

It follows from the code, from the kernel's own Python files and those of somebody's that are loaded beside it, from
input sets and golden outputs, and from lanewise; all of these are in the name under which it is kept.  What else a
golden reference reads, such as a file of numbers or an installed package, is known by the outputs that it gives alone.
What is kept is additional inputs and what is told of them: a check runs and compares them like all others.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from sim.check.aim.aiming import Aimed, aim, aimed_builds
from sim.check.check import Job
from sim.check.vectors import Vectors
from sim.contents import OWN, ROOT, digests, python_files, versions
from sim.kernels.kernel import Kernel
from sim.kernels.kernel_file import is_path
from sim.toolchain.cache import keep_within, mark_used
from sim.toolchain.kept import write_whole
from sim.toolchain.tools import cache_directory

_UNFIT = pickle.PicklingError, TypeError, AttributeError
"""What pickle raises for what it cannot write."""


def aimed_or_kept(name: str, kernel: Kernel, jobs: Sequence[Job], vectors: Vectors) -> Aimed:
    """As `aim` for a kernel of that name, built in or a path, but done once.  Raises what `aim` does."""
    cache = cache_directory()
    try:
        kept = cache / f"aimed-{_key(name, kernel, jobs, vectors)}.pickle"
    except _UNFIT:  # inputs of a kernel's own kind
        return aim(kernel, jobs, vectors)
    with suppress(Exception):  # it is not there, or damaged, which raises anything
        found = pickle.loads(kept.read_bytes())
        if isinstance(found, Aimed):
            mark_used(kept)
            return found
    made = aim(kernel, jobs, vectors)
    with suppress(OSError, *_UNFIT):  # it is made again next time
        write_whole(kept, pickle.dumps(made))
        keep_within(cache)
    return made


def _key(name: str, kernel: Kernel, jobs: Sequence[Job], vectors: Vectors) -> str:
    files = digests([*python_files(Path(name)), *_loaded_elsewhere()]) if is_path(name) else {}
    about = [name, kernel.mode, kernel.symbol, kernel.signature, kernel.domain, kernel.tolerance, [*kernel.conventions]]
    builds = [
        (title, image.file, [(one.address, one.data, one.size, one.permissions) for one in image.segments], image.lines)
        for title, image in aimed_builds(kernel, jobs)
    ]
    digest = _Digest()
    pickle.dump([versions(), files, list(map(repr, about)), builds, vectors.seed, vectors.long_from], digest)
    for inputs, golden in zip(vectors.inputs, vectors.golden, strict=True):
        pickle.dump((inputs, golden), digest)
    return digest.hexdigest()


def _loaded_elsewhere() -> Iterator[Path]:
    """The files of modules that are neither installed nor of lanewise."""
    known = tuple(f"{folder}{os.sep}" for folder in (sys.prefix, sys.base_prefix, *(ROOT / each for each in OWN)))
    for module in [*sys.modules.values()]:
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and not file.startswith(known):
            yield Path(file)


class _Digest:
    """A digest that can be written to."""

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self._sha256.update(data)
        return len(data)

    def hexdigest(self) -> str:
        return self._sha256.hexdigest()
