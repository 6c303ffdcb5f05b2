"""`lanewise prove` of kernel files whose golden references look up tables, or cannot be traced."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import sim.command.app
from support.sampled import sampled

CODE = """#include <stddef.h>
#include <stdint.h>
void bits(const uint8_t *a, uint8_t *out, size_t n) {
    for (size_t i = 0; i < n; ++i) out[i] = __builtin_popcount(a[i]);
}
void counted(const uint8_t *a, uint8_t *out, size_t n) {
    for (size_t i = 0; i < n; ++i) { uint8_t count = 0; for (uint8_t x = a[i]; x; x &= x - 1) ++count; out[i] = count; }
}
void wrong(const uint8_t *a, uint8_t *out, size_t n) {
    bits(a, out, n);
    for (size_t i = 16; i < n; ++i) out[i] -= a[i] == 77 && a[3] == 5;
}
"""
KERNEL = """
from pathlib import Path
import numpy as np
from sim.kernels import Kernel, parse_prototype
TABLE = np.array([bin(k).count("1") for k in range(256)], np.uint8)
def golden(inputs):
    a = inputs["a"]
    return {{"out": {out}}}
NAME, SIGNATURE = parse_prototype("void bits(const uint8_t a[n], uint8_t out[n], size_t n)")
KERNEL = Kernel(name=NAME, symbol=NAME, sources=(Path("own.c"),), signature=SIGNATURE, golden=golden)
"""
DICTIONARY = "np.array([{k: bin(k).count('1') for k in range(256)}[int(x)] for x in a], np.uint8)"


def run(folder: Path, out: str, *arguments: str) -> Result:
    (folder / "own.c").write_text(CODE)
    (folder / "own.py").write_text(KERNEL.format(out=out))
    named = [str(folder / one) if one.startswith("own.c") else one for one in arguments]
    return CliRunner().invoke(
        sim.command.app.app, ["prove", str(folder / "own.py"), *named, "--jobs", "1", "--no-cache"]
    )


@pytest.mark.parametrize(("out", "code"), [("TABLE[a]", 0), ("TABLE[a ^ (a == 77)]", 1), ("TABLE[a >> 1]", 1)])
def test_a_table_of_the_module_is_looked_up(out: str, code: int, tmp_path: Path) -> None:
    result = run(tmp_path, out, "--lengths", "1,9")
    assert result.exit_code == code, result.output


def test_a_kernel_file_is_one_whatever_the_language_of_the_computer(tmp_path: Path) -> None:
    (tmp_path / "own.c").write_text("// fünf\n" + CODE, encoding="utf-8")
    (tmp_path / "own.py").write_text("# fünf\n" + KERNEL.format(out="TABLE[a]"), encoding="utf-8")
    command = [sys.executable, "-m", "sim", "prove", "own.py", "--lengths", "1", "--jobs", "1", "--no-cache"]
    ascii_only = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(command, cwd=tmp_path, env=ascii_only, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_table_that_the_reference_writes_to_is_refused(tmp_path: Path) -> None:
    result = run(tmp_path, "(TABLE.__setitem__(0, a[0]), TABLE[a])[1]", "--lengths", "1")
    assert result.exit_code == 3
    assert "own.py:8: here a number that is not known would have to become one" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("out", "says"),
    sampled(
        [
            ("np.sort(a)", "own.py:8: np.sort is not among what can be traced"),
            (DICTIONARY, "own.py:8: traced, the golden reference raises TypeError: unhashable"),
        ],
        2,
    ),
)
def test_a_reference_that_cannot_be_traced_is_named_and_builds_are_compared_without_it(
    out: str, says: str, tmp_path: Path
) -> None:
    alone = run(tmp_path, out, "--lengths", "2")
    assert (alone.exit_code, says in alone.stdout) == (3, True), alone.output
    one, other, another = "own.c:bits@O2", "own.c:counted@O1", "own.c:wrong@O2"
    same = run(tmp_path, out, "--lengths", "2", "--same", one, other)
    assert (same.exit_code, says in same.stdout) == (0, True), same.output
    assert run(tmp_path, out, "--lengths", "17", "--same", one, another).exit_code == 1
