"""The pipelines in C: the same cycles and the same reasons as those in Python, which is what decides."""

from __future__ import annotations

from contextlib import nullcontext
from ctypes import Structure
from fractions import Fraction
from random import Random
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest

from isa.errors import LanewiseError
from sim.timing.analysis.chains import longest_chain
from sim.timing.analysis.critical_path import critical_path, find_critical_path
from sim.timing.analysis.reporting import report
from sim.timing.analysis.slack import result_slacks, slacks
from sim.timing.model import pipeline
from sim.timing.model.core import Core
from sim.timing.model.core_file import core_names, load_core
from sim.timing.model.predictor import mispredictions as mispredictions_in_python
from sim.timing.model.stored_bytes import StoredBytes
from sim.timing.model.stream import Accesses, Executed
from sim.timing.native import following, library, scheduling
from sim.timing.native.array_stream import array_stream, joined
from sim.timing.native.arrays import arrays_of, numbers
from sim.timing.native.scheduling import NATIVE_FROM, NativeSchedule, mispredictions, schedule, writers_of
from sim.timing.native.tables import NotNative, core_tables
from support.random_executed import random_core, random_stream, with_averages
from support.schedules_compared import both, difference, random_difference
from support.small_cores import ADD, LOAD, PIPES, small_core, stream_of

PER_CORE = 6
LONG = 2 * NATIVE_FROM


@pytest.mark.parametrize("name", core_names())
def test_random_streams_take_the_same_cycles_for_the_same_reasons_on_a_real_core(name: str) -> None:
    core = load_core(name)
    assert [random_difference(Random(seed), core) for seed in range(PER_CORE)] == [""] * PER_CORE


@pytest.mark.parametrize("some", [slice(None, None, 2), slice(None, None, -1), slice(1, 4), slice(-2, None)])
def test_a_slice_of_an_array_is_that_of_a_list(some: slice) -> None:
    assert list(numbers(np.arange(5))[some]) == list(range(5))[some]


def test_what_has_no_address_is_at_0() -> None:
    one, other = stream_of("add v1.4s, v0.4s, v0.4s", "add v2.4s, v0.4s, v0.4s")
    assert array_stream([one, other._replace(pc=None, next_pc=None)]).pcs.tolist() == [0x1000, 0]


@pytest.mark.parametrize("order", ["in", "out"])
@pytest.mark.parametrize("seed", range(8))
def test_a_random_stream_takes_the_same_cycles_on_a_random_core(order: Literal["in", "out"], seed: int) -> None:
    random = Random(seed)
    assert random_difference(random, with_averages(random, random_core(random, order))) == ""


@pytest.mark.parametrize("order", ["in", "out"])
def test_a_long_chain_of_bases_and_of_what_needs_no_pipe_is_followed_in_any_depth(order: Literal["in", "out"]) -> None:
    core = small_core(order, 1, {"scalar ALU add imm": {"uses": "", "latency": 0}})
    stream = stream_of("mul v0.4s, v0.4s, v0.4s", *["add x1, x1, #1", "ldr q2, [x3], #16"] * 200, loads={2: 0x1000})
    native = scheduling.native_schedule(array_stream(stream), core, frozenset())
    assert difference(native, pipeline.schedule(stream, core)) == ""


@pytest.mark.parametrize("order", ["in", "out"])
def test_a_mispredicted_branch_that_needs_no_pipe_ends_like_others(order: Literal["in", "out"]) -> None:
    core = small_core(order, 1, {"branch conditional": {"uses": ""}}, mispredict=5)
    stream = stream_of("b.eq #0x1000", "add x1, x1, #1")
    assert difference(*both(stream, core, frozenset({0}), {})) == ""


def test_what_an_unaligned_load_owes_its_pipe_is_paid_by_what_takes_it_as_long() -> None:
    """Two and a half cycles each: in turn two and three, whoever it is, so that five begin 2, 3, 2, 3 apart or 3, 2."""
    core = small_core(classes={LOAD: {"uses": "L*1.5"}, ADD: {"uses": "L*2.5"}}, unaligned_bytes=16, unaligned_cycles=1)
    texts = ("ldr q1, [x0]", "add v2.4s, v3.4s, v3.4s") * 3
    native, slow = both(stream_of(*texts[:5], loads={0: 8, 2: 8, 4: 8}), core, frozenset(), {})
    assert difference(native, slow) == ""
    assert tuple(native.issued) in ((0, 2, 5, 7, 10), (0, 3, 5, 8, 10))


@pytest.mark.parametrize("refused", [False, True])
@pytest.mark.parametrize(("order", "name"), [("in", "in_order"), ("out", "out_of_order")])
def test_what_memory_a_schedule_took_is_given_back_also_where_there_is_no_more(
    order: Literal["in", "out"], name: str, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms, real = list[int](), library.call

    def call(function: str, structure: Structure, *more: int) -> int:
        done = real(function, structure, *more)
        if isinstance(structure, library.ScheduleC):
            rooms.append(structure.pair_room)
        return 1 if refused and function == name else done

    monkeypatch.setattr(library, "call", call)
    monkeypatch.setattr(scheduling, "call", call)
    core = small_core(order, store_forward_vector=Fraction(5, 2))
    stream = stream_of("str q1, [x1]", "ldr q2, [x1]", stores={0: 0x1000}, loads={1: 0x1000})
    with pytest.raises(MemoryError, match=f"^no memory for {name}$") if refused else nullcontext():
        scheduling.native_schedule(array_stream(stream), core, frozenset())
    assert (rooms[-2] > 0, rooms[-1]) == (True, 0)


TOO_FINE: dict[str, Any] = {"store_forward_scalar": Fraction(1, 1009), "store_forward_vector": Fraction(1, 1013)}
"""Both primes, so that times would be counted in parts of 2 * 1009 * 1013 to a cycle: more than a million."""
CROWD = (*PIPES, *(f"P{number}" for number in range(251 - len(PIPES))))


@pytest.mark.parametrize(
    "core",
    [small_core(**TOO_FINE), small_core(pipes=CROWD), small_core(classes={ADD: {"uses": " + ".join(["A"] * 251)}})],
    ids=["too fine", "too many pipes", "too many reservations"],
)
def test_a_core_that_c_cannot_have_is_left_to_python(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = stream_of("add v0.4s, v1.4s, v2.4s", "add v3.4s, v0.4s, v2.4s")
    with pytest.raises(NotNative):
        core_tables(array_stream(stream), core)
    monkeypatch.setattr(scheduling, "NATIVE_FROM", 1)
    made = schedule(stream, core)
    assert not isinstance(made, NativeSchedule)
    assert difference(made, pipeline.schedule(stream, core)) == ""


def test_a_pipe_beyond_the_256th_is_in_a_report() -> None:
    many = (*PIPES, *(f"P{number}" for number in range(300)))
    core = small_core(pipes=many).with_uses(ADD, many[-1])
    found = report("f", pipeline.schedule(stream_of("add v0.4s, v1.4s, v2.4s"), core)).pipes
    assert [(row.pipe, row.busy) for row in found if row.busy] == [(many[-1], 1)]


def test_a_stream_of_arrays_is_the_stream() -> None:
    stream = random_stream(Random(1), 60)
    arrays = joined([array_stream(stream[:20]), array_stream([]), array_stream(stream[20:])])
    assert (list(arrays), arrays[-1], arrays[3:50:7]) == (stream, stream[-1], stream[3:50:7])


@pytest.mark.parametrize("together", [1, 7, 59, 60, 61])
def test_what_is_in_arrays_is_gone_through_whole_however_much_is_made_together(
    together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = random_stream(Random(1), 60)
    monkeypatch.setattr("sim.timing.native.array_stream.AT_ONCE", together)
    monkeypatch.setattr("sim.timing.native.arrays.AT_ONCE", together)
    counted = numbers(np.arange(60))
    assert (list(array_stream(stream)), list(counted)) == (stream, list(range(60)))
    assert (counted[-60], counted[59], counted[5:50:9]) == (0, 59, [5, 14, 23, 32, 41])
    for outside in (-61, 60):
        with pytest.raises(IndexError, match=f"number {outside} of 60"):
            counted[outside]


@pytest.mark.parametrize("order", ["in", "out"])
@pytest.mark.parametrize("size", [1, 7, 60])
def test_whatever_c_does_at_once_makes_no_difference(
    order: Literal["in", "out"], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(7)
    core, stream = with_averages(random, random_core(random, order)), random_stream(random, 60)
    for module in (library, scheduling, following):
        monkeypatch.setattr(module, "SLICE", size)
    native, slow = both(stream, core, frozenset({3, 20}), {})
    arrays = array_stream(stream)
    assert isinstance(native, NativeSchedule)
    assert difference(native, slow) == ""
    assert following.longest_chain(arrays, core) == longest_chain(stream, core)
    assert list(critical_path(native)) == find_critical_path(slow)
    assert result_slacks(native).tolist() == [slack.result for slack in slacks(slow)]


@pytest.mark.parametrize("order", ["in", "out"])
def test_a_schedule_as_arrays_is_the_schedule_in_whatever_parts(order: Literal["in", "out"]) -> None:
    random = Random(5)
    core = random_core(random, order)
    native, slow = both(random_stream(random, 40), core, frozenset(), {})
    arrays = arrays_of(slow)
    for name in ("entered", "available", "issued", "ready", "retired"):
        assert getattr(arrays, name).tolist() == list(getattr(slow, name))
    for name in ("entry", "operand", "issue"):
        column = getattr(arrays, name).view(arrays.names)
        assert (list(column), column[7]) == (list(getattr(slow, f"{name}_stall")), getattr(slow, f"{name}_stall")[7])
    pipes = arrays.pipes(core.pipes)
    for some in (slice(None), slice(3, 9), slice(39, 40), slice(5, 5)):
        expected = [tuple(busy) for busy in slow.pipes[some]]
        assert (list(pipes[some]), list(native.pipes[some])) == (expected, expected)
    assert arrays_of(native) is native.arrays  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("ready", "retired", "expected"),
    [([3, 4, 5, 7], [3, 5, 5, 9], [0, 0, 2, 2]), ([3, 4], [4, 5], [0, 0]), ([3, 4, 4], [4, 5, 4], [0, 0, 2])],
)
def test_the_last_that_retired_as_soon_as_it_was_ready_is_told_or_the_first(
    ready: list[int], retired: list[int], expected: list[int]
) -> None:
    schedule: Any = SimpleNamespace(arrays=SimpleNamespace(ready=np.array(ready), retired=np.array(retired)))
    assert following._done(schedule).tolist() == expected


@pytest.mark.parametrize("number", [-4, 3])
def test_a_stream_of_arrays_ends_where_the_stream_does(number: int) -> None:
    arrays = array_stream(random_stream(Random(1), 60)[:3])
    assert arrays[-3] == arrays[0]
    with pytest.raises(IndexError, match=f"instruction {number} of 3"):
        arrays[number]


def test_the_stores_that_a_load_reads_are_found_byte_by_byte() -> None:
    random, stream = Random(2), list[Executed]()
    for one in random_stream(random, 40) * 25:
        loads, stores = ((accesses(random) if random.random() < 0.5 else ()) for _ in range(2))
        stream.append(one._replace(loads=loads, stores=stores))
    found, stored = writers_of(array_stream(stream)), StoredBytes()
    met = 0
    for number, one in enumerate(stream):
        writers = stored.writers(one.loads)
        assert tuple(found.numbers[found.first[number] : found.first[number + 1]]) == writers
        stored.store(one.stores, number)
        met += len(writers)
    assert met > 1000


def accesses(random: Random) -> Accesses:
    """One or two, of sizes that blocks are cut by."""
    return tuple((random.randrange(0x1000, 0x1060), random.choice([1, 8, 16, 48])) for _ in range(random.randint(1, 2)))


@pytest.mark.parametrize("warm", [True, False])
def test_branches_are_predicted_as_in_python(warm: bool) -> None:
    stream = branches(Random(3))
    wrong = mispredictions(stream, warm)
    assert wrong == mispredictions_in_python(stream, warm)
    assert 100 < len(wrong) < len(stream)


@pytest.mark.parametrize(("warm", "wrong"), [(True, set()), (False, {0})])
def test_a_stream_of_one_jump_is_learned_from_one_run(warm: bool, wrong: set[int]) -> None:
    (jump,) = stream_of("br x4")
    assert mispredictions([jump._replace(pc=0x1000, taken=True, next_pc=0x2000)], warm) == wrong


def branches(random: Random) -> list[Executed]:
    """Conditions by a pattern with some chance in it, calls and returns, jumps to one of three places."""
    texts = ("cbnz x1, #0x1000", "b.eq #0x2000", "bl #0x1100", "blr x3", "br x4", "ret ", "b #0x1000", "add x1, x1, #1")
    some = [one._replace(pc=0x1000 + 4 * k) for k, one in enumerate(stream_of(*texts))]
    stream = []
    for number in range(LONG):
        one = random.choice(some)
        taken = number // 7 % 3 == 0 if random.random() < 0.9 else random.random() < 0.5
        stream.append(one._replace(taken=taken, next_pc=0x1100 + 4 * random.choice([0, 0, 1, 2])))
    return stream


def test_long_streams_are_left_to_c_and_short_ones_to_python() -> None:
    stream, core = random_stream(Random(4), 40), load_core("neoverse-n1")
    long = schedule(stream * (NATIVE_FROM // 40 + 1), core)
    assert (isinstance(long, NativeSchedule), isinstance(schedule(stream, core), NativeSchedule)) == (True, False)
    assert difference(long, pipeline.schedule(stream * (NATIVE_FROM // 40 + 1), core)) == ""


@pytest.mark.parametrize(
    ("count", "expected"), [(0, []), (1, [(0, 1)]), (7, [(0, 7)]), (8, [(0, 7), (7, 8)]), (14, [(0, 7), (7, 14)])]
)
def test_slices_follow_each_other_to_the_end(
    count: int, expected: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "SLICE", 7)
    assert list(library.slices(count)) == expected


def test_the_text_of_the_library_has_from_python_what_both_need() -> None:
    made = library.text()
    for line in (
        "enum { OPERAND, ACCUMULATOR, ADDRESS, FLAGS, STORE, PIPE, WIDTH, PAIRING, ORDER, QUEUE, REORDER, MISPREDICT, "
        "BRANCH, MEMORY, NONE };",
        "enum { ENTERED = 0, AVAILABLE = 1, ISSUED = 2, READY = 3, RETIRED = 4 };",
        "enum { NO_WAY = 0, CALL = 1, INDIRECT_CALL = 2, INDIRECT = 3, RETURN = 4, CONDITION = 5 };",
        "enum { WIDEST_SCALAR = 8, HISTORY_COUNT = 3 };",
        "static const unsigned HISTORIES[] = {0, 8, 32};",
    ):
        assert line in made.splitlines()


def test_why_there_is_no_library_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> None:
        raise LanewiseError("there is no compiler\nand more")

    monkeypatch.setattr(library, "library", refused)
    assert library.why_not.__wrapped__() == "there is no compiler"


def test_without_a_compiler_python_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = stream_of(*["add x1, x1, #1"] * NATIVE_FROM)
    assert [scheduling.is_left_to_c(some) for some in (stream, stream[1:])] == [True, False]
    monkeypatch.setattr(scheduling, "why_not", lambda: "there is no compiler")
    assert not scheduling.is_left_to_c(stream)
    found = schedule(stream, small_core())
    assert (isinstance(found, NativeSchedule), found.cycles) == (False, NATIVE_FROM)


@pytest.mark.parametrize("order", ["in", "out"])
@pytest.mark.parametrize("seed", range(10))
def test_chain_path_and_slack_are_those_of_python(order: Literal["in", "out"], seed: int) -> None:
    random = Random(seed)
    core, stream = with_averages(random, random_core(random, order)), random_stream(random, 60)
    native, slow = both(stream, core, frozenset({3, 20}), {})
    arrays = array_stream(stream)
    assert isinstance(native, NativeSchedule)
    assert following.longest_chain(arrays, core) == longest_chain(stream, core)
    assert list(critical_path(native)) == find_critical_path(slow)
    assert result_slacks(native).tolist() == [slack.result for slack in slacks(slow)]


@pytest.mark.parametrize("name", ["cortex-a55", "neoverse-n1"])
def test_the_report_of_a_schedule_in_c_is_that_of_one_in_python(name: str) -> None:
    texts = ("ld1 {v0.4s}, [x1], #16", "mla v1.4s, v0.4s, v2.4s", "str q1, [x3]", "subs x2, x2, #1", "b.ne #0x1000")
    body = stream_of(*texts, loads={0: 0x2000}, stores={2: 0x3000})
    body[-1] = body[-1]._replace(taken=True, next_pc=0x1000)
    stream, core = body * (NATIVE_FROM // 5), load_core(name)
    native = schedule(stream, core)
    assert isinstance(native, NativeSchedule)
    assert report("it", native) == report("it", pipeline.schedule(stream, core))
