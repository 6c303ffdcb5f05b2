"""The pipelines in C beside those in Python, on random streams on every core and on random cores.

`python -m long.schedules [STREAMS [SEED [CORES]]]`: so many on each core (10,000), and on random cores of each order a
fifth.  Faults are planted in the C first, each of which must be seen.  CORES, names with commas between them, has these
cores only, without planted faults.  Exit code 1 for a difference, or a fault not seen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from random import Random
from time import perf_counter
from typing import Final, Literal
from unittest import mock

from sim.terminal.script import at_least_one, parser_of, run_by_hand
from sim.timing.model.core import Core
from sim.timing.model.core_file import core_names, load_core
from sim.timing.native import library
from support.random_executed import random_core, with_averages
from support.schedules_compared import random_difference

PLANTED: Final = {
    "in order, a latency by one": ("S->distance[sources[i].row * S->columns + S->made_as[name]]", "@ + 1"),
    "in order, a pipe forgotten": ("S->free[pipes[i]] = to[i] += at;", "to[i] += at;"),
    "in order, forwarding of stores dropped": ("const int64_t ready = S->issued[writer] + forward", "@ - forward"),
    "in order, reasons swapped": ("S->width ? PAIRING : WIDTH", "S->width ? WIDTH : PAIRING"),
    "in order, an average rounded down": ("at + delay_of(S, number);\n    if (", "@0 && "),
    "out of order, a latency by one": ("const int64_t delay = S->distance[source->row * S->columns + column]", "@ + 1"),
    "out of order, a pipe forgotten": ("    S->free[pipe] = to;\n", ""),
    "out of order, forwarding of stores dropped": ("read_value(F, part[0], writer, 0, value,", "(void)value; if (0) @"),
    "out of order, a reason swapped": ("else if (kind == REORDER) cause = F->made_way;", ""),
    "out of order, readers in another order": ("F->reader[top->reader].value != top->value", "0 && @"),
    "out of order, the address of a store waits for its data": ("(source->kind == ADDRESS) != (k > 0)", "k > 1 && @"),
    "both, accesses that are not aligned": ("S->load[i] % (uint64_t)S->unaligned)", "0)"),
    "both, taken branches one apart": ("S->taken_exact = S->interval + after", "@ + S->unit"),
}
"""A text of the C and what stands there instead; @ is the text itself."""
ORDERS: Final[tuple[Literal["in", "out"], ...]] = ("in", "out")
_TRIED: Final = 300
_SHOWN: Final = 500


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("streams", nargs="?", type=at_least_one, default=10_000)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("cores", nargs="?", default="")
    given = parser.parse_args()
    streams, seed, only = given.streams, given.seed, given.cores.split(",") if given.cores else []
    planted = {} if only else PLANTED
    missed = [name for name, (text, instead) in planted.items() if not is_seen(name, text, instead, seed)]
    bad = 0
    for name in only or core_names():
        bad += compared(name, streams, seed, partial(as_it_is, load_core(name)))
    for order in () if only else ORDERS:
        bad += compared(f"random cores, {order} of order", -(-streams // 5), seed, partial(other, order))
    print(f"{bad} streams differ; {len(missed)} planted faults were not seen {missed or ''}")
    return 1 if bad or missed else 0


def as_it_is(core: Core, random: Random) -> Core:
    return core


def other(order: Literal["in", "out"], random: Random) -> Core:
    return with_averages(random, random_core(random, order))


def is_seen(name: str, text: str, instead: str, seed: int) -> bool:
    """Whether a fault in the C shows in some stream."""
    original = library.text()
    if original.count(text) != 1:
        print(f"planted: {name}: its text is there {original.count(text)} times")
        return False
    broken = original.replace(text, instead.replace("@", text))
    with mock.patch.object(library, "library", return_value=library.loaded(broken)):
        cores: list[Core | None] = [*map(load_core, core_names()), None, None]
        for number in range(_TRIED):
            random = Random(f"{seed} {number}")
            core = cores[number % len(cores)] or other(random.choice(ORDERS), random)
            if found := random_difference(random, core):
                print(f"planted: {name}: seen in stream {number + 1}: {found}", flush=True)
                return True
    print(f"planted: {name}: NOT SEEN in {_TRIED} streams")
    return False


def compared(name: str, streams: int, seed: int, core: Callable[[Random], Core]) -> int:
    """How many of the streams differ; the first of them are printed."""
    start, bad = perf_counter(), []
    for number in range(streams):
        random = Random(f"{name} {seed} {number}")
        if found := random_difference(random, core(random)):
            bad.append(f"  {name}, stream {number}, seed {seed}: {found}")
        if number % _SHOWN == _SHOWN - 1:
            print(f"{name}: {number + 1:,} streams, {len(bad)} differ, {perf_counter() - start:.0f} s", flush=True)
    print("\n".join(islice(bad, 5)), end="\n" if bad else "")
    return len(bad)


if __name__ == "__main__":
    run_by_hand(main)
