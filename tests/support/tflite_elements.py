"""Small .tflite files of layers that go element by element, change shapes, or resize."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from support.tflite_models import ModelWriter

_SHAPE = (2, 5, 4, 6)
_LARGER = (2, 9, 7, 6)


def elements_net(seed: int = 1, dtype: str = "int8") -> ModelWriter:
    """SUB, PRELU, RESIZE_BILINEAR, and ABS of that; then NEG, of int16 LOGISTIC and TANH, of int8 L2_NORMALIZATION.

    int16 counts from zero.
    """
    rng, made = np.random.default_rng(seed), ModelWriter()
    is_wide = dtype == "int16"
    spread = 128 if is_wide else 1

    def zero() -> int:
        return 0 if is_wide else int(rng.integers(-100, 100))

    def scale() -> float:
        return float(2.0 ** rng.uniform(-7, -4)) / spread

    def tensor(name: str, of: Sequence[int] = _LARGER) -> int:
        return made.tensor(name, dtype, of, scale(), zero())

    x, difference, sloped = (tensor(name, _SHAPE) for name in ("x", "difference", "sloped"))
    drawn = {"row": (dtype, (6,), 100 * spread), "slopes": ("int8", (1, 1, 6), 100)}
    row, slopes = (
        made.tensor(name, kind, of, scale(), 0 if kind == "int16" else 3, rng.integers(-most, most, of).astype(kind))
        for name, (kind, of, most) in drawn.items()
    )
    size = made.tensor("size", "int32", (2,), data=np.array(_LARGER[1:3], np.int32))
    resized = made.tensor("resized", dtype, _LARGER, made.tensors[sloped]["scales"], made.tensors[sloped]["zero"])
    made.layer("SUB", (x, row), (difference,), "SubOptions", PotScaleInt16=False)
    made.layer("PRELU", (difference, slopes), (sloped,))
    made.layer("RESIZE_BILINEAR", (sloped, size), (resized,), "ResizeBilinearOptions", HalfPixelCenters=seed % 2)
    absolute = tensor("absolute")
    made.layer("ABS", (resized,), (absolute,))
    if is_wide:
        negated = made.tensor("negated", dtype, _LARGER, made.tensors[resized]["scales"])
        logistic, tanh = (made.tensor(name, dtype, _LARGER, 2.0**-15) for name in ("logistic", "tanh"))
        made.layer("NEG", (resized,), (negated,))
        made.layer("LOGISTIC", (resized,), (logistic,))
        made.layer("TANH", (resized,), (tanh,))
        made.outputs = [absolute, negated, logistic, tanh]
    else:
        over_root, negated = (made.tensor(name, dtype, _LARGER, 2.0**-7) for name in ("over_root", "negated"))
        made.layer("L2_NORMALIZATION", (resized,), (over_root,), "L2NormOptions")
        made.layer("NEG", (over_root,), (negated,))
        made.outputs = [absolute, negated]
    made.inputs = [x]
    return made


def bounded_net(seed: int = 1) -> ModelWriter:
    """RELU, RELU6 and RELU_N1_TO_1 alone, one behind the other, an axis put in and taken out: int8."""
    rng, made = np.random.default_rng(seed), ModelWriter()

    def tensor(name: str, of: Sequence[int] = _SHAPE) -> int:
        return made.tensor(name, "int8", of, float(rng.uniform(0.01, 0.05)), int(rng.integers(-60, 60)))

    before = tensor("x")
    made.inputs = [before]
    for operator in ("RELU", "RELU6", "RELU_N1_TO_1"):
        behind = tensor(operator)
        made.layer(operator, (before,), (behind,))
        before = behind
    of_last = made.tensors[before]["scales"], made.tensors[before]["zero"]
    axis = made.tensor("axis", "int32", (1,), data=np.array([1], np.int32))
    longer = made.tensor("longer", "int8", (2, 1, 5, 4, 6), *of_last)
    squeezed = made.tensor("squeezed", "int8", _SHAPE, *of_last)
    made.layer("EXPAND_DIMS", (before, axis), (longer,), "ExpandDimsOptions")
    made.layer("SQUEEZE", (longer,), (squeezed,), "SqueezeOptions")
    made.outputs = [squeezed]
    return made
