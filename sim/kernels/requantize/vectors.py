"""Input sets of requantize in fixed point: corner channels first, then seeded random ones.

Each column has a multiplier and a shift of its own, and values around the ties and edges of these.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array
from sim.kernels.kernel import Inputs
from sim.kernels.requantize.golden import FIXED_POINT, Channels
from sim.kernels.scaling_vectors import (
    ANY_SIGN_MULTIPLIERS,
    EXTREMES,
    HALF,
    TIED_MULTIPLIERS,
    random_multiplier,
    separating_values,
)

COLUMNS = range(14)  # every tail behind none to three steps of four columns
ROWS = 24
CORNER_MULTIPLIERS = (*TIED_MULTIPLIERS, 0, 1, INT32_MAX, 1583594044, 1717986918)
CORNER_SHIFTS = (-31, -30, -9, -2, -1, 0, 1, 7, 30)


def corners(mode: str) -> Iterator[Inputs]:
    """Every corner multiplier beside the others, at every corner shift; then every number of columns and of rows."""
    rule = FIXED_POINT[mode]
    shifts = [e for e in CORNER_SHIFTS if e in rule.left_shifts]
    signs = [CORNER_MULTIPLIERS] + ([ANY_SIGN_MULTIPLIERS] if INT32_MIN in rule.multipliers else [])
    for number, shift in enumerate(shifts):
        for multipliers in signs:
            yield _input_set(Channels(multipliers, (shift,) * len(multipliers)), ROWS, len(multipliers), number)
    for columns in COLUMNS:
        channels = Channels(_repeated(CORNER_MULTIPLIERS, columns), _repeated(shifts, columns))
        yield _input_set(channels, columns % 4, columns, columns)
    yield _input_set(Channels((HALF,), (-1,)), rows=3, columns=9, first=0)


def sample(rng: np.random.Generator, mode: str, longest: int = 32) -> Inputs:
    """At most so many rows of up to 12 columns: seven of eight values are ties, edges or their neighbours.

    Negative multipliers and far shifts, which some conventions refuse, keep to some of the sets.
    """
    columns, rows = int(rng.integers(1, 13)), int(rng.integers(1, longest + 1))
    count, rule = 1 if rng.random() < 1 / 4 else columns, FIXED_POINT[mode]
    negative = INT32_MIN in rule.multipliers and rng.random() < 1 / 4
    shifts = list(rule.left_shifts) if rng.random() < 1 / 4 else range(-8, 4)
    multipliers = tuple(random_multiplier(rng, negative) for _ in range(count))
    channels = Channels(multipliers, tuple(int(shift) for shift in rng.choice(shifts, count)))
    directed = _columns(channels, columns, lambda values: rng.choice(values, rows))
    extreme = rng.choice(EXTREMES, (rows, columns))
    plain = rng.integers(INT32_MIN, INT32_MAX, (rows, columns), endpoint=True)
    kind = rng.integers(0, 8, (rows, columns))
    values = np.where(kind == 0, plain, np.where(kind == 1, extreme, directed))
    return {"values": values.astype(np.int32), "channels": channels}


def _repeated(numbers: Sequence[int], count: int) -> tuple[int, ...]:
    return tuple(numbers[i % len(numbers)] for i in range(count))


def _input_set(channels: Channels, rows: int, columns: int, first: int) -> Inputs:
    """Separating values evenly spread over those there are, from the one numbered `first` on."""

    def spread(values: Int32Array) -> Int32Array:
        chosen: Int32Array = np.roll(values, -first)[np.linspace(0, len(values) - 1, rows).astype(int)]
        return chosen

    return {"values": _columns(channels, columns, spread), "channels": channels}


def _columns(channels: Channels, columns: int, pick: Callable[[Int32Array], Int32Array]) -> Int32Array:
    """int32[rows][columns]: in each column what `pick` takes of the separating values of its channel."""
    pairs = list(zip(channels.multipliers, channels.left_shifts, strict=True))
    picked = [pick(separating_values(*pairs[column % len(pairs)])) for column in range(columns)]
    return np.stack(picked, axis=1) if picked else np.zeros((0, 0), np.int32)
