"""A kernel that takes one of its sizes for another is found, by a check and by a proof."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import sim.command.app
from support.sampled import sampled

pytestmark = pytest.mark.usefixtures("nothing_aimed")
PROTOTYPE = "void product(const int8_t a[m][k], const int8_t b[k][n], int32_t c[m][n], size_t m, size_t k, size_t n)"
REFERENCE = f"""
import numpy as np
from sim.kernels import Kernel, parse_prototype

NAME, SIGNATURE = parse_prototype("{PROTOTYPE}")

def golden(inputs):
    return {{"c": inputs["a"].astype(np.int32) @ inputs["b"].astype(np.int32)}}

KERNEL = Kernel(name=NAME, symbol=NAME, sources=("product.c",), signature=SIGNATURE, golden=golden)
"""
SOURCE = """
#include <stddef.h>
#include <stdint.h>
void product(const int8_t *a, const int8_t *b, int32_t *c, size_t m, size_t k, size_t n)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            int32_t sum = 0;
            for (size_t p = 0; p < INNER; p++)
                sum += a[i * ROW_OF_A + p] * b[p * ROW_OF_B + j];
            c[i * n + j] = sum;
        }
}
"""
RIGHT = {"INNER": "k", "ROW_OF_A": "k", "ROW_OF_B": "n"}


def exit_codes(folder: Path, sizes: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How a check and a proof of a product of matrices with these sizes end."""
    monkeypatch.chdir(folder)
    Path("product.py").write_text(REFERENCE)
    Path("product.c").write_text("".join(f"#define {name} {size}\n" for name, size in sizes.items()) + SOURCE)
    check = ["check", "product.py", "--opt", "O1", "--vectors", "500"]
    prove = ["prove", "product.py", "--opt", "O1", "--lengths", "1..3"]
    checked, proved = (CliRunner().invoke(sim.command.app.app, words).exit_code for words in (check, prove))
    return checked, proved


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
@pytest.mark.parametrize(
    ("name", "wrong"), sampled([("INNER", "n"), ("ROW_OF_A", "n"), ("ROW_OF_B", "k"), ("ROW_OF_B", "m")], 2)
)
def test_a_size_taken_for_another_fails(name: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert exit_codes(tmp_path, {**RIGHT, name: wrong}, monkeypatch) == (1, 1)


@pytest.mark.slow
def test_the_right_sizes_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert exit_codes(tmp_path, RIGHT, monkeypatch) == (0, 0)


STRIDED = """
#include <stddef.h>
#include <stdint.h>
uint32_t distance(const uint8_t *a, const uint8_t *b, size_t h, size_t sa, size_t sb)
{
    uint32_t sum = 0;
    for (size_t y = 0; y < h; y++, a += sa, b += STRIDE_OF_B)
        for (size_t x = 0; x < 16; x++)
            sum += a[x] > b[x] ? a[x] - b[x] : b[x] - a[x];
    return sum;
}
"""
DISTANCE = """
import numpy as np
from sim.kernels import Domain, Kernel, parse_prototype

NAME, SIGNATURE = parse_prototype(
    "uint32_t distance(const uint8_t a[h][16:sa], const uint8_t b[h][16:sb], size_t h, size_t sa, size_t sb)"
)

def golden(inputs):
    return {"returned": np.uint32(np.abs(inputs["a"].astype(np.int64) - inputs["b"]).sum())}

KERNEL = Kernel(
    name=NAME, symbol=NAME, sources=("distance.c",), signature=SIGNATURE, golden=golden, domain={"h": Domain(0, 64)}
)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("stride", "ends_with"), [("sb", 0), ("sa", 1)])
def test_a_stride_taken_for_that_of_another_array_fails(
    stride: str, ends_with: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The arrays have rows of equal length, so nothing but their strides tells the one from the other."""
    monkeypatch.chdir(tmp_path)
    Path("distance.py").write_text(DISTANCE)
    Path("distance.c").write_text(f"#define STRIDE_OF_B {stride}\n{STRIDED}")
    words = ["check", "distance.py", "--opt", "O1", "--vectors", "100"]
    assert CliRunner().invoke(sim.command.app.app, words).exit_code == ends_with
