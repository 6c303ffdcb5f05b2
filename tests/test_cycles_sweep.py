"""Sweeps over alignment and caches, on small cores where cycles can be counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sim.cycles import estimate, sweep
from sim.timing.analysis.sweeps import L2_LATENCIES, OFFSETS, alignment_sweep, cache_sweep, moved
from sim.timing.loops.loop import Loop
from sim.timing.model.core import CacheLevel
from support.command import lanewise
from support.small_cores import LOAD, small_core, stream_of

LOADS = stream_of("ldr q1, [x0]", "ldr q2, [x0, #16]", loads={0: 0x4000, 1: 0x4010})
ON_L = {LOAD: {"uses": "L", "latency": 3}}
LEVELS = (CacheLevel("L1D", 1024, 2, 64, 3), CacheLevel("L2", 4096, 2, 64, None))
LOAD_LINES = "".join(f"    ldr q{number}, [x0], #16\n" for number in (1, 2, 3))
COPY = f"copy:\n{LOAD_LINES}    subs x2, x2, #1\n    b.ne copy\n"


def test_a_load_that_is_not_aligned_keeps_its_pipe_longer() -> None:
    core = small_core(classes=ON_L, unaligned_bytes=16, unaligned_cycles=5)
    swept = alignment_sweep(LOADS, core)
    assert swept == {0: 4, 16: 4, **dict.fromkeys((1, 2, 4, 8), 9)}  # the second waits for the pipe five cycles more


def test_a_loop_takes_it_in_every_iteration() -> None:
    core = small_core(classes=ON_L, unaligned_bytes=16, unaligned_cycles=1)
    loop = Loop(tuple(LOADS), ((32,), (32,)))
    swept = alignment_sweep(loop, core, 100)
    assert swept[1] - swept[0] == pytest.approx(200, abs=2)


def test_of_a_loop_it_is_one_iteration_if_nothing_else_is_said() -> None:
    core, loop = small_core(classes=ON_L, unaligned_bytes=16, unaligned_cycles=5), Loop(tuple(LOADS), ((32,), (32,)))
    assert alignment_sweep(loop, core) == alignment_sweep(LOADS, core)


def test_all_accesses_move_and_wrap() -> None:
    stream = stream_of("ldr q1, [x0]", "str q1, [x1]", loads={0: 2**64 - 4}, stores={1: 0x20})
    assert [(one.loads, one.stores) for one in moved(stream, 8)] == [(((4, 16),), ()), ((), ((0x28, 16),))]


def test_a_miss_takes_as_long_as_the_second_cache() -> None:
    core = small_core(classes=ON_L, levels=LEVELS)
    swept = cache_sweep(LOADS[:1], core)
    assert swept == {latency: latency for latency in L2_LATENCIES}  # one load, its data after the latency of L2


def test_without_a_second_cache_there_is_none() -> None:
    with pytest.raises(ValueError, match="no cache behind the first"):
        cache_sweep(LOADS, small_core(levels=LEVELS[:1]))


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    path = tmp_path / "copy.s"
    path.write_text(COPY)
    return path


def test_a_sweep_of_a_result_begins_with_its_cycles(loop: Path) -> None:
    (row,) = estimate(loop, cores=["cortex-a55"], count=500).rows
    swept = sweep(row.result, "alignment")
    assert swept[0] == swept[16] == row.result.cycles < swept[1]
    with pytest.raises(ValueError, match="a loop alone is warm"):
        sweep(row.result, "cache")
    with pytest.raises(ValueError, match="alignment or cache, not 'size'"):
        sweep(row.result, "size")


def test_a_slower_second_cache_makes_a_call_slower() -> None:
    (row, *_) = estimate("requantize", cores=["cortex-a72"], length=64).rows
    swept = sweep(row.result, "cache")
    assert row.result.cycles < swept[min(L2_LATENCIES)] < swept[max(L2_LATENCIES)]


def test_the_command_shows_both_and_says_what_cannot_be(loop: Path) -> None:
    shown = lanewise("cycles", loop, "--core", "cortex-a55", "--brief", "--sweep", "alignment,cache").stdout
    assert "cycles with every access so many bytes further on" in shown
    assert "loop on cortex-a55: a loop alone is warm" in shown
    made = json.loads(lanewise("cycles", loop, "--core", "cortex-a55", "--json", "--sweep", "alignment").stdout)
    (one,) = made["sweeps"]
    assert list(map(int, one["cycles"])) == list(OFFSETS)
    assert one["cycles"]["0"] == made["results"][0]["cycles"]


def test_another_sweep_is_refused(loop: Path) -> None:
    result = lanewise("cycles", loop, "--sweep", "size")
    assert (result.exit_code, "--sweep takes alignment, cache, not 'size'" in result.output) == (2, True)


@pytest.mark.parametrize(("load", "cycles"), [("ldr q0, [x0], #16", (2, 3)), ("ldp q0, q1, [x0], #32", (4, 5))])
def test_vector_loads_of_a53_take_what_was_measured_aligned_and_not(
    load: str, cycles: tuple[int, int], tmp_path: Path
) -> None:
    """One in so many cycles: ldr.q 0.50 and 0.33, ldp.q 0.25 and 0.20 a cycle in the table that the core file cites."""
    path = tmp_path / "load.s"
    path.write_text("load:\n" + f"    {load}\n" * 16 + "    subs x2, x2, #1\n    b.ne load\n")
    (row,) = estimate(path, cores=["cortex-a53"], count=100).rows
    swept = sweep(row.result, "alignment")
    assert [swept[at] / 1600 for at in (0, 1)] == pytest.approx(cycles, abs=0.15)  # the branch takes the rest


def test_below_a_sweep_stands_what_of_alignment_is_not_modelled(loop: Path) -> None:
    words = ("cycles", loop, "--core", "cortex-a53", "--core", "lane128", "--brief", "--sweep", "alignment")
    told = [line for line in lanewise(*words).stdout.splitlines() if line.startswith("not modelled on ")]
    assert len(told) == 3
    assert told[1].startswith(
        "not modelled on cortex-a53: a vector load that is not aligned, also LDP of Q registers, is ready"
    )
    assert told[2] == "not modelled on lane128: accesses that are not aligned"
