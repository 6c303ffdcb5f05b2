"""The long run of damaged texts: every reader, 20,000 times each.

    PYTHONPATH=tests .venv/bin/python -m long.text_mutations [--count N] [--seed FIRST]

Ends with 1 where a reader raised another error than its own, with the command that repeats it.
"""

from __future__ import annotations

import gc
import resource
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from sim.call.captured import Bytes
from sim.terminal.script import at_least_one, parser_of, run_by_hand
from support.text_mutations import call_reader, npz_reader, read_prototype, read_values, save_bytes

MEMORY_LIMIT = 16 << 30
"""Bytes of address space, of which the emulator reserves most: a text that asks for more is a blow-up."""
COLLECTED = 8
"""Texts after which emulators that are left are freed: each reserves a GiB."""
SLOWEST = 10.0
"""Seconds for one text, far above what any takes."""


def failures(name: str, read: Callable[[Random], None], first: int, count: int) -> int:
    """How many of the seeds end in an error that is not the reader's own, or take too long; each is printed."""
    found = 0
    for seed in range(first, first + count):
        started = time.monotonic()
        try:
            read(Random(seed))
        except Exception as error:  # whatever a reader lets through is what this looks for
            print(f"{name}: seed {seed}: {type(error).__name__}: {error}")
            found += 1
        if seed % COLLECTED == 0:
            gc.collect()
        if time.monotonic() - started > SLOWEST:
            print(f"{name}: seed {seed} took {time.monotonic() - started:.1f} s")
            found += 1
    return found


def readers(folder: Path) -> Mapping[str, Callable[[Random], None]]:
    path = save_bytes(folder)
    return {
        "prototypes": read_prototype,
        "arguments": read_values,
        "captured calls": call_reader(Bytes(path)),
        "npz files": npz_reader(path.read_bytes(), folder),
    }


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--count", type=at_least_one, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, read in readers(Path(folder)).items():
            found = failures(name, read, chosen.seed, chosen.count)
            print(f"{name}: {chosen.count:,} damaged, {found} failures, seeds from {chosen.seed}")
            total += found
    if total:
        print(
            "reproduce: PYTHONPATH=tests .venv/bin/python -m long.text_mutations "
            f"--count {chosen.count} --seed {chosen.seed}"
        )
    return 1 if total else 0


if __name__ == "__main__":
    run_by_hand(main)
