"""The compiled kernel on `core128` as an external backend: what `lanewise check LAYER --rtl` compares too.

`build_core128` is registered as the entry point `rtl.core128` of the group `lanewise.backends`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rtl_models.cores.core128.calls import core_call
from rtl_models.cores.core128.comparison import differences
from rtl_models.cores.core128.configuration import Core128
from rtl_models.cores.core128.design import simulate, simulator
from rtl_models.cores.layers import LAYERS
from rtl_models.tools.build_cache import BuildError
from rtl_models.tools.environment import SimulationUnavailable
from sim.call.kernel_image import open_kernel
from sim.check.external import BackendFault, BackendMissing, NotMadeFor, Outside
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.timing.model.core_file import load_core
from sim.toolchain.image import Image

_CORE: Final = "lane128"
_LEVEL: Final = "-O2"
_AT_ONCE: Final = 16
"""Calls that are held at a time: each step of them is."""


def build_core128(kernel: Kernel, options: Mapping[str, str] | None = None) -> CompiledOnCore128:
    """The first source of a layer at -O2 on `core128`, whose simulator is built unless it is kept.

    No option is about it.  Raises NotMadeFor for a kernel that is no layer, BackendMissing where the environment lacks
    something.
    """
    if kernel.name not in LAYERS:
        raise NotMadeFor(f"core128 is beside {', '.join(LAYERS)} only: lanewise rtl run takes {kernel.name}")
    image = open_kernel(kernel, kernel.sources[0], _LEVEL, *kernel.flags)
    try:
        program = simulator(Core128(core=load_core(_CORE)), purpose="bench")
    except (BuildError, SimulationUnavailable) as missing:
        raise BackendMissing(str(missing)) from missing
    return CompiledOnCore128(kernel, image, program)


class CompiledOnCore128:
    """A compiled kernel, the simulator that runs it, and how long it took so far."""

    name = "core128"

    def __init__(self, kernel: Kernel, image: Image, simulator: Path) -> None:
        self._kernel, self._image, self._simulator = kernel, image, simulator
        self._instructions = self._cycles = 0

    @property
    def cycles(self) -> int:
        """Of all calls so far, each from its first instruction to the cycle in which all are done."""
        return self._cycles

    @property
    def made_as(self) -> str:
        """Such as "kernel.c -O2 as lane128, 300 instructions in 500 cycles, each in the one predicted"."""
        done = f", {self._instructions:,} instructions in {self._cycles:,} cycles, each in the one predicted"
        return f"{self._kernel.sources[0].name} {_LEVEL} as {_CORE}{done if self._cycles else ''}"

    def run(self, inputs: Sequence[Inputs]) -> list[Outputs | Outside]:
        """Each call instruction by instruction as on the lane machine.  Raises BackendFault where one is not."""
        found: list[Outputs | Outside] = []
        for first in range(0, len(inputs), _AT_ONCE):
            found += self._run(inputs[first : first + _AT_ONCE])
        return found

    def show(self, inputs: Inputs) -> str:
        """Nothing shows it."""
        return ""

    def _run(self, inputs: Sequence[Inputs]) -> list[Outputs | Outside]:
        core, made = load_core(_CORE), list[Outputs | Outside]()
        calls = [core_call(self._image, self._kernel, self._kernel.arguments(each), 1) for each in inputs]
        try:
            runs = simulate(self._simulator, [call.program for call in calls])
        except SimulationUnavailable as fault:
            raise BackendFault(str(fault)) from fault
        for call, run in zip(calls, runs, strict=True):
            if differing := differences(call.program, call.due, run, core):
                raise BackendFault(differing[0])
            self._instructions += len(run.commits)
            self._cycles += int(run.commits["ready"].max(initial=0))
            lacked = f"it needs {call.refused}, which core128 does not have"
            made.append(Outside(lacked) if call.refused else call.outputs(run.data))
        return made
