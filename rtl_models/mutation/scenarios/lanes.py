"""What the benches of the combinational lanes try."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

import numpy as np

from rtl_models.benches.coverage import stimulus
from rtl_models.expected import Column, Expressions
from rtl_models.mutation.scenarios.scenario import Scenario, Steps
from rtl_models.mutation.scenarios.signals import PortSignal
from rtl_models.operators import Operator

WIDTH: Final = 16
"""Of mutated lanes where they have it: proofs take tenths of seconds, and no bench can try everything."""
RANDOM_ROWS: Final = 4_000
"""As many as the bench of operators draws."""


def width_of(operator: Operator) -> int:
    """The width at which its mutants are made."""
    return WIDTH if WIDTH in operator.widths else operator.widths[0]


def scenarios(operator: Operator, seed: int) -> list[Scenario]:
    """What `rtl_models.benches.operator_bench` tries, with what the semantics say of it."""
    width = width_of(operator)
    types, rng = operator.operand_types(width), Random(seed)
    tried = {
        "edges by edges": stimulus.edges_by_edges(types, rng),
        "ties": stimulus.ties(types, rng),
        "random operands": stimulus.random_operands(types, rng, RANDOM_ROWS),
    }
    if counted := stimulus.bits_by_counts(types):
        tried["bits by counts"] = counted
    if stimulus.can_be_exhausted(types):
        tried["every combination"] = stimulus.every_combination(types)
    return [scenario(operator, width, name, operands) for name, operands in tried.items()]


def scenario(operator: Operator, width: int, name: str, operands: Sequence[Column]) -> Scenario:
    """Rows of operands with what the semantics say of them."""
    expected = Expressions([(operator.expression(width), operator.result_of(width))])
    inputs = {
        operand.port: PortSignal(operand.type_of(width).bits, column)
        for operand, column in zip(operator.operands, operands, strict=True)
    }
    results = expected.on(operands)
    result = PortSignal(operator.result_of(width).bits, results[0])
    outputs = {"result_o": result, "saturated_o": PortSignal(1, results.saturated)}
    steps = Steps(inputs, outputs, np.zeros(len(operands[0]), bool))
    return Scenario(name=name, cycles=steps, beats=steps.none())
