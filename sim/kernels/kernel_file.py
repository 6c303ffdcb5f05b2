"""A user's kernel: one Python file beside the source, which holds a Kernel record.

The file is the user's own Python: loading it runs it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

from isa.errors import fault_in
from sim.kernels.kernel import Kernel, KernelError, missing_input
from sim.processes import memory_limited


def is_path(name: str) -> bool:
    """Whether this names a kernel file rather than a built-in kernel."""
    return bool(Path(name).suffix) or os.sep in name


def load_kernel(path: Path | str, mode: str | None = None) -> Kernel:
    """The kernel of a file: its KERNEL, or of its MODES (a mapping) the one of that name.

    Relative `sources` and `with_sources` are found beside the file.  Raises KernelError where the file cannot be
    imported or has no such kernel.
    """
    path = Path(path)
    module = _imported(path)
    kernel: object = getattr(module, "KERNEL", None)
    if mode is not None:
        modes = getattr(module, "MODES", {})
        if not isinstance(modes, Mapping) or mode not in modes:
            known = (
                f"its modes are {', '.join(map(str, modes))}"
                if isinstance(modes, Mapping) and modes
                else "it has no MODES"
            )
            raise KernelError(f"{path} has no mode {mode!r}: {known}")
        kernel = modes[mode]
    if not isinstance(kernel, Kernel):
        raise KernelError(f"{path} has no kernel: give it KERNEL = Kernel(...); lanewise init kernel writes an example")
    sources, beside = (
        tuple(path.absolute().parent / source for source in given) for given in (kernel.sources, kernel.with_sources)
    )
    if missing := [source for source in (*sources, *beside) if not source.is_file()]:
        raise KernelError(f"the source {missing[0].name} of {path} is not there: sources are found beside the file")
    return _guarded(replace(kernel, sources=sources, with_sources=beside), path)


def load_modes(path: Path) -> tuple[str, ...]:
    """The names of the modes of a kernel file, none where it has no MODES.  Raises KernelError."""
    modes = getattr(_imported(path), "MODES", {})
    return tuple(map(str, modes)) if isinstance(modes, Mapping) else ()


def _guarded(kernel: Kernel, path: Path) -> Kernel:
    """With functions that cannot eat the system's memory, and fail as errors of the kernel: they are the user's."""

    def guarded(
        what: str, function: Callable[..., Any], *passed: type[BaseException], gives: type = object
    ) -> Callable[..., Any]:
        @wraps(function)
        def called(*arguments: Any, **named: Any) -> Any:  # a program takes them by their names
            try:
                with memory_limited():
                    made = function(*arguments, **named)
                    made = iter(list(made)) if isinstance(made, Iterator) else made
            except (Exception, SystemExit) as error:
                if isinstance(error, (KernelError, *passed)):
                    raise
                asked = missing_input(error, next(iter(arguments), None))
                raise KernelError(f"{what} of {path} fails{fault_in(path, error)}{asked}") from error
            if not isinstance(made, gives):
                wanted = "inputs by name" if gives is Mapping else "input sets, each by name"
                raise KernelError(f"{what} of {path} must return {wanted}, not {made!r:.60}")
            return made

        return called

    # What the golden reference and the conventions fail with is told where they are called, by their names; a program
    # refuses wrong operands by TypeError and ValueError.
    return replace(
        kernel,
        golden=guarded("the golden reference", kernel.golden, Exception, SystemExit),
        conventions={
            name: guarded(f"the convention {name!r}", function, Exception, SystemExit)
            for name, function in kernel.conventions.items()
        },
        steps=guarded("steps", kernel.steps),
        arguments=guarded("arguments", kernel.arguments, gives=Mapping),
        corners=guarded("corners", kernel.corners, gives=Iterable),
        sample=guarded("sample", kernel.sample, gives=Mapping),
        long_sample=guarded("long_sample", kernel.long_sample, gives=Mapping)
        if kernel.long_sample is not None
        else None,
        valid=guarded("valid", kernel.valid) if kernel.valid is not None else None,
        program=guarded("the program", kernel.program, Exception) if kernel.program is not None else None,
    )


def _imported(path: Path) -> ModuleType:
    if not path.is_file():
        where = "" if path.is_absolute() else f" in {Path.cwd()}"
        raise KernelError(f"there is no kernel file {path}{where}: lanewise init kernel NAME writes an example")
    if path.suffix != ".py":
        raise KernelError(f"{path} is no kernel file, which is Python beside it: lanewise init kernel NAME writes one")
    module = ModuleType(f"lanewise_kernel_{path.stem}")
    module.__file__ = str(path.absolute())
    before = list(sys.path)
    sys.path.insert(0, str(path.absolute().parent))  # first while the file is imported, as for a script
    try:
        with memory_limited():
            # Not by the byte code that Python keeps, known by size and second: what was changed within one is older.
            exec(compile(path.read_bytes(), module.__file__, "exec", dont_inherit=True), vars(module))
    except (Exception, SystemExit) as error:
        raise KernelError(f"{path} cannot be imported{fault_in(path, error)}") from error
    finally:
        sys.path[:] = before
    return module
