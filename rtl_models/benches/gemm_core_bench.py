"""The scenarios of `gemm_core`: layers against the golden reference, every beat in the cycle that is predicted.

`rtl_models.cores.gemm_run` says in the environment which core, and how many layers.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final

import cocotb

from rtl_models.benches.coverage.stimulus import seeded
from rtl_models.benches.demand import demand, demand_met
from rtl_models.benches.driving.gemm_testbench import GemmTestbench
from rtl_models.benches.driving.illegal_writes import illegal_writes
from rtl_models.benches.driving.testbench import Bits
from rtl_models.benches.driving.traffic import STALLS
from rtl_models.benches.gemm_layers import (
    OFFSETS_OF,
    Windows,
    corner_shapes,
    corner_windows,
    layer,
    layers_alike,
    layers_by_reading,
    random_shape,
    random_windows,
)
from rtl_models.cores.gemm import BYTES, IMAGE_WORDS, GemmCore, GemmLayer, GemmShape, ResultBeat, WindowLayer
from rtl_models.cores.gemm_cycles import GemmCycles, GemmTraffic, beat_cycles, layer_cycles
from rtl_models.register_map import STATUS
from rtl_models.tools.protocol import CORE_VARIABLE, COVERPOINTS, LAYERS_VARIABLE, REPORT
from rtl_models.unit_values import channel_setting

CORE: Final = GemmCore(**json.loads(os.environ[CORE_VARIABLE]))
LAYERS: Final = int(os.environ[LAYERS_VARIABLE])
SHARE: Final = 0.95
"""Of the array's peak that is due where nothing stalls."""
COMPARED: Final = {
    "lanes_compared": 0,
    "multiply_accumulates": 0,
    "cycles_compared": 0,
    "wrong_beats": 0,
    "cycles_off": 0,
}
SHAPES: Final[set[str]] = set()
RATES: Final[dict[str, float]] = {}
MET: Final[Counter[str]] = Counter()


async def compare(dut: Any, layers: Sequence[GemmLayer], pattern: str, rng: Random) -> None:
    """Layers of one shape and with one set of settings, back to back; results and cycles are those that are due."""
    bench, shape = GemmTestbench(dut, CORE.channels), layers[0].shape
    await bench.write(layers[0].registers)
    demand(bench.state == (False, False), f"error_o and busy_o are {bench.state} before a layer {shape}")
    traffic = traffic_of(pattern, rng, 2 * len(layers) * layer_cycles(CORE, shape))
    due = beat_cycles(CORE, shape, traffic, len(layers))
    found, given = await sent(bench, layers, traffic, due.taken[-1] + 1 + CORE.output_stages)
    told = f"layers {layers[0].title}, stalls {pattern}"
    expected = [beat for each in layers for beat in each.expected(CORE)]
    wrong = differing(given, expected)
    COMPARED["wrong_beats"] += len(wrong)
    demand(not wrong, f"{told}: {wrong[:1]} (number, given, due) of {len(expected)} beats")
    demand_cycles(found, due, told)
    demand(bench.state == (False, False), f"error_o and busy_o are {bench.state} behind {told}")
    SHAPES.add(layers[0].title)
    COMPARED["cycles_compared"] += sum(map(len, found))
    COMPARED["lanes_compared"] += sum(len(beat.numbers) for beat in given)
    COMPARED["multiply_accumulates"] += len(layers) * layers[0].multiply_accumulates
    points = coverpoints(layers[0]) | (window_coverpoints(layers[0]) if isinstance(layers[0], WindowLayer) else {})
    MET.update({f"{point}, stalls {pattern}": int(met) for point, met in points.items()})


def demand_cycles(found: GemmCycles, due: GemmCycles, told: str) -> None:
    """Every beat moves in the cycle that is due."""
    for name, came, predicted in zip(GemmCycles._fields, found, due, strict=True):
        off = differing(came, predicted)
        COMPARED["cycles_off"] += len(off)
        demand(not off, f"{told}: cycles of {name}: {off[:1]} (number, given, due) of {len(predicted)} beats")


async def sent(
    bench: GemmTestbench, layers: Sequence[GemmLayer], traffic: GemmTraffic, cycles: int
) -> tuple[GemmCycles, list[ResultBeat]]:
    """What the core accepts of the layers and gives for them in so many cycles."""
    a = [word for each in layers for word in each.a_words(CORE)]
    b = [word for each in layers for word in each.b_words(CORE)]
    found, results = await bench.stream(a, b, traffic, cycles)
    return found, list(map(beat_of, results))


def beat_of(bits: Bits) -> ResultBeat:
    """The numbers that are kept, which must be the first ones."""
    result, keep, last = (int(word, 2) for word in bits)
    demand(keep & (keep + 1) == 0, f"keep_o is {keep:b}: the bytes kept must be the first ones")
    return ResultBeat(tuple(result.to_bytes(CORE.columns, "little")[: keep.bit_length()]), bool(last))


def differing(given: Sequence[object], due: Sequence[object]) -> list[tuple[int, object, object]]:
    """By number what differs, None being what is not there."""
    size = max(len(given), len(due))
    both = ([*some, *[None] * (size - len(some))] for some in (given, due))
    return [(number, one, other) for number, (one, other) in enumerate(zip(*both, strict=True)) if one != other]


def traffic_of(pattern: str, rng: Random, cycles: int) -> GemmTraffic:
    """Decisions of a pattern for so many cycles; each side decides by itself."""
    stalls = STALLS[pattern]
    sides = (stalls.offers, stalls.offers, stalls.takes)
    return GemmTraffic(*(list(islice(side(Random(rng.random())), cycles)) for side in sides))


def coverpoints(some: GemmLayer) -> dict[str, bool]:
    """Whether a layer meets each of them."""
    m, k, n, _ = some.shape
    sizes = {"m": (m, CORE.rows), "k": (k, BYTES), "n": (n, CORE.columns)}
    steps, signed = some.shape.steps, bool(some.settings["signed"])
    return {
        **{f"{name} ends with a block": size % block == 0 for name, (size, block) in sizes.items()},
        **{f"{name} ends in a block": size % block != 0 for name, (size, block) in sizes.items()},
        **{f"one block of {name}": size <= block for name, (size, block) in sizes.items()},
        **{f"several blocks of {name}": size > block for name, (size, block) in sizes.items()},
        "signed": signed, "unsigned": not signed,
        **{f"rounding {kind}": some.settings["rounding"] == kind for kind in range(3)},
        "a left shift": any(some.settings[channel_setting("left_shift", channel)] for channel in range(n)),
        "fewer steps than rows": steps < CORE.rows, "more steps than rows": steps > CORE.rows,
    }  # fmt: skip


def window_coverpoints(some: WindowLayer) -> dict[str, bool]:
    """Whether a layer of windows meets each of them."""
    settings, geometry = some.registers, some.geometry
    sides = {name: getattr(geometry, name) for name in ("top", "bottom", "left", "right")}
    out_width, channels = settings["out_width"], some.a.shape[2]
    points = {
        **{f"padding {name}": size > 0 for name, size in sides.items()},
        **{f"no padding {name}": size == 0 for name, size in sides.items()},
        **{f"a stride {way} of 1": getattr(geometry, f"stride_{way}") == 1 for way in "xy"},
        **{f"a stride {way} of more": getattr(geometry, f"stride_{way}") > 1 for way in "xy"},
        "fewer in a row than are found": out_width < CORE.rows, "more in a row than are found": out_width > CORE.rows,
        "channels fill words": channels % BYTES == 0, "channels end in a word": channels % BYTES != 0,
        "several words of a pixel": channels > BYTES,
        "the image ends in a beat": some.image_words % IMAGE_WORDS != 0,
        "the image ends with a beat": some.image_words % IMAGE_WORDS == 0,
        "several beats of an image": some.shape.image > 1, "one beat of an image": some.shape.image == 1,
    }  # fmt: skip
    return {f"windows, {point}": met for point, met in points.items()}


@cocotb.test()
@cocotb.parametrize(pattern=list(STALLS))
async def corners(dut: Any, pattern: str) -> None:
    """Shapes at the ends of blocks; every third one twice, back to back."""
    await GemmTestbench(dut, CORE.channels).reset()
    rng = seeded()
    for number, shape in enumerate(corner_shapes(CORE)):
        await compare(dut, layers_alike(shape, rng, 2 if number % 3 == 0 else 1), pattern, rng)


@cocotb.test()
@cocotb.parametrize(pattern=list(STALLS))
async def random_layers(dut: Any, pattern: str) -> None:
    """Any shapes; every fourth one three times, back to back."""
    await GemmTestbench(dut, CORE.channels).reset()
    rng = seeded()
    for number in range(LAYERS):
        await compare(dut, layers_alike(random_shape(CORE, rng), rng, 3 if number % 4 == 0 else 1), pattern, rng)


@cocotb.test()
@cocotb.parametrize(pattern=list(STALLS))
async def windows(dut: Any, pattern: str) -> None:
    """Windows of images at the ends of all that counts, then any; every third ones twice, some before rows."""
    await GemmTestbench(dut, CORE.channels).reset()
    rng = seeded()
    shapes: list[GemmShape | Windows] = list(corner_windows(CORE))
    for _ in range(LAYERS):
        shapes += [random_windows(CORE, rng), random_windows(CORE, rng), random_shape(CORE, rng)]
    for number, shape in enumerate(shapes):
        await compare(dut, layers_alike(shape, rng, 2 if number % 3 == 0 else 1), pattern, rng)


@cocotb.test()
async def full_rate(dut: Any) -> None:
    """Layers of 64 x 64 x 64, or as many columns as there are channels, back to back, without stalls."""
    await GemmTestbench(dut, CORE.channels).reset()
    rng, shape, count = seeded(), GemmShape(64, 64, min(64, CORE.channels)), 4
    await compare(dut, layers_alike(shape, rng, count), "never", rng)
    cycles = beat_cycles(CORE, shape, GemmTraffic(), count).taken[-1] + 1
    RATES["share_of_peak"] = count * shape.multiply_accumulates / (CORE.peak * cycles)
    RATES["share_of_peak_alone"] = shape.multiply_accumulates / (CORE.peak * layer_cycles(CORE, shape))
    demand(RATES["share_of_peak"] >= SHARE, f"{RATES['share_of_peak']:.3f} of the peak, {SHARE} is due")


@cocotb.test()
@cocotb.parametrize(pattern=("sometimes", "long_stall"))
async def reset_inside(dut: Any, pattern: str) -> None:
    """A reset at any cycle of a layer loses all of it, and the next layer is good."""
    bench, rng = GemmTestbench(dut, CORE.channels), seeded()
    await bench.reset()
    tiles = GemmShape(CORE.rows + 1, 2 * BYTES, CORE.columns + 1)
    for number in range(LAYERS):
        lost = layer(random_windows(CORE, rng) if number % 2 else tiles, rng)
        await bench.write(lost.registers)
        cycles = rng.randrange(1, layer_cycles(CORE, lost.shape))
        await sent(bench, [lost], traffic_of(pattern, rng, cycles), cycles)
        await bench.reset()
        await compare(dut, [layer(random_shape(CORE, rng), rng)], pattern, rng)


@cocotb.test()
async def what_does_not_fit(dut: Any) -> None:
    """While the settings are no layer for the core it is in error and accepts nothing; then it is as before."""
    bench, rng = GemmTestbench(dut, CORE.channels), seeded()
    await bench.reset()
    for good, (low, high) in zip(layers_by_reading(GemmShape(CORE.rows, 5, 1), rng), OFFSETS_OF, strict=True):
        beyond = (low - 1, high + 1, 512 + high, -(1 << 31))
        bad = [{"width": BYTES * CORE.steps + 1}, {"width": 65535}]
        bad += [{name: value} for name in ("a_offset", "b_offset") for value in beyond]
        for changed in bad:
            await bench.write({**good.registers, **changed})
            found, _ = await sent(bench, [good], GemmTraffic(), 5)
            demand(found == ([], [], [], []), f"with {changed} beats are accepted")
            demand(bench.state == (True, False), f"error_o and busy_o are {bench.state} with {changed}")
            await compare(dut, [good], "never", rng)
    windows = layer(Windows((2, 4, BYTES), (1, 2), 1), rng)
    for name, value in (("image_width", CORE.image // 2 + 1), ("window_height", 2), ("pixel_words", 2)):
        await bench.write({**windows.registers, name: value})
        found, _ = await sent(bench, [windows], GemmTraffic(), 5)
        demand((found, bench.state) == (([], [], [], []), (True, False)), f"with {name} {value} beats are accepted")
        await compare(dut, [windows], "never", rng)


@cocotb.test()
async def refused_writes(dut: Any) -> None:
    """A write that is refused is an error until it is cleared, and changes no layer."""
    bench, rng = GemmTestbench(dut, CORE.channels), seeded()
    await bench.reset()
    good = layer(random_shape(CORE, rng), rng)
    await bench.write(good.registers)
    for illegal in illegal_writes(CORE.channels):
        await bench.write_word(illegal.address, illegal.data)
        demand(bench.state == (True, False), f"error_o and busy_o are {bench.state} with {illegal}")
        await bench.write_word(STATUS, illegal.cause)
        demand(bench.state == (False, False), f"error_o and busy_o are {bench.state} when {illegal} is cleared")
    due = beat_cycles(CORE, good.shape, GemmTraffic())
    found, given = await sent(bench, [good], GemmTraffic(), due.taken[-1] + 1 + CORE.output_stages)
    demand(not differing(given, good.expected(CORE)), f"after refused writes layer {good.title} is another")
    demand_cycles(found, due, f"after refused writes layer {good.title}")


@cocotb.test(stage=1)
async def functional_coverage(dut: Any) -> None:
    """Every coverpoint was met under every pattern of stalls."""
    demand(bool(MET), "no layer was compared")
    demand_met([point for point, times in MET.items() if not times])


@cocotb.test(stage=2)
async def report(dut: Any) -> None:
    """Write what was compared; nothing at all is a failure."""
    Path(REPORT).write_text(json.dumps(COMPARED | {"shapes": len(SHAPES)} | RATES))
    Path(COVERPOINTS).write_text(json.dumps(MET))
    demand(bool(COMPARED["lanes_compared"]), "nothing was compared")
