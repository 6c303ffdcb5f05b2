"""A user's function of one or two integers, compiled for AArch64, against its golden reference, in numpy or in C.

The function runs on the lane machine, as C of its code, called in a loop; `lanewise check` runs the same code in
lockstep with the emulator, on a sample.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ctypes import CDLL, c_uint64, c_void_p
from functools import cached_property, partial
from importlib.metadata import version
from inspect import unwrap
from pathlib import Path
from types import FunctionType
from typing import Any, Final

import numpy as np

from sim.call.caller import STACK_SIZE, STACK_TOP
from sim.kernels.domain import domain_of
from sim.kernels.kernel import Inputs, KernelError
from sim.kernels.kernel_file import load_kernel
from sim.kernels.signature import RETURNED, ScalarArgument
from sim.machine.compiled.engine import semantics_digest
from sim.machine.errors import ExecutionError
from sim.machine.machine import Machine
from sim.machine.memory import PAGE
from sim.toolchain.compilers import build, build_text
from sim.toolchain.host import host_library
from sim.toolchain.tools import ToolchainError
from sim.verify.exhaust.functions import AT_ONCE, NumberRange, Numbers
from sim.verify.exhaust.space import NotExhaustible

_FIRST, _SECOND, _RESULTS = (number << 40 for number in range(1, 4))
_MOST_EACH: Final = 100_000
"""Instructions for each value, on average, after which the function is said not to return."""
_SAMPLES: Final = 64
_GOLDEN: Final = "the golden reference"
_LOADS: Final = {
    "int8": "ldrsb w", "uint8": "ldrb w", "int16": "ldrsh w", "uint16": "ldrh w", "int32": "ldr w", "uint32": "ldr w",
}  # fmt: skip
_STORES: Final = {1: "strb w0", 2: "strh w0", 4: "str w0", 8: "str x0"}
_C_RESULTS: Final = {"float32": "float", "float64": "double"}
_LOOP = """\
loop:
{loads}
  .inst {call:#x}
  {store}, [x22], #{size}
  subs x23, x23, #1
  b.ne loop
end:
  nop
"""
_C_LOOP = """

#include <stdint.h>
void lanewise_all({parameters}, {result} *results, uint64_t count) {{
  for (uint64_t i = 0; i < count; i++) results[i] = {function}({arguments});
}}
"""


class UserFunction:
    """The function of a kernel file, built with these flags, and its golden reference; `c_golden` is one in C instead.

    `mode` is that of `load_kernel`; what the kernel's `valid` refuses is not compared.  Raises as `load_kernel`, and
    NotExhaustible for a kernel that is no function of one or two integers with a result, KernelError where its golden
    reference or `valid` does not take arrays or makes something else of them, and ToolchainError where a source cannot
    be built.
    """

    def __init__(
        self, file: Path, mode: str | None, flags: tuple[str, ...], c_golden: tuple[Path, str] | None = None
    ) -> None:
        kernel = load_kernel(file, mode)
        arguments, returns = kernel.signature.arguments, kernel.signature.returns
        scalars = [one for one in arguments if isinstance(one, ScalarArgument) and one.dtype in _LOADS]
        if not 1 <= len(scalars) == len(arguments) <= 2 or not returns or not kernel.takes_inputs:
            raise NotExhaustible(
                f"{kernel.name} is no function of one or two integers of at most 32 bits that returns a number: "
                "of such functions all values can be tried"
            )
        self._file, self._mode, self._kernel, self._returns = file, mode, kernel, np.dtype(returns)
        self._domains = [domain_of(kernel.domain, one.name) for one in scalars]
        bounds = [domain.bounds(one.type) for domain, one in zip(self._domains, scalars, strict=True)]
        self.operands = tuple(
            NumberRange(one.name, one.dtype, int(low), int(high))
            for one, (low, high) in zip(scalars, bounds, strict=True)
        )
        self._source, self._flags = kernel.sources[0], (*kernel.flags, *flags)
        self._image = build(self._source, *self._flags)
        self._c_golden = c_golden
        self.given: Mapping[str, float] = {}
        self.sides = f"{self._source.name} {' '.join(self._flags)}", c_golden[0].name if c_golden else "golden"
        if c_golden is not None:
            self._in_c  # noqa: B018  what cannot be built is told at once
        self._check_arrays()

    @property
    def identity(self) -> object:
        """The code, what instructions do, and the golden reference and what may be given, with all of their files."""
        files = [self._file, *(file for one in (self._kernel.golden, self._kernel.valid) for file in _file_of(one))]
        if self._c_golden:
            files.append(self._c_golden[0])
        digest = hashlib.sha256()
        for content in (*map(Path.read_bytes, files), *(segment.data for segment in self._image.segments)):
            digest.update(hashlib.sha256(content).digest())
        named = [self._mode, self._kernel.symbol, str(self._domains), self._c_golden and self._c_golden[1]]
        return [*named, digest.hexdigest(), semantics_digest(), version("numpy")]

    def results(self, numbers: Sequence[Numbers]) -> tuple[Numbers, Numbers]:
        """What the code and the golden reference make of them."""
        taken = self._accepted(numbers)
        for domain, given in zip(self._domains, numbers, strict=True):
            if domain.choices:
                taken &= np.isin(given, domain.choices)
        inside = [given[taken] for given in numbers]
        results = np.zeros((2, len(taken)), self._returns)
        if taken.any():
            results[0, taken], results[1, taken] = self._executed(inside), self._expected(inside)
        return results[0], results[1]

    def _accepted(self, numbers: Sequence[Numbers]) -> Numbers:
        if self._kernel.valid is None:
            return np.ones(len(numbers[0]), bool)
        return self._of_arrays("valid", self._kernel.valid, numbers, np.dtype(bool)).copy()

    def _expected(self, numbers: Sequence[Numbers]) -> Numbers:
        if self._c_golden:
            results = np.empty(len(numbers[0]), self._returns)
            self._in_c(*(np.ascontiguousarray(each).ctypes.data for each in numbers), results.ctypes.data, len(results))
            return results
        golden = self._kernel.golden
        return self._of_arrays(_GOLDEN, lambda inputs: golden(inputs)[RETURNED], numbers, self._returns)

    def _of_arrays(
        self, what: str, function: Callable[[Inputs], Any], numbers: Sequence[Numbers], dtype: np.dtype[Any]
    ) -> Numbers:
        """What a function of the kernel file makes of all of them in one call; raises KernelError."""
        instead = ": else give one in C, --golden FILE.c:FUNCTION" if what == _GOLDEN else ""
        wanted = f"it must take arrays and return one{instead}"
        try:
            given = np.asarray(function(self._inputs(numbers)))
        except (Exception, SystemExit) as error:  # the user's own code raises anything
            raise KernelError(f"{what} of {self._kernel.name} fails for arrays ({error}): {wanted}") from error
        if given.dtype != dtype or given.shape != numbers[0].shape:
            made = f"{given.dtype}{list(given.shape)}"
            raise KernelError(f"{what} of {self._kernel.name} makes {made} of arrays: {wanted}")
        return given

    def _inputs(self, numbers: Iterable[Any]) -> Inputs:
        return {operand.name: number for operand, number in zip(self.operands, numbers, strict=True)}

    def _check_arrays(self) -> None:
        """Of arrays `valid` and the golden reference must make what they make of numbers, as `lanewise check` asks."""
        random = np.random.default_rng(1)
        sample = [
            domain.draw(np.dtype(operand.dtype), (_SAMPLES,), random)
            for domain, operand in zip(self._domains, self.operands, strict=True)
        ]
        accepted = self._accepted(sample)
        for *numbers, answer in zip(*sample, accepted, strict=True):
            inputs = self._inputs(number.item() for number in numbers)
            if self._kernel.accepts(inputs) != answer:
                raise KernelError(f"valid of {self._kernel.name} makes something else of arrays than of {inputs}")
        kept = [numbers[accepted] for numbers in sample]
        if self._c_golden or not accepted.any():
            return
        for *numbers, result in zip(*kept, self._expected(kept), strict=True):
            inputs = self._inputs(number.item() for number in numbers)
            if not np.array_equal(self._kernel.expected(inputs)[RETURNED], result, equal_nan=result.dtype.kind == "f"):
                raise KernelError(
                    f"{_GOLDEN} of {self._kernel.name} makes something else of arrays than of {inputs}: "
                    "give one in C, --golden FILE.c:FUNCTION"
                )

    @cached_property
    def _in_c(self) -> Any:
        """The golden reference in C, called for all values of arrays."""
        assert self._c_golden is not None
        file, function = self._c_golden
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ToolchainError(f"cannot read {file}: {error}") from error
        if not re.search(rf"\b{re.escape(function)}\b", text):  # some compilers take it for one that is elsewhere
            raise ToolchainError(f"{file} has no function {function}")
        names = [f"v{number}" for number in range(len(self.operands))]
        loop = _C_LOOP.format(
            function=function, result=_C_RESULTS.get(str(self._returns), f"{self._returns}_t"),
            parameters=", ".join(f"const {o.dtype}_t *{name}" for o, name in zip(self.operands, names, strict=True)),
            arguments=", ".join(f"{name}[i]" for name in names),
        )  # fmt: skip
        try:
            called = CDLL(str(host_library(text + loop))).lanewise_all
        except OSError as error:
            raise ToolchainError(f"{file} lacks what {function} needs: {error}") from error
        called.argtypes, called.restype = (*[c_void_p] * len(names), c_void_p, c_uint64), None
        return called

    def _executed(self, numbers: Sequence[Numbers]) -> Numbers:
        """What the code makes of them.  Raises KernelError where it faults or does not return."""
        machine, begin, end = self._bench
        for address, given in zip((_FIRST, _SECOND), numbers, strict=False):
            machine.memory.write(address, np.ascontiguousarray(given).tobytes())
        for number, value in ((20, _FIRST), (21, _SECOND), (22, _RESULTS), (23, len(numbers[0]))):
            machine.x[number] = value
        machine.sp, machine.pc = STACK_TOP, begin
        try:
            machine.run(end, _MOST_EACH * len(numbers[0]))
            said = "" if machine.pc == end else "it does not return"
        except ExecutionError as error:
            said = str(error)
        if said:
            first, last = (
                ", ".join(f"{o.name} = {given[at]}" for o, given in zip(self.operands, numbers, strict=True))
                for at in (0, -1)
            )
            raise KernelError(f"{self._kernel.symbol} fails for a value from {first} to {last}: {said}")
        size = self._returns.itemsize
        return np.frombuffer(machine.memory.read(_RESULTS, size * len(numbers[0])), self._returns)

    @cached_property
    def _bench(self) -> tuple[Machine, int, int]:
        """A machine with the code and a loop behind it, where the loop begins and ends; each process makes its own."""
        memory = (machine := Machine(engine="compiled")).memory
        entry = self._image.symbol(self._kernel.symbol).address
        for segment in self._image.segments:
            start, size = segment.address // PAGE * PAGE, segment.address % PAGE + segment.size
            if segment.address <= entry < segment.address + segment.size:
                begin = -(-(segment.address + segment.size) // PAGE) * PAGE
                size += PAGE
            memory.map(start, -(-size // PAGE) * PAGE, segment.permissions)
            memory.write(segment.address, segment.data)
        registers, size = zip(self.operands, range(2), strict=False), self._returns.itemsize
        loads = [f"  {_LOADS[o.dtype]}{n}, [x{20 + n}], #{np.dtype(o.dtype).itemsize}" for o, n in registers]
        store = f"str {'sd'[size // 8]}0" if self._returns.kind == "f" else _STORES[size]
        call = 0x94000000 | (entry - begin - 4 * len(loads)) // 4 % (1 << 26)
        loop = build_text(_LOOP.format(loads="\n".join(loads), call=call, store=store, size=size), ".s")
        memory.write(begin, loop.code_of("loop"))
        end = begin + loop.symbol("end").address - loop.symbol("loop").address
        for address, width in ((_FIRST, 4), (_SECOND, 4), (_RESULTS, 8)):
            memory.map(address, AT_ONCE * width, "rw")
        memory.map(STACK_TOP - STACK_SIZE, STACK_SIZE, "rw")
        return machine, begin, end


def _file_of(function: Any) -> Iterator[Path]:
    """That of its code, which may be another than the kernel's; none of what is no function of a file."""
    while isinstance(function := unwrap(function), partial):
        function = function.func
    if isinstance(function, FunctionType) and (file := Path(function.__code__.co_filename)).is_file():
        yield file
