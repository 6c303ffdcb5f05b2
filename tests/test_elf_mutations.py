"""A short run of damaged ELF files; tests/long/elf_mutations.py is the long one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.elf_mutations import damaged_outcome, outcome, read
from support.elf_originals import originals


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LANEWISE_CACHE", str(tmp_path_factory.mktemp("cache")))
        originals(made := tmp_path_factory.mktemp("originals"))
        yield made


@pytest.mark.slow
@pytest.mark.parametrize(("option", "count"), [("files", 300), ("links", 20)])
def test_damaged_files_are_opened_or_refused(folder: Path, option: str, count: int) -> None:
    outcomes = Counter(damaged_outcome(folder, option, seed) for seed in range(count))
    assert set(outcomes) == {"opened", "refused"}, f"seeds 0 to {count - 1}"


def test_undamaged_files_are_opened(folder: Path) -> None:
    assert {outcome(read, path) for path in folder.iterdir() if path.suffix not in (".c", ".cpp")} == {"opened"}
