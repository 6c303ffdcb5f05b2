"""Processor time of a start, beside that of importing numpy, which is much of what every run needs.

    .venv/bin/python tests/benchmarks/start_speed.py [--runs N]

Each figure is the median of several runs, taken in turn.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from sim.terminal.script import parser_of, run_by_hand

LANEWISE = str(Path(sys.executable).with_name("lanewise"))
STARTS = {
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import sim": [sys.executable, "-c", "import sim"],
    "from sim import Machine": [sys.executable, "-c", "from sim import Machine"],
    "from sim import explain": [sys.executable, "-c", "from sim import explain"],
    "lanewise --help": [LANEWISE, "--help"],
    "lanewise check --help": [LANEWISE, "check", "--help"],
}


def processor_seconds(command: list[str]) -> float:
    """User and system time of one run."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ends with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    seconds: dict[str, list[float]] = {name: [] for name in STARTS}
    for _ in range(runs):
        for name, command in STARTS.items():
            seconds[name].append(processor_seconds(command))
    numpy = median(seconds["import numpy"])
    print(f"{'start':28}{'seconds':>9}{'to numpy':>10}{'beyond numpy':>14}")
    for name, each in seconds.items():
        print(f"{name:28}{median(each):9.3f}{median(each) / numpy:10.2f}{median(each) - numpy:14.3f}")


if __name__ == "__main__":
    run_by_hand(main)
