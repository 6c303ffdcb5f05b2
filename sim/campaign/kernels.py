"""The kernel that a case asks about, its implementation, and the files that both are made of."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from sim.campaign.case import JobCase
from sim.campaign.file import CampaignError, near_names
from sim.check.check import Job, jobs_of
from sim.contents import INCLUDING, digests, python_files, source_files
from sim.kernels.kernel import Kernel, built_in_kernel
from sim.kernels.kernel_file import is_path, load_kernel
from sim.kernels.names import kernel_names
from sim.toolchain.compilers import is_source
from sim.toolchain.host import version_text
from sim.toolchain.tools import ToolchainUnavailable, run_as_told

WHEEL: Final = "clang"
"""The compiler that comes with lanewise, in the place of another's command."""


def kernel_named(name: str, mode: str) -> Kernel:
    """A built-in kernel, or that of a file in its present state.  Raises KernelError, CampaignError."""
    if is_path(name):
        path = Path(name).absolute()
        return _loaded(path, mode, json.dumps(digests(python_files(path))))
    if name not in kernel_names():
        raise CampaignError(f"there is no kernel {name!r}{near_names(name, kernel_names())}, or the path of a file")
    return built_in_kernel(name, mode or None)


@cache
def _loaded(path: Path, mode: str, _made_of: str) -> Kernel:
    """Imported anew with what is beside it: a process that does many jobs has met older files of the same names."""
    for one in python_files(path):
        if one.is_relative_to(path.parent):
            parts = one.relative_to(path.parent).with_suffix("").parts
            sys.modules.pop(".".join(parts[:-1] if parts[-1] == "__init__" else parts), None)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # it is known by its second, too coarse here
    try:
        return load_kernel(path, mode or None)
    finally:
        sys.dont_write_bytecode = before


def kernel_of(case: JobCase) -> Kernel:
    """The kernel with the object in its sources' place, and with numbers of the grid for domains.

    Raises KernelError.
    """
    kernel = kernel_named(case.kernel, case.mode)
    if found := case.more.get("object"):
        symbol = str(case.more.get("symbol") or kernel.symbol)
        kernel = replace(kernel, sources=(Path(found),), symbol=symbol, program=None)
    grid: Mapping[str, int] = case.more.get("grid", {})
    return kernel.held(grid) if grid else kernel


def flags_of(case: JobCase) -> tuple[str, ...]:
    """The flags of a case as a shell splits them."""
    return tuple(shlex.split(case.flags))


@contextmanager
def implementation(kernel: Kernel, case: JobCase) -> Iterator[tuple[Kernel, Job]]:
    """The kernel with the one implementation that is asked about, while it is used: a foreign compiler's object goes.

    Raises ToolchainError where another compiler refuses its source.
    """
    if case.source == "program":
        yield kernel, Job(None, ())
        return
    (source,) = (one for one in kernel.sources if one.name == case.source)
    if case.compiler in ("", WHEEL) or not is_source(source):
        kernel = replace(kernel, sources=(source,))
        yield kernel, jobs_of(replace(kernel, program=None), [case.level or "O2"], flags_of(case))[0]
        return
    with TemporaryDirectory(prefix="lanewise-") as scratch:
        made = Path(scratch, f"{source.name}.o")
        words = [*shlex.split(case.compiler), "-g", f"-{case.level}", *kernel.flags, *flags_of(case)]
        run_as_told([*words, "-c", str(source), "-o", str(made)], Path.cwd())
        yield replace(kernel, sources=(made,), program=None), Job(made, ())


def told_of_source(name: str, kernel: Kernel, source: Path) -> dict[str, Any]:
    """What a case says besides of a source that another compiler compiles, so that its command can be told without the
    kernel's file: where it is, if not beside that, and the kernel's own flags.  Of a built-in kernel nothing.
    """
    if not is_path(name):
        return {}
    beside = Path(name).parent / source.name
    elsewhere = {} if source.absolute() == beside.absolute() else {"path": os.path.relpath(source)}
    return {**elsewhere, **({"own_flags": list(kernel.flags)} if kernel.flags else {})}


def foreign_command(case: JobCase) -> str:
    """How another compiler compiles the source of a case, from the campaign's folder."""
    if is_path(case.kernel):
        source = Path(case.more.get("path", Path(case.kernel).parent / case.source))
        flags = case.more.get("own_flags", [])
    else:
        kernel = built_in_kernel(case.kernel, case.mode or None)
        source = next((one for one in kernel.sources if one.name == case.source), Path(case.source))
        flags = list(kernel.flags)
    own = shlex.join(flags)
    words = [case.compiler, "-g", f"-{case.level}", own, case.flags, "-c", shlex.quote(str(source))]
    return " ".join(word for word in words if word)


def files_of(case: JobCase, kernel: Kernel) -> dict[str, str]:
    """What the implementation is made of, by digests; of another compiler what it says of itself."""
    files = list(python_files(Path(case.kernel))) if is_path(case.kernel) else []
    if is_path(case.kernel) or "object" in case.more:
        for source in (*kernel.sources, *kernel.with_sources):
            if source.name == case.source or source in kernel.with_sources:
                files += source_files(source, (*kernel.flags, *flags_of(case))) if is_source(source) else [source]
    elif any(flag.startswith(INCLUDING) for flag in flags_of(case)):  # a header of one's own in the place of another
        files += [path for source in kernel.sources for path in source_files(source, flags_of(case))]
    made_of = digests(map(_told, files))
    if case.compiler not in ("", WHEEL):
        made_of[f"compiler {case.compiler}"] = compiler_words(shlex.split(case.compiler)[0])
    return made_of


def compiler_words(command: str) -> str:
    """What a compiler says of its version.  Raises ToolchainUnavailable where there is none of that name."""
    found = shutil.which(command)
    if found is None:
        raise ToolchainUnavailable(f"there is no compiler {command}: name one that is installed, or {WHEEL}")
    return version_text(found)


def _told(file: Path) -> Path:
    """A path from the campaign's folder where it is in it, so that another checkout has the same."""
    return file.relative_to(Path.cwd()) if file.is_absolute() and file.is_relative_to(Path.cwd()) else file
