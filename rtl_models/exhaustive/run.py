"""Every pair of operands of an operator, in a loop of C++ around the lanes: all 2^32 pairs of 16 bits.

    python -m rtl_models.exhaustive --all       every operator that can be exhausted at 16 bits
    python -m rtl_models.exhaustive sqrdmulh    one of them

The expected values come from the lane expression of the semantics, written as C++ by `lane_as_cpp`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from isa.lane import Int
from rtl_models.build_cache import OPTIMISATION, Design, kept, linked, unity, verilate
from rtl_models.environment import SimulationUnavailable, execute
from rtl_models.exhaustive.lane_as_cpp import function
from rtl_models.exit_codes import exit_code
from rtl_models.harness import TOP, harness, port_name
from rtl_models.operators import OPERATORS, Operator
from rtl_models.sources import LANES

_LOOP: Final = Path(__file__).parent / "loop.cpp"
LANES_AT_ONCE: Final = 64
"""In one evaluation; their saturations are one 64-bit number."""
_WIDTH: Final = 16
"""Of the command: the widest that seconds are enough for."""


@dataclass(frozen=True)
class Disagreement:
    """A pair on which an operator differs: result and saturation, as given and as expected."""

    operands: tuple[int, int]
    given: tuple[int, bool]
    expected: tuple[int, bool]


@dataclass(frozen=True)
class Exhausted:
    """How many pairs were compared, all or up to the first word that differs, and the first pair that does."""

    pairs: int
    disagreement: Disagreement | None = None


def can_be_exhausted(operator: Operator, width: int) -> bool:
    """Whether it has two operands, of no more than 32 bits together, and a result that C++ has a type for."""
    types = operator.operand_types(width)
    return len(types) == 2 and sum(kind.bits for kind in types) <= 32 and operator.result_of(width).bits in (8, 16, 32)


def compare_every_pair(operator: Operator, width: int, before: Sequence[Path] = ()) -> Exhausted:
    """All pairs of operands, result and saturation, against the semantics; at 16 bits ten seconds and the build.

    Modules in the folders `before` go before those of the package.  Raises ValueError where the operands are not two or
    are too long, BuildError, and SimulationUnavailable where the environment lacks something.
    """
    if not can_be_exhausted(operator, width):
        raise ValueError(f"{operator.name} at {width} bits has no two operands of 32 bits together: nothing to exhaust")
    texts = {f"{TOP}.sv": harness(operator, (width,), LANES_AT_ONCE * width), "loop.h": _parameters(operator, width)}
    design = Design(TOP, texts, (*before, LANES))
    program = kept("exhaustive", design, ".loop", lambda scratch: _make(design, scratch))
    with TemporaryDirectory() as folder:
        done = execute([program], Path(folder))
    if done.status:
        raise SimulationUnavailable(f"the loop over all pairs ended with status {done.status}: {done.output.strip()}")
    return _read(done.output)


def _make(design: Design, scratch: Path) -> tuple[Path, list[Path]]:
    inputs = verilate(design, scratch)
    unity(scratch / "all.cpp", scratch / "loop.h", _LOOP)
    return linked(scratch, OPTIMISATION["exhaustive"]), [*inputs, _LOOP]


def _parameters(operator: Operator, width: int) -> str:
    """What the loop needs to know of the operator."""
    first, second = operator.operand_types(width)
    ports = [operand.port for operand in operator.operands] + ["result_o", "saturated_o"]
    macros = zip(("FIRST", "SECOND", "RESULT", "SATURATED"), ports, strict=True)
    types = {"First": first, "Second": second, "Result": operator.result_of(width)}
    return "\n".join([
        '#include "Vtop.h"',
        *(f"#define {name} {port_name(width, port)}" for name, port in macros),
        *(f"using {name} = {_c_type(kind)};" for name, kind in types.items()),
        f"constexpr uint64_t Lanes = {LANES_AT_ONCE}, FirstBits = {first.bits}, SecondBits = {second.bits};",
        function("expected", operator.expression(width), [first, second]),
    ])  # fmt: skip


def _c_type(kind: Int) -> str:
    """A type of C++ that holds the numbers."""
    bits = next(bits for bits in (8, 16, 32) if kind.bits <= bits)
    return f"{'' if kind.signed else 'u'}int{bits}_t"


def _read(output: str) -> Exhausted:
    """What the loop printed."""
    lines = {words[0]: list(map(int, words[1:])) for words in map(str.split, output.splitlines())}
    (pairs,) = lines["compared"]
    if "differs" not in lines:
        return Exhausted(pairs)
    first, second, given, given_flag, expected, expected_flag = lines["differs"]
    pair = (first, second)
    return Exhausted(pairs, Disagreement(pair, (given, bool(given_flag)), (expected, bool(expected_flag))))


def main(arguments: Sequence[str]) -> int:
    """Exhaust operators at 16 bits; 0 where all agree, 1 on a disagreement, 2 or 3 as `rtl_models.bulk` returns."""
    possible = [name for name, operator in OPERATORS.items() if can_be_exhausted(operator, _WIDTH)]
    names = possible if list(arguments) == ["--all"] else list(arguments)
    unknown = [name for name in names if name not in possible]
    if unknown or not names:
        said = f"{', '.join(unknown)} cannot be exhausted; " if unknown else ""
        print(f"{said}give --all or some of {', '.join(possible)}", file=sys.stderr)
        return 2
    return exit_code(lambda: _told_all([OPERATORS[name] for name in names]))


def _told_all(operators: Sequence[Operator]) -> int:
    """Print what became of each, and of all; 1 where some disagree."""
    started = time.monotonic()
    agree = [_told(operator) for operator in operators]
    print(f"{sum(agree)} of {len(agree)} agree, {time.monotonic() - started:.0f} s")
    return 0 if all(agree) else 1


def _told(operator: Operator) -> bool:
    """Print what became of an operator; whether it agrees."""
    started = time.monotonic()
    exhausted = compare_every_pair(operator, _WIDTH)
    wrong = exhausted.disagreement
    again = f"again: python -m rtl_models.exhaustive {operator.name}"
    said = "all agree" if wrong is None else f"{wrong.operands} give {wrong.given}, expected {wrong.expected}; {again}"
    seconds = time.monotonic() - started
    print(f"{operator.name}, {_WIDTH} bits: {exhausted.pairs:,} pairs compared, {said} ({seconds:.0f} s)", flush=True)
    return wrong is None
