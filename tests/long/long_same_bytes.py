"""Two runs of every other command give the same bytes, whatever the hash seed and the number of processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_same_bytes import COMMANDS as IN_THE_FAST_SUITE
from test_same_bytes import FEW, JOBS, Words, folder, outputs

__all__ = ["folder"]

WITH_WORKERS = [words for words in IN_THE_FAST_SUITE.values() if JOBS in words]
EXPLAIN = (
    "explain", "--accumulators", "accumulators.csv:int32", "--output", "output.csv:int8", "--multiplier", "1583594044",
    "--shift", "9",
)  # fmt: skip
COMMANDS: list[Words] = [
    *((*words, "--json") for words in WITH_WORKERS),
    ("check", "product.py", *FEW, "--json"),
    ("check", "quantize_down", "--rtl", *FEW),
    ("capture", "product.py", "again.jsonl", "--vectors", "20"),
    ("run", "product.c", "product", "1,2", "3,4", "zeros:2", "2", "--capture", "call.jsonl"),
    ("cycles", "product.py", "--core", "cortex-a72", "--html", "page.html", "--perfetto", "trace.perfetto",
     "--kanata", "log.kanata"),
    ("cycles", "product.py", "--json"),
    EXPLAIN,
    (*EXPLAIN, "--json"),
    ("conventions", "--json"),
    ("conventions", "--between", "double_rounding", "single_rounding"),
    ("kernels", "show", "requantize"),
    ("isa", "list"),
    ("isa", "show", "sqrdmulh v0.4s, v1.4s, v2.s[1]"),
    ("isa", "intrinsics"),
    ("rtl", "list", "--json"),
    ("rtl", "test", "sqadd", "--widths", "8", "--junit", "bench.xml", "--coverpoints", "met.json"),
    ("rtl", "test", "sqadd", "--widths", "8", "--modules", "modules", "--json"),
    ("rtl", "test", "transpose1xw", "--lanes", "4", "--profile", "shallow"),
    ("rtl", "bulk", "transpose1xw", "--beats", "2000"),
    ("rtl", "prove", "sqadd"),
    ("rtl", "prove", "sqadd", "--json"),
    ("rtl", "mutate", "sqadd", "--count", "3", "--certificates", "certificates.json"),
    ("rtl", "mutate", "sqadd", "--count", "3", "--mutant", "1", "--json"),
    ("rtl", "exhaust", "sqadd"),
    ("rtl", "cover", "sqadd"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    """What the commands read besides: numbers to explain, and a module with a mistake."""
    (folder / "accumulators.csv").write_text("7984,-7984,4513,88526")
    (folder / "output.csv").write_text("11,-11,6,127")
    (folder / "modules").mkdir(exist_ok=True)
    original = Path(__file__).parents[2] / "rtl_models" / "lanes" / "sqadd.sv"
    (folder / "modules" / original.name).write_text(original.read_text().replace("} + {", "} - {"))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_two_runs_of_a_command_write_the_same_bytes(folder: Path, words: Words) -> None:
    assert outputs(folder, 1, words) == outputs(folder, 2, words)
