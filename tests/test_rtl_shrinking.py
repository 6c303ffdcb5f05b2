"""What is tried in the place of a failing case, and within which bound."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from rtl_models.benches.driving.frame import Difference, UnitFrame
from rtl_models.benches.driving.stream import Different
from rtl_models.benches.driving.testbench import Wrong
from rtl_models.benches.shrinking.plain import (
    SMALL,
    counting,
    groups,
    plain_frame,
    plain_numbers,
    plain_sets,
    plain_setting,
)
from rtl_models.benches.shrinking.simpler import simpler
from rtl_models.benches.shrinking.told_case import told
from rtl_models.benches.shrinking.trials import Trials
from rtl_models.register_map import register_writes
from rtl_models.unit_values import channel_setting
from rtl_models.units import UNITS, Unit, UnitPort

LANES = 4
DOWN = UNITS["quantize_down"]
LAYER = {"multiplier": 1518500250, "shift": 7, "offset": 3, "minimum": 10, "maximum": 200, "signed": 0}


def case(name: str) -> Any:
    return SimpleNamespace(key=name)


def failing(name: str) -> Wrong | None:
    """Cases whose names begin with F fail."""
    return Wrong(name) if name.startswith("F") else None


def trials(cycles: Callable[[], int] = lambda: 0, most_questions: int = 1000) -> tuple[Trials, list[str]]:
    run: list[str] = []

    def tried(case: Any) -> Wrong | None:
        run.append(case.key)
        return failing(run[-1])

    return Trials(tried, cycles, 100, most_questions), run


def zeros(unit: Unit) -> UnitFrame:
    return UnitFrame({}, {port.name: np.zeros((1, port.count(LANES)), np.int64) for port in unit.operands})


def settings_of(unit: Unit) -> list[str]:
    return [*unit.settings, *(channel_setting(field, k) for field in unit.tables for k in range(3))]


def test_a_case_is_run_once_however_often_it_is_asked_for() -> None:
    found, run = trials()
    assert [found.fails(case("F1")) for _ in range(3)] == [True] * 3
    assert run == ["F1"]


def test_beyond_the_cycles_nothing_more_is_run_and_what_is_known_stays() -> None:
    spent = iter((0, 100, 100))
    found, run = trials(lambda: next(spent))
    assert [found.fails(case(name)) for name in ("F1", "F2", "F1")] == [True, False, True]
    assert (run, found.stopped) == (["F1"], True)


def test_beyond_the_questions_nothing_more_is_run() -> None:
    found, run = trials(most_questions=3)
    assert [found.fails(case(name)) for name in ("F1", "F1", "F1", "F2")] == [True, True, True, False]
    assert (run, found.stopped) == (["F1"], True)


def test_within_the_bounds_the_search_is_not_stopped() -> None:
    found, _ = trials()
    found.fails(case("good"))
    assert not found.stopped


@pytest.mark.parametrize("stopped", [False, True])
def test_the_sentence_says_whether_the_search_was_stopped(stopped: bool) -> None:
    one = SimpleNamespace(frames=(zeros(DOWN),), stalls=False, early=False, lost=None, offers=(), takes=())
    assert (
        "stopped at its bound: there may be a smaller" in told(DOWN, cast(Any, one), Wrong("it"), stopped)
    ) is stopped


@pytest.mark.parametrize(("signed", "words"), [(1, "-3, maximum -1"), (0, "253, maximum 255")])
def test_bytes_and_bounds_are_told_as_the_setting_says(signed: int, words: str) -> None:
    add = UNITS["quantized_add"]
    given = (253, 255) if signed == 0 else (-3, 255)
    settings = {"signed": signed, "minimum": given[0], "maximum": given[1], "offset": 200}
    frame = UnitFrame(settings, {"a_i": np.array([[161]]), "b_i": np.array([[5]])})
    one = SimpleNamespace(frames=(frame,), stalls=False, early=False, lost=None, offers=(), takes=())
    wrong = Difference("result_o", 0, 0, 161, 250).read_with(add, settings)
    said = told(add, cast(Any, one), Different(0, wrong), stopped=False)
    byte, due = (-95, -6) if signed else (161, 250)
    assert said == (
        f"smallest case, one beat without stalls: signed {signed}, minimum {words}, offset 200: a_i {byte}, b_i 5: "
        f"frame 0: result_o of beat 0, number 0: {byte}, expected {due}"
    )


@pytest.mark.parametrize("number", [0, 5, -5, 255, -(1 << 31)])
def test_the_plain_number_is_tried_first_and_the_number_itself_last(number: int) -> None:
    pool = simpler(number, plain=255)
    assert (pool[0], pool[-1], len(set(pool))) == (255, number, len(pool))


def test_multiples_of_16_are_among_the_simpler_addresses() -> None:
    assert 0xFF0 in simpler(0xFFFFFFF0)


@pytest.mark.parametrize("name", UNITS)
def test_plain_settings_are_legal(name: str) -> None:
    assert register_writes({setting: plain_setting(setting) for setting in settings_of(UNITS[name])})


def test_plain_settings_make_quantize_down_a_negation_within_a_byte() -> None:
    values = np.array([[0, -1, -255, 1], [-300, -77, 300, 1 << 30]])
    operands = {"accumulator_i": values, "bias_i": np.zeros_like(values)}
    given = DOWN.expected({name: plain_setting(name) for name in DOWN.settings}, operands, LANES)
    assert given["result_o"].tolist() == [[0, 1, 255, 0], [255, 77, 0, 0]]


def test_the_bounds_are_made_plain_together() -> None:
    assert ["minimum", "maximum", "signed"] in groups(LAYER)


def test_a_field_of_the_tables_is_made_plain_together() -> None:
    assert ["shift[0]", "shift[1]"] in groups(["bias[0]", "shift[0]", "bias[1]", "shift[1]", "channels"])


def test_the_sets_go_from_all_plain_to_one_register_as_it_failed() -> None:
    plain = {name: plain_setting(name) for name in LAYER}
    sets = plain_sets(LAYER)
    assert sets[0] == plain
    assert plain | {"minimum": 10, "maximum": 200} in sets
    assert plain | {"shift": 7} in sets


@pytest.mark.parametrize("name", UNITS)
def test_every_port_gets_every_small_number_alone(name: str) -> None:
    unit = UNITS[name]
    operands = plain_frame(unit, LANES, {}, zeros(unit)).operands
    for port in unit.operands:
        others = sum(np.abs(rows).sum(axis=1) for other, rows in operands.items() if other != port.name)
        alone = operands[port.name][np.broadcast_to(others == 0, len(operands[port.name]))]
        assert set(small(port)) <= set(alone.ravel().tolist())


def small(port: UnitPort) -> range:
    """-300 to 300, as far as the port goes."""
    low, high = (-SMALL, SMALL) if port.signed else (0, SMALL)
    return range(low, min(high, (1 << port.bits) - 1) + 1)


def test_the_failing_beat_comes_last_among_the_plain_ones() -> None:
    frame = UnitFrame(LAYER, {"accumulator_i": np.full((1, LANES), 296150), "bias_i": np.full((1, LANES), -7)})
    operands = plain_frame(DOWN, LANES, {}, frame).operands
    assert [operands[port][-1].tolist() for port in ("accumulator_i", "bias_i")] == [[296150] * LANES, [-7] * LANES]


def test_plain_numbers_come_by_size() -> None:
    sizes = [abs(number) for number in plain_numbers(UnitPort("x", 32, True))]
    assert sizes == sorted(sizes)
    assert max(sizes) == 1 << 31


def test_counted_operands_of_quantize_down_all_differ_and_so_do_their_results() -> None:
    frame = counting(DOWN, UnitFrame(LAYER, {port.name: np.zeros((2, LANES), np.int64) for port in DOWN.operands}))
    results = DOWN.expected(frame.settings, frame.operands, LANES)["result_o"]
    assert len(set(results.ravel().tolist())) == 2 * LANES
