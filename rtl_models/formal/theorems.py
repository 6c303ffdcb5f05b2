"""Every theorem there is: about the operators, the parts, the units, and the lemmas that put stages together."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from rtl_models.formal.cores.gemm import gemm_theorems
from rtl_models.formal.cores.windows import window_theorems
from rtl_models.formal.lemmas import lemmas
from rtl_models.formal.models.integer_scale import integer_scale
from rtl_models.formal.models.interleave4x4 import interleave4x4
from rtl_models.formal.models.offset_contribution import offset_contribution
from rtl_models.formal.models.quantize_down import quantize_down
from rtl_models.formal.models.quantized_add import quantized_add
from rtl_models.formal.models.quantized_add_float import quantized_add_float
from rtl_models.formal.models.requantize import quantized_multiplier, requantize
from rtl_models.formal.operators import operator_theorems
from rtl_models.formal.theorem import Lemma, Theorem
from rtl_models.formal.units.configuration import configuration_theorems
from rtl_models.formal.units.frames import frame_lemmas, frame_theorems
from rtl_models.formal.units.parts import part_theorems
from rtl_models.formal.units.pipelines import Pipeline
from rtl_models.formal.units.streams import composition_lemma, pipeline_theorems
from rtl_models.formal.units.tables import table_lemmas, table_theorems
from rtl_models.latencies import depths
from rtl_models.units import LANE_COUNTS

LANES = 4
"""The lanes of a beat for which units are proved unless others are asked for, where a lane is one round of a loop.

What else depends on the number is proved for every number: `interleave4x4`, `transpose1xw`, `frame_walk` and
`channel_tables`.
"""


def pipelines(lanes: int = LANES) -> list[Pipeline]:
    """The units that are stages of arithmetic, at every depth."""
    made: tuple[Callable[[int], Pipeline], ...] = (
        partial(quantize_down, lanes),
        partial(quantize_down, lanes, per_channel=True),
        partial(offset_contribution, lanes),
        partial(quantized_add, lanes),
        partial(quantized_add_float, lanes),
        partial(requantize, lanes),
        partial(quantized_multiplier, lanes),
        partial(integer_scale, lanes),
        *(partial(interleave4x4, count) for count in LANE_COUNTS),
    )
    return [unit(level) for unit in made for level in range(len(depths(unit(0).subject.module)))]


def theorems(lanes: int = LANES) -> list[Theorem | Lemma]:
    """All of them, each name once."""
    composed = [*map(composition_lemma, pipelines(lanes)), *frame_lemmas(), *table_lemmas(lanes)]
    return [*lemmas(), *composed, *module_theorems(lanes)]


@cache
def module_theorems(lanes: int = LANES) -> tuple[Theorem, ...]:
    """Those about modules."""
    found = [*operator_theorems(), *part_theorems()]
    for pipeline in pipelines(lanes):
        found += pipeline_theorems(pipeline)
    return (
        *found,
        *frame_theorems(),
        *table_theorems(lanes),
        *configuration_theorems(),
        *gemm_theorems(),
        *window_theorems(),
    )
