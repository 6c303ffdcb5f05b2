"""Every figure of the core files, measured: in endless loops the engines reach what the files state, to 0.05 cycle.

What is expected stands in the core files, which take it from published tables; what depends on more than one class
stands here.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from isa.catalogue import instruction_of
from isa.instruction import Instruction
from sim.timing.classes.all_classes import CLASSES
from sim.timing.loops.loop import Loop
from sim.timing.loops.steady import time_loop
from sim.timing.model.core import Core
from sim.timing.model.core_file import core_names, load_core
from sim.timing.model.pipeline import schedule
from sim.timing.model.stream import Executed
from support.microbenchmarks import (
    Chain,
    accumulating,
    chain,
    cycles_each,
    in_the_long_run,
    independent,
    shortest,
    stream_of,
)
from support.sampled import sampled

ELSEWHERE = ("apple-m1", "cortex-a73", "cortex-a76", "cortex-a78", "cortex-x1")
"""Cores that take long, or have the figures of another core: they are in tests/long/long_timing.py."""
CORES = {name: load_core(name) for name in core_names() if name not in ELSEWHERE}
TOLERANCE = Fraction(1, 20)
CHAIN_BY_NATURE = dict.fromkeys(
    ("scalar conditional compare (ccmp)", "flag manipulation (rmif, cfinv)"),
    "each reads the flags that the one before writes",
)
"""Classes whose throughput no sequence reaches, and why: they take their latency instead."""
NO_CHAIN = {
    "nothing needs its result": (
        "branch unconditional", "branch and link (bl)", "branch to register (br, ret)",
        "branch to register and link (blr)", "branch authenticated (retaa)", "branch conditional", "branch cbz/cbnz",
        "exception (svc, brk)", "hint (nop)", "barrier (dmb, isb)", "prefetch",
    ),
    "memory alone is changed": (
        "store scalar 64", "store pair 64", "store pair 32", "store release (stlr)", "store release unscaled (stlur)",
        "atomic without result (stadd)", "store vector 128 (str q)", "store vector 64 (str d)",
        "store pair 128 (stp q)", "store pair vector 64 (stp d)", "store pair vector 32 (stp s)",
    ),
    "it needs no result": (
        "ASIMD move immediate", "ASIMD move immediate 64", "ASIMD move inverted immediate (mvni)",
        "ASIMD move inverted immediate (mvni) 64", "ASIMD FP move immediate 8H (fp16)",
        "FP move immediate 64 (fp16)", "ASIMD FP move immediate", "FP move immediate 64",
    ),
}  # fmt: skip
"""Classes whose latency no chain of them can show, by the reason."""


def code(text: str) -> list[Instruction]:
    """The instructions of some assembly text, separated by semicolons."""
    found = [instruction_of(line.strip()) for line in text.split(";")]
    return [one for one in found if one is not None]


def on(core: Core) -> list[str]:
    """The classes that a core has."""
    return [name for name in CLASSES if core.timing(name).status != "absent"]


def far(stated: Fraction, measured: Fraction) -> bool:
    return abs(stated - measured) > TOLERANCE


def link(found: Chain, core: Core) -> Fraction:
    """The stated cycles of one link of a chain: no link is faster than its instructions follow each other.

    What keeps a part of its destination is read for it late, where the core says so.
    """
    first, *others = (core.timing(name).latency for name in found.classes)
    merge = core.timing(found.classes[0]).merge
    if merge is not None and not found.through_address:
        first = merge + first % 1
    links = [first, *others]
    if found.through_address:
        links[-1] = max(links[-1], Fraction(1 + core.address_delay))
    latency = Fraction(core.writeback) if found.of_bases else sum(links, Fraction(0))
    return max(latency, core.timing(found.classes[0]).throughput)


@pytest.mark.slow
@pytest.mark.parametrize("core", sampled(CORES.values(), 4), ids=CORES)
def test_independent_instructions_reach_the_stated_throughput(core: Core) -> None:
    wrong = {}
    for name in on(core):
        stated = core.timing(name).latency if name in CHAIN_BY_NATURE else core.timing(name).throughput
        body = independent(shortest(name))
        if far(stated, measured := cycles_each(body, core) / len(body)):
            wrong[name] = float(stated), float(measured)
    assert wrong == {}


@pytest.mark.slow
@pytest.mark.parametrize("core", sampled(CORES.values(), 4), ids=CORES)
def test_chains_of_results_take_the_stated_latency(core: Core) -> None:
    wrong = {}
    for name in on(core):
        found = chain(shortest(name))
        if found is None:
            continue
        measured = cycles_each(found.body, core) * len(found.classes) / len(found.body)
        if far(link(found, core), measured):
            wrong[name] = float(link(found, core)), float(measured)
    assert wrong == {}


@pytest.mark.parametrize("core", CORES.values(), ids=CORES)
def test_chains_of_accumulators_take_the_stated_forwarding(core: Core) -> None:
    wrong = {}
    for name in on(core):
        timing = core.timing(name)
        if timing.accumulate is None or not (body := accumulating(name)):
            continue
        stated = max(timing.accumulate, timing.throughput)
        if far(stated, measured := cycles_each(body, core)):
            wrong[name] = float(stated), float(measured)
    assert wrong == {}


def test_the_classes_that_have_no_chain_are_those_with_a_reason() -> None:
    without = {name for name in CLASSES if chain(shortest(name)) is None}
    assert without == {name for names in NO_CHAIN.values() for name in names}


LOOPS = [
    # an accumulator is forwarded to an instruction of the same group, nothing else is
    ("cortex-a55", "mla v0.4s, v1.4s, v9.4s; mla v0.4s, v8.4s, v9.4s; add v1.4s, v0.4s, v9.4s", 1 + 4 + 3),
    ("cortex-a55", "mul x0, x1, x9; madd x1, x8, x9, x0", 2 + 5),
    ("cortex-a55", "mul v0.4s, v1.4s, v9.4s; mla v0.4s, v8.4s, v9.4s; add v1.4s, v0.4s, v9.4s", 1 + 4 + 3),
    ("cortex-a55", "smull v0.8h, v1.8b, v9.8b; smlal v0.8h, v8.8b, v9.8b; add v1.8h, v0.8h, v9.8h", 1 + 4 + 3),
    ("cortex-a53", "smull v0.8h, v1.8b, v9.8b; smlal v0.8h, v8.8b, v9.8b; add v1.8h, v0.8h, v9.8h", 1 + 4 + 2),
    ("cortex-a53", "fmla v0.4s, v1.4s, v9.4s; fmla v0.4s, v8.4s, v9.4s; fadd v1.4s, v0.4s, v9.4s", 4 + 8 + 4),
    ("cortex-a53", "mul x0, x1, x9; madd x1, x8, x9, x0", 2 + 5),
    ("cortex-a72", "mul v0.4s, v1.4s, v9.4s; mla v0.4s, v8.4s, v9.4s; add v1.4s, v0.4s, v9.4s", 2 + 4 + 3),
    ("cortex-a72", "umull v0.8h, v1.8b, v9.8b; umlal v0.8h, v8.8b, v9.8b; add v1.8h, v0.8h, v9.8h", 1 + 5 + 3),
    ("cortex-a72", "uaddlp v0.4s, v1.8h; uadalp v0.4s, v9.8h; add v1.8h, v0.8h, v9.8h", 3 + 4 + 3),
    ("cortex-a72", "ssra v0.4s, v8.4s, #3; uadalp v0.4s, v9.8h", 1 + 1),
    ("cortex-a72", "sqdmull v0.4s, v1.4h, v9.4h; sqdmlal v0.4s, v8.4h, v9.4h; xtn v1.4h, v0.4s", 4 + 4 + 3),
    ("cortex-a72", "mul x0, x1, x9; madd x1, x8, x9, x0", 3 + 5),
    ("neoverse-n1", "mul v0.4s, v1.4s, v9.4s; mla v0.4s, v8.4s, v9.4s; add v1.4s, v0.4s, v9.4s", 5 + 5 + 2),
    ("neoverse-n1", "mla v0.4s, v1.4s, v9.4s; mla v0.4s, v8.4s, v9.4s; add v1.4s, v0.4s, v9.4s", 2 + 5 + 2),
    ("neoverse-n1", "sdot v0.4s, v8.16b, v9.16b; udot v0.4s, v8.16b, v9.16b", 2 + 2),
    ("neoverse-n1", "fmla v0.4s, v8.4s, v9.4s; fmls v0.4s, v8.4s, v9.s[1]", 2 + 2),
    # the two 64-bit pipes of Cortex-A55, and what may share a cycle
    ("cortex-a55", "add v0.4s, v8.4s, v9.4s; add x0, x9, x10", 1),
    ("cortex-a55", "add v0.4s, v8.4s, v9.4s; ldr d1, [x9]", 1),
    ("cortex-a55", "add v0.4s, v8.4s, v9.4s; add v1.4s, v8.4s, v9.4s", 2),
    ("cortex-a55", "add v0.4h, v8.4h, v9.4h; add v1.4h, v8.4h, v9.4h", 1),
    ("cortex-a55", "add v0.4s, v8.4s, v9.4s; add v1.4h, v8.4h, v9.4h", 2),
    ("cortex-a55", "sqxtn v0.4h, v8.4s; sqxtn2 v0.8h, v9.4s", 1),
    # a vector load of Cortex-A53 takes half of the vector pipes with it: no operation of 128 bits is issued beside it
    ("cortex-a53", "ldr q1, [x9]; add x0, x9, x10", 2),
    ("cortex-a53", "ldr q1, [x9]; add v0.4s, v8.4s, v9.4s", 2 + 1),
    ("cortex-a53", "ldr q1, [x9]; uabal v0.8h, v8.8b, v9.8b", 2 + 2),
    ("cortex-a53", "ldr d1, [x9]; fmul v0.4s, v8.4s, v9.4s; fmul v2.4s, v8.4s, v9.4s", 1 + 2),
    ("cortex-a53", "ldr d1, [x9]; add v0.4s, v8.4s, v9.4s", 1 + 1),
    ("cortex-a53", "ldr d1, [x9]; add v0.8b, v8.8b, v9.8b", 1),
    ("cortex-a53", "ldr x1, [x9]; add v0.4s, v8.4s, v9.4s", 1),
    ("cortex-a53", "ldr d1, [x9]; str d2, [x10]", 1 + 1),
    ("cortex-a53", "str q1, [x9]; add v0.4s, v8.4s, v9.4s", 1),
    ("cortex-a55", "ldr q1, [x9]; add v0.4s, v8.4s, v9.4s; add v2.4s, v8.4s, v9.4s", 2 + 2),
    ("cortex-a55", "ldp q1, q3, [x9]; add v0.4s, v8.4s, v9.4s; add v2.4s, v8.4s, v9.4s", 3 + 2),
    ("cortex-a55", "ldp q1, q3, [x9]; add v0.4s, v8.4s, v9.4s; add v2.4s, v8.4s, v9.4s; add v4.4s, v8.4s, v9.4s", 6),
    ("cortex-a55", "str q0, [x9]; add v1.4s, v8.4s, v9.4s", 2),
    ("cortex-a55", "add x0, x9, x10; add x1, x9, x10; add x2, x9, x10; add x3, x9, x10", 2),
    # early and late operands of scalar instructions
    ("cortex-a55", "add x0, x0, x9, lsl #2", 1),
    ("cortex-a55", "add x0, x9, x0, lsl #2", 2),
    ("cortex-a55", "add x0, x0, x9; ldr x0, [x0]", 1 + 1 + 4),
    ("cortex-a55", "lsr x0, x0, #3; ldr x0, [x0]", 2 + 4),
    ("cortex-a55", "ror x0, x0, #3", 1),
    ("cortex-a72", "add x0, x0, x9; ldr x0, [x0]", 1 + 4),
    # a loaded scalar is an operand a cycle sooner than an address
    ("cortex-a53", "add x0, x0, x9; ldr x0, [x0]", 3 + 2),
    ("cortex-a53", "ldr x0, [x0]", 3),
    ("cortex-a53", "add x0, x9, x0, lsl #2", 2),
    # an updated base is ready long before what was loaded
    ("cortex-a72", "ldr q0, [x9], #16", 1),
    ("neoverse-n1", "ldr x0, [x9], #8", 1),
    # slots of dispatch, and pipes that are shared
    ("cortex-a72", "add v0.4s, v8.4s, v9.4s; add x0, x9, x10", 1),
    ("cortex-a72", "mul v0.4s, v8.4s, v9.4s; shl v1.4s, v8.4s, #3; shl v2.4s, v8.4s, #3", 2),
    ("cortex-a72", "mul v0.4s, v8.4s, v9.4s; umull v1.8h, v8.8b, v9.8b", 3),
    ("neoverse-n1", "str q0, [x9]; add v1.4s, v8.4s, v9.4s; add v2.4s, v8.4s, v9.4s; nop", Fraction(3, 2)),
    ("neoverse-n1", "ldr x0, [x9]; ldr x1, [x9]; str x2, [x9]; nop", Fraction(3, 2)),
    ("lane128", "add v0.4s, v8.4s, v9.4s; ldr q1, [x9]; add x0, x9, x10; nop", 4),
]  # fmt: skip
"""Cycles of an iteration of loops, from the published figures of more than one class and from pairing rules."""


@pytest.mark.parametrize(("name", "text", "cycles"), LOOPS, ids=[f"{name}: {text}" for name, text, _ in LOOPS])
def test_a_loop_takes_so_many_cycles(name: str, text: str, cycles: int | Fraction) -> None:
    assert not far(Fraction(cycles), cycles_each(code(text), CORES[name]))


@pytest.mark.parametrize("waiting", ["shl v2.4s, v0.4s, #3", "mul v2.4s, v0.4s, v9.4s"])
@pytest.mark.parametrize(("count", "waits"), [(4, False), (5, True)])
def test_four_whole_registers_wait_in_a_queue_of_cortex_a72(waiting: str, count: int, waits: bool) -> None:
    """The fifth is dispatched, and what comes after it, once the loaded value that all need is there."""
    core = CORES["cortex-a72"].with_latency("load vector 128 (ldr q)", 60)
    text = "ldr q0, [x9]; " + f"{waiting}; " * count + "add x0, x9, x10"
    assert (schedule(stream_of(code(text)), core).entered[-1] >= 60) == waits


@pytest.mark.parametrize("name", ["cortex-a72", "neoverse-n1"])
def test_128_instructions_are_in_flight(name: str) -> None:
    core = CORES[name].with_latency("scalar sdiv 64", 500)
    entered = schedule(stream_of(code("sdiv x0, x9, x10; " + "add x1, x9, x10; " * 128)), core).entered
    assert (entered[127] < 500, entered[128] >= 500) == (True, True)


def passed_through_memory(store: str, load: str, size: int, core: Core) -> Fraction:
    """Cycles of a loop that stores a register and loads it again."""
    body = [Executed(None, code(store)[0], (), ((4096, size),), False, None),
            Executed(None, code(load)[0], ((4096, size),), (), False, None)]  # fmt: skip
    return in_the_long_run(Loop(tuple(body), ((0,), (0,))), core)


@pytest.mark.parametrize("core", CORES.values(), ids=CORES)
def test_a_stored_scalar_comes_back_in_the_stated_cycles(core: Core) -> None:
    measured = passed_through_memory("str x0, [x9]", "ldr x0, [x9]", 8, core)
    assert not far(core.store_forward_scalar - core.store_data_late, measured)


@pytest.mark.parametrize("core", CORES.values(), ids=CORES)
def test_a_stored_vector_comes_back_in_the_stated_cycles(core: Core) -> None:
    measured = passed_through_memory("str q0, [x9]", "ldr q0, [x9]", 16, core)
    assert not far(core.store_forward_vector - core.store_data_late, measured)


@pytest.mark.parametrize(
    ("name", "address", "cycles"),
    [
        ("cortex-a53", 4104, 2),
        ("cortex-a53", 4097, 3),
        ("cortex-a55", 4097, 4),
        ("cortex-a72", 4096, 1),
        ("cortex-a72", 4104, 2),
        ("neoverse-n1", 4096, Fraction(1, 2)),
        ("neoverse-n1", 4104, 1),
    ],
)
def test_a_vector_load_that_is_not_aligned_takes_longer(name: str, address: int, cycles: int | Fraction) -> None:
    loads = tuple(Executed(None, code(f"ldr q{k}, [x9]")[0], ((address, 16),), (), False, None) for k in range(4))
    assert time_loop(Loop(loads, ((0,),) * 4), CORES[name], 1_000_000).per_iteration == 4 * cycles
