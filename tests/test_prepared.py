"""Calls that are made ready once and repeated: what they read and write of the stack and of data."""

from __future__ import annotations

import numpy as np

from isa.lane import Place
from sim.call.caller import STACK_SIZE, STACK_TOP
from sim.call.prepared import Repeater
from sim.kernels import Kernel, parse_prototype
from sim.toolchain.compilers import build_text

LOWEST = STACK_TOP - STACK_SIZE


def test_slots_of_the_stack_begin_with_its_lowest_byte_and_are_counted_from_the_stack_pointer() -> None:
    name, signature = parse_prototype("void f(const int32_t x[4], int32_t out[4])")
    code = f"""
        str     x0, [sp, #-16]!
        movz    x9, #{LOWEST & 0xFFFF}
        movk    x9, #{LOWEST >> 16 & 0xFFFF}, lsl #16
        movk    x9, #{LOWEST >> 32 & 0xFFFF}, lsl #32
        ldr     w10, [x9]
        ldr     w11, [x0]
        str     w11, [x1]
        ldr     x0, [sp], #16
        ret
    """
    image = build_text(f".globl f\n.type f, %function\nf:\n{code}\n.size f, . - f\n", ".s")
    kernel = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=dict)
    repeater, entry = Repeater(image, kernel), image.symbol("f").address
    call = repeater.prepare({"x": np.arange(4, dtype=np.int32)}, 1)
    sp = call.registers.read(Place("sp"))
    assert list(repeater.slots(call, 100)) == [(entry, -16), (entry + 16, LOWEST - sp + 16), (entry + 28, 0)]
