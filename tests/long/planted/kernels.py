"""Kernels with one planted arithmetic fault each: ten sources, ten kinds of faults, a wide and a narrow domain.

A line of a source that ends in `//! KIND: TEXT` is replaced by TEXT in the kernel with that fault; without it, in all
others.  The correct twin is the source with none replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sim.kernels import Domain, Kernel, parse_prototype

FOLDER = Path(__file__).parent
_FAULT = re.compile(r"(?P<right>.*?)\s*//! (?P<kind>\w+):(?P<wrong>.*)")
Inputs = Mapping[str, Any]
Array = np.ndarray[Any, Any]


def high(value: Array, factor: Array | int) -> Array:
    """Twice the product's upper half, rounded with ties up: numbers of 32 bits."""
    product: Array = value * np.asarray(factor, np.int64)
    return np.asarray(np.clip((product + (1 << 30)) >> 31, -(2**31), 2**31 - 1))


def ties_away(value: Array, shift: Array | int) -> Array:
    """Divided by 2^shift, rounded to nearest with ties away from zero."""
    half = (np.int64(1) << np.asarray(shift, np.int64)) >> 1
    return np.asarray(np.where(value < 0, -((-value + half) >> shift), (value + half) >> shift))


def _s8(value: Array) -> dict[str, Array]:
    return {"output": np.clip(value, -128, 127).astype(np.int8)}


def _wide(inputs: Inputs, name: str) -> Array:
    return np.asarray(inputs[name]).astype(np.int64)


def requantize_s8(i: Inputs) -> dict[str, Array]:
    return _s8(ties_away(high(_wide(i, "acc"), i["multiplier"]), i["shift"]) + i["zero"])


def requantize_u8_fixed(i: Inputs) -> dict[str, Array]:
    value = ties_away(high(_wide(i, "acc"), 1518500250), 21)
    return {"output": np.clip(value + 119, 0, 255).astype(np.uint8)}


def per_channel(i: Inputs) -> dict[str, Array]:
    value = high(np.clip(_wide(i, "acc") + i["bias"], -(2**31), 2**31 - 1), i["gain"])
    return _s8(ties_away(high(value, i["multiplier"]), i["shift"]) + i["zero"])


def add_s8(i: Inputs) -> dict[str, Array]:
    x, y = (
        ties_away(high((_wide(i, name) + i[f"offset_{name}"]) << 20, i[f"factor_{name}"]), i[f"shift_{name}"])
        for name in "ab"
    )
    return _s8(ties_away(high(x + y, i["factor"]), i["shift"]) + i["zero"])


def scale_s16(i: Inputs) -> dict[str, Array]:
    value = np.clip((_wide(i, "a") * i["b"] + 16384) >> 15, -32768, 32767) * i["gain"]
    return {"output": np.clip(ties_away(value, 9) + i["offset"], -32768, 32767).astype(np.int16)}


def dot4_s8(i: Inputs) -> dict[str, Array]:
    value = ties_away(high(_wide(i, "a") @ _wide(i, "weights") + i["bias"], i["multiplier"]), i["shift"])
    return {"output": np.clip(value, i["low_bound"], 127).astype(np.int8)}


def matrix_s8(i: Inputs) -> dict[str, Array]:
    value = high(_wide(i, "a") @ _wide(i, "b") + i["bias"], i["multiplier"])
    return _s8(ties_away(value, i["shift"]) + i["zero"])


def mean_u8(i: Inputs) -> dict[str, Array]:
    product = (_wide(i, "a") + i["b"] + i["c"]) * i["weight"]
    value = ((np.maximum(product - 1, 0) + 32768) >> 16) + i["offset"]
    return {"output": np.clip(value, 0, 255).astype(np.uint8)}


def blend_s8(i: Inputs) -> dict[str, Array]:
    moved = ties_away((_wide(i, "b") - _wide(i, "a")) * i["weight"], 8)
    return _s8(_wide(i, "a") + moved + i["offset"])


def to_s16(i: Inputs) -> dict[str, Array]:
    left = np.clip(_wide(i, "acc") << i["left"], -(2**31), 2**31 - 1)
    value = ties_away(high(left, i["multiplier"]), i["shift"]) + i["skip"]
    return {"output": np.clip(value, -32768, 32767).astype(np.int16)}


class Planted(NamedTuple):
    """A source with its golden reference, prototype, and domains: wide and narrow."""

    golden: Callable[[Inputs], dict[str, Array]]
    prototype: str
    wide: Mapping[str, Domain]
    narrow: Mapping[str, Domain]


FACTOR, BYTE = Domain(1 << 30, 2**31 - 1), Domain(-128, 127)
SOURCES = (
    Planted(
        requantize_s8,
        "(const int32_t acc[length], int8_t output[length], size_t length, int32_t multiplier, "
        "int32_t shift, int32_t zero)",
        {"acc": Domain(), "multiplier": FACTOR, "shift": Domain(1, 30), "zero": BYTE},
        {"acc": Domain(-40_000, 40_000), "multiplier": FACTOR, "shift": Domain(0, 9), "zero": Domain(-5, 5)},
    ),
    Planted(
        requantize_u8_fixed, "(const int32_t acc[length], uint8_t output[length], size_t length)",
        {"acc": Domain()}, {"acc": Domain(-(2**29), 2**29)},
    ),
    Planted(
        per_channel,
        "(const int32_t acc[rows][channels], const int32_t bias[channels], "
        "const int32_t multiplier[channels], const int32_t shift[channels], "
        "int8_t output[rows][channels], size_t rows, size_t channels, int32_t zero, int32_t gain)",
        {"multiplier": FACTOR, "shift": Domain(1, 28), "zero": Domain(-100, 100), "gain": FACTOR},
        {
            "acc": Domain(-(2**30), 2**30), "bias": Domain(-(2**30) - 9, 2**30 + 9), "multiplier": FACTOR,
            "shift": Domain(5, 14), "zero": Domain(-128, -1),
            "gain": FACTOR,
        },
    ),
    Planted(
        add_s8,
        "(const int8_t a[length], const int8_t b[length], int8_t output[length], size_t length, "
        "int32_t offset_a, int32_t offset_b, int32_t factor_a, int32_t factor_b, int32_t factor, "
        "int32_t shift_a, int32_t shift_b, int32_t shift, int32_t zero)",
        {
            "offset_a": BYTE, "offset_b": BYTE, "factor_a": FACTOR, "factor_b": FACTOR, "factor": FACTOR,
            "shift_a": Domain(0, 4), "shift_b": Domain(0, 4),
            "shift": Domain(15, 24), "zero": BYTE,
        },
        {
            "offset_a": Domain(-3, 3), "offset_b": Domain(-3, 3), "factor_a": FACTOR, "factor_b": FACTOR,
            "factor": FACTOR, "shift_a": Domain(0, 1), "shift_b": Domain(0, 1),
            "shift": Domain(18, 19), "zero": Domain(-3, 3),
        },
    ),
    Planted(
        scale_s16,
        "(const int16_t a[length], const int16_t b[length], int16_t output[length], size_t length, "
        "int16_t gain, int16_t offset)",
        {}, {"a": Domain(-20_000, 20_000), "gain": Domain(300, 900), "offset": Domain(-30_000, 30_000)},
    ),
    Planted(
        dot4_s8,
        "(const int8_t a[length][4], const int8_t weights[4], const int32_t bias[length], "
        "int8_t output[length], size_t length, int32_t multiplier, int32_t shift, int32_t low_bound)",
        {"bias": Domain(-(2**30), 2**30), "multiplier": FACTOR, "shift": Domain(0, 24), "low_bound": Domain(-127, 0)},
        {"bias": Domain(-200_000, 200_000), "multiplier": FACTOR, "shift": Domain(1, 12),
        "low_bound": Domain(-127, -1)},
    ),
    Planted(
        matrix_s8,
        "(const int8_t a[rows][depth], const int8_t b[depth][columns], const int32_t bias[columns], "
        "int8_t output[rows][columns], size_t rows, size_t columns, size_t depth, int32_t multiplier, "
        "int32_t shift, int32_t zero)",
        {"bias": Domain(-(2**28), 2**28), "multiplier": FACTOR, "shift": Domain(0, 24), "zero": Domain(-100, 100),
        "depth": Domain(0, 512)},
        {"bias": Domain(-100_000, 100_000), "multiplier": FACTOR, "shift": Domain(0, 11), "zero": Domain(-8, 8),
        "depth": Domain(1, 64)},
    ),
    Planted(
        mean_u8,
        "(const uint8_t a[length], const uint8_t b[length], const uint8_t c[length], "
        "uint8_t output[length], size_t length, uint16_t weight, uint8_t offset)",
        {}, {"weight": Domain(21_000, 22_500), "offset": Domain(0, 20)},
    ),
    Planted(
        blend_s8,
        "(const int8_t a[length], const int8_t b[length], int8_t output[length], size_t length, "
        "int16_t weight, int16_t offset)",
        {"weight": Domain(-256, 256), "offset": Domain(-500, 500)}, {"weight": Domain(0, 300),
        "offset": Domain(-9, 9)},
    ),
    Planted(
        to_s16,
        "(const int32_t acc[length], const int32_t skip[length], int16_t output[length], size_t length, "
        "int32_t multiplier, int32_t left, int32_t shift)",
        {"multiplier": FACTOR, "left": Domain(0, 12), "shift": Domain(0, 15)},
        {"acc": Domain(-(2**21), 2**21), "skip": Domain(-40_000, 40_000), "multiplier": FACTOR, "left": Domain(8, 11),
        "shift": Domain(4, 14)},
    ),
)  # fmt: skip


@dataclass(frozen=True)
class PlantedKernel:
    """A kernel file's content: `kind` is that of the fault, "" in a correct twin; `line` is where it is, else 0."""

    name: str
    source: Planted
    domain: str
    kind: str
    line: int

    @property
    def title(self) -> str:
        """Such as "add_s8 narrow: lane"."""
        return f"{self.name} {self.domain}: {self.kind or 'correct'}"

    def kernel(self, folder: Path) -> Kernel:
        """The kernel, with its source written to a folder."""
        stem = f"{self.name}_{self.kind or 'correct'}"
        source = folder / f"{stem}.c"
        source.write_text(self.text())
        (folder / "scalar.h").write_text((FOLDER / "scalar.h").read_text())
        name, signature = parse_prototype(f"void {self.name}{self.source.prototype}")
        domain = self.source.wide if self.domain == "wide" else self.source.narrow
        golden = self.source.golden
        return Kernel(name=stem, symbol=name, sources=(source,), signature=signature, golden=golden, domain=domain)

    def text(self) -> str:
        """The source, with the fault."""
        lines = []
        for number, line in enumerate((FOLDER / f"{self.name}.c").read_text().splitlines(), 1):
            match = _FAULT.fullmatch(line)
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(
                line if not match else indent + match["wrong"].strip() if number == self.line else match["right"]
            )
        return "\n".join((*lines, ""))


def planted_kernels() -> Iterator[PlantedKernel]:
    """The faulty kernels and their correct twins."""
    for source in SOURCES:
        name = source.golden.__name__
        for domain in ("wide", "narrow"):
            yield PlantedKernel(name, source, domain, "", 0)
            for number, line in enumerate((FOLDER / f"{name}.c").read_text().splitlines(), 1):
                if match := _FAULT.fullmatch(line):
                    yield PlantedKernel(name, source, domain, match["kind"], number)
