"""Requantizations that are recognised by what their code holds: constant factors, accumulators of 64 bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from sim.check.vectors import make_vectors
from sim.explanation.of_kernel import recognition
from sim.explanation.of_kernel.constants import constants_of
from sim.explanation.of_kernel.kernel import explain_kernel
from sim.explanation.of_kernel.requantization import KernelLanes, RecognisedGolden
from sim.golden import double_rounding, single_rounding, single_rounding_floor, single_rounding_of_long
from sim.kernels import Domain, Kernel, parse_prototype

MULTIPLIER = 1518500250
PLACE = -5
Golden = Callable[[Mapping[str, Any]], dict[str, Any]]


def kernel_of(prototype: str, golden: Golden, sources: tuple[Path, ...] = (), **domain: Domain) -> Kernel:
    """A kernel that is never built."""
    name, signature = parse_prototype(prototype)
    return Kernel(name=name, symbol=name, sources=sources, signature=signature, golden=golden, domain=domain)


def told(kernel: Kernel, results_by: Golden) -> list[str]:
    """What is said of outputs that another golden reference gives."""
    inputs = make_vectors(kernel, 40_000, 1).inputs
    return explain_kernel(kernel, inputs, [results_by(case) for case in inputs])


CONSTANT = "void f(const int32_t x[n], int8_t out[n], size_t n)"


def clipped(values: Any) -> dict[str, Any]:
    return {"out": np.clip(values.astype(np.int64) + PLACE, -128, 127).astype(np.int8)}


def by_constants(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return clipped(double_rounding(inputs["x"], MULTIPLIER, -9))


def by_parameters(inputs: Mapping[str, Any], multiplier: int, shift: int) -> dict[str, Any]:
    return clipped(double_rounding(inputs["x"], multiplier, -shift))


def otherwise(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return clipped(single_rounding(inputs["x"], MULTIPLIER, -9))


@pytest.mark.parametrize("golden", [by_constants, partial(by_parameters, multiplier=MULTIPLIER, shift=9)])
def test_factor_and_zero_point_that_are_constants_of_the_golden_reference_are_recognised(golden: Golden) -> None:
    kernel = kernel_of(CONSTANT, golden, x=Domain(-60000, 60000))
    sentences = told(kernel, otherwise)
    roles = f"x by {MULTIPLIER}, right shift 9, then + {PLACE}"
    assert sentences[0].startswith("the golden reference is double_rounding")
    assert sentences[0].endswith(f" of {roles}")
    assert sentences[1].startswith("your outputs are single_rounding on all ")


def by_the_last_of_16(inputs: Mapping[str, Any]) -> dict[str, Any]:
    _others = (1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17)
    return {"out": np.clip(double_rounding(inputs["x"], MULTIPLIER, -16), -100, 100).astype(np.int8)}


def test_a_shift_is_found_among_sixteen_numbers_that_the_code_has() -> None:
    kernel = kernel_of(CONSTANT, by_the_last_of_16, x=Domain(-(1 << 23), 1 << 23))
    assert [abs(number) for number in constants_of(kernel)].index(16) == 15

    def floor(inputs: Mapping[str, Any]) -> dict[str, Any]:
        return {"out": single_rounding_floor(inputs["x"], MULTIPLIER, -16).clip(-100, 100).astype(np.int8)}

    assert told(kernel, floor)[0].endswith(f" of x by {MULTIPLIER}, right shift 16")


def test_constants_of_a_source_are_read(tmp_path: Path) -> None:
    source = tmp_path / "k.c"
    source.write_text("int f(int x) { return (int)((x * 0x5A82799AL + 1.5 + 0777) >> 38u); } // v2s1")
    kernel = kernel_of(CONSTANT, lambda inputs: {}, sources=(source,))
    assert constants_of(kernel) == [0x5A82799A, 38]


def test_a_table_of_numbers_is_none_of_constants(tmp_path: Path) -> None:
    """The golden reference has one, the source more than are taken of both."""
    source = tmp_path / "k.c"
    source.write_text(f"static const int TABLE[] = {{{', '.join(map(str, range(1000, 1500)))}}};")
    kernel = kernel_of(CONSTANT, lambda inputs: {"out": inputs["x"] + 12_345}, sources=(source,))
    found = constants_of(kernel)
    assert (len(found), 12_345 in found, found[-1]) == (400, True, 1000 + 400 - 2)


def test_accumulators_of_64_bits_are_recognised() -> None:
    """CMSIS-NN's: 48 bits by a factor of 15."""
    prototype = """void f(const int64_t x[m][n], const int64_t bias[n], int32_t multiplier, int32_t shift,
                   int16_t out[m][n], size_t m, size_t n)"""

    def golden(inputs: Mapping[str, Any], upwards: int = 0) -> dict[str, Any]:
        scaled = single_rounding_of_long(inputs["x"] + inputs["bias"], inputs["multiplier"], inputs["shift"])
        return {"out": np.clip(scaled.astype(np.int64) + upwards, -(1 << 15), (1 << 15) - 1).astype(np.int16)}

    wide = Domain(-(1 << 40), 1 << 40)
    kernel = kernel_of(
        prototype,
        golden,
        x=wide,
        bias=wide,
        m=Domain(0, 5),
        n=Domain(0, 50),
        multiplier=Domain(1 << 30, (1 << 31) - 1),
        shift=Domain(-31, -26),
    )
    sentences = told(kernel, partial(golden, upwards=1))
    assert sentences[0].startswith("the golden reference is single_rounding_of_long")
    assert sentences[0].endswith(" of x + bias by multiplier, left shift shift")
    assert not any("other" in sentence for sentence in sentences)


def in_a_structure(inputs: Mapping[str, Any], rule: Callable[..., Any] = double_rounding, more: int = 0) -> Any:
    zero_point, low, high = inputs["p"].values() if isinstance(inputs["p"], Mapping) else inputs["p"]
    scaled = rule(inputs["acc"] + inputs["bias"], inputs["p.multiplier"], inputs["p.left_shift"]).astype(np.int64)
    return {"out": np.clip(scaled + zero_point + more, low, high).astype(np.int8)}


FIELDS = "const int32_t *multiplier[channels]; const int32_t *left_shift[channels]; int32_t zero_point; int8_t lo, hi;"


def kernel_with_a_structure(structure: str) -> Kernel:
    return kernel_of(
        f"void f(const int32_t acc[pixels][channels], const int32_t bias[channels], {structure}, "
        "int8_t out[pixels][channels], size_t pixels, size_t channels)",
        in_a_structure,
        (),
        **{
            "acc": Domain(-(1 << 20), 1 << 20), "bias": Domain(-99, 99), "p.multiplier": Domain(1 << 30, (1 << 31) - 1),
            "p.left_shift": Domain(-15, -1), "p.zero_point": Domain(-9, 9), "p.lo": Domain(-128, -100),
            "p.hi": Domain(100, 127), "pixels": Domain(1, 3), "channels": Domain(1, 21),
        },
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("structure", [f"const struct {{ {FIELDS} }} *p", f"struct {{ {FIELDS} }} p"])
def test_fields_of_a_structure_are_operands(structure: str) -> None:
    sentences = told(kernel_with_a_structure(structure), partial(in_a_structure, rule=single_rounding))
    roles = "acc + bias by p.multiplier, left shift p.left_shift, then + p.zero_point, bounded by p.lo and p.hi"
    assert sentences[0].startswith("the golden reference is double_rounding")
    assert sentences[0].endswith(f" of {roles}")
    assert sentences[1].startswith("your outputs are single_rounding on all ")


def test_fields_of_a_structure_that_is_given_as_a_tuple_are_operands() -> None:
    kernel = kernel_with_a_structure(f"const struct {{ {FIELDS} }} *p")
    inputs = [{**case, "p": tuple(case["p"].values())} for case in make_vectors(kernel, 4000, 1).inputs]
    results = [in_a_structure(case, single_rounding) for case in inputs]
    assert explain_kernel(kernel, inputs, results)[0].startswith("the golden reference is double_rounding")


@pytest.mark.slow
def test_a_number_of_a_structure_that_is_one_off_is_told() -> None:
    kernel = kernel_with_a_structure(f"const struct {{ {FIELDS} }} *p")
    sentences = told(kernel, partial(in_a_structure, more=1))
    assert "hint: with p.zero_point one more, the golden reference gives all lanes as yours" in sentences


@pytest.mark.parametrize(("dtype", "why"), [
    ("int32_t", "no way to read x, scale as its numbers gives all lanes; `lanewise conventions` has what was tried"),
    ("float", "no array of integers and no step is out[n], so none is what scale scales"),
])  # fmt: skip
def test_why_a_reference_with_a_multiplier_is_told_as_nothing_known(dtype: str, why: str) -> None:
    """And what to write is told of a kernel in which nothing is called as what scales."""

    def golden(inputs: Mapping[str, Any], more: int = 0) -> dict[str, Any]:
        numbers = np.asarray(inputs["x"]).astype(np.int64)
        return {"out": ((numbers * numbers * 3 + 5 * numbers + more) % 251 - 125).astype(np.int8)}

    said = []
    for name in ("scale", "other"):
        prototype = f"void f(const {dtype} x[n], int32_t {name}, int8_t out[n], size_t n)"
        numbers = {name: Domain(1 << 30, (1 << 31) - 1), "x": Domain(-99, 99), "n": Domain(1, 50)}
        said.append(told(kernel_of(prototype, golden, (), **numbers), partial(golden, more=1)))
    unknown = "the golden reference is no convention that is known: "
    assert [[one for one in some if one.startswith(unknown)] for some in said] == [[unknown + why], []]
    advice = "no convention was recognised: no argument is called as a multiplier or scale is; name it so, or give "
    assert [[one for one in some if one.startswith(advice)] != [] for some in said] == [False, True]


@pytest.mark.parametrize(
    ("others", "ending"),
    [
        ((), ["the golden reference is a of x"]),
        (("b",), ["your outputs are not b, the only other convention that takes these numbers"]),
        (("b", "c"), ["your outputs are none of the other 2 conventions that take these numbers"]),
    ],
)
def test_outputs_of_no_known_convention(
    others: tuple[str, ...], ending: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = kernel_of(CONSTANT, by_constants)
    found = RecognisedGolden(cast(Any, "x"), ("a",), others)
    monkeypatch.setattr(recognition, "requantization_of", lambda *_: found)
    monkeypatch.setattr(KernelLanes, "give", lambda *_: False)
    inputs = [{"x": np.array([1000], np.int32), "n": 1}]
    assert (
        recognition.recognised(kernel, inputs, [otherwise(inputs[0] | {"x": np.array([1], np.int32)})])[-1:] == ending
    )
