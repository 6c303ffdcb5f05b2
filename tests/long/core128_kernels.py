"""The built-in kernels on `core128`: at -O2 and -O3, at several lengths, against Machine, Unicorn and sim.timing.

PYTHONPATH=tests .venv/bin/python -m long.core128_kernels [kernel ...]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from rtl_models.cores.core128.calls import core_call, verdict_of
from rtl_models.cores.core128.comparison import emulator_differences
from rtl_models.cores.core128.configuration import Core128
from rtl_models.cores.core128.design import simulator
from sim.call.kernel_image import open_kernel
from sim.cycles.typical import typical_arguments
from sim.kernels import Kernel, KernelError, built_in_kernel, kernel_names
from sim.kernels.inputs import Samples
from sim.terminal.script import parser_of, run_by_hand
from sim.timing.model.core_file import load_core

LENGTHS: Final = (1, 3, 7, 15, 17, 37, None)
"""Elements of a row; None for the usual call.  Kernels of other shapes have as many random calls."""
LEVELS: Final = ("-O2", "-O3")


def calls(kernel: Kernel) -> Iterator[Mapping[str, Any]]:
    """The arguments of some calls."""
    samples, rng = Samples(kernel, kernel.sample), np.random.default_rng(1)
    for length in LENGTHS:
        try:
            yield typical_arguments(kernel, length, 1)
        except KernelError:  # the kernel does not let its length be chosen, or not this one
            yield dict(kernel.arguments(samples.draw(rng)))


def main() -> int:
    """The exit code."""
    parser = parser_of(__doc__)
    parser.add_argument("kernels", nargs="*", metavar="kernel", help="default: all")
    names = parser.parse_args().kernels or kernel_names()
    core = load_core("lane128")
    program = simulator(Core128(core=core), purpose="bench")
    wrong = 0
    for name in names:
        kernel = built_in_kernel(name)
        for source in kernel.sources:
            for level in LEVELS:
                image = open_kernel(kernel, source, level, *kernel.flags)
                instructions, cycles, refused, found = 0, 0, dict[str, None](), list[str]()
                for arguments in calls(kernel):
                    call = core_call(image, kernel, arguments, 1)
                    verdict = verdict_of(call, program, core)
                    instructions, cycles = instructions + verdict.instructions, cycles + verdict.cycles
                    found += [*verdict.differences, *emulator_differences(call.program, call.due)]
                    refused |= {verdict.refused: None} if verdict.refused else {}
                wrong += len(found)
                told = f"stops at {', '.join(refused)}" if refused else "held"
                told = "; ".join([told, *found[:3]])
                print(f"| `{name}` {source.name} {level} | {instructions:,} | {cycles:,} | {told} |", flush=True)
    print(f"{wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    run_by_hand(main)
