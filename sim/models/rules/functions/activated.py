"""The rules by which runtimes make bytes of bytes, for each function."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sim.explanation.rule import CandidateRule
from sim.kernels.activation_table.golden import Parameters
from sim.models.layers import Activated
from sim.models.rules.functions.activating import ActivatingReals, activating_rules, rules_of_16_bits
from sim.models.rules.functions.hard_swishing import hard_swish_rules
from sim.models.rules.functions.leaking import leaky_relu_rules
from sim.models.rules.functions.real_functions import WAYS


def activation_rules(made: Activated) -> Sequence[CandidateRule]:
    """The first of them is what a network is run by; `ValueError` for scales that none is defined of."""
    dtype, scale, to = made.numbers.dtype, made.scale, made.to
    if to is None and dtype == np.int16:
        return list(rules_of_16_bits(made.function, scale.scales[0]))
    if to is None:
        return tuple(activating_rules(made.function, dtype, Parameters(scale.scales[0], scale.zero_point)))
    if made.function == "hard_swish":
        return hard_swish_rules(scale, to)
    if made.function == "leaky_relu":
        return leaky_relu_rules(dtype, scale, to, np.float32(made.alpha))
    return [ActivatingReals(way, made.function, dtype, scale, to) for way in WAYS]
