"""A user's kernel: one Python file beside the source, which holds a Kernel record.

The file is the user's own Python: loading it runs it.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from sim.kernels.kernel import Kernel, KernelError


def load_kernel(path: Path, mode: str | None = None) -> Kernel:
    """The kernel of a file: its KERNEL, or of its MODES (a mapping) the one of that name.

    Relative `sources` are found beside the file.  Raises KernelError where the file cannot be imported or has no such
    kernel.
    """
    module = _imported(path)
    kernel = getattr(module, "KERNEL", None) if mode is None else _mode(path, module, mode)
    if not isinstance(kernel, Kernel):
        raise KernelError(f"{path} has no kernel: give it KERNEL = Kernel(...); lanewise init kernel writes an example")
    sources = tuple(path.absolute().parent / source for source in kernel.sources)
    if missing := [source for source in sources if not source.is_file()]:
        raise KernelError(f"the source {missing[0].name} of {path} is not there: sources are found beside the file")
    return replace(kernel, sources=sources)


def _mode(path: Path, module: ModuleType, mode: str) -> object:
    modes = getattr(module, "MODES", {})
    if not isinstance(modes, Mapping) or mode not in modes:
        known = f"its modes are {', '.join(modes)}" if isinstance(modes, Mapping) and modes else "it has no MODES"
        raise KernelError(f"{path} has no mode {mode!r}: {known}")
    return modes[mode]


def _imported(path: Path) -> ModuleType:
    if not path.is_file():
        raise KernelError(f"there is no kernel file {path}: lanewise init kernel NAME writes an example")
    if path.suffix != ".py":
        raise KernelError(f"{path} is no kernel file, which is Python beside it: lanewise init kernel NAME writes one")
    spec = spec_from_file_location(f"lanewise_kernel_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise KernelError(f"{path} is no kernel file: give one that ends in .py")
    module = module_from_spec(spec)
    with _importing_from(path.absolute().parent):
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            raise KernelError(f"{path} cannot be imported{_line(path, error)}: {_what(error)}") from error
    return module


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    """The file's own folder comes first while it is imported, as for a script."""
    before = list(sys.path)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path[:] = before


def _line(path: Path, error: BaseException) -> str:
    """Where in the file the error is from."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    own = path.absolute()
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == own]
    return f", line {lines[-1]}" if lines else ""


def _what(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}".split("\n")[0]
