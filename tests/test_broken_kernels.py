"""Each of twelve broken kernels is found, with its line and its lane or byte; their correct originals pass clean."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sim.call.guards.findings import GuardFinding
from sim.check.check import Job, check_job
from sim.check.report import Mismatch, Outcome
from sim.check.vectors import Vectors, make_vectors
from support.broken_kernels import (
    BROKEN,
    CLOBBERED_D8,
    CLOBBERED_X19,
    ENDLESS_LOOP,
    MISSING_SATURATION,
    MISSING_TAIL,
    ORIGINALS,
    OVER_READ,
    OVER_WRITE,
    UNDER_READ,
    UNINITIALISED_LANE,
    WRITE_TO_INPUT,
    WRONG_ROUNDING,
    WRONG_STRIDE,
    Broken,
    Original,
)

AT_ALL_LEVELS = [pytest.param(broken, level, id=f"{broken.name} -{level}") for broken in BROKEN
                 for level in broken.original.levels]  # fmt: skip


@cache
def vectors(original: Original) -> Vectors:
    return make_vectors(original.kernel(), 0, seed=1)


def checked(original: Original, source: Path, level: str) -> Outcome:
    job = Job(source, (f"-{level}",))
    return check_job(original.kernel(), job, vectors(original), lambda _: None, max_instructions=20_000)


@cache
def outcome_of(broken: Broken, level: str) -> Outcome:
    with TemporaryDirectory() as folder:
        return checked(broken.original, broken.written_to(Path(folder)), level)


def finding_of(broken: Broken, level: str) -> GuardFinding:
    """The one finding that is no note."""
    (finding,) = (f for f in outcome_of(broken, level).findings if not f.harmless)
    return finding


def mismatch_of(broken: Broken, level: str) -> Mismatch:
    mismatch = outcome_of(broken, level).mismatch
    assert mismatch is not None
    return mismatch


def levels(broken: Broken) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("level", broken.original.levels)


@pytest.mark.parametrize(
    ("original", "level"), [pytest.param(t, level, id=f"{t.name} -{level}") for t in ORIGINALS for level in t.levels]
)
def test_a_correct_original_passes_clean(original: Original, level: str, tmp_path: Path) -> None:
    source = tmp_path / f"{original.name}{original.suffix}"
    source.write_text(original.text)
    outcome = checked(original, source, level)
    assert (outcome.verdict, [f for f in outcome.findings if not f.harmless]) == ("agrees", [])


@pytest.mark.parametrize(("broken", "level"), AT_ALL_LEVELS)
def test_a_broken_kernel_fails(broken: Broken, level: str) -> None:
    assert outcome_of(broken, level).verdict == "differs"


@levels(MISSING_TAIL)
def test_a_missing_tail_is_found_with_the_first_lane_that_was_never_written(level: str) -> None:
    found = finding_of(MISSING_TAIL, level)
    first = vectors(MISSING_TAIL.original).inputs[0]["n"] // 8 * 8
    assert (found.kind, found.output, found.lane) == ("never written", "out", (first,))


BYTES = (
    pytest.param(OVER_READ, "over-read", lambda inputs: ("in", 4 * inputs["n"], 4 * inputs["n"] + 3), id="over-read"),
    pytest.param(UNDER_READ, "under-read", lambda inputs: ("in", -4, -1), id="under-read"),
    pytest.param(OVER_WRITE, "over-write", lambda inputs: ("out", inputs["n"], inputs["n"]), id="over-write"),
    pytest.param(WRITE_TO_INPUT, "write to input", lambda inputs: ("in", 0, 0), id="write to input"),
    pytest.param(WRONG_STRIDE, "read between rows",
                 lambda inputs: ("in", 2 * inputs["stride"] - 2, 2 * inputs["stride"] - 1), id="wrong stride"),
)  # fmt: skip


@pytest.mark.parametrize("level", OVER_READ.original.levels)
@pytest.mark.parametrize(("broken", "kind", "expected"), BYTES)
def test_an_access_out_of_bounds_is_found_with_array_bytes_and_line(
    broken: Broken, kind: str, expected: object, level: str
) -> None:
    found = finding_of(broken, level)
    assert callable(expected)
    assert (found.kind, (found.where, found.first, found.last)) == (kind, expected(vectors(broken.original).inputs[0]))
    assert found.source in broken.places


@pytest.mark.parametrize(
    ("broken", "step"), [(WRONG_ROUNDING, "rounded"), (MISSING_SATURATION, "added")], ids=lambda value: str(value)[:9]
)
@pytest.mark.parametrize("level", WRONG_ROUNDING.original.levels)
def test_wrong_arithmetic_is_found_with_its_step_lane_and_line(broken: Broken, step: str, level: str) -> None:
    found = mismatch_of(broken, level)
    assert (found.parted_at, found.source in broken.places) == (step, True)
    assert found.came_from == (f"in[{found.lane[0]}]",)


@pytest.mark.parametrize(("broken", "register"), [(CLOBBERED_D8, "d8"), (CLOBBERED_X19, "x19")])
def test_a_register_that_is_not_preserved_is_found_with_its_last_write(broken: Broken, register: str) -> None:
    found = finding_of(broken, "O0")
    assert (found.kind, found.where) == ("register not preserved", register)
    assert found.source in broken.places


def test_an_uninitialised_accumulator_lane_is_found_with_register_byte_line_and_output_lane() -> None:
    found = finding_of(UNINITIALISED_LANE, "O0")
    assert (found.kind, found.where, found.lane) == ("uninitialised", "v0", (3,))
    assert (found.first in range(12, 16), found.source in UNINITIALISED_LANE.places) == (True, True)


@levels(ENDLESS_LOOP)
def test_an_endless_loop_is_found_with_its_lines(level: str) -> None:
    found = finding_of(ENDLESS_LOOP, level)
    assert found.kind == "instruction limit"
    assert all(place in found.says for place in ENDLESS_LOOP.places)
