"""The proofs of docs/evidence.md, each done anew; ends with 1 where one of them is none.

PYTHONPATH=tests .venv/bin/python -m long.evidence
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

from sim.terminal.script import parser_of, run_by_hand
from support.chain import evidence_rows, hardware_questions, outcomes

ROOT = Path(__file__).parents[2]


def main() -> int:
    parser_of(__doc__).parse_args()
    found = Counter(outcomes(hardware_questions(range(32))))
    print(f"quantize_down, golden = unit, each shift: {dict(found)}", flush=True)
    failed = set(found) != {"proved"}
    for row in evidence_rows(ROOT):
        if row.kind == "proof" and "::" not in row.by:
            done = subprocess.run(
                [sys.executable, "-m", "sim", *shlex.split(row.by)[1:], "--json"], capture_output=True
            )
            print(f"{row.kernel}, {row.link}: exit code {done.returncode}", flush=True)
            failed |= done.returncode != 0
    return int(failed)


if __name__ == "__main__":
    run_by_hand(main)
