"""The conventions that `lanewise model` names whole layers by: whose they are, and what tells two of them apart.

They are more than one requantization, so that no operands of one lane are all that they take: each is tried on layers
made for it, the plainest first.  Conventions of one requantization are those of `sim.golden.registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import cache
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from isa.errors import LanewiseError
from sim.explanation.addition import addition_rules
from sim.golden.addition import AddParameters
from sim.golden.layers.bilinear import Resizing
from sim.golden.registry.conventions import CONVENTIONS, RUNTIMES, rank_of
from sim.models.layers import Activated, Averaged, ByRules, FromReals, Normalized, Pooled
from sim.models.network import AnyArray, TensorScale
from sim.models.questions import plain, question_of
from sim.models.rules.dequantizing import WAYS
from sim.models.rules.functions.sloping import over_root_rules, sloping_rules
from sim.models.rules.interpolating import CutInterpolation, interpolating_rules
from sim.models.rules.joining import Joining
from sim.models.rules.subtracting import subtracting_rules

Made = Pooled | FromReals | Activated | Normalized | Averaged | ByRules
Number = int | float
_BYTES: Final = ("int8", "uint8")
_TYPES: Final = (*_BYTES, "int16")
_OTHERS: Final = tuple(float(one) for one in np.linspace(0.02, 0.13, 12))
"""Scales that are no powers of two."""
_NO_PART_OF_ONE: Final = 0.0055
_OUTPUTS: Final = {"logistic": (2.0**-8,), "tanh": (2.0**-7, 0.0416125)}
"""Scales of the output; of the last one tanh(1/16) is next to one and a half, in float32."""
_EIGHTHS: Final = 1024
"""Of a scale, to either side of 0: what bytes reach."""
_ORIGINALS: Final = {"int8": 0, "uint8": 128, "int16": 0}
"""Zero points in the middle of each type."""


class NoSuchConvention(LanewiseError, LookupError):
    """A name that no convention of a layer has; the message is one sentence."""


@dataclass(frozen=True, kw_only=True)
class LayerConvention:
    """A convention by its name: the layers that may be it, of which types, and its users ("" where none is known)."""

    name: str
    layers: tuple[str, ...]
    types: tuple[str, ...]
    users: str

    def as_json(self) -> dict[str, object]:
        """With the keys that a convention of one requantization has."""
        return {
            "name": self.name,
            "family": ", ".join(self.layers),
            "operands": [],
            "summary": f"of {', '.join(self.types)}",
            "formula": "",
            "users": self.users,
            "rows": [],
            "example": "",
        }


@dataclass(frozen=True, kw_only=True)
class LayersApart:
    """What tells two conventions of a kind of layer apart, the smallest of the numbers that were tried.

    `of` is the kind and the type, `parameters` are in words; `results` are what both give there, `exact` the real
    number that they approximate.
    """

    names: tuple[str, str]
    of: str
    verdict: Literal["apart", "not told apart"]
    tried: int
    operands: Mapping[str, int]
    results: tuple[Number | None, Number | None] = (None, None)
    exact: Fraction | None = None
    parameters: str = ""

    def as_json(self) -> dict[str, object]:
        """With the keys that two conventions of one requantization have."""
        return {
            "between": list(self.names),
            "family": self.of,
            "verdict": self.verdict,
            "operands": dict(self.operands),
            "results": list(self.results),
            "exact": None if self.exact is None else str(self.exact),
            "operand_sets_tried": self.tried,
            "note": self.parameters,
        }


@dataclass(frozen=True, kw_only=True)
class _Way:
    users: str
    run: Callable[[], AnyArray]
    exact: Callable[[int], Fraction]


@dataclass(frozen=True, eq=False, kw_only=True)
class Example:
    """A layer that is small: its kind, type and parameters in words, and what each convention makes of it, flat.

    `inputs` says of an element what it is made of.
    """

    layer: str
    type: str
    parameters: str
    ways: Mapping[str, _Way]
    inputs: Callable[[int], Mapping[str, int]]


@cache
def layer_conventions() -> Mapping[str, LayerConvention]:
    """By name, those that no convention of one requantization has."""
    found: dict[str, tuple[dict[str, None], dict[str, None], str]] = {}
    for example in examples():
        for name, way in example.ways.items():
            layers, types, _ = found.setdefault(plain(name), ({}, {}, way.users))
            layers[example.layer] = types[example.type] = None
    return {
        name: LayerConvention(name=name, layers=tuple(layers), types=tuple(types), users=users)
        for name, (layers, types, users) in found.items()
        if name not in CONVENTIONS
    }


def layer_conventions_of(whose: str) -> list[LayerConvention]:
    """Those of a runtime that `lanewise model` compares with, or of whoever their users name."""
    every = layer_conventions().values()
    found = [one for one in every if rank_of(one.users, whose) < len(RUNTIMES.get(whose, ()))]
    return found or [one for one in every if whose and whose.lower() in one.users.lower()]


def layers_apart(one: str, other: str) -> LayersApart | None:
    """The first of the examples that tells two conventions apart, None where no kind of layer may be either.

    Raises NoSuchConvention for a name that no convention has at all.
    """
    known = dict.fromkeys([*CONVENTIONS, *layer_conventions()])
    for name in (one, other):
        if name not in known:
            near = get_close_matches(name, known) or [each for each in known if name and name in each][:8]
            hint = f"the nearest are {', '.join(near)}" if near else "`lanewise conventions` lists them"
            raise NoSuchConvention(f"there is no convention {name!r}: {hint}")
    tried, of = 0, ""
    for example in examples():
        pairs = [
            (first, second)
            for name, first in example.ways.items()
            for other_name, second in example.ways.items()
            if (plain(name), plain(other_name)) == (one, other)
        ]
        for first, second in pairs:
            left, right = first.run(), second.run()
            tried, of = tried + left.size, of or f"{example.layer} of {example.type}"
            places = np.flatnonzero(left != right)
            if places.size:
                at = int(min(places, key=lambda place: sum(map(abs, example.inputs(int(place)).values()))))
                return LayersApart(
                    names=(one, other), of=f"{example.layer} of {example.type}", verdict="apart", tried=tried,
                    operands=example.inputs(at), results=(left[at].item(), right[at].item()), exact=first.exact(at),
                    parameters=example.parameters,
                )  # fmt: skip
    if not of:
        return None
    return LayersApart(names=(one, other), of=of, verdict="not told apart", tried=tried, operands={})


def _scale(units: float, zero: int = 0) -> TensorScale:
    return TensorScale(np.full(1, units, np.float32), np.full(1, zero, np.int64), 0)


def _every(dtype: str) -> AnyArray:
    limits = np.iinfo(dtype)
    return np.arange(limits.min, limits.max + 1).astype(dtype)


def _of_made(layer: str, kind: str, parameters: str, made: Made, shape: Sequence[int], dtype: str,
             inputs: Callable[[int], Mapping[str, int]] | None = None) -> Example:  # fmt: skip
    """The conventions that a layer is asked for, within the bounds of its type."""
    (part,) = question_of(made, np.zeros(shape, dtype)).parts
    plain_ones = [one for one in part.candidates if one.limits == part.candidates[0].limits]

    def way(one: Any) -> _Way:
        return _Way(
            users=one.rule.note, run=lambda: one.run(part.operands),
            exact=lambda at: one.rule.steps(part.element(at))[-1].exact,
        )  # fmt: skip

    ways = {one.rule.name: way(one) for one in plain_ones}
    return Example(layer=layer, type=kind, parameters=parameters, ways=ways, inputs=inputs or part.inputs)


@cache
def examples() -> Sequence[Example]:
    """Of every kind of layer, the plainest first."""
    return [*_softmaxes(), *_means(), *_functions(), *_pools(), *_of_two(), *_joined(), *_images(), *_reals()]


def _softmaxes() -> Iterator[Example]:
    """Rows of two numbers, the second of which is the middle of the type."""
    for units in (2.0**-4, 2.0**-3, 0.11, *_OTHERS):
        for dtype, to in (("int8", "int8"), ("uint8", "uint8"), ("int8", "int16"), ("uint8", "int16"), ("int16",) * 2):
            every = _every(dtype)[:: 37 if dtype == "int16" else 1]
            rows = np.stack([every, np.full_like(every, _ORIGINALS[dtype])], 1)
            fine = units / 256 if dtype == "int16" else units
            scale = _scale(fine, _ORIGINALS[dtype])
            share = _scale(2.0**-15) if dtype == "int16" else _scale(2.0 ** -np.iinfo(to).bits, np.iinfo(to).min)

            def row(at: int, rows: AnyArray = rows) -> Mapping[str, int]:
                return {"first": int(rows[at // 2, 0]), "second": int(rows[at // 2, 1]), "place": at % 2}

            kind, told = f"{dtype} to {to}", f"scale {fine:g} from {scale.zero_point}"
            made = Normalized(numbers=rows, scale=scale, to=share, dtype=to, beta=1.0)
            yield _of_made("SOFTMAX", kind, told, made, rows.shape, to, row)
            if dtype == to in _BYTES:  # of which one of another scale is cut to a whole part of 1
                for other in (share, _scale(_NO_PART_OF_ONE, np.iinfo(to).min)):
                    made = Normalized(numbers=rows, scale=scale, to=other, dtype=to, beta=None)
                    shares = f"{told} to {other.scales[0]:g}"
                    yield _of_made("Softmax of ONNX", kind, shares, made, rows.shape, to, row)


def _means() -> Iterator[Example]:
    """Sums of a few numbers, in whole blocks of channels."""
    sums = np.arange(-1024, 1024).reshape(-1, 1, 1, 16)
    for before, behind, count in ((1.0, 1.0, 2), (1.0, 0.75, 2), (1.0, 0.75, 3), (1.0, 0.3, 7), (1.0, 1.3, 49)):
        for dtype in _TYPES:
            zero = _ORIGINALS[dtype]
            for is_of_images in (True, False):
                made = Averaged(sums=sums + zero * count, count=count, dtype=dtype, scale=_scale(before, zero),
                                to=_scale(behind, zero), is_of_images=is_of_images)  # fmt: skip
                told = f"scale {before:g} to {behind:g}, both from {zero}"
                yield _of_made("MEAN", dtype, told, made, sums.shape, dtype)


def _functions() -> Iterator[Example]:
    for units, fine in ((2.0**-4, 2.0**-12), (0.03, 2.0**-11), *((one, one / 256) for one in _OTHERS), (2.0**-14,) * 2):
        for function in ("logistic", "tanh"):
            for dtype in _TYPES:
                numbers, zero = _every(dtype), _ORIGINALS[dtype]
                of_scale = fine if dtype == "int16" else units
                made = Activated(numbers=numbers, function=function, scale=_scale(of_scale, zero))
                told = f"scale {of_scale:g} from {zero}"
                yield _of_made(function.upper(), dtype, told, made, numbers.shape, dtype)
                for to in _OUTPUTS[function] if dtype in _BYTES else ():
                    made = Activated(numbers=numbers, function=function, scale=_scale(units, zero), to=_scale(to, zero))
                    name = {"logistic": "Sigmoid of ONNX", "tanh": "Tanh of ONNX"}[function]
                    yield _of_made(name, dtype, f"{told} to {to:g}", made, numbers.shape, dtype)
    for before, behind in ((2.0**-4, 2.0**-4), (0.05, 0.04), (0.11, 0.07)):
        for function, alphas in (("hard_swish", (1.0,)), ("leaky_relu", (-0.5, 0.3))):
            for alpha in alphas:
                for dtype in _BYTES if function == "hard_swish" else _TYPES:
                    numbers, zero = _every(dtype), _ORIGINALS[dtype]
                    made = Activated(numbers=numbers, function=function, scale=_scale(before, zero),
                                     to=_scale(behind, zero), alpha=alpha)  # fmt: skip
                    slope = f", alpha {alpha:g}" if function == "leaky_relu" else ""
                    told = f"scale {before:g} to {behind:g}, both from {zero}{slope}"
                    yield _of_made(function.upper(), dtype, told, made, numbers.shape, dtype)


def _pools() -> Iterator[Example]:
    counts, sums = (array.astype(np.int64) for array in np.meshgrid(np.arange(1, 10), np.arange(-64, 64)))
    yield _of_made("AVERAGE_POOL_2D", "int8", "", Pooled(sums=sums, counts=counts, dtype="int8"), sums.shape, "int8")


def _of_two() -> Iterator[Example]:
    """Two numbers: their difference, one as the slope of the other, one over the root of both squares, their sum."""
    for units in ((1.0, 1.0, 1.0), (1.0, 0.5, 1.0), (1.0, 0.5, 2.0), *((one, 0.3, one + 0.2) for one in _OTHERS)):
        for dtype in _TYPES:
            zero, bits = _ORIGINALS[dtype], np.iinfo(dtype).bits
            a, b = (array + zero for array in np.meshgrid(np.arange(-64, 64), np.arange(-64, 64), indexing="ij"))
            fine = tuple(_scale(unit * 2.0**-4, zero) for unit in units)
            scales = (fine[0], fine[1], fine[2])
            told = f"scales {', '.join(f'{one.scales[0]:g}' for one in scales)}, all from {zero}"
            for layer, rules in (("SUB", subtracting_rules(scales, bits, False)), ("PRELU", sloping_rules(scales))):
                made = ByRules(operands={"a": a, "b": b}, rules=rules, dtype=dtype)
                yield _of_made(layer, dtype, told, made, a.shape, dtype)
            if dtype in _BYTES:
                kept = [one for one in addition_rules(AddParameters(), np.dtype(dtype)) if "ONNX" in one.note]
                made = ByRules(operands={"a": a, "b": b}, rules=kept, dtype=dtype)
                yield _of_made("Add of ONNX", dtype, "", made, a.shape, dtype)
                squares = (a - zero) ** 2 + (b - zero) ** 2
                made = ByRules(operands={"a": a - zero, "sum": squares}, rules=over_root_rules(zero), dtype=dtype)
                yield _of_made("L2_NORMALIZATION", dtype, f"zero point {zero}", made, a.shape, dtype)


def _images() -> Iterator[Example]:
    rng = np.random.default_rng(1)
    sizes = (4, Resizing(3, 3)), (4, Resizing(7, 5, False, True)), (4, Resizing(13, 11, True, False))
    for side, by in (*sizes, (4, Resizing(60, 50)), (3, Resizing(4, 5))):
        for dtype in _TYPES:
            image = rng.integers(-100, 100, (1, side, side, 1)).astype(np.int16) + _ORIGINALS[dtype]
            image = np.clip(image, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)
            places = np.arange(by.rows * by.columns).reshape(1, by.rows, by.columns, 1)
            made = ByRules(operands={"place": places}, rules=interpolating_rules(image, by), dtype=dtype)
            pixels = ", ".join(map(str, image.ravel().tolist()))
            told = f"an image of {side} x {side}, {pixels}, to {by.rows} x {by.columns}"
            yield _of_made("RESIZE_BILINEAR", dtype, told, made, places.shape, dtype)
    number = np.arange(3).reshape(1, 1, 1, 3)
    cut = CutInterpolation(np.array([0.5, -0.5, 1.75], np.float32))
    yield _of_made("Resize of ONNX", "bytes", "", ByRules(operands={"number": number}, rules=[cut], dtype="int8"),
                   number.shape, "int8")  # fmt: skip


def _joined() -> Iterator[Example]:
    """Bytes of two scales that are joined, as TFLite does it."""
    for before, behind in ((2.0**-4, 2.0**-3), (0.1, 0.07)):
        bytes_ = _every("uint8")
        rule = Joining([_scale(before, 128), _scale(behind, 128)], _scale(behind, 128))
        made = ByRules(
            operands={"byte": bytes_, "tensor": np.zeros(bytes_.shape, np.int64)}, rules=[rule], dtype="uint8"
        )
        told = f"scale {before:g} to {behind:g}, both from 128"
        yield _of_made("CONCATENATION", "uint8", told, made, bytes_.shape, "uint8")


def _reals() -> Iterator[Example]:
    """Real numbers that become bytes or int16, averages of windows among them, and integers that become such."""
    numbers = (np.arange(-_EIGHTHS, _EIGHTHS) / 8).astype(np.float32)
    for units in (1.0, 0.7, 0.03):
        for dtype in _TYPES:
            zero = _ORIGINALS[dtype] + 3
            reals = numbers * np.float32(units)
            made = FromReals(numbers=reals, scale=_scale(units, zero), of_windows=True)

            def eighths(at: int) -> Mapping[str, int]:
                return {"eighths": at - _EIGHTHS}

            told = f"so many eighths of the scale {units:g}, from {zero}"
            yield _of_made("AveragePool of ONNX", dtype, told, made, numbers.shape, dtype, eighths)
    for units in (0.1, 0.03):
        for dtype in _TYPES:
            scale, bytes_ = _scale(units, _ORIGINALS[dtype] + 3), _every(dtype)

            def way(run: Callable[..., npt.NDArray[np.float32]], users: str, scale: TensorScale = scale,
                    bytes_: AnyArray = bytes_) -> _Way:  # fmt: skip
                return _Way(
                    users=users, run=lambda: run(bytes_, scale.scales[0], scale.zero_point),
                    exact=lambda at: (int(bytes_[at]) - scale.zero_point) * Fraction(float(scale.scales[0])),
                )  # fmt: skip

            def byte(at: int, bytes_: AnyArray = bytes_) -> Mapping[str, int]:
                return {"byte": int(bytes_[at])}

            ways = {run.__name__: way(run, users) for run, users in WAYS.items()}
            yield Example(layer="DEQUANTIZE", type=dtype, parameters=f"scale {units:g} from {scale.zero_point}",
                          ways=ways, inputs=byte)  # fmt: skip
