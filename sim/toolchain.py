"""From C, C++ or assembly to a linked AArch64 image, through the clang and lld in the `ziglang` package.

The only file that runs a compiler or a linker. Results are kept by content: see `build`.
"""

import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from sim.image import Image

_PAGE = 4096
_ADDRESS_LIMIT = 1 << 48  # the largest virtual address without FEAT_LVA: Arm ARM, D8.1

# Without -fno-pic, constant tables of pointers would land in writable memory.
_COMPILE = ("-c", "-g", "-ffp-contract=off", "-fno-pic", "-Qunused-arguments")
_ASSEMBLY = (".s", ".S")
_LANGUAGES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((".c", *_ASSEMBLY), ()),
    **dict.fromkeys((".cc", ".cpp", ".cxx"), ("-fno-exceptions", "-fno-rtti", "-nostdinc++")),
}
_LINK = ("-z", "separate-loadable-segments", "-z", f"max-page-size={_PAGE}", "-z", "norelro", "--error-limit=0")

# Variables by which the user's shell would change what clang compiles.
_CLANG_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS")
_ASSEMBLER_INCLUDE = re.compile(rb"\.(include|incbin)\b")

_REQUIRED_FEATURE = re.compile(r"requires target feature '([\w.]+)'|instruction requires: ([\w.]+)")
_ARCHITECTURE = re.compile(r"v\d+(\.\d+)?a")
_EXTENSION_NAMES = {"fullfp16": "fp16", "complxnum": "fcma"}  # where LLVM's feature and -march differ
_UNDEFINED = re.compile(r"undefined symbol: (.+)")


class ToolchainError(Exception):
    """A source that cannot be built: one sentence, then the compiler's or linker's own message."""


class ToolMissing(ToolchainError):
    """The compiler is not installed."""


def clang_command() -> list[str]:
    """The compiler for aarch64-linux with `arm_neon.h` and the C headers, to be followed by its arguments.

    ToolMissing when the running interpreter has no `ziglang` package.
    """
    library = _ziglang() / "lib"
    headers = ("include", "libc/include/aarch64-linux-musl", "libc/include/generic-musl")
    search = [argument for folder in headers for argument in ("-isystem", str(library / folder))]
    return [sys.executable, "-m", "ziglang", "clang", "--target=aarch64-linux-gnu", "-nostdinc", *search]


@functools.cache
def compiler_version() -> str:
    """Such as "clang 22.1.8 (ziglang 0.17.0)", asked from the compiler once a process."""
    banner = _run([*clang_command(), "--version"])
    return f"clang {banner.split()[2]} (ziglang {_ziglang_version()})"


def build(source: Path, *flags: str, base: int = 0x10000) -> Image:
    """Compile one source file and link it statically with its image base at `base`, a multiple of 4096.

    C (.c), C++ (.cc .cpp .cxx, no exceptions, RTTI or standard library) and assembly (.s .S). The defaults
    `-g -ffp-contract=off` come before the flags, so the flags win; relative paths in them are relative to the
    working directory. Text, read-only and writable data lie in segments of their own, each on its own pages.

    The result is kept in $LANEWISE_CACHE, $XDG_CACHE_HOME/lanewise or ~/.cache/lanewise and used again, without
    running anything, while source, flags, base, compiler and the content of every included file stay the same. A
    header that newly appears in an earlier include directory is not noticed.

    ToolchainError when the source cannot be read, compiled or linked, ToolMissing without a compiler, ImageError
    when the linked program is larger than an image may be.
    """
    compiler, linker = _commands(source, flags, base)
    entry = _cache_directory() / f"{_key(source, compiler, linker)}.json"
    try:
        linked = _kept(entry) or _build(source, compiler, linker, entry)
    except OSError as error:
        advice = "set LANEWISE_CACHE to a directory that can be written"
        raise ToolchainError(f"cannot keep the result in {entry.parent}: {error}; {advice}") from error
    return Image.read(linked)


def _ziglang() -> Path:
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        raise ToolMissing("no AArch64 compiler: the package ziglang is not installed; run: pip install ziglang")
    return Path(found.origin).parent


def _ziglang_version() -> str:
    return importlib.metadata.version("ziglang")


def _commands(source: Path, flags: tuple[str, ...], base: int) -> tuple[list[str], list[str]]:
    """The compiler's and the linker's command, each without its inputs and outputs in the scratch directory."""
    if source.suffix not in _LANGUAGES:
        raise ToolchainError(f"cannot build {source}: its suffix must be one of {' '.join(_LANGUAGES)}")
    if base % _PAGE or not 0 <= base < _ADDRESS_LIMIT:
        raise ToolchainError(f"cannot link at base {base:#x}: give a multiple of {_PAGE} from 0 to below 2**48")
    beside = (f"-I{source.absolute().parent}",) if source.suffix in _ASSEMBLY else ()
    compiler = [*clang_command(), *_COMPILE, *_LANGUAGES[source.suffix], *beside, *flags, str(source.absolute())]
    return compiler, [sys.executable, "-m", "ziglang", "ld.lld", *_LINK, f"--image-base={base:#x}"]


def _cache_directory() -> Path:
    if chosen := os.environ.get("LANEWISE_CACHE"):
        return Path(chosen).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "lanewise").absolute()


def _key(source: Path, *commands: list[str]) -> str:
    try:
        text = source.read_bytes()
    except OSError as error:
        raise ToolchainError(f"cannot read {source}: {error.strerror}; give the path of a source file") from error
    return hashlib.sha256(json.dumps([commands, os.getcwd(), _ziglang_version()]).encode() + text).hexdigest()


def _kept(entry: Path) -> Path | None:
    """The linked file of a cache entry; None where it or anything it was built from is missing or different."""
    try:
        digests: dict[str, str] = json.loads(entry.read_bytes())
        fresh = all(_digest(Path(file)) == digest for file, digest in digests.items())
        return Path(next(iter(digests))) if fresh else None
    except (OSError, ValueError, AttributeError, StopIteration):  # damaged: whatever JSON made of it
        return None


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _build(source: Path, compiler: list[str], linker: list[str], entry: Path) -> Path:
    """Everything is written in a scratch directory of the cache and moved into place whole."""
    started = time.time_ns()
    entry.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=entry.parent) as scratch:
        compiled, linked, included = (Path(scratch, "kernel" + suffix) for suffix in (".o", ".elf", ".d"))
        _run([*compiler, "-MD", "-MT", "kernel", "-MF", str(included), "-o", str(compiled)])
        _run([*linker, compiled.name, "-o", linked.name], Path(scratch))
        final = entry.with_name(f"{_digest(linked)}.elf")
        linked.replace(final)
        _keep(entry, final, [source.absolute(), *_included_files(included)], started, Path(scratch))
    return final


def _keep(entry: Path, linked: Path, inputs: list[Path], started: int, scratch: Path) -> None:
    """Write the cache entry, unless an input was saved meanwhile or names files that the compiler does not list."""
    saved_meanwhile = any(file.stat().st_mtime_ns > started for file in inputs)
    if saved_meanwhile or any(_ASSEMBLER_INCLUDE.search(file.read_bytes()) for file in inputs):
        return
    written = scratch / entry.name
    written.write_text(json.dumps({str(file): _digest(file) for file in (linked, *inputs)}))
    written.replace(entry)


def _included_files(rule: Path) -> list[Path]:
    """The prerequisites of a make rule `kernel: a.c b.h`; a plain .s file is not preprocessed and has no rule."""
    if not rule.exists():
        return []
    names = re.findall(r"(?:\\.|\S)+", rule.read_text().removeprefix("kernel:").replace("\\\n", " "))
    return [Path(re.sub(r"\\(.)", r"\1", name).replace("$$", "$")) for name in names]


def _run(command: list[str], directory: Path | None = None) -> str:
    """What the command writes to stdout, run in the directory or else in the working directory."""
    environment = {name: value for name, value in os.environ.items() if name not in _CLANG_VARIABLES}
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", env=environment, cwd=directory
    )
    if done.returncode:
        raise ToolchainError(_explained(done.stderr))
    return done.stdout


def _explained(message: str) -> str:
    """The tool's message, led by what to do where that is known."""
    if undefined := _UNDEFINED.findall(message):
        advice = "define them in the source; -fno-builtin keeps loops from becoming memset or memcpy"
        return f"undefined symbols: {', '.join(undefined)}; {advice}\n{message}"
    if features := [name or required for name, required in _REQUIRED_FEATURE.findall(message)]:
        return f"an instruction is not in the target: add the flag {_march(features)}\n{message}"
    return f"the source does not build: mend what the tool reports\n{message}"


def _march(features: Iterable[str]) -> str:
    """The flag that turns the features on: v8.3a names an architecture, others extensions of at least Armv8.2-A."""
    versions = {name for name in features if _ARCHITECTURE.fullmatch(name)}
    architecture = max(["armv8.2-a", *(f"armv{name[1:-1]}-a" for name in versions)])
    extensions = sorted({_EXTENSION_NAMES.get(name, name) for name in set(features) - versions})
    return "-march=" + "+".join([architecture, *extensions])
