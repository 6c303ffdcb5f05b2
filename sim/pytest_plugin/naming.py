"""Kernels by the text that names them: `quantize_down`, `quantize_down:page`, `my_kernel.py`, `my_kernel.py:mode`."""

from __future__ import annotations

import os
from pathlib import Path

from sim.kernels.kernel import Kernel, built_in_kernel, kernel_modes
from sim.kernels.kernel_file import is_path, load_kernel
from sim.kernels.names import kernel_names

_named: list[tuple[Kernel, str]] = []
"""The kernels with the texts that named them, so that a record can be named again."""


def kernel_of(text: str, folder: Path = Path()) -> Kernel:
    """The kernel of that name; a path is one in the folder.  Raises KernelError."""
    name, mode = text, None
    if ":" in text and not (folder / text).is_file():
        name, _, mode = text.rpartition(":")
    path = os.path.relpath(folder / name)
    kernel = load_kernel(Path(path), mode) if is_path(name) else built_in_kernel(name, mode)
    whole = path if is_path(name) else name
    _named.append((kernel, f"{whole}:{mode}" if mode else whole))
    return kernel


def name_of(kernel: Kernel) -> str | None:
    """The text that names the kernel; None for one that was made otherwise."""
    for known, text in _named:
        if known is kernel:
            return text
    modes = kernel_modes(kernel.name) if kernel.name in kernel_names() else ()
    if kernel.mode not in modes or built_in_kernel(kernel.name, kernel.mode) is not kernel:
        return None
    return kernel.name if kernel.mode == modes[0] else f"{kernel.name}:{kernel.mode}"
