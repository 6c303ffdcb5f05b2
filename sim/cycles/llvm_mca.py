"""llvm-mca beside the pipelines of `sim.timing`: asked as a subprocess, about the same executed instructions.

The only file that runs llvm-mca.  It gets text; our text is the assembler's (`isa.decode`), with these changes: what a
branch or a literal load aims at is not there, so the offset is 0, and a call is written as the jump that it is in an
executed stream, where its callee follows (llvm-mca takes a call for one of 100 cycles).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from isa.errors import MISSING, LanewiseError
from isa.instruction import Instruction

VARIABLE: Final = "LLVM_MCA"
"""The environment variable that names the program to use."""
_NAME = re.compile(r"llvm-mca(-\d+)?")
_VERSION = re.compile(r"LLVM version (\d+(?:\.\d+)*)")
_PC_RELATIVE = re.compile(r"((?:b|bl|b\.\w+|cbn?z|tbn?z|adrp?|ldr|ldrsw|prfm) (?:[^\[]*, )?)#\S+")
_UNITS = re.compile(r"(\w+?)Unit")
_UNSUPPORTED = re.compile(r"note: instruction: (.+)")
# Every extension that the machine has, so that the text of each of its forms is taken.
_FEATURES: Final = "-mattr=+v8.6a,+fullfp16,+fp16fml,+aes,+sha2,+sha3,+sm4,+bf16,+i8mm,+spe"
_OPTIONS: Final = ("-mtriple=aarch64", _FEATURES, "-json", "-instruction-info=0", "-resource-pressure=0")
_MOST_ITERATIONS: Final = 1000
_INSTALL: Final = f"install it (on Debian: apt-get install llvm) or set {VARIABLE} to its path"


class LlvmMcaError(LanewiseError):
    """What llvm-mca cannot answer; the message is one sentence."""


class LlvmMcaMissing(LlvmMcaError):
    """There is no llvm-mca that runs."""

    exit_code = MISSING


@dataclass(frozen=True)
class Estimate:
    """What llvm-mca says of a stream on a core.

    `cycles` are those of the whole stream, `per_iteration` those of one iteration of a loop in its steady state (None
    for a stream that is no loop).  `model` names the core whose units it calculates with, which need not be the one
    that was asked for; "" where they do not tell.
    """

    core: str
    version: str
    model: str
    cycles: int
    per_iteration: Fraction | None = None


@dataclass(frozen=True)
class LlvmMca:
    """An installed llvm-mca; `version` such as "14.0.6"."""

    path: str
    version: str

    def stream(self, instructions: Sequence[Instruction], core: str) -> Estimate:
        """Executed instructions, once.  Raises LlvmMcaError: a core or an instruction that it does not know."""
        cycles, model = self._cycles(instructions, core, 1)
        return Estimate(core, self.version, model, cycles)

    def loop(self, body: Sequence[Instruction], core: str, count: int) -> Estimate:
        """A body, `count` times, at least once: up to 1000 iterations as they are, more by the last 500.

        Raises LlvmMcaError as `stream`.
        """
        whole = min(count, _MOST_ITERATIONS)
        half = whole // 2
        cycles, model = self._cycles(body, core, whole)
        before = self._cycles(body, core, half)[0] if half else 0
        rate = Fraction(cycles - before, whole - half)
        return Estimate(core, self.version, model, round(cycles + (count - whole) * rate), rate)

    def _cycles(self, instructions: Sequence[Instruction], core: str, iterations: int) -> tuple[int, str]:
        """Cycles, and the core whose model gives them."""
        command = [self.path, *_OPTIONS, f"-mcpu={core}", f"-iterations={iterations}"]
        text = "".join(f"{mca_text(instruction)}\n" for instruction in instructions)
        done, tool = _run(command, text), f"llvm-mca {self.version}"
        if "not a recognized processor" in done.stderr:
            raise LlvmMcaError(f"{tool} does not know the core {core}")
        if done.returncode and (unsupported := _UNSUPPORTED.search(done.stderr)):
            raise LlvmMcaError(f"{tool} has no timing of {' '.join(unsupported[1].split())!r} on {core}")
        if done.returncode:
            said = (done.stderr.strip() or "without a word").splitlines()[0]
            raise LlvmMcaError(f"{tool} refuses the stream on {core}: {said}")
        try:
            read: dict[str, Any] = json.loads(done.stdout)
            units = (_UNITS.match(name) for name in read["TargetInfo"]["Resources"])
            model = next((unit[1] for unit in units if unit), "")
            return int(read["CodeRegions"][0]["SummaryView"]["TotalCycles"]), model
        except (ValueError, KeyError, IndexError, TypeError):
            raise LlvmMcaError(f"the output of {tool} cannot be read; versions from 14 on can") from None


def find_llvm_mca() -> LlvmMca:
    """That of $LLVM_MCA, else the newest llvm-mca or llvm-mca-NN on PATH.  Raises LlvmMcaMissing."""
    if named := os.environ.get(VARIABLE):
        if version := _version(named):
            return LlvmMca(named, version)
        raise LlvmMcaMissing(f"{VARIABLE} is {named!r}, which is no llvm-mca that runs")
    files: list[Path] = []
    for folder in filter(None, os.environ.get("PATH", "").split(os.pathsep)):
        with suppress(OSError):  # it is none, or nobody may look into it
            files += sorted(Path(folder).iterdir())
    paths = [str(file) for file in files if _NAME.fullmatch(file.name)]
    found = [LlvmMca(path, version) for path in paths if (version := _version(path))]
    if not found:
        raise LlvmMcaMissing(f"there is no llvm-mca here: {_INSTALL}")
    return max(found, key=lambda tool: [int(number) for number in tool.version.split(".")])


def mca_text(instruction: Instruction) -> str:
    """One line of assembly as llvm-mca takes it, of the same timing.

    >>> from isa.rows import TABLE
    >>> mca_text(TABLE.instruction("b.ne", "#0x10010"))
    'b.ne #0'
    """
    text = instruction.text
    if aimed := _PC_RELATIVE.fullmatch(text):
        text = f"{aimed[1]}#0"
    return re.sub(r"^bl(r\w* | )", lambda call: f"b{call[1]}", text)


def _version(path: str) -> str:
    """Such as "14.0.6"; "" where it does not run or is something else."""
    try:
        found = _VERSION.search(_run([path, "--version"], "").stdout)
    except LlvmMcaMissing:
        return ""
    return found[1] if found else ""


def _run(command: Sequence[str], text: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, input=text, capture_output=True, encoding="utf-8", errors="replace")
    except OSError as error:
        raise LlvmMcaMissing(f"cannot run {command[0]}: {error.strerror}") from None
