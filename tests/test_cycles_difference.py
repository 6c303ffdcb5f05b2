"""Two versions of a loop: an instruction that waits no longer gains what the version gains, what is new loses."""

from __future__ import annotations

from pathlib import Path

from sim.cycles import TimedResult, differences, estimate

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
