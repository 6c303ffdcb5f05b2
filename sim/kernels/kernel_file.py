"""A user's kernel: one Python file beside the source, which holds a Kernel record.

The file is the user's own Python: loading it runs it.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
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
    kernel: object = getattr(module, "KERNEL", None)
    if mode is not None:
        modes = getattr(module, "MODES", {})
        if not isinstance(modes, Mapping) or mode not in modes:
            known = f"its modes are {', '.join(modes)}" if isinstance(modes, Mapping) and modes else "it has no MODES"
            raise KernelError(f"{path} has no mode {mode!r}: {known}")
        kernel = modes[mode]
    if not isinstance(kernel, Kernel):
        raise KernelError(f"{path} has no kernel: give it KERNEL = Kernel(...); lanewise init kernel writes an example")
    sources = tuple(path.absolute().parent / source for source in kernel.sources)
    if missing := [source for source in sources if not source.is_file()]:
        raise KernelError(f"the source {missing[0].name} of {path} is not there: sources are found beside the file")
    return replace(kernel, sources=sources)


def _imported(path: Path) -> ModuleType:
    if not path.is_file():
        raise KernelError(f"there is no kernel file {path}: lanewise init kernel NAME writes an example")
    if path.suffix != ".py":
        raise KernelError(f"{path} is no kernel file, which is Python beside it: lanewise init kernel NAME writes one")
    spec = spec_from_file_location(f"lanewise_kernel_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise KernelError(f"{path} is no kernel file: give one that ends in .py")
    module = module_from_spec(spec)
    before = list(sys.path)
    sys.path.insert(0, str(path.absolute().parent))  # first while the file is imported, as for a script
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        if isinstance(error, SyntaxError):
            lines, text = [error.lineno], error.msg
        else:
            frames, own = traceback.extract_tb(error.__traceback__), path.absolute()
            lines, text = [frame.lineno for frame in frames if Path(frame.filename) == own], str(error)
        line = f", line {lines[-1]}" if lines else ""
        what = f"{type(error).__name__}: {text}".split("\n")[0]
        raise KernelError(f"{path} cannot be imported{line}: {what}") from error
    finally:
        sys.path[:] = before
    return module
