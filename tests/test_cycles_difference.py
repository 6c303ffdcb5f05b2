"""Two versions of a loop: an instruction that waits no longer gains what the version gains, what is new loses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sim.cycles import TimedResult, differences, estimate, time_kernel
from sim.kernels.kernel import built_in_kernel
from sim.toolchain.compilers import compiled
from support.command import lanewise

CHAIN = """\
loop:
    mul v0.4s, v0.4s, v1.4s
    mul v0.4s, v0.4s, v1.4s
    subs x0, x0, #1
    b.ne loop
"""
COUNT = 1000


def timed(folder: Path, text: str) -> TimedResult:
    path = folder / "loop.s"
    path.write_text(text)
    return estimate(path, cores=["neoverse-n1"], count=COUNT).rows[0].result


def run_json(*words: object) -> Any:
    done = lanewise(*words, "--core", "cortex-a55", "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


SUMS = """
int sum(const signed char *a, int n) {{
    int s = 0;
    for (int i = 0; i < n; i++) s += {term};
    return s;
}}
"""


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two versions of a function; of one the object, which does not say how it is called."""
    monkeypatch.chdir(tmp_path)
    for name, term in (("one", "a[i]"), ("two", "a[i] * a[i]")):
        Path(f"{name}.c").write_text(SUMS.format(term=term))
    Path("one.o").write_bytes(compiled(Path("one.c"), "-O2", "-g0"))
    return tmp_path


@pytest.mark.parametrize("files", [("one.o", "two.c"), ("two.c", "one.o")], ids=" ".join)
@pytest.mark.usefixtures("two")
def test_a_version_without_debug_information_is_called_as_the_other_says(files: tuple[str, str]) -> None:
    both = [run_json("cycles", file, "int sum(const signed char *a, int n)", "zeros:64", 64) for file in files]
    (found,) = run_json("cycles", files[0], "sum", "zeros:64", 64, "--diff", files[1])["differences"]
    assert [found["before"], found["after"]] == [one["results"][0]["cycles"] for one in both]


@pytest.mark.usefixtures("two")
def test_without_another_version_the_prototype_is_asked_for_and_the_arrays_given_are_its_extents() -> None:
    refused = lanewise("cycles", "one.o", "sum", "zeros:64", 64)
    assert (refused.exit_code, "or give the prototype in place of the name" in refused.stderr) == (2, True)
    done = [lanewise("run", "one.c", f"int sum({array}, int n)", "1,2,3", 3, "--json") for array in (
        "const signed char *a", "const signed char a[]", "const signed char a[n]")]  # fmt: skip
    assert [json.loads(one.stdout)["outputs"] for one in done] == [{"returned": 6}] * 3


@pytest.mark.slow
def test_another_source_of_a_kernel_is_timed_in_the_place_of_its_own(tmp_path: Path) -> None:
    other = tmp_path / "other.c"
    own = built_in_kernel("quantized_multiplier")
    other.write_text(own.sources[1].read_text())
    (found,) = run_json("cycles", own.name, "--diff", other)["differences"]
    versions = [replace(own, sources=(source,), program=None) for source in own.sources[:2]]
    cycles = [time_kernel(one, ["cortex-a55"])[0].cycles for one in versions]
    assert [found["before"], found["after"]] == cycles
    assert cycles[0] != cycles[1]


def test_a_broken_chain_gains_with_the_instructions_that_waited(tmp_path: Path) -> None:
    before = timed(tmp_path, CHAIN)
    after = timed(tmp_path, CHAIN.replace("mul v0.4s, v0.4s, v1.4s", "mul v2.4s, v3.4s, v1.4s", 1))
    found = differences(before, after)
    assert found[0].before.startswith("mul v0.4s")
    assert found[0].gained > (before.cycles - after.cycles) / 2 > 2 * COUNT
    assert abs(sum(one.gained for one in found) - (before.cycles - after.cycles)) <= len(found)


def test_registers_do_not_make_another_instruction(tmp_path: Path) -> None:
    found = differences(timed(tmp_path, CHAIN), timed(tmp_path, CHAIN.replace("v1", "v17")))
    assert all(one.before and one.after for one in found)
    assert [one.gained for one in found] == [0, 0, 0, 0]


def test_an_instruction_that_is_new_has_no_other_beside_it(tmp_path: Path) -> None:
    more = CHAIN.replace("    subs", "    sshll v0.4s, v0.4h, #0\n    subs")
    new = [one for one in differences(timed(tmp_path, CHAIN), timed(tmp_path, more)) if not one.before]
    assert [one.after for one in new] == ["sshll v0.4s, v0.4h, #0"]
    assert new[0].cycles_before == 0 < new[0].cycles_after


def test_a_gain_is_explained_by_what_went_away_and_a_loss_by_what_came(tmp_path: Path) -> None:
    chained, free = (
        timed(tmp_path, CHAIN),
        timed(tmp_path, CHAIN.replace("mul v0.4s, v0.4s, v1.4s", "mul v2.4s, v3.4s, v1.4s", 1)),
    )
    gain, loss = differences(chained, free)[0], differences(free, chained)[0]
    assert gain.gained > 0 > loss.gained
    assert gain.reason_before.startswith("waits for v0 ")
    assert gain.reason == f"was: {gain.reason_before}"
    assert loss.reason == loss.reason_after == gain.reason_before


@pytest.mark.parametrize("branch", ["b.ne loop", "cbnz x0, loop", "tbz x0, #40, loop"])
def test_a_branch_that_goes_elsewhere_is_the_same_instruction(branch: str, tmp_path: Path) -> None:
    text = CHAIN.replace("b.ne loop", branch)
    before, after = timed(tmp_path, text), timed(tmp_path, f"    nop\n    nop\n{text}".replace("loop", "again"))
    assert all(one.before and one.after for one in differences(before, after))
