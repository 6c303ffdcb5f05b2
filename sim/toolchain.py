"""From C, C++ or assembly to a linked AArch64 image, through the clang and lld in the `ziglang` package.

The only file that runs a compiler or a linker. Results are kept by content: see `build`.
"""

import contextlib
import errno
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
from collections.abc import Iterable, Iterator
from pathlib import Path

from sim.image import Image

_PAGE = 4096
_ADDRESS_LIMIT = 1 << 48  # the largest virtual address without FEAT_LVA: Arm ARM, D8.1

_TARGET = ("--target=aarch64-linux-gnu", "-nostdinc")
# Without -fno-pic, constant tables of pointers would land in writable memory; without the last two, sqrtf, lrintf and
# atomics would be calls of a library that is not there.
_DEFAULTS = ("-g", "-ffp-contract=off", "-fno-pic", "-fno-math-errno", "-mno-outline-atomics")
_COMPILE = ("-c", *_DEFAULTS, "-Qunused-arguments")
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
_VERSION = re.compile(r"clang version (\S+)")

# What a tool says of its own output, not of a line of the source, when the cache takes no more.
_FULL = "|".join(os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS))
_CANNOT_WRITE = re.compile(rf"^(?:error|fatal error|LLVM ERROR|ld\.lld: error): .*(?:{_FULL})'?$", re.MULTILINE)
_CACHE_ADVICE = "set LANEWISE_CACHE to a directory that can be written"
_INSTALL = "pip install --force-reinstall ziglang"


class ToolchainError(Exception):
    """A source that cannot be built: one sentence, then the compiler's or linker's own message."""


class ToolchainUnavailable(ToolchainError):
    """The environment is at fault, whatever the source: one sentence."""


class ToolMissing(ToolchainUnavailable):
    """The compiler is not installed."""


class CacheUnusable(ToolchainUnavailable):
    """The cache has no place, or nothing can be written there."""


def clang_command() -> list[str]:
    """The compiler for aarch64-linux with `arm_neon.h` and the C headers, to be followed by its arguments.

    ToolMissing when the running interpreter has no `ziglang` package.
    """
    library = _ziglang() / "lib"
    headers = ("include", "libc/include/aarch64-linux-musl", "libc/include/generic-musl")
    search = [argument for folder in headers for argument in ("-isystem", str(library / folder))]
    return [sys.executable, "-m", "ziglang", "clang", *_TARGET, *search]


@functools.cache
def compiler_version() -> str:
    """Such as "clang 22.1.8 (ziglang 0.17.0)", asked from the compiler once a process.

    ToolchainUnavailable when the compiler is not installed or does not run.
    """
    done = _executed([*clang_command(), "--version"])
    found = _VERSION.search(done.stdout)
    if done.returncode or found is None:
        said = (done.stderr.strip() or f"it ended with status {done.returncode}").splitlines()[-1]
        raise ToolchainUnavailable(f"the compiler of the package ziglang does not run: {said}; run: {_INSTALL}")
    return f"clang {found[1]} (ziglang {_ziglang_version()})"


def fixed_flags(*sources: Path) -> tuple[str, ...]:
    """The flags that come before a build's own, such as --target and -ffp-contract=off; none without a source.

    Those of a language, such as -fno-exceptions, are among them where one of the sources needs them. Left out is what
    changes no code: the folders of the compiler's headers and the names of outputs.
    """
    of_languages = (flag for source in sources for flag in _LANGUAGES.get(source.suffix, ()))
    return tuple(dict.fromkeys((*_TARGET, *_DEFAULTS, *of_languages))) if sources else ()


def build(source: Path, *flags: str, base: int = 0x10000) -> Image:
    """Compile one source file and link it statically with its image base at `base`, a multiple of 4096.

    C (.c), C++ (.cc .cpp .cxx, no exceptions, RTTI or standard library) and assembly (.s .S). The defaults
    `-g -ffp-contract=off` come before the flags, so the flags win; relative paths in them are relative to the
    working directory. Text, read-only and writable data lie in segments of their own, each on its own pages.

    The result is kept in $LANEWISE_CACHE, $XDG_CACHE_HOME/lanewise or ~/.cache/lanewise and used again, without
    running anything, while source, flags, base, compiler and the content of every included file stay the same. A
    header that newly appears in an earlier include directory is not noticed.

    ToolchainError when the source cannot be read, compiled or linked, ToolMissing without a compiler, CacheUnusable
    when the result cannot be kept, ImageError when the linked program is larger than an image may be.
    """
    compiler, linker = _commands(source, flags, base)
    entry = cache_directory() / f"{_key(source, compiler, linker)}.json"
    with _writing_to(entry.parent):
        linked = _kept(entry) or _build(source, compiler, linker, entry)
    return Image.read(linked)


def build_text(text: str, suffix: str, *flags: str, base: int = 0x10000) -> Image:
    """`build` for a text in the language of the suffix: ".c", ".cpp", ".s" and so on.

    The text is kept in the cache as source-DIGEST with the suffix, the name that messages and source lines give it;
    what it includes is found through the flags (-I), not beside it. Raises what `build` raises.
    """
    _check_suffix(suffix, "the text")
    return build(_text_file(text, suffix), *flags, base=base)


def _ziglang() -> Path:
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        raise ToolMissing("no AArch64 compiler: the package ziglang is not installed; run: pip install ziglang")
    return Path(found.origin).parent


def _ziglang_version() -> str:
    try:
        return importlib.metadata.version("ziglang")
    except importlib.metadata.PackageNotFoundError as error:
        raise ToolMissing(f"the package ziglang is installed only in part; run: {_INSTALL}") from error


def _check_suffix(suffix: str, what: object) -> None:
    if suffix not in _LANGUAGES:
        raise ToolchainError(f"cannot build {what}: its suffix must be one of {' '.join(_LANGUAGES)}")


def _commands(source: Path, flags: tuple[str, ...], base: int) -> tuple[list[str], list[str]]:
    """The compiler's and the linker's command, each without its inputs and outputs in the scratch directory."""
    _check_suffix(source.suffix, source)
    if base % _PAGE or not 0 <= base < _ADDRESS_LIMIT:
        raise ToolchainError(f"cannot link at base {base:#x}: give a multiple of {_PAGE} from 0 to below 2**48")
    beside = (f"-I{source.absolute().parent}",) if source.suffix in _ASSEMBLY else ()
    compiler = [*clang_command(), *_COMPILE, *_LANGUAGES[source.suffix], *beside, *flags, str(source.absolute())]
    return compiler, [sys.executable, "-m", "ziglang", "ld.lld", *_LINK, f"--image-base={base:#x}"]


def cache_directory() -> Path:
    if chosen := os.environ.get("LANEWISE_CACHE"):
        return Path(chosen).absolute()
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "lanewise").absolute()
    except RuntimeError as error:  # no HOME, and the system does not know the user
        raise CacheUnusable(f"no home directory is known, so the cache has no place: {_CACHE_ADVICE}") from error


@contextlib.contextmanager
def _writing_to(directory: Path) -> Iterator[None]:
    """CacheUnusable for an OSError within."""
    try:
        yield
    except OSError as error:
        raise CacheUnusable(f"cannot keep the result in {directory}: {error}; {_CACHE_ADVICE}") from error


def _text_file(text: str, suffix: str) -> Path:
    """The file of the cache with this content, written unless it is there."""
    content = text.encode(errors="surrogatepass")
    file = cache_directory() / f"source-{hashlib.sha256(content).hexdigest()[:16]}{suffix}"
    with _writing_to(file.parent):
        if not file.is_file() or file.read_bytes() != content:
            _write_whole(file, content)
    return file


def _write_whole(file: Path, content: bytes) -> None:
    """Write in a scratch directory and move into place, so that no reader meets half of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as scratch:
        written = Path(scratch, file.name)
        written.write_bytes(content)
        written.replace(file)


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
    done = _executed(command, directory)
    if done.returncode:
        raise _failure(command[3], done)
    return done.stdout


def _executed(command: list[str], directory: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in _CLANG_VARIABLES}
    try:
        return subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", env=environment, cwd=directory
        )
    except OSError as error:
        raise ToolchainUnavailable(f"cannot run {command[3]}: {error}") from error


def _failure(tool: str, done: subprocess.CompletedProcess[str]) -> ToolchainError:
    """The environment's fault where the tool could not write or was stopped without a word, else the source's."""
    if full := _CANNOT_WRITE.search(done.stderr):
        return CacheUnusable(f"{tool} cannot write to the cache: {full[0]}; free space there or {_CACHE_ADVICE}")
    if done.returncode < 0 and not done.stderr:  # what lld does on a full disk, and what a lack of memory does
        return ToolchainUnavailable(f"{tool} was stopped by signal {-done.returncode}: free memory and disk space")
    return ToolchainError(_explained(done.stderr))


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
