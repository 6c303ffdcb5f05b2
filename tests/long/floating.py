"""The long comparison of floating point: every form on thousands of lane vectors, a million fused multiply-adds, and
every half-precision number.

    PYTHONPATH=tests .venv/bin/python -m long.floating [--vectors N] [--fused N] [--seed S] [--only NAME]

Ends with 1 where something differs, or where nothing was compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from math import isfinite
from multiprocessing import Pool
from typing import NamedTuple

from rich.console import Console
from rich.progress import track

from isa.evaluate.floating import compute
from isa.floating import F16, F32, Float, FloatOperation, Rounding
from sim.terminal.script import run_by_hand
from support.floating_forms import Comparison, floating_forms, is_emulated
from support.floating_reference import IXC, MODES, Root, fused_differences, integral, rounded, signed
from support.floating_values import FORMATS, decoded, encoded

_FUSED_AT_ONCE = 10_000


class Compared(NamedTuple):
    """What one part of the run compared: how much of what, and the differences."""

    what: str
    amount: int
    differences: list[str]


def compare_form(seed: int, vectors: int, form: str) -> Compared:
    """One form on at least so many lane vectors."""
    comparison = Comparison(form, seed)
    found = list(comparison.differences(vectors))
    return Compared("emulated" if is_emulated(form) else "not emulated", comparison.vectors, found)


def compare_fused(job: tuple[Float, Rounding, int]) -> Compared:
    """Fused multiply-adds in one format and mode."""
    format, mode, seed = job
    return Compared(f"fused {format}", _FUSED_AT_ONCE, fused_differences(format, mode, seed, _FUSED_AT_ONCE))


def compare_halves(mode: Rounding) -> Compared:
    """Every half-precision number: root, integral numbers, and single precision to half and back."""
    found = [line for bits in range(1 << 16) if isfinite(decoded(bits, F16)) for line in _of_half(bits, mode)]
    return Compared("halves", 1 << 16, found)


def _of_half(bits: int, mode: Rounding) -> Iterator[str]:
    number = decoded(bits, F16)
    if number > 0:
        yield from _unequal("square_root", mode, bits, rounded(Root(signed(bits, F16)), F16, mode))
    whole = float(integral(number, mode))
    expected = encoded(whole, F16) if whole else bits & F16.sign_bit
    yield from _unequal("to_integral_exact", mode, bits, (expected, IXC if whole != number else 0))
    single = encoded(number, F32)
    for near in (single - 1, single, single + 1, single + 0x0FFF, single + 0x1000, single + 0x1001):
        if near & (F32.sign_bit - 1) and near > 0 and isfinite(decoded(near % (1 << 32), F32)):
            got = compute(FloatOperation("convert", F32, F16), (near,), MODES[mode])
            if got != rounded(signed(near, F32), F16, mode):
                yield f"convert {near:#x} to half, {mode}: {got}"


def _unequal(name: str, mode: Rounding, bits: int, expected: tuple[int, int]) -> Iterator[str]:
    got = compute(FloatOperation(name, F16, F16), (bits,), MODES[mode])  # type: ignore[arg-type]
    if got != expected:
        yield f"{name} of {bits:#06x}, {mode}: {got}, expected {expected}"


def run(seed: int, vectors: int, fused: int, only: str) -> list[Compared]:
    """All parts, on all processors."""
    forms = [form for form in floating_forms() if only in form]
    batches = -(-fused // (_FUSED_AT_ONCE * len(FORMATS) * len(MODES)))
    jobs = [(format, mode, seed + batch) for format in FORMATS for mode in MODES for batch in range(batches)]
    with Pool() as workers:
        parts = [workers.imap(partial(compare_form, seed, vectors), forms, 4)]
        if not only:
            parts += [workers.imap(compare_fused, jobs), workers.imap(compare_halves, MODES)]
        total = len(forms) + (len(jobs) + len(MODES) if not only else 0)
        everything = (compared for part in parts for compared in part)
        return list(track(everything, "comparing", total, console=Console(stderr=True)))


def summary(compared: list[Compared], seed: int) -> Iterator[str]:
    """Counts by part, the least of any form, then every difference."""
    forms = [part for part in compared if "emulated" in part.what]
    yield f"seed               {seed}"
    for what in dict.fromkeys(part.what for part in compared):
        counts = [part.amount for part in compared if part.what == what]
        yield f"{what:18} {sum(counts):,} in {len(counts):,} parts of at least {min(counts):,}"
    yield f"forms              {len(forms)}"
    found = [line for part in compared for line in part.differences]
    yield f"differences        {len(found)}"
    yield from found[:40]


def main() -> int:
    """0 where nothing differs, else 1."""
    parser = argparse.ArgumentParser(description="Floating point against the emulator and against rational numbers.")
    parser.add_argument("--vectors", type=int, default=3000, help="lane vectors of each form, at least")
    parser.add_argument("--fused", type=int, default=1_200_000, help="fused multiply-adds, at least")
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--only", default="", help="only the forms with this in their name")
    given = parser.parse_args()
    compared = run(given.seed, given.vectors, given.fused, given.only)
    print("\n".join(summary(compared, given.seed)))
    return int(not compared or any(part.differences for part in compared))


if __name__ == "__main__":
    run_by_hand(main)
