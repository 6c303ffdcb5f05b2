"""A program that answers as llvm-mca does, for tests: always by the same simple rule."""

from __future__ import annotations

from pathlib import Path

# Answers 100 + 7 n cycles for n iterations, and keeps what it was given in files beside itself.
FAKE = """#!/bin/sh
PATH=/usr/bin:/bin
if [ "$1" = --version ]; then echo "  LLVM version {version}"; exit 0; fi
for last; do :; done
cat > "$0.input"; echo "$@" > "$0.options"
{action}
echo '{{"CodeRegions": [{{"SummaryView": {{"TotalCycles": '$((100 + 7 * ${{last#-iterations=}}))'}}}}],
"TargetInfo": {{"Resources": ["N1UnitB", "N1UnitV0"]}}}}'
"""


def install(folder: Path, name: str, version: str, action: str = "") -> Path:
    """A program that answers as llvm-mca does, after a shell command."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(FAKE.format(version=version, action=action))
    (folder / name).chmod(0o755)
    return folder / name
