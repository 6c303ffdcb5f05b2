"""A requantization of a user's own with one fault: the report says what it is, and says it of no other fault."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.check.check import Job, check_job
from sim.check.vectors import make_vectors
from sim.golden import double_rounding
from sim.kernels import Domain, Kernel, parse_prototype
from support.sampled import sampled

SOURCE = """#include <stddef.h>
#include <stdint.h>
static int32_t scale(int32_t x, int32_t q, int32_t n)
{
    int64_t high = ((int64_t)x * q + (1 << 30)) >> 31;
    int64_t half = n ? (int64_t)1 << (n - 1) : 0;
    return (int32_t)(high >= 0 ? (high + half) >> n : -((-high + half) >> n));
}
static int32_t ties_up(int32_t x, int32_t q, int32_t n)
{
    int64_t high = ((int64_t)x * q + (1 << 30)) >> 31;
    return (int32_t)((high + (n ? (int64_t)1 << (n - 1) : 0)) >> n);
}
void requant(const int32_t *sums, const int32_t *corrections, const int32_t *q, const int32_t *n, int32_t place,
             int8_t *output, size_t rows, size_t channels)
{
    for (size_t i = 0; i < rows; ++i)
        for (size_t c = 0; c < channels; ++c) {
            int32_t x = (int32_t)((uint32_t)sums[i * channels + c] + (uint32_t)corrections[c]);
            int32_t y = scale(x, q[c], n[c]) + place;
            output[i * channels + c] = (int8_t)(y < -128 ? -128 : y > 127 ? 127 : y);
        }
}
"""
PROTOTYPE = (
    "void requant(const int32_t sums[rows][channels], const int32_t corrections[channels], const int32_t q[channels], "
    "const int32_t n[channels], int32_t place, int8_t output[rows][channels], size_t rows, size_t channels)"
)
STORED = "output[i * channels + c] ="
FAULTS = {
    "fix-up left out": ("scale(x, q[c], n[c])", "ties_up(x, q[c], n[c])"),
    "tail rounded otherwise": (
        "scale(x, q[c], n[c])", "(c < channels / 4 * 4 ? scale(x, q[c], n[c]) : ties_up(x, q[c], n[c]))",
    ),
    "one channel": ("scale(x, q[c], n[c])", "scale(x, q[c], n[c]) + (c == 2)"),
    "one row": ("scale(x, q[c], n[c])", "scale(x, q[c], n[c]) + (i == 1)"),
    "bias left out": (" + (uint32_t)corrections[c]", ""),
    "multiplier one ulp off": ("q[c], n[c]) + place", "q[c] + 1, n[c]) + place"),
    "stored transposed": (STORED, "output[c * rows + i] ="),
    "read transposed": ("sums[i * channels + c]", "sums[c * rows + i]"),
}  # fmt: skip
SENTENCES = {
    "fix-up left out": "your outputs are double_rounding_ties_up on all ",
    "tail rounded otherwise": "hint: all {} wrong lanes of output lie in the tail, behind the whole blocks of 4",
    "one channel": "hint: all {} wrong lanes of output lie in channel 2",
    "one row": "hint: all {} wrong lanes of output lie in row 1",
    "bias left out": "hint: with corrections left out (as 0), the golden reference gives all lanes as yours",
    "multiplier one ulp off": "hint: with q one more, the golden reference gives all lanes as yours",
    "stored transposed": (
        "hint: with its outputs stored as their transposes, the golden reference gives all lanes as yours"
    ),
    "read transposed": "hint: with sums read as its transpose, the golden reference gives all lanes as yours",
}


def golden(inputs: Mapping[str, Any]) -> dict[str, Any]:
    sums = (inputs["sums"].astype(np.int64) + inputs["corrections"]).astype(np.int32)
    scaled = double_rounding(sums, inputs["q"], -inputs["n"].astype(np.int64)).astype(np.int64)
    return {"output": np.clip(scaled + inputs["place"], -128, 127).astype(np.int8)}


@cache
def report_of(fault: str, folder: Path) -> tuple[tuple[str, ...], int]:
    """The sentences of the explanation, and how many lanes differ."""
    old, new = FAULTS[fault]
    assert SOURCE.count(old) == 1
    source = folder / f"requant_{len(list(folder.iterdir()))}.c"
    source.write_text(SOURCE.replace(old, new))
    name, signature = parse_prototype(PROTOTYPE)
    kernel = Kernel(
        name=name,
        symbol=name,
        sources=(source,),
        signature=signature,
        golden=golden,
        domain={
            "sums": Domain(-4000, 4000),
            "corrections": Domain(-500, 500),
            "q": Domain(1 << 30, (1 << 31) - 2, corners=(1 << 30, 3 << 29)),
            "n": Domain(1, 6),
            "place": Domain(-20, 20),
            "rows": Domain(0, 5),
            "channels": Domain(0, 11),
        },
    )
    outcome = check_job(kernel, Job(source, ("-O1",)), make_vectors(kernel, 1200, seed=5), engine="machine")
    assert outcome.mismatch is not None
    return outcome.mismatch.explanation, outcome.mismatch.lanes_different


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("faults")


@pytest.mark.slow
@pytest.mark.parametrize("fault", sampled(FAULTS, 2))
def test_the_report_says_what_the_fault_is(fault: str, folder: Path) -> None:
    told, wrong = report_of(fault, folder)
    wanted = SENTENCES[fault].format(f"{wrong:,}")
    assert any(sentence.startswith(wanted) for sentence in told), told


@pytest.mark.parametrize("fault", FAULTS)
def test_no_other_hint_is_given(fault: str, folder: Path) -> None:
    told, wrong = report_of(fault, folder)
    hints = [sentence for sentence in told if sentence.startswith("hint: ")]
    assert hints == [SENTENCES[fault].format(f"{wrong:,}")] * SENTENCES[fault].startswith("hint: ")


def test_arguments_without_telling_names_get_their_roles_by_trying(folder: Path) -> None:
    told, _ = report_of("fix-up left out", folder)
    assert told[0].endswith(" of sums + corrections by q, right shift n, then + place")


def test_a_tail_that_rounds_by_another_convention_is_named(folder: Path) -> None:
    told, wrong = report_of("tail rounded otherwise", folder)
    assert told[1].startswith(f"your {wrong:,} wrong lanes are double_rounding_ties_up")


def test_of_conventions_that_the_golden_reference_may_be_three_are_named_and_the_others_counted(folder: Path) -> None:
    told, _ = report_of("fix-up left out", folder)
    assert re.match(r"the golden reference is \w+ or \w+ or \w+ and \d+ more of sums", told[0])
