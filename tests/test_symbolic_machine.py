"""The symbolic machine, with numbers in the place of its leaves, is the machine.  All of it: `make symbolic`."""

from __future__ import annotations

from random import Random

import pytest

from sim.symbolic import simplify  # noqa: F401  # enters the rules
from sim.symbolic.nodes import RULES, Simplifier
from support.symbolic_forms import FORMS, form_difference
from support.symbolic_streams import stream_difference

SOME = list({name.split()[0]: name for name in FORMS}.values())[::4]
"""A form for every fourth mnemonic."""


@pytest.mark.slow
def test_a_form_does_on_symbols_what_it_does_on_numbers() -> None:
    s, rng = Simplifier(), Random(5)
    found = [form_difference(name, rng.choice(FORMS[name]), rng.randrange(48), s) for name in SOME]
    assert [difference for difference in found if difference] == []


def test_a_planted_fault_of_the_simplifier_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "add", [lambda s, node: s.computed("subtract", node.a, node.b)])
    name = "add .4s,.4s,.4s"
    assert form_difference(name, FORMS[name][0], 17, Simplifier())


@pytest.mark.slow
def test_streams_do_on_symbols_what_they_do_on_numbers() -> None:
    s = Simplifier()
    assert [found for seed in range(6) if (found := stream_difference(Random(seed), s, 12)[1])] == []
