"""Every pair of operands of an operator, in a loop of C++ around the lanes: all 2^32 pairs of 16 bits.

The expected values come from the lane expression of the semantics, as C (`isa.evaluate.c`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from isa.evaluate.c import expression
from rtl_models.harness import TOP, harness, port_name
from rtl_models.operators import Operator
from rtl_models.tools.build_cache import OPTIMISATION, TopModule, kept, linked, unity, verilate
from rtl_models.tools.environment import LONGEST, SimulationUnavailable, execute
from rtl_models.tools.sources import LANES

_LOOP: Final = Path(__file__).parent / "loop.cpp"
LANES_AT_ONCE: Final = 64
"""In one evaluation; their saturations are one 64-bit number."""


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


def compare_every_pair(
    operator: Operator, width: int, before: Sequence[Path] = (), seconds: float = LONGEST
) -> Exhausted:
    """All pairs of operands, result and saturation, against the semantics; at 16 bits ten seconds and the build.

    Modules in the folders `before` go before those of the package.  Raises ValueError where the operands are not two or
    are too long, BuildError, SimulationUnavailable where the environment lacks something, and NeverEnds where the pairs
    take longer than so many seconds.
    """
    if not can_be_exhausted(operator, width):
        raise ValueError(f"{operator.name} at {width} bits has no two operands of 32 bits together: nothing to exhaust")
    texts = {f"{TOP}.sv": harness(operator, (width,), LANES_AT_ONCE * width), "loop.h": _parameters(operator, width)}
    design = TopModule(TOP, {**texts, _LOOP.name: _LOOP.read_text()}, (*before, LANES))
    program = kept("exhaustive", design, ".loop", lambda scratch: _make(design, scratch))
    with TemporaryDirectory() as folder:
        done = execute([program], Path(folder), seconds, called=f"the simulator of {operator.name}")
    if done.status:
        raise SimulationUnavailable(f"the loop over all pairs ended with status {done.status}: {done.output.strip()}")
    lines = {words[0]: list(map(int, words[1:])) for words in map(str.split, done.output.splitlines())}
    (pairs,) = lines["compared"]
    if "differs" not in lines:
        return Exhausted(pairs)
    first, second, given, given_flag, expected, expected_flag = lines["differs"]
    pair = (first, second)
    return Exhausted(pairs, Disagreement(pair, (given, bool(given_flag)), (expected, bool(expected_flag))))


def _make(design: TopModule, scratch: Path) -> tuple[Path, list[Path]]:
    inputs = verilate(design, scratch)
    unity(scratch / "all.cpp", scratch / "loop.h", scratch / _LOOP.name)
    return linked(scratch, OPTIMISATION["exhaustive"]), inputs


def _parameters(operator: Operator, width: int) -> str:
    """What the loop needs to know of the operator."""
    first, second = operator.operand_types(width)
    ports = [operand.port for operand in operator.operands] + ["result_o", "saturated_o"]
    macros = zip(("FIRST", "SECOND", "RESULT", "SATURATED"), ports, strict=True)
    types = []
    for name, kind in (("First", first), ("Second", second), ("Result", operator.result_of(width))):
        bits = next(bits for bits in (8, 16, 32) if kind.bits <= bits)
        types.append(f"using {name} = {'' if kind.signed else 'u'}int{bits}_t;")
    return "\n".join([
        '#include "Vtop.h"',
        *(f"#define {name} {port_name(width, port)}" for name, port in macros),
        *types,
        f"constexpr uint64_t Lanes = {LANES_AT_ONCE}, FirstBits = {first.bits}, SecondBits = {second.bits};",
        expression("expected", operator.expression(width), [first, second]),
    ])  # fmt: skip
