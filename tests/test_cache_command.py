"""`lanewise cache`: what is kept, how it goes, and that nothing else does."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from sim.toolchain.cache import RECENT, keep_within, kept_files
from sim.toolchain.compilers import build_text
from sim.toolchain.kept import kept_or_made
from support.command import lanewise

DIGEST = "0123456789abcdef" * 4
DAY = 24 * 3600


def put(file: Path, size: int, age: float) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(bytes(size))
    os.utime(file, (time.time() - age,) * 2)
    return file


def named(number: int, suffix: str = ".elf") -> str:
    return f"{number:064x}{suffix}"


def test_a_build_is_listed_by_kind_with_its_size(cache: Path) -> None:
    build_text("int f(void) { return 1; }", ".c")
    shown = json.loads(lanewise("cache", "--json").stdout)
    elf = next(cache.glob("*.elf")).stat().st_size
    assert shown["folder"] == str(cache)
    assert {kind["kind"]: kind["files"] for kind in shown["kept"]} == {"*.elf": 1, "*.json": 1, "source-*.c": 1}
    assert next(kind["bytes"] for kind in shown["kept"] if kind["kind"] == "*.elf") == elf


def test_texts_of_every_language_are_listed(cache: Path) -> None:
    for suffix in (".c", ".cpp", ".s", ".S"):
        build_text("", suffix)
    kinds = {kind["kind"]: kind["files"] for kind in json.loads(lanewise("cache", "--json").stdout)["kept"]}
    assert {kind: count for kind, count in kinds.items() if kind.startswith("source")} == {
        "source-*.c": 1, "source-*.cpp": 1, "source-*.s": 1, "source-*.S": 1,
    }  # fmt: skip


def test_the_list_says_in_words_what_files_are(cache: Path) -> None:
    put(cache / "rtl" / named(1, ".sim"), 3 << 20, 0)
    lines = lanewise("cache").stdout.splitlines()
    assert [line.split()[:6] for line in lines if "sim" in line] == [
        ["rtl/*.sim", "simulators", "of", "hardware", "1", "3.0"]
    ]
    assert lines[-1] == f"1 files, 3.0 MiB in {cache}"


def test_a_cache_that_is_not_there_is_empty(cache: Path) -> None:
    result = lanewise("cache")
    assert (result.exit_code, result.stdout) == (0, f"0 files, 0.0 MiB in {cache}\n")


def test_clear_removes_what_is_kept_and_nothing_else(cache: Path) -> None:
    kept = [
        put(cache / named(1), 10, 0),
        put(cache / f"proof-{DIGEST}.json", 10, 0),
        put(cache / "rtl" / named(2), 10, 0),
    ]
    own = [
        put(cache / "letter.txt", 10, 0),
        put(cache / "rtl" / "notes.json", 10, 0),
        put(cache / "a" / "b" / named(3), 1, 0),
    ]
    link = cache / named(4)
    link.symlink_to(own[0])
    result = lanewise("cache", "--clear")
    assert result.stdout == f"removed 3 files, 0.0 MiB, from {cache}\n"
    assert not any(file.exists() for file in kept)
    assert all(file.exists() for file in [*own, link])


def test_clear_leaves_what_was_used_since(cache: Path) -> None:
    old, new = put(cache / named(1), 10, 8 * DAY), put(cache / named(2), 10, 6 * DAY)
    lanewise("cache", "--clear", "--older-than", "7")
    assert (old.exists(), new.exists()) == (False, True)


def test_an_age_without_clear_is_refused(cache: Path) -> None:
    result = lanewise("cache", "--older-than", "7")
    assert (result.exit_code, "--older-than says what --clear removes: give both" in result.stderr) == (2, True)


def test_a_cache_that_cannot_be_read_is_one_sentence_and_exit_3(cache: Path) -> None:
    cache.write_text("a file")
    put_aside = lanewise("cache")
    assert (put_aside.exit_code, put_aside.stderr) == (
        3,
        f"lanewise: cannot read the cache {cache}: Not a directory\n",
    )


def test_beyond_its_size_what_was_used_least_recently_goes(cache: Path) -> None:
    files = [put(cache / named(number), 100, (10 - number) * DAY) for number in range(10)]
    keep_within(cache, 650)
    assert [file.exists() for file in files] == [False] * 5 + [True] * 5


def test_within_its_size_nothing_goes(cache: Path) -> None:
    file = put(cache / named(1), 100, DAY)
    keep_within(cache, 100)
    assert file.exists()


def test_what_was_just_used_stays_whatever_its_size(cache: Path) -> None:
    old, new = put(cache / named(1), 100, RECENT + 60), put(cache / named(2), 100, RECENT - 60)
    keep_within(cache, 10)
    assert (old.exists(), new.exists()) == (False, True)


def test_the_size_is_looked_at_once_in_a_while(cache: Path) -> None:
    keep_within(put(cache / named(1), 100, DAY).parent, 1000)
    file = put(cache / named(2), 1000, DAY)
    keep_within(cache, 10)
    assert file.exists()


def test_what_is_used_again_counts_as_used(cache: Path) -> None:
    def make(scratch: Path) -> tuple[Path, list[Path]]:
        (scratch / "made").write_text("content")
        return scratch / "made", []

    first = kept_or_made(cache, DIGEST, ".elf", make)
    for file in kept_files(cache):
        os.utime(file.path, (0, 0))
    assert kept_or_made(cache, DIGEST, ".elf", make) == first
    assert all(time.time() - file.used < DAY for file in kept_files(cache))
