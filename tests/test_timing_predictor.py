"""The branch predictor: what it gets wrong, cold and trained by earlier runs."""

from __future__ import annotations

from isa.rows import TABLE
from sim.timing.model.pipeline import schedule
from sim.timing.model.predictor import mispredictions
from sim.timing.model.stream import Executed
from support.small_cores import small_core


def branch(pc: int, text: str, target: int | None) -> Executed:
    """A branch at `pc`; `target` is where it went, None if it was not taken."""
    mnemonic, _, operands = text.partition(" ")
    taken = target is not None
    return Executed(pc, TABLE.instruction(mnemonic, operands), (), (), taken, target if taken else pc + 4)


def loop(turns: int, pc: int = 0x1040) -> list[Executed]:
    """A loop's closing branch, taken all but the last time."""
    back = branch(pc, "cbnz x0, #0x1000", 0x1000)
    return [back] * (turns - 1) + [branch(pc, "cbnz x0, #0x1000", None)]


def test_a_loop_met_for_the_first_time_is_mispredicted_at_its_end() -> None:
    assert mispredictions(loop(10), warm=False) == {9}


def test_the_end_of_a_short_loop_is_learned_from_earlier_runs() -> None:
    assert mispredictions(loop(10), warm=True) == frozenset()


def test_the_end_of_a_long_loop_is_not() -> None:
    assert mispredictions(loop(1000), warm=True) == {999}


def test_a_forward_branch_is_first_predicted_not_taken() -> None:
    assert mispredictions([branch(0x1000, "cbz x0, #0x1040", 0x1040)], warm=False) == {0}


def test_a_jump_through_a_register_that_is_met_once_a_run_is_learned_from_one_run() -> None:
    assert mispredictions([branch(0x1000, "br x0", 0x2000)], warm=True) == frozenset()


def test_what_has_no_address_is_not_predicted() -> None:
    assert mispredictions([branch(0x1000, "cbz x0, #0x1040", 0x1040)._replace(pc=None)] * 2, warm=False) == frozenset()


def test_a_direct_jump_is_never_mispredicted() -> None:
    assert mispredictions([branch(0x1000, "b #0x1040", 0x1040)], warm=False) == frozenset()


def test_a_return_goes_where_its_call_came_from() -> None:
    stream = [branch(0x1000, "bl #0x2000", 0x2000), branch(0x2000, "ret", 0x1004)]
    assert mispredictions(stream, warm=False) == frozenset()


def test_a_return_to_elsewhere_is_mispredicted() -> None:
    stream = [branch(0x1000, "bl #0x2000", 0x2000), branch(0x2000, "ret", 0x3000)]
    assert mispredictions(stream, warm=False) == {1}


def test_the_return_of_the_whole_stream_is_predicted() -> None:
    assert mispredictions([branch(0x2000, "ret", 0x3000)], warm=False) == frozenset()


def test_an_indirect_branch_is_predicted_to_go_where_it_last_went() -> None:
    targets = [0x2000, 0x2000, 0x3000]
    assert mispredictions([branch(0x1000, "br x1", target) for target in targets], warm=False) == {0, 2}


def test_a_schedule_is_that_of_a_trained_predictor_unless_it_is_said_to_be_cold() -> None:
    told, core = loop(10), small_core()
    assert schedule(told, core).mispredicted == frozenset()
    assert schedule(told, core, warm=False).mispredicted == {9}
