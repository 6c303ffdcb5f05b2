"""Two sessions of the same inputs: which output lanes differ, and where what reaches them parts first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sim.debug.calls import DebugError, debug_function, debug_other_build
from sim.debug.commands import SessionCommands
from sim.debug.session import Session
from sim.debug.spots import SpotError

SOURCE = """#include <stdint.h>
#include <stddef.h>
#ifndef HALF
#define HALF 0
#endif
void two(const int16_t *a, int16_t *out, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        int32_t product = a[i] * 77;
        out[i] = (product + HALF) >> 6;
    }
}
float fused(const float *a, float b)
{
    return a[0] * b + a[1];
}
"""
VALUES = [1, -2, 3, 4000, 5, -600, 7, 8]
HALVES = ("-DHALF=32",)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "two.c").write_text(SOURCE)
    return tmp_path / "two.c"


def session_of(file: Path, *flags: str, values: list[int] = VALUES) -> Session:
    row = ",".join(map(str, values))
    return Session(debug_function(file, "two", [row, f"zeros:{len(values)}", str(len(values))], flags))


@pytest.mark.parametrize("levels", [("-O2", "-O2"), ("-O2", "-O0"), ("-O0", "-O3")])
def test_the_first_lane_that_differs_parts_where_the_rounding_is_another(levels: tuple[str, str], file: Path) -> None:
    one, other = session_of(file, levels[0]), session_of(file, levels[1], *HALVES)
    one.goto(5)
    found = one.diff(other)
    product = np.array(VALUES) * 77
    wrong = np.flatnonzero(product >> 6 != (product + 32) >> 6)
    assert (found.compared, found.different) == (len(VALUES), len(wrong))
    assert found.ways is not None
    assert {way.spot.name for way in found.ways} == {f"out[{wrong[0]}]"}
    assert [step.source for step in found.partings if step is not None] == ["two.c:10", "two.c:10"]
    first = found.partings[0]
    assert first is not None
    assert first.value == product[wrong[0]] >> 6
    assert (one.position, other.position) == (5, 0)
    assert str(found).count("<- parts here") == 2


def test_of_the_same_arithmetic_nothing_differs(file: Path) -> None:
    found = session_of(file, "-O0").diff(session_of(file, "-O2"))
    assert (found.different, found.compared, found.ways) == (0, len(VALUES), None)
    assert str(found) == "0 of 8 output lanes differ between two.c -O0 and two.c -O2"


def test_a_lane_that_is_asked_for_and_is_the_same_parts_nowhere(file: Path) -> None:
    found = session_of(file, "-O2").diff(session_of(file, "-O2", *HALVES), "out[0]")
    product = VALUES[0] * 77
    assert product >> 6 == product + 32 >> 6
    same = session_of(file, "-O0").diff(session_of(file, "-O0"), "out[0]")
    assert same.partings == (None, None)
    assert found.ways is not None


def test_results_and_floating_point_are_compared_too(file: Path) -> None:
    def fused(*flags: str) -> Session:
        return Session(debug_function(file, "fused", ["0.1,-0.01", "0.1"], flags))

    found = fused("-O2", "-ffp-contract=off").diff(fused("-O2", "-ffp-contract=fast"))
    assert (found.compared, found.different) == (1, 1)
    told = [step.instruction.split()[0] for step in found.partings if step is not None]
    assert told == ["fmul", "fmadd"]


def test_other_inputs_are_refused(file: Path) -> None:
    with pytest.raises(DebugError, match="the input 'a' of two"):
        session_of(file, "-O2").diff(session_of(file, "-O2", values=[*VALUES[:-1], 9]))


def test_other_outputs_are_refused(file: Path) -> None:
    row = ",".join(map(str, VALUES))
    (file.parent / "same.c").write_text(
        "short same(const short *a, const short *out, unsigned long n) { return a[n - 1] + out[0]; }"
    )
    with pytest.raises(DebugError, match="have other outputs"):
        session_of(file, "-O2").diff(
            Session(debug_function(file.parent / "same.c", "same", [row, "zeros:8", "8"], ("-O2",)))
        )


def test_the_same_call_of_another_build(file: Path) -> None:
    call = session_of(file, "-O2", *HALVES).call
    assert debug_other_build(call, ["-O0"]).job.flags == ("-O0", "-DHALF=32")
    assert debug_other_build(call, ["-DHALF=3"]).job.flags == ("-O2", "-DHALF=32", "-DHALF=3")
    with pytest.raises(DebugError, match=r"no source 'other\.c', and there is no such file: it has two\.c"):
        debug_other_build(call, [], "other.c")


def test_another_file_and_another_function_in_it_are_another_build(file: Path) -> None:
    mended = file.parent / "mended two.c"
    mended.write_text(SOURCE.replace("void two", "void mended").replace("HALF 0", "HALF 32"))
    commands = SessionCommands(session_of(file, "-O2"))
    told = commands.answer(f"diff '{mended}:mended' -O1")
    assert told.splitlines()[0] == "4 of 8 output lanes differ between two.c -O2 and mended two.c -O1"
    with pytest.raises(SpotError, match="cannot be split as a shell does"):
        commands.answer("diff 'mended")


def test_a_session_opens_behind_what_parts_from_the_other_build(file: Path) -> None:
    commands = SessionCommands(session_of(file, "-O2"))
    told = commands.opening_beside("-DHALF=32").splitlines()
    parting = next(line for line in told if line.endswith("<- parts here"))
    assert f"before  {commands.session.position - 1:9d} " in told[-2]
    assert parting.split()[0] == f"#{commands.session.position - 1}"
    assert commands.opening_beside("-O2").endswith(commands.where())


def test_the_command_names_the_other_build(file: Path) -> None:
    commands = SessionCommands(session_of(file, "-O2"))
    told = commands.answer("diff -DHALF=32")
    assert told.splitlines()[0] == "4 of 8 output lanes differ between two.c -O2 and two.c -O2 -DHALF=32"
    assert "out[3] = 4812" in commands.answer("diff -O0 -DHALF=32 out[3]")
    assert commands.answer("diff two.c -O1").startswith("0 of 8")
    with pytest.raises(SpotError, match="name another build"):
        commands.answer("diff")
    with pytest.raises(SpotError):
        commands.answer("diff -O0 out[99]")
