"""What was aimed at code is kept under all that it follows from, and is made anew where any of that is another."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from sim.check.aim import kept
from sim.check.aim.aiming import Aimed
from sim.check.aim.kept import aimed_or_kept
from sim.check.aim.power import Power
from sim.check.check import jobs_of
from sim.check.vectors import make_vectors
from sim.kernels import Domain, Kernel
from sim.kernels.kernel_file import load_kernel
from support.command import lanewise

HALVE_C = """#include <stddef.h>
#include <stdint.h>
void halve(const int8_t *a, int8_t *y, size_t n) { for (size_t i = 0; i < n; i++) y[i] = (a[i] + 1) >> 1; }
"""
HALVE_PY = """from pathlib import Path
import numpy as np
from sim.kernels import Domain, Kernel, parse_prototype
from rounding import ONE

NAME, SIGNATURE = parse_prototype("void halve(const int8_t a[n], int8_t y[n], size_t n)")
KERNEL = Kernel(name=NAME, symbol=NAME, sources=(Path("halve.c"),), signature=SIGNATURE,
                golden=lambda inputs: {"y": ((inputs["a"].astype(np.int16) + ONE) >> 1).astype(np.int8)},
                domain={"n": Domain(0, 9)})
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LANEWISE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "halve.c").write_text(HALVE_C)
    (tmp_path / "rounding.py").write_text("ONE = 1\n")
    path = tmp_path / "halve.py"
    path.write_text(HALVE_PY)
    return path


@pytest.fixture
def aimed(file: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """How often was aimed, behind one more question of the kernel, or of another one, at these levels."""
    times, kernel = [0], load_kernel(file)

    def counted(*_: Any) -> Aimed:
        times[0] += 1
        return Aimed(
            [{"a": np.array([times[0]], np.int8), "n": 1}], [{"y": np.array([1], np.int8)}], Power(lanes_aimed=times[0])
        )

    monkeypatch.setattr(kept, "aim", counted)

    def asked(of: Kernel = kernel, levels: tuple[str, ...] = ("O1",), seed: int = 1, lanes: int = 20) -> int:
        aimed_or_kept(str(file), of, jobs_of(of, levels), make_vectors(of, lanes, seed))
        return times[0]

    return asked


def test_what_was_aimed_is_found_again_as_it_was(file: Path, aimed: Callable[..., int]) -> None:
    kernel = load_kernel(file)
    jobs, vectors = jobs_of(kernel, ("O1",)), make_vectors(kernel, 20, 1)
    one, other = (aimed_or_kept(str(file), kernel, jobs, vectors) for _ in "12")
    assert one is not other
    assert (one.power, one.inputs[0]["a"].tolist(), one.inputs[0]["n"]) == (other.power, [1], 1)
    assert (other.inputs[0]["a"].dtype, other.golden[0]["y"].tolist()) == (np.int8, [1])
    assert aimed() == 1


CHANGES: dict[str, Callable[[Kernel], dict[str, Any]]] = {
    "another seed": lambda kernel: {"seed": 2},
    "more lanes": lambda kernel: {"lanes": 200},
    "another level": lambda kernel: {"levels": ("O2",)},
    "another domain": lambda kernel: {"of": replace(kernel, domain={"n": Domain(0, 8)})},
    "a convention": lambda kernel: {"of": replace(kernel, conventions={"mine": kernel.golden})},
    "another mode": lambda kernel: {"of": replace(kernel, mode="other")},
    "other outputs": lambda kernel: {"of": replace(kernel, golden=lambda inputs: {"y": inputs["a"]})},
}


@pytest.mark.parametrize("change", CHANGES)
def test_where_anything_is_another_it_is_aimed_anew(change: str, file: Path, aimed: Callable[..., int]) -> None:
    other = CHANGES[change](load_kernel(file))
    assert [aimed(), aimed(), aimed(**other), aimed(**other), aimed()] == [1, 1, 2, 2, 2]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("halve.c", "(a[i] + 1) >> 1", "(1 + a[i]) / 2"), ("halve.py", "0, 9", "0,  9"), ("rounding.py", "1", "0 + 1")],
)
def test_where_a_file_is_another_it_is_aimed_anew(
    name: str, old: str, new: str, file: Path, aimed: Callable[..., int]
) -> None:
    """Its code, or a Python file that the golden reference may come from, even where the outputs are the same."""
    assert aimed() == 1
    changed = file.with_name(name)
    assert old in changed.read_text()
    changed.write_text(changed.read_text().replace(old, new))
    assert [aimed(), aimed()] == [2, 2]


def test_where_a_module_elsewhere_is_another_it_is_aimed_anew(
    file: Path, aimed: Callable[..., int], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What the golden reference may come from need not lie beside the kernel file."""
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "shared_rounding.py"
    elsewhere.write_text("ONE = 1\n")
    module = ModuleType("shared_rounding")
    module.__file__ = str(elsewhere)
    monkeypatch.setitem(sys.modules, "shared_rounding", module)
    assert [aimed(), aimed()] == [1, 1]
    elsewhere.write_text("ONE = 0 + 1\n")
    assert [aimed(), aimed()] == [2, 2]


@pytest.mark.parametrize("damage", [b"", b"\x80", pickle.dumps([1])])
def test_what_is_damaged_is_made_anew(damage: bytes, tmp_path: Path, aimed: Callable[..., int]) -> None:
    assert aimed() == 1
    (found,) = (tmp_path / "cache").glob("aimed-*.pickle")
    found.write_bytes(damage)
    assert [aimed(), aimed()] == [2, 2]


def test_inputs_that_cannot_be_written_are_aimed_at_each_time(file: Path, aimed: Callable[..., int]) -> None:
    kernel = load_kernel(file)
    corner = {"a": np.array([1], np.int8), "n": 1, "of it": lambda: None}
    own = replace(kernel, corners=lambda: iter([corner]), sample=lambda rng: corner, arguments=lambda inputs: inputs)
    assert [aimed(own), aimed(own)] == [1, 2]


@pytest.mark.slow
def test_a_second_check_says_the_same_and_aims_at_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("check", str(file), "--vectors", "100", "--opt", "O2", "--jobs", "1", "--json")
    import_module("support.documents")  # which the first check of a test loads
    first = lanewise(*words)
    monkeypatch.setattr(kept, "aim", lambda *_: pytest.fail("it was aimed at once more"))
    second = lanewise(*words)
    assert first.exit_code == second.exit_code == 0
    assert first.stdout == second.stdout
