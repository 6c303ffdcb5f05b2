"""my_kernel: a kernel of your own, for `lanewise check my_kernel.py`.

Change this file and the source beside it: the check compiles the source at every level, runs it on the lane machine
and in the emulator, and compares every output lane with the golden reference below.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sim.kernels import Domain, Kernel, parse_prototype

# How the function is called.  Pointers have their extents in brackets, `const` ones are inputs; write `inout` before
# one that is both, `_Nullable` behind the * of one that may be null, [rows:stride] where rows lie apart, over_read(16)
# behind the brackets where so many bytes more may be read.  Structures, unions and enumerations are written as in C, in
# place or before the function; **rows[n][length] is a table of pointers.
PROTOTYPE = "void my_kernel(const int8_t a[length], const int8_t b[length], int8_t output[length], size_t length)"


def golden(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What the outputs must be, from the arithmetic definition: numpy in, numpy out, by the names above."""
    return {"output": steps(inputs)["saturate"].astype(np.int8)}


def steps(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Each step's value for every output lane, so that a mismatch names the step it begins at.  Optional."""
    product = inputs["a"].astype(np.int64) * inputs["b"]
    rounded = (product + 64) >> 7
    return {"product": product, "round": rounded, "saturate": np.clip(rounded, -128, 127)}


def rounded_down(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A convention that people mix up with ours: if a wrong kernel follows it on every lane, the report says so."""
    return {"output": np.clip(steps(inputs)["product"] >> 7, -128, 127).astype(np.int8)}


NAME, SIGNATURE = parse_prototype(PROTOTYPE)

KERNEL = Kernel(
    name=NAME,
    symbol=NAME,
    sources=(Path("my_kernel.c"),),  # beside this file; C, C++ or assembly
    signature=SIGNATURE,
    with_sources=(),  # what every one of them needs besides: sources, objects, libraries
    flags=(),  # what the compiler needs besides, such as "-march=armv8.2-a+dotprod"
    golden=golden,
    steps=steps,
    # What each argument may be: Domain(low, high), choices, and corners that every check must try.  Without one, all
    # that its type holds.  Lengths go through 0..48, so that every tail is met.
    # Where arguments depend on one another: valid=lambda inputs: inputs["low"] <= inputs["high"].
    domain={"a": Domain(corners=(64, -64)), "b": Domain(corners=(64, -64, 3))},
    # The call that `lanewise cycles` times: numbers by name, with which all else is drawn.
    typical={"length": 256},
    conventions={"rounded down": rounded_down},
)
