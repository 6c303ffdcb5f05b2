"""The repository in tests/examples when a kernel of it is wrong: its tests, and its hook for commits."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

from test_example_repository import LANEWISE, ROOT, copy, done

__all__ = ["copy"]


def hook(folder: Path, *files: str) -> tuple[int, str]:
    """What pre-commit runs for files of a commit: the entry, its arguments, and the files that its pattern takes."""
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    given = dict(re.findall(r"^(?:- |  )(\w+): (.+)$", text, re.M))
    taken = [file for file in files if re.search(given["files"], file)]
    name, *words = shlex.split(given["entry"])
    assert name == "lanewise"
    return done(folder, *LANEWISE, *words, *given["args"].strip("[]").split(", "), *taken)


def test_its_tests_pass_and_fail_with_a_wrong_kernel(copy: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    shutil.copytree(copy, wrong)
    source = wrong / "kernels" / "mix.c"
    source.write_text(source.read_text().replace("128 - share", "127 - share"))
    code, said = done(wrong, sys.executable, "-m", "pytest", "-p", "no:cacheprovider")
    assert (code, "1 failed, 1 passed" in said, "test_kernels.py" in said) == (1, True, True)


def test_its_hook_does_the_jobs_that_read_what_a_commit_touches(copy: Path, tmp_path: Path) -> None:
    """Nothing is done again that has a result; a wrong kernel fails its own commit, and no other."""
    touched = tmp_path / "touched"
    shutil.copytree(copy, touched)
    assert hook(touched, "README.md", "kernels/mix.c") == (
        0, "run 2 of own kernels, of touched files: 4 jobs, 4 kept, 0 done now\n4 agrees\nnext: lanewise results"
        " lanewise.sqlite\n",
    )  # fmt: skip
    source = touched / "kernels" / "mix.c"
    source.write_text(source.read_text().replace("128 - share", "127 - share"))
    assert hook(touched, "kernels/scale.c")[0] == 0
    code, said = hook(touched, "kernels/mix.c")
    assert (code, "4 jobs, 0 kept, 4 done now\n2 agrees, 2 differs" in said) == (1, True)
