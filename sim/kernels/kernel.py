"""The Kernel record: all that a check needs to know of one kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import numpy as np

from sim.kernels.signature import Signature

Inputs = Mapping[str, Any]
"""One input set: arrays and numbers by name."""
Outputs = Mapping[str, np.ndarray]
"""The output arrays by name."""


class KernelError(Exception):
    """A kernel that cannot be used; the message is one sentence."""


@dataclass(frozen=True)
class Kernel:
    """One kernel, in all the ways it is run.

    `golden`, `steps`, `program` and `arguments` take one input set.  `golden` returns the outputs; `steps` the value
    after each step of the arithmetic, by the step's name, one number per output lane (a step named like a pointer
    argument is that input itself); `arguments` gives the arguments of the signature by name (arrays, numbers, None
    for a null pointer; outputs left out); `program` is the kernel in intrinsics and takes the same arguments, with
    typed pointers for arrays.  `corners` yields the input sets that everybody must try, `sample` makes a random one.
    `mode` names the arithmetic where a folder has several, each with a record of its own.  `conventions` are the other
    arithmetics under their names: to name the one that a wrong result agrees with, and to count the vectors that tell
    them apart; one that does not define an input set raises ValueError.
    """

    name: str
    symbol: str
    sources: tuple[Path, ...]
    signature: Signature
    golden: Callable[[Inputs], Outputs]
    steps: Callable[[Inputs], Mapping[str, np.ndarray]]
    arguments: Callable[[Inputs], Inputs]
    corners: Callable[[], Iterator[Inputs]]
    sample: Callable[[np.random.Generator], Inputs]
    program: Callable[..., None] | None = None
    conventions: Mapping[str, Callable[[Inputs], Outputs]] = field(default_factory=dict)
    mode: str = ""

    @property
    def title(self) -> str:
        """Such as "quantize_down" and "quantize_down, mode page"."""
        return f"{self.name}, mode {self.mode}" if self.mode else self.name


def kernel_names() -> tuple[str, ...]:
    """The built-in kernels."""
    folder = Path(__file__).parent
    return tuple(sorted(module.name for module in iter_modules([str(folder)]) if module.ispkg))


def kernel_modes(name: str) -> tuple[str, ...]:
    """The modes of the built-in kernel of that name, its default first.  Raises KernelError."""
    return tuple(_modes(name))


def built_in_kernel(name: str, mode: str | None = None) -> Kernel:
    """The built-in kernel of that name, in its default mode or in another.  Raises KernelError."""
    modes = _modes(name)
    if mode is None:
        return next(iter(modes.values()))
    if mode not in modes:
        raise KernelError(f"the kernel {name!r} has no mode {mode!r}: its modes are {', '.join(modes)}")
    return modes[mode]


def _modes(name: str) -> Mapping[str, Kernel]:
    if name not in kernel_names():
        raise KernelError(f"there is no kernel {name!r}: the kernels are {', '.join(kernel_names())}")
    modes: Mapping[str, Kernel] = import_module(f"sim.kernels.{name}").MODES
    return modes
