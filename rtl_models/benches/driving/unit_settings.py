"""What `rtl_models.unit_run` tells a bench through the environment."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Final

from rtl_models.benches.unit_bench import UnitBench, bench_of, with_built_in
from rtl_models.tools import protocol
from rtl_models.tools.protocol import (
    BUILT_IN_VARIABLE,
    CHANNELS_VARIABLE,
    LANES_VARIABLE,
    PROFILE_VARIABLE,
    RULES_VARIABLE,
    UNIT_VARIABLE,
)

CHANNELS: Final = int(os.environ[CHANNELS_VARIABLE])
"""Of the registers, and of the unit's tables."""
BUILT_IN: Final[Mapping[str, int]] = json.loads(os.environ[BUILT_IN_VARIABLE])
"""By operand or setting the number that the module has built in."""
BENCH: Final[UnitBench] = with_built_in(bench_of(os.environ[UNIT_VARIABLE], CHANNELS), BUILT_IN)
"""Of the unit that was built."""
LANES: Final = int(os.environ[LANES_VARIABLE])
PROFILE: Final = os.environ[PROFILE_VARIABLE]
STRICT: Final = os.environ[RULES_VARIABLE] == protocol.STRICT
"""Whether latency, ready and reset are to be those of the package, in every cycle."""
ASYNCHRONOUS: Final = os.environ[RULES_VARIABLE] != protocol.STREAM
"""Whether the reset is to act without an edge of the clock."""
