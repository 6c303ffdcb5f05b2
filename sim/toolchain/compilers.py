"""From C, C++ or assembly to a linked AArch64 image, through the clang and lld in the `ziglang` package.

From C to a library for this computer, too (`host_library`). The only file that runs a compiler or a linker. Results are
kept by content: see `build`.
"""

import contextlib
import errno
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from isa.errors import MISSING, LanewiseError, pip_install
from sim.toolchain.archive import MAGIC, Member, members
from sim.toolchain.image import LARGEST_IMAGE, MISSING_PREFIX, MISSING_ROOM, Image, ImageError, undefined_of_threads
from sim.toolchain.kept import Make, kept_or_made, write_whole
from sim.toolchain.relocations import relocated
from sim.toolchain.starting import resolved

_PAGE = 4096
_MISSING = 1 << 30  # from the base of a program to what stands for missing symbols: within reach of adrp
_ADDRESS_LIMIT = 1 << 48  # the largest virtual address without FEAT_LVA: Arm ARM, D8.1

_TARGET = ("--target=aarch64-linux-gnu", "-nostdinc")
# Without -fno-pic, constant tables of pointers would land in writable memory; without the last two, sqrtf, lrintf and
# atomics would be calls of the runtime.
_DEFAULTS = ("-g", "-ffp-contract=off", "-fno-pic", "-fno-math-errno", "-mno-outline-atomics")
_COMPILE = ("-c", *_DEFAULTS, "-Qunused-arguments")
_ASSEMBLY = (".s", ".S")
_CPP = (".cc", ".cpp", ".cxx")
_LANGUAGES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((".c", *_ASSEMBLY), ()),
    **dict.fromkeys(_CPP, ("-fno-exceptions", "-fno-rtti", "-nostdinc++")),
}
# Of the C++ library only what headers define is there.  They are configured as for a program without a system: no
# threads, no clock, no checks (libc++, __config).  Streams are declared, so that a file may print where no kernel is.
_CPP_HEADERS = "libcxx/include"
_CPP_LIBRARY = (
    "-D_LIBCPP_ABI_VERSION=1", "-D_LIBCPP_ABI_NAMESPACE=__1", "-D_LIBCPP_HAS_THREADS=0",
    "-D_LIBCPP_HAS_MONOTONIC_CLOCK=0", "-D_LIBCPP_HAS_MUSL_LIBC=1", "-D_LIBCPP_HARDENING_MODE_DEFAULT=2",
    "-D_LIBCPP_HAS_LOCALIZATION=1", "-D_LIBCPP_HAS_WIDE_CHARACTERS=1",
    "-D_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=2",
)  # fmt: skip
# Of programs for this computer; what is called is in the process that loads them.
_HOST = ("-std=gnu11", "-O2", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-w")
_LINK = (
    "-z",
    "separate-loadable-segments",
    "-z",
    f"max-page-size={_PAGE}",
    "-z",
    "norelro",
    "--error-limit=0",
    "--no-demangle",
)

# Reading arm_neon.h takes clang three times as long as the rest of a kernel: it is read once for the same flags, where
# a source begins with it and no flag but these is given.  That pays from the second source on.
_NEON = "arm_neon.h"
_NEON_FIRST = re.compile(rb"(?:\s|//[^\n\\]*\n|/\*[^\\]*?\*/)*#include <arm_neon\.h>")
_READS_ALIKE = re.compile(r"-O\w|-m(?:arch|cpu)=.*")
_TWICE = 2
_read_for: Counter[str] = Counter()
"""By the key of such a header, how many sources this process has had it read for."""

# Functions that compilers call on their own, for programs that do not define them.  Without -fno-builtin, the loop that
# is memset would become a call of memset.
_RUNTIME = Path(__file__).parent / "runtime"
_RUNTIME_FLAGS = ("-O1", "-fno-builtin", f"-fdebug-compilation-dir={_RUNTIME}")

# GCC prints a byte sign-extended to 64 bits, which LLVM's assembler refuses.
_SIGN_EXTENDED_BYTE = re.compile(rb"(\bmovi\s+v\d+\.(?:8b|16b)\s*,\s*#?0x)f{14}([0-9a-f]{2})\b")

# Variables by which the user's shell would change what clang compiles.
_CLANG_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS")
_ASSEMBLER_INCLUDE = re.compile(rb"\.(include|incbin)\b")

_REQUIRED_FEATURE = re.compile(r"requires target feature '([\w.]+)'|instruction requires: ([\w.]+)")
_ARCHITECTURE = re.compile(r"v\d+(\.\d+)?a")
_EXTENSION_NAMES = {"fullfp16": "fp16", "complxnum": "fcma"}  # where LLVM's feature and -march differ
_UNDEFINED = re.compile(r"undefined (?:\w+ )?symbol: (.+)")
_VERSION = re.compile(r"clang version (\S+)")

# What a tool says of its own output, not of a line of the source, when the cache takes no more.
_FULL = "|".join(os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS))
_CANNOT_WRITE = re.compile(rf"^(?:error|fatal error|LLVM ERROR|ld\.lld: error): .*(?:{_FULL})'?$", re.MULTILINE)
_CACHE_ADVICE = "set LANEWISE_CACHE to a directory that can be written"
_AGAIN = "--force-reinstall ziglang"

LONGEST = 300.0
"""Seconds that a compiler or linker may take; a kernel takes a tenth of one."""


class ToolchainError(LanewiseError):
    """A source that cannot be built: one sentence, then the compiler's or linker's own message."""


class _UndefinedSymbols(ToolchainError):
    """A program that uses what it does not define."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(f"undefined symbols: {', '.join(names)}")
        self.names = names


class ToolchainUnavailable(ToolchainError):
    """The environment is at fault, whatever the source: one sentence."""

    exit_code = MISSING


class ToolMissing(ToolchainUnavailable):
    """The compiler is not installed."""


class CacheUnusable(ToolchainUnavailable):
    """The cache has no place, or nothing can be written there."""


def clang_command(*first: str) -> list[str]:
    """The compiler for aarch64-linux with `arm_neon.h` and the C headers, to be followed by its arguments.

    `first` are folders of the package that are searched before those.  ToolMissing when the running interpreter has no
    `ziglang` package.
    """
    library = _ziglang() / "lib"
    headers = (*first, "include", "libc/include/aarch64-linux-musl", "libc/include/generic-musl")
    search = [argument for folder in headers for argument in ("-isystem", str(library / folder))]
    return [*_zig("clang"), *_TARGET, *search]


@functools.cache
def compiler_version() -> str:
    """Such as "clang 22.1.8 (ziglang 0.17.0)", asked from the compiler once a process.

    ToolchainUnavailable when the compiler is not installed or does not run.
    """
    done = _executed([*clang_command(), "--version"])
    found = _VERSION.search(done.stdout)
    if done.returncode or found is None:
        said = (done.stderr.strip() or f"it ended with status {done.returncode}").splitlines()[-1]
        raise ToolchainUnavailable(
            f"the compiler of the package ziglang does not run: {said}; run: {pip_install(_AGAIN)}"
        )
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

    C (.c), C++ (.cc .cpp .cxx; no exceptions or RTTI, of the library what headers define) and assembly (.s .S). The
    defaults `-g -ffp-contract=off` come before the flags, so the flags win; relative paths in them are relative to the
    working directory. Text, read-only and writable data lie in segments of their own, each on its own pages. Functions
    that compilers call on their own (sim/toolchain/runtime: memcpy, roundf, __udivti3, ...) are linked in where
    the source calls but does not define them; their code is emulated as the kernel's is.

    The result is kept in $LANEWISE_CACHE, $XDG_CACHE_HOME/lanewise or ~/.cache/lanewise and used again, without
    running anything, while source, flags, base, compiler and the content of every included file stay the same. A
    header that newly appears in an earlier include directory is not noticed.

    Symbols that nothing defines are bound to addresses where no memory is (`Image.missing`); constructors are not run.

    ToolchainError when the source cannot be read, compiled or linked, ToolMissing without a compiler, CacheUnusable
    when the result cannot be kept, ImageError when the linked program is larger than an image may be.
    """
    compiler, linker = _compiler(source, flags), _linker(base)
    key = _key([compiler, linker, str(source.absolute()), os.getcwd()], _text_of(source))
    return _ready(_cached(key, ".elf", lambda scratch: _built(source, compiler, linker, base, scratch)))


def compiled(source: Path, *flags: str) -> bytes:
    """The relocatable object of a source that is compiled as `build` does.  Raises what `build` raises."""
    compiler = _compiler(source, flags)
    key = _key([compiler, "object", str(source.absolute()), os.getcwd()], _text_of(source))
    return _cached(key, ".o", lambda scratch: _compiled(source, compiler, scratch)).read_bytes()


def _compiler(source: Path, flags: Sequence[str]) -> list[str]:
    """The command without input and outputs."""
    _check_suffix(source.suffix, source)
    beside = (f"-I{source.absolute().parent}",) if source.suffix in _ASSEMBLY else ()
    command = [*clang_command(_CPP_HEADERS), *_CPP_LIBRARY] if source.suffix in _CPP else clang_command()
    return [*command, *_COMPILE, *_LANGUAGES[source.suffix], *beside, *flags]


def _text_of(source: Path) -> bytes:
    try:
        return source.read_bytes()
    except OSError as error:
        raise ToolchainError(f"cannot read {source}: {error.strerror}; give the path of a source file") from error


def link(files: Mapping[str, bytes], *options: str, base: int = 0x10000) -> Image:
    """Link relocatable objects and archives as `build` does, by the names that the linker's messages give them.

    The options are the linker's: --undefined=NAME takes a member of an archive for the symbol. The result is kept by
    content; what nothing defines is bound as `build` binds it. ToolchainError when the files cannot be linked, and what
    `build` raises for the environment and for the linked program.
    """
    linker = [*_linker(base), "-m", "aarch64elf", "--no-dependent-libraries", *options]
    key = _key([linker, [(name, len(content)) for name, content in files.items()]], b"".join(files.values()))
    return _ready(_cached(key, ".elf", lambda scratch: _linked(linker, files, base, scratch)))


def _ready(linked: Path) -> Image:
    return resolved(relocated(Image.read(linked), lambda names: dict.fromkeys(names, 0)))


def build_text(text: str, suffix: str, *flags: str, base: int = 0x10000) -> Image:
    """`build` for a text in the language of the suffix: ".c", ".cpp", ".s" and so on.

    The text is kept in the cache as source-DIGEST with the suffix, the name that messages and source lines give it;
    what it includes is found through the flags (-I), not beside it. Raises what `build` raises.
    """
    _check_suffix(suffix, "the text")
    content = text.encode(errors="surrogatepass")
    file = cache_directory() / f"source-{hashlib.sha256(content).hexdigest()[:16]}{suffix}"
    with _writing_to(file.parent):
        if not file.is_file() or file.read_bytes() != content:
            write_whole(file, content)
    return build(file, *flags, base=base)


def host_library(text: str, *flags: str) -> Path:
    """A shared object for this computer from a C text that includes no more than the standard's headers.

    The compiler is the system's `cc`, else the clang in `ziglang`; the flags come after -O2 and -ffp-contract=off. The
    result is kept where `build` keeps programs, by compiler, flags and text.

    ToolchainError when the text cannot be compiled, ToolchainUnavailable when there is no compiler that runs,
    CacheUnusable when the result cannot be kept.
    """
    system = shutil.which("cc")
    compiler = [system] if system is not None else _host_clang()
    compiler += [*_HOST, *flags]
    settings = json.dumps([compiler, version_text(compiler[0])])
    return _host_library(hashlib.sha256((settings + text).encode()).hexdigest(), lambda: text, compiler)


def engine_library(key: str, text: Callable[[], str]) -> Path:
    """A shared object for this very processor: what was kept under the key, else made of the text (see `host_library`).

    The compiler is the clang in `ziglang`, which makes more of vectors, else the system's `cc`.  Raises what
    `host_library` raises.
    """
    try:
        compiler = _host_clang()
    except ToolMissing:
        system = shutil.which("cc")
        if system is None:
            raise
        compiler = [system]
    compiler += [*_HOST, "-march=native"]
    settings = json.dumps([compiler, version_text(compiler[0]), _processor(), key])
    return _host_library(hashlib.sha256(settings.encode()).hexdigest(), text, compiler)


def _host_library(key: str, text: Callable[[], str], compiler: list[str]) -> Path:
    return _cached(key, ".so", lambda scratch: (_built_for_host(text(), compiler, scratch), []))


@functools.cache
def _processor() -> str:
    """What -march=native depends on: the processor's name and features, as Linux lists them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return "\n".join(sorted({line for line in lines if line.startswith(("model name", "flags", "Features", "CPU "))}))


def is_source(path: Path) -> bool:
    """Whether the name is that of a text that `build` compiles."""
    return path.suffix in _LANGUAGES


def _host_clang() -> list[str]:
    """The compiler in `ziglang` for this computer, of which C headers are enough: the libraries are those of Python."""
    machine = platform.machine()
    folders = ("include", f"libc/include/{machine}-linux-musl", "libc/include/generic-musl")
    search = [argument for folder in folders for argument in ("-isystem", str(_ziglang() / "lib" / folder))]
    return [*_zig("clang"), f"--target={machine}-linux-gnu", "-nostdinc", *search]


@functools.cache
def version_text(compiler: str) -> str:
    """What tells one compiler from another: the words of the system's, the version of the package `ziglang`."""
    return _ziglang_version() if Path(compiler).name == "zig" else _run([compiler, "--version"])


def _built_for_host(text: str, compiler: list[str], scratch: Path) -> Path:
    (scratch / "library.c").write_text(text)
    made = ["-o", "library.so"]
    if Path(compiler[0]).name != "zig":
        _run([*compiler, "-shared", "library.c", *made, "-lm"], scratch)
    else:
        _run([*compiler, "-c", "library.c", "-o", "library.o"], scratch)
        _run([*_zig("ld.lld"), "-shared", "library.o", *made], scratch)
    return scratch / "library.so"


def _zig(tool: str) -> list[str]:
    """The program in `ziglang` itself: Python, to start it, takes as long as a small file takes to compile."""
    return [str(_ziglang() / "zig"), tool]


def _ziglang() -> Path:
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        raise ToolMissing(f"no AArch64 compiler: the package ziglang is not installed; run: {pip_install('ziglang')}")
    return Path(found.origin).parent


def _ziglang_version() -> str:
    try:
        return importlib.metadata.version("ziglang")
    except importlib.metadata.PackageNotFoundError as error:
        raise ToolMissing(f"the package ziglang is installed only in part; run: {pip_install(_AGAIN)}") from error


def _check_suffix(suffix: str, what: object) -> None:
    if suffix not in _LANGUAGES:
        raise ToolchainError(f"cannot build {what}: its suffix must be one of {' '.join(_LANGUAGES)}")


def _linker(base: int) -> list[str]:
    """The command without inputs and output."""
    if base % _PAGE or not 0 <= base < _ADDRESS_LIMIT:
        raise ToolchainError(f"cannot link at base {base:#x}: give a multiple of {_PAGE} from 0 to below 2**48")
    return [*_zig("ld.lld"), *_LINK, f"--image-base={base:#x}"]


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


def _key(settings: object, content: bytes) -> str:
    return hashlib.sha256(json.dumps([settings, _ziglang_version()]).encode() + content).hexdigest()


def _cached(key: str, suffix: str, make: Make) -> Path:
    """The file that was kept under the key, else what `make` makes."""
    directory = cache_directory()
    with _writing_to(directory):
        return kept_or_made(directory, key, suffix, make)


def _built(
    source: Path, compiler: list[str], linker: list[str], base: int, scratch: Path
) -> tuple[Path, list[Path] | None]:
    """The linked program, and the files it was made from; None where they name some that the compiler does not list."""
    compiled, texts = _compiled(source, compiler, scratch)
    linked, runtime = _linked(linker, {compiled.name: None}, base, scratch)
    return linked, None if texts is None else [*texts, *runtime]


def _compiled(source: Path, compiler: list[str], scratch: Path) -> tuple[Path, list[Path] | None]:
    """The object, and the files it was made from as `_built` gives them."""
    compiled, included, given = scratch / "kernel.o", scratch / "kernel.d", source.absolute()
    text = source.read_bytes()
    respelled = _SIGN_EXTENDED_BYTE.sub(rb"\1\2", text)
    if source.suffix == ".s" and respelled != text:  # GCC's assembly, in LLVM's spelling under the source's name
        marker = f"# 1 {json.dumps(str(source.absolute()), ensure_ascii=False)}\n".encode()
        given = scratch / "kernel.s"
        given.write_bytes(marker + respelled)
    outputs = [str(given), "-MD", "-MT", "kernel", "-MF", str(included), "-o", str(compiled)]
    header = _precompiled(source, text, compiler)
    try:
        _run([*compiler, *header, *outputs])
    except ToolchainError as error:
        if not header or isinstance(error, ToolchainUnavailable):
            raise
        _run([*compiler, *outputs])  # what is said of it is said without that header
    texts = [source.absolute()]
    if included.exists():  # a plain .s file is not preprocessed and has none
        texts += _listed(included)
    includes_more = any(_ASSEMBLER_INCLUDE.search(text.read_bytes()) for text in texts)
    return compiled, None if includes_more else texts


def _listed(included: Path) -> list[Path]:
    """The files that a make rule `kernel: a.c b.h` names."""
    rule = os.fsdecode(included.read_bytes()).removeprefix("kernel:").replace("\\\n", " ")
    return [Path(re.sub(r"\\(.)", r"\1", name).replace("$$", "$")) for name in re.findall(r"(?:\\.|\S)+", rule)]


def _precompiled(source: Path, text: bytes, compiler: list[str]) -> list[str]:
    """The options by which clang has arm_neon.h read already; none where it would not be the same, or is not worth it.

    The object is the same, byte by byte, as clang makes without it.
    """
    flags = compiler[len(_compiler(source, ())) :]
    if source.suffix != ".c" or not _NEON_FIRST.match(text) or not all(map(_READS_ALIKE.fullmatch, flags)):
        return []
    key = _key([compiler, _NEON], b"")
    _read_for[key] += 1
    if _read_for[key] < _TWICE and not (cache_directory() / f"{key}.json").exists():
        return []
    with contextlib.suppress(ToolchainError, OSError):
        return ["-include-pch", str(_cached(key, ".pch", lambda scratch: _header_made(compiler, scratch)))]
    return []


def _header_made(compiler: list[str], scratch: Path) -> tuple[Path, list[Path]]:
    """arm_neon.h as clang reads it, and the headers that it includes, whose content is compared, not their time."""
    made, included = scratch / "neon.pch", scratch / "neon.d"
    read = ["-Xclang", "-fno-pch-timestamp", "-x", "c-header", str(_ziglang() / "lib" / "include" / _NEON)]
    _run([*compiler, *read, "-MD", "-MT", "kernel", "-MF", str(included), "-o", str(made)])
    return made, _listed(included)


def _linked(linker: list[str], files: Mapping[str, bytes | None], base: int, scratch: Path) -> tuple[Path, list[Path]]:
    """The program, and the sources of the runtime where it lacks something by itself.

    So what needs no runtime is linked as if there were none, and what the runtime lacks as well is bound to addresses
    behind the program.  A file without a content is in the directory already.
    """
    for name, content in files.items():
        if content is not None:
            (scratch / name).write_bytes(content)
    linked, used = scratch / "kernel.elf", list[Path]()
    command = [*linker, *files, "-o", linked.name]
    try:
        _run(command, scratch)
    except _UndefinedSymbols:
        used = sorted(_RUNTIME.glob("*.[cS]"))
        compiler = [*clang_command(), *_COMPILE, *_RUNTIME_FLAGS, *map(str, used)]
        runtime = _cached(_key(compiler, b""), ".a", lambda scratch: _archived(used, compiler, scratch))
        command.append(str(runtime))
        try:
            _run(command, scratch)
        except _UndefinedSymbols as undefined:
            of_threads = set[str]()
            for name in files:
                content = (scratch / name).read_bytes()
                within = members(name, content) if content.startswith(MAGIC) else [Member(name, content)]
                for part in within:
                    of_threads |= undefined_of_threads(part.name, part.content)
            if lacking := sorted(of_threads.intersection(undefined.names)):
                raise ImageError(
                    f"nothing defines the thread-local variable {lacking[0]!r}: "
                    "link what does, by with_sources or --with"
                ) from None
            _run([*command, *_bound(undefined.names, base + _MISSING)], scratch)
    if (size := linked.stat().st_size) > LARGEST_IMAGE:  # as a section's alignment may make it, out of nothing
        raise ImageError(f"the linked program has {size} bytes; at most {LARGEST_IMAGE >> 20} MiB is allowed")
    return linked, used


def _bound(names: list[str], first: int) -> Iterator[str]:
    """The linker's options for symbols that stand for nothing: see `Image.missing`."""
    for place, name in zip(range(first, _ADDRESS_LIMIT, MISSING_ROOM), names, strict=False):
        yield f"--defsym={MISSING_PREFIX}{name}={place:#x}"
        yield f"--defsym={name}={MISSING_PREFIX}{name}"


def _archived(sources: list[Path], compiler: list[str], scratch: Path) -> tuple[Path, list[Path]]:
    """The runtime as an archive, of which the linker takes what a program lacks."""
    _run(compiler, scratch)
    objects = [source.with_suffix(".o").name for source in sources]
    _run([*_zig("ar"), "rcs", "runtime.a", *objects], scratch)
    return scratch / "runtime.a", sources


def _tool(command: list[str]) -> str:
    """The name of the program that a command runs."""
    program, *words = command
    return words[0] if Path(program).name == "zig" and words else Path(program).name


def _run(command: list[str], directory: Path | None = None) -> str:
    """What the command writes to stdout, run in the directory or else in the working directory.

    A failure is the environment's fault where the tool could not write or was stopped without a word, else the
    source's; its message is led by what to do where that is known.
    """
    done = _executed(command, directory)
    tool, said = _tool(command), done.stderr
    if not done.returncode:
        return done.stdout
    if full := _CANNOT_WRITE.search(said):
        raise CacheUnusable(f"{tool} cannot write to the cache: {full[0]}; free space there or {_CACHE_ADVICE}")
    if done.returncode == -signal.SIGSEGV:
        raise ToolchainError(f"{tool} crashes on it: mend or replace what it is given\n{said}")
    if done.returncode < 0 and not said:  # what lld does on a full disk, and what a lack of memory does
        raise ToolchainUnavailable(f"{tool} was stopped by signal {-done.returncode}: free memory and disk space")
    if undefined := _UNDEFINED.findall(said):
        raise _UndefinedSymbols(undefined)
    features = {name or required for name, required in _REQUIRED_FEATURE.findall(said)}
    if not features:
        raise ToolchainError(f"the source does not build: mend what the tool reports\n{said}")
    # v8.3a names an architecture, others are extensions of at least Armv8.2-A.
    versions = {name for name in features if _ARCHITECTURE.fullmatch(name)}
    architecture = max(["armv8.2-a", *(f"armv{name[1:-1]}-a" for name in versions)])
    march = "+".join([architecture, *sorted({_EXTENSION_NAMES.get(name, name) for name in features - versions})])
    raise ToolchainError(f"an instruction is not in the target: add the flag -march={march}\n{said}")


def run_as_told(command: list[str], directory: Path) -> None:
    """Run a user's own compiler in that directory, in an environment as it is.

    Raises ToolchainError with what it says where it fails, ToolchainUnavailable where it cannot be run.
    """
    if not directory.is_dir():
        raise ToolchainUnavailable(f"cannot run {_tool(command)}: there is no folder {directory}")
    done = _executed(command, directory, left_out=())
    if done.returncode:
        how = f"ends with {done.returncode}" if done.returncode > 0 else f"was stopped by signal {-done.returncode}"
        said = done.stderr.strip() or done.stdout.strip() or "nothing"
        raise ToolchainError(f"the command {shlex.join(command)} {how}; it says:\n{said}")


def _executed(
    command: list[str], directory: Path | None = None, left_out: Collection[str] = _CLANG_VARIABLES
) -> subprocess.CompletedProcess[str]:
    """Run a program in an environment without these variables."""
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    try:
        return subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", env=environment, cwd=directory,
            timeout=LONGEST,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        endless = f"{_tool(command)} does not end: it was stopped after {LONGEST:g} s; give it less, or a source"
        raise ToolchainUnavailable(f"{endless} that does not include itself or a device") from None
    except OSError as error:
        raise ToolchainUnavailable(f"cannot run {_tool(command)}: {error}") from error
