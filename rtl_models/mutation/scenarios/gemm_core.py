"""Layers for `gemm_core`, cycle by cycle: what is on its inputs, and what must be on its outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from random import Random
from typing import Final

import numpy as np

from isa.lane import S32
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
from rtl_models.cores.gemm import BYTES, GemmCore, GemmLayer, GemmShape
from rtl_models.cores.gemm_cycles import Decided, GemmTraffic, beat_cycles, layer_cycles
from rtl_models.mutation.scenarios.registers import CHANNELS_REGISTER, Map, Row, register_program
from rtl_models.mutation.scenarios.scenario import Scenario, Steps
from rtl_models.mutation.scenarios.signals import PortSignal
from rtl_models.register_map import CHANNELS, REGISTERS, STATUS, TABLES, register_writes
from rtl_models.unit_values import ONE_ROUNDING, channel_setting
from sim.kernels.conv2d.golden import Geometry

_RANDOM: Final = 30
"""Layers of random shapes in a scenario."""
_WHOLE: Final = 12
"""Layers with all channels, of each kind."""
_AGAIN: Final = 4
"""Layers of a whole image: of one a row is seen in each channel, and waits for one before it as chance has it."""
_IDLE: Final = 3
"""Cycles behind a layer."""
_MOST_ACROSS, _MOST_BELOW, _MOST_STRIDE, _MOST_LEFT = 4_095, 65_535, 15, 15
_FAR: Final = (
    Windows((1, 2, 3), (1, 1), 1, Geometry(stride_x=_MOST_STRIDE, right=(_MOST_ACROSS - 1) * _MOST_STRIDE - 1)),
    Windows((2, 1, 3), (1, 1), 1, Geometry(stride_y=_MOST_STRIDE, bottom=(_MOST_BELOW - 1) * _MOST_STRIDE - 1)),
    Windows((1, 4, 3), (1, 1), 1, Geometry(right=_MOST_ACROSS - 4)),
    Windows((4, 1, 3), (1, 1), 1, Geometry(bottom=_MOST_BELOW - 4)),
)
"""As many windows in a row, and as many rows, as registers take, as far apart: all but the first are outside.  Then as
many next to each other: of those found at once each comes to where, but for one bit, it would be in the image."""
_EXTREMES: Final = (S32.low, S32.high)
_WORD: Final = 32
Numbers = int | Sequence[int | None] | None
"""On a port: one or several; None where it is not known."""
Cycle = Mapping[str, Numbers]
"""By port."""


def scenarios(core: GemmCore, seed: int) -> list[Scenario]:
    """Layers under every pattern of stalls, then the registers; each begins with a reset, which meets what there is."""
    rng = Random(seed)
    found = {pattern: _Layers(core, pattern, rng) for pattern in STALLS}
    steps = {pattern: layers.steps() for pattern, layers in found.items()}
    steps["registers"] = _Layers(core, "never", rng).steps_of_registers()
    return [Scenario(name=name, cycles=cycles, beats=cycles.none()) for name, cycles in steps.items()]


class _Layers:
    """The cycles of some layers, one after the other."""

    def __init__(self, core: GemmCore, pattern: str, rng: Random) -> None:
        self._core, self._pattern, self._stalls, self._rng = core, pattern, STALLS[pattern], rng
        self._registers = Map()
        self._cycles: list[Cycle] = []

    def steps(self) -> Steps:
        """All of them; the last layer is cut off."""
        core, rng = self._core, self._rng
        for number, shape in enumerate(corner_shapes(core)):
            self._layers(layers_alike(shape, rng, 2 if number % 3 == 0 else 1))
        for windows in corner_windows(core):
            self._layers(layers_alike(windows, rng, 2))
        for windows in _whole_images(core):
            self._layers([_brought_back(windows, rng)])
        self._what_does_not_fit()
        for _ in range(_RANDOM):
            windows = random_windows(core, rng)
            self._layers(layers_alike(windows, rng, 2))
            self._layers(layers_alike(windows._replace(columns=core.channels), rng, 2))  # which wait for those before
            self._layers(layers_alike(random_shape(core, rng), rng, 2))
            self._layers([_brought_back(random_shape(core, rng), rng)])
        for _ in range(_WHOLE):
            for made in (_brought_back, _at_bounds, _with_small_products):
                self._layers([made(GemmShape(core.rows, BYTES, core.channels), rng)])
        for first in range(len(_EXTREMES) ** 2):
            self._layers([with_extreme_products(GemmShape(core.rows, BYTES, core.channels), first, rng)])
        if self._pattern == "never":
            for windows in _FAR:
                self._layers([layer(windows, rng)])
        self._layers(layers_alike(GemmShape(core.rows + 1, BYTES + 1, core.columns + 1), rng, 1))
        del self._cycles[-rng.randrange(1, 12) :]
        return self._steps()

    def steps_of_registers(self) -> Steps:
        """The program of `config_registers`, but what depends on how many channels there are.

        Behind each write that is refused STATUS is read and cleared.
        """

        def is_same(row: Row) -> bool:
            _, address, data = row
            channel = data - 1 if address == CHANNELS_REGISTER else (address & ~3) - TABLES >> 4
            return not self._core.channels <= channel < CHANNELS

        for row in filter(is_same, register_program(self._rng)):
            self._on_bus(row)
            if row[0] and self._registers.outputs(row)["error"]:
                self._on_bus((0, STATUS, 0))
                self._on_bus((1, STATUS, 7))
        return self._steps()

    def _on_bus(self, row: Row) -> None:
        """A cycle of the bus; without a refused write, whether what is written fits is not asked."""
        self._cycle(row, {"error_o": self._registers.outputs(row)["error"] or None})
        self._registers.edge(row)

    def _steps(self) -> Steps:
        core, rows = self._core, self._cycles
        bits = {
            "bus_write_i": 1, "bus_address_i": 16, "bus_data_i": 32, "a_valid_i": 1, "a_data_i": _WORD,
            "b_valid_i": 1, "b_data_i": _WORD, "ready_i": 1, "bus_read_data_o": 32, "error_o": 1, "busy_o": 1,
            "a_ready_o": 1, "b_ready_o": 1, "valid_o": 1, "result_o": 8, "keep_o": 1, "last_o": 1,
        }  # fmt: skip
        counts = {"a_data_i": core.rows, "b_data_i": core.columns, "result_o": core.columns, "keep_o": core.columns}
        signals = {port: _signal(size, counts.get(port), [row[port] for row in rows]) for port, size in bits.items()}
        inputs = {port: signal for port, signal in signals.items() if port.endswith("_i")}
        outputs = {port: signal for port, signal in signals.items() if port.endswith("_o")}
        return Steps(inputs, outputs, np.zeros(len(rows), bool))

    def _written(self, settings: Mapping[str, int]) -> None:
        """A word a cycle in any order, those of other units too."""
        *words, last = register_writes(settings)
        mine = {address for address, _ in (*words, last)}
        for register in REGISTERS:
            word = self._rng.choice((register.reset, self._rng.getrandbits(32) & self._rng.getrandbits(32)))
            if register.address not in mine and register.takes(word):
                words.append((register.address, word))
        self._rng.shuffle(words)
        for address, data in (*words, last):
            self._on_bus((1, address, data))

    def _layers(self, layers: Sequence[GemmLayer]) -> None:
        core, shape = self._core, layers[0].shape
        self._written(layers[0].registers)
        sides = (self._stalls.offers, self._stalls.offers, self._stalls.takes)
        most = 3 * len(layers) * layer_cycles(core, shape)
        traffic = GemmTraffic(*(list(islice(side(self._rng), most)) for side in sides))
        due = beat_cycles(core, shape, traffic, len(layers))
        a = list(_offered(traffic.a, due.a, [word for layer in layers for word in layer.a_words(core)]))
        b = list(_offered(traffic.b, due.b, [word for layer in layers for word in layer.b_words(core)]))
        beats = [beat for layer in layers for beat in layer.expected(core)]
        ends = [cycle for cycle, beat in zip(due.taken, beats, strict=True) if beat.last]
        begins = [
            min(due.a[layer * len(due.a) // len(layers)], due.b[layer * len(due.b) // len(layers)])
            for layer in range(len(layers))
        ]
        at = 0
        for cycle in range(due.taken[-1] + 1 + _IDLE):
            given = {**_side("a", a, cycle), **_side("b", b, cycle)}
            given["ready_i"] = int(cycle >= len(traffic.takes) or traffic.takes[cycle])
            given["busy_o"] = int(any(begin < cycle <= end for begin, end in zip(begins, ends, strict=True)))
            if at < len(beats) and cycle >= due.there[at]:
                numbers = beats[at].numbers
                unknown = core.columns - len(numbers)
                given |= {"valid_o": 1, "last_o": int(beats[at].last), "result_o": [*numbers, *[None] * unknown]}
                given["keep_o"] = [1] * len(numbers) + [0] * unknown
                at += cycle == due.taken[at]
            self._cycle(self._anywhere(), given)

    def _what_does_not_fit(self) -> None:
        """Beats that are offered are not accepted."""
        refused = {"a_valid_i": 1, "b_valid_i": 1, "ready_i": 1, "a_ready_o": 0, "b_ready_o": 0, "error_o": 1}
        shape = GemmShape(self._core.rows, 5, 1)
        for good, (low, high) in zip(layers_by_reading(shape, self._rng), OFFSETS_OF, strict=True):
            beyond = (low - 1, high + 1, 512 + high, -(1 << 31), (1 << 31) - 1)
            bad = [{"width": BYTES * self._core.steps + 1 + (1 << bit)} for bit in range(15)]
            bad += [{name: value} for name in ("a_offset", "b_offset") for value in beyond]
            for changed in ({}, *bad):
                self._written({**good.registers, **changed})
                if changed:
                    self._cycle(self._anywhere(), refused)
            self._layers([good])
        good = layer(Windows((2, 4, BYTES), (1, 2), 1), self._rng)
        wrong = [{"image_width": self._core.image // 2 + 1 + (1 << bit)} for bit in range(10)]
        wrong += [{"image_height": 3 + (1 << bit)} for bit in range(10)]
        for changed in (*wrong, *({name: 3} for name in ("window_width", "window_height", "pixel_words"))):
            self._written({**good.registers, **changed})
            self._cycle(self._anywhere(), refused)
        self._layers([good])

    def _anywhere(self) -> tuple[int, int, int]:
        """A read of any register, or of the tables."""
        addresses = [0, *(register.address for register in REGISTERS), TABLES, TABLES + 4]
        return 0, self._rng.choice(addresses), self._rng.getrandbits(32)

    def _cycle(self, bus: tuple[int, int, int], given: Cycle) -> None:
        """With any data where none are given, and outputs that say that nothing happens."""
        write, address, data = bus
        core, rng = self._core, self._rng
        usual: dict[str, Numbers] = {
            "bus_write_i": write, "bus_address_i": address, "bus_data_i": data, "a_valid_i": 0, "b_valid_i": 0,
            "a_data_i": [rng.getrandbits(_WORD) for _ in range(core.rows)],
            "b_data_i": [rng.getrandbits(_WORD) for _ in range(core.columns)],
            "ready_i": rng.getrandbits(1), "bus_read_data_o": self._registers.outputs(bus)["read_data"],
            "error_o": 0, "busy_o": 0, "a_ready_o": None, "b_ready_o": None, "valid_o": 0,
            "result_o": [None] * core.columns, "keep_o": [None] * core.columns, "last_o": None,
        }  # fmt: skip
        self._cycles.append({**usual, **given})


def _whole_images(core: GemmCore) -> Iterator[Windows]:
    """Each word of as large an image as there is room for, in each of the windows at once, of early and late blocks.

    Again for other rows: late blocks wait until there is room for them.
    """
    for left in range(_MOST_LEFT + 1):
        for width in (1, 2):
            yield from [Windows((1, core.image, BYTES), (1, width), core.channels, Geometry(left=left))] * _AGAIN


def _brought_back(shape: GemmShape | Windows, rng: Random) -> GemmLayer:
    """A layer whose offset is far from a byte, and whose biases bring a row of each channel back: every bit counts."""
    some = layer(shape, rng)
    settings = {**some.settings, "offset": rng.randint(-(1 << 26), 1 << 26), "minimum": 128 * some.settings["signed"]}
    settings["maximum"] = settings["minimum"] ^ 255
    return _with_biases(some, settings, [0] * some.shape.n, rng)


def _at_bounds(shape: GemmShape, rng: Random) -> GemmLayer:
    """A layer of any bounds; a row of each channel comes within a few units of one of them."""
    some = layer(shape, rng)
    least = -128 * some.settings["signed"]
    low, high = sorted(rng.randint(least, least + 255) for _ in range(2))
    settings = {**some.settings, "offset": rng.randint(-300, 300), "minimum": low & 0xFF, "maximum": high & 0xFF}
    return _with_biases(some, settings, [rng.choice((low, high)) + rng.randint(-9, 9) for _ in range(shape.n)], rng)


def _with_biases(some: GemmLayer, settings: Mapping[str, int], results: Sequence[int], rng: Random) -> GemmLayer:
    """The layer with biases by which a row of each channel, in turn, comes to a result, or to one beside it."""
    sums, own, first = some.sums(), dict(settings), rng.randrange(some.shape.m)
    for channel, result in enumerate(results):
        negative = own["rounding"] != ONE_ROUNDING and rng.randrange(2)
        multiplier, (shift, left) = rng.randint(1 << 29, (1 << 31) - 1), rng.choice(((0, 0), (1, 0), (2, 0), (0, 1)))
        multiplier = -multiplier if negative else multiplier
        row = (first + channel) % some.shape.m
        bias = (result - own["offset"] << 31 + shift - left) // multiplier - int(sums[row, channel])
        fields = {"bias": bias, "multiplier": multiplier, "shift": shift, "left_shift": left}
        own |= {channel_setting(field, channel): value for field, value in fields.items()}
    return some.with_settings(own)


def with_extreme_products(shape: GemmShape, first: int, rng: Random) -> GemmLayer:
    """A layer of two roundings with the least or greatest number by the least or greatest multiplier in each channel.

    The four products take turns over the channels; channel 0 has the one that is `first`.
    """
    some = layer(shape, rng)
    sums, signed = some.sums(), some.settings["signed"]
    settings = {**some.settings, "rounding": rng.randrange(2), "offset": 128 * (1 - signed), "minimum": 128 * signed}
    settings["maximum"] = settings["minimum"] ^ 255
    products = list(product(_EXTREMES, _EXTREMES))
    for channel in range(shape.n):
        number, multiplier = products[(first + channel) % len(products)]
        bias = S32.wrapped(number - int(rng.choice(sums[:, channel])))
        own = {"bias": bias, "multiplier": multiplier, "shift": rng.choice((0, 24)), "left_shift": 0}
        settings |= {channel_setting(field, channel): value for field, value in own.items()}
    return some.with_settings(settings)


def _with_small_products(shape: GemmShape, rng: Random) -> GemmLayer:
    """A layer of one rounding and left shifts that show the low bits of products: in each channel those of one row."""
    some = layer(shape, rng)
    sums, signed = some.sums(), some.settings["signed"]
    settings = {**some.settings, "rounding": ONE_ROUNDING, "offset": 128 * (1 - signed), "minimum": 128 * signed}
    settings["maximum"] = settings["minimum"] ^ 255
    for channel in range(shape.n):
        left = rng.randint(10, 30)
        size = 39 - left  # bits of a product that has a byte behind the shift
        multiplier = rng.getrandbits(rng.randint(1, size)) | 1
        number = rng.choice((1, -1)) * rng.getrandbits(size) // (2 * multiplier)
        own = {"bias": number - int(rng.choice(sums[:, channel])), "multiplier": multiplier}
        own |= {"shift": 0, "left_shift": left}
        settings |= {channel_setting(field, channel): value for field, value in own.items()}
    return GemmLayer(settings, some.a, some.b)


def _offered(decided: Decided, accepted: Sequence[int], words: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """From when to when each word is offered."""
    before = -1
    for cycle, word in zip(accepted, words, strict=True):
        first = next((at for at in range(before + 1, len(decided)) if decided[at]), max(before + 1, len(decided)))
        yield first, cycle, word
        before = cycle


def _side(name: str, offers: Sequence[tuple[int, int, int]], cycle: int) -> dict[str, Numbers]:
    """What is offered in a cycle, and whether it is accepted."""
    for first, last, word in offers:
        if first <= cycle <= last:
            numbers = [word >> at & 0xFFFFFFFF for at in range(0, 16 * _WORD, _WORD)]
            return {f"{name}_valid_i": 1, f"{name}_data_i": numbers, f"{name}_ready_o": int(cycle == last)}
    return {f"{name}_valid_i": 0, f"{name}_ready_o": None}


def _signal(bits: int, count: int | None, column: Sequence[Numbers]) -> PortSignal:
    """A number in each cycle, or `count` of them."""
    if count is None:
        numbers = np.array([0 if value is None else value for value in column], np.int64)
        return PortSignal(bits, numbers, np.array([value is not None for value in column]))
    rows = [list(value)[:count] for value in column if isinstance(value, Sequence)]
    numbers = np.array([[0 if one is None else one for one in row] for row in rows], np.int64)
    return PortSignal(bits, numbers, np.array([[one is not None for one in row] for row in rows]))
