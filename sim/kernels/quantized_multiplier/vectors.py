"""Input sets of quantized_multiplier: for each mode the corner factors first, then seeded random ones.

The values of a set are those around the ties and edges of its factor; many factors are short binary fractions, for
which the multiply meets its tie, and for some the constructors differ.
"""

from collections.abc import Iterator

import numpy as np

from sim.golden.fixed_point import INT32_MAX, INT32_MIN
from sim.kernels.kernel import Inputs
from sim.kernels.quantized_multiplier.golden import defined_parameters
from sim.kernels.scaling_vectors import separating_values

LENGTHS = range(20)  # every tail length behind none to four steps of four lanes
BELOW_ONE = (0.0, -0.0, 0.5, 0.25, 0.75, 0.1, 0.99999994, 0.625, 0.0078125, 0.9, 2.0**-14, 0.00144027)
TINY = (9e-6, 2.0**-17, 0.75 * 2.0**-20, 2.0**-31, 2.0**-32)
UNDEFINED = (2.0**-33, 0.75 * 2.0**-33, 2.0**-40, 0.1 * 2.0**-64, 2.0**-149)
FROM_ONE = (1.0, 1.5, 2.0, 1.25, 100.0, 2.0**20, 0.1 * 2.0**30, 2.0**30)
FACTORS = {
    "armnn_24_08": BELOW_ONE + TINY,
    "x86_count_mod_32": BELOW_ONE + TINY + UNDEFINED,
    "acl_19_08": (*BELOW_ONE, 1.0, 9e-6, 1e-5),
    "acl_20_02": (*BELOW_ONE, 9e-6, 1e-5, *FROM_ONE),
    "tflite": BELOW_ONE + TINY + FROM_ONE + (-0.1, -1.5, 2.0**-33),
}
EXPONENTS = {
    "armnn_24_08": range(-32, 0),
    "x86_count_mod_32": range(-148, 0),
    "acl_19_08": range(-14, -1),
    "acl_20_02": range(-14, 30),
    "tflite": range(-33, 30),
}
"""Of the random factors of each mode: 2^exponent up to twice that."""


def corners(mode: str) -> Iterator[Inputs]:
    """Every separating value of every corner factor, then every length in turn."""
    for factor in FACTORS[mode]:
        yield {"values": separating_values(*defined_parameters(factor, mode)), "factor": factor}
    for length in LENGTHS:
        factor = FACTORS[mode][length % len(FACTORS[mode])]
        values = np.resize(separating_values(*defined_parameters(factor, mode)), length).astype(np.int32)
        yield {"values": values, "factor": factor}


def sample(rng: np.random.Generator, mode: str, longest: int = 64) -> Inputs:
    """At most so many values for a random factor of the mode: seven of eight are ties, edges or their neighbours."""
    if rng.random() < 1 / 4:
        factor = float(rng.choice(FACTORS[mode]))
    else:
        fraction = rng.integers(8, 16) / 8 if rng.random() < 1 / 2 else rng.uniform(1, 2)
        factor = float(fraction * 2.0 ** int(rng.choice(EXPONENTS[mode])))
    length = int(rng.integers(0, longest + 1))
    directed = rng.choice(separating_values(*defined_parameters(factor, mode)), length)
    plain = rng.integers(INT32_MIN, INT32_MAX, length, endpoint=True)
    return {"values": np.where(rng.random(length) < 7 / 8, directed, plain).astype(np.int32), "factor": factor}
