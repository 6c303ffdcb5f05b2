"""Tests run on a mutant: in a copy of a process that has collected them, or in a copy of the checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

from long.mutation.mutants import ROOT, Mutant
from long.mutation.server import ABSENT, ANSWERED, ASKED, NOT_PLANTED

LEFT_BEHIND: Final = (".venv", ".git", "__pycache__", ".*_cache", ".hypothesis", "build", "dist")
LONGEST: Final = 30.0
"""Seconds of a processor that the tests of one mutant take together, where they all pass."""
_AS_RECORDED: Final = {"PYTEST_XDIST_WORKER": "gw0"}
"""A worker of xdist starts no processes for the items of a command: they would load the modules without the mistake."""
Tests = Sequence[tuple[str, float]]
"""Names of tests, with the seconds of a processor that each takes."""


class NotCollected(Exception):
    """Tests cannot be collected: what pytest says of it."""


class NotPlanted(Exception):
    """The process has no function with the code that the mistake is in."""


def copied(folder: Path) -> Path:
    """A copy of the checkout, but for what tools have made there."""
    return Path(shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_BEHIND)))


def surroundings(checkout: Path) -> dict[str, str]:
    """The environment in which programs take their modules from this copy of the checkout."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (checkout, checkout / "tests")))}


class Collected:
    """pytest with the tests of some files of a checkout, and so many modules loaded; a context that ends it."""

    def __init__(self, checkout: Path, files: Iterable[str], modules: Sequence[str], scratch: Path) -> None:
        (hers, self._ask), (self._hear, theirs) = os.pipe(), os.pipe()
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "long.mutation.server", "-p", "no:cacheprovider",
            f"--basetemp={scratch}", *sorted(files),
        ]  # fmt: skip
        self._checkout = checkout
        self._said: IO[bytes] = TemporaryFile()  # noqa: SIM115 (closed with the rest, as the next two)
        self._process = subprocess.Popen(
            command, cwd=checkout, stdin=subprocess.DEVNULL, stdout=self._said, stderr=subprocess.STDOUT,
            env=surroundings(checkout) | _AS_RECORDED | {ASKED: str(hers), ANSWERED: str(theirs)},
            pass_fds=(hers, theirs),
            start_new_session=True,  # an interrupt is no verdict on a mutant
        )  # fmt: skip
        os.close(hers)
        os.close(theirs)
        self._asked, self._answers = open(self._ask, "w"), open(self._hear)  # noqa: SIM115
        try:
            collected = self._answer(modules)
        except BaseException:
            self.__exit__()
            raise
        self.collected: int = collected["collected"]

    def __enter__(self) -> Collected:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(BrokenPipeError):
            self._asked.close()
        self.kill()
        self._process.wait()
        self._answers.close()
        self._said.close()

    def kill(self) -> None:
        """Whoever waits for an answer is told that there is none."""
        self._process.kill()

    def tried(self, tests: Tests, mutant: Mutant | None = None) -> dict[str, Any]:
        """What becomes of the modules as they are here, or of a mutant whose mistake is inside of a function.

        May raise NotPlanted.
        """
        question: dict[str, Any] = {"tests": list(tests), "longest": LONGEST}
        if mutant is not None:
            question |= {"file": str(self._checkout / mutant.file), "text": mutant.text.decode()}
        found = self._answer(question)
        if found.get("error") == NOT_PLANTED:
            raise NotPlanted
        if "error" in found or (mutant is not None and found.get("how") == ABSENT):
            raise RuntimeError(f"the mutant could not be tried: {found}")
        return found

    def _answer(self, question: object) -> dict[str, Any]:
        try:
            print(json.dumps(question), file=self._asked, flush=True)
        except BrokenPipeError:
            line = ""
        else:
            line = self._answers.readline()
        if not line:
            self._process.wait()
            self._said.seek(0)
            raise NotCollected(self._said.read().decode(errors="replace"))
        answer: dict[str, Any] = json.loads(line)
        return answer


class Planted:
    """The mutant in a copy of the checkout; a context at whose end the copy is as it was."""

    def __init__(self, checkout: Path, mutant: Mutant) -> None:
        self._file, self._mutant = checkout / mutant.file, mutant

    def __enter__(self) -> None:
        self._write(self._mutant.text)

    def __exit__(self, *_: object) -> None:
        self._write(self._mutant.source.text)

    def _write(self, text: bytes) -> None:
        self._file.write_bytes(text)
        Path(cache_from_source(str(self._file))).unlink(missing_ok=True)  # texts of one size within one second
