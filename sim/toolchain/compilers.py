"""From C, C++ or assembly to a linked AArch64 image, through the clang and lld in the `ziglang` package.

Results are kept by content: see `build`.
"""

import contextlib
import functools
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from isa.errors import pip_install
from sim.toolchain.archive import MAGIC, Member, members
from sim.toolchain.image import LARGEST_IMAGE, MISSING_PREFIX, MISSING_ROOM, Image, ImageError, undefined_of_threads
from sim.toolchain.kept import write_whole
from sim.toolchain.relocations import relocated
from sim.toolchain.starting import resolved
from sim.toolchain.tools import (
    AGAIN,
    ToolchainError,
    ToolchainUnavailable,
    UndefinedSymbols,
    cache_directory,
    cached,
    executed,
    key_of,
    run,
    writing_to,
    zig,
    ziglang,
    ziglang_version,
)

_PAGE = 4096
_MISSING = 1 << 30  # from the base of a program to what stands for missing symbols: within reach of adrp
_ADDRESS_LIMIT = 1 << 48  # the largest virtual address without FEAT_LVA: Arm ARM, D8.1

_TARGET = ("--target=aarch64-linux-gnu", "-nostdinc")
# Without -fno-pic, constant tables of pointers would land in writable memory; without the last two, sqrtf, lrintf and
# atomics would be calls of the runtime.
_DEFAULTS = ("-g", "-ffp-contract=off", "-fno-pic", "-fno-math-errno", "-mno-outline-atomics")
_COMPILE = ("-c", *_DEFAULTS, "-Qunused-arguments")
ASSEMBLY = (".s", ".S")
"""Suffixes of sources that are assembled: the code is as it is written."""
_CPP = (".cc", ".cpp", ".cxx")
_LANGUAGES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((".c", *ASSEMBLY), ()),
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
_NEON_FIRST = re.compile(rb"(?:\s|//[^\n\\]*\n|/\*(?:[^*\\]|\*(?!/))*\*/)*#include <arm_neon\.h>")
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

_ASSEMBLER_INCLUDE = re.compile(rb"\.(include|incbin)\b")

_VERSION = re.compile(r"clang version (\S+)")


def clang_command(*first: str) -> list[str]:
    """The compiler for aarch64-linux with `arm_neon.h` and the C headers, to be followed by its arguments.

    `first` are folders of the package that are searched before those.  ToolMissing when the running interpreter has no
    `ziglang` package.
    """
    library = ziglang() / "lib"
    headers = (*first, "include", "libc/include/aarch64-linux-musl", "libc/include/generic-musl")
    search = [argument for folder in headers for argument in ("-isystem", str(library / folder))]
    return [*zig("clang"), *_TARGET, *search]


@functools.cache
def compiler_version() -> str:
    """Such as "clang 22.1.8 (ziglang 0.17.0)", asked from the compiler once a process.

    ToolchainUnavailable when the compiler is not installed or does not run.
    """
    done = executed([*clang_command(), "--version"])
    found = _VERSION.search(done.stdout)
    if done.returncode or found is None:
        said = (done.stderr.strip() or f"it ended with status {done.returncode}").splitlines()[-1]
        raise ToolchainUnavailable(
            f"the compiler of the package ziglang does not run: {said}; run: {pip_install(AGAIN)}"
        )
    return f"clang {found[1]} (ziglang {ziglang_version()})"


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
    key = key_of([compiler, linker, str(source.absolute()), os.getcwd()], _text_of(source))
    return _ready(cached(key, ".elf", lambda scratch: _built(source, compiler, linker, base, scratch)))


def compiled(source: Path, *flags: str) -> bytes:
    """The relocatable object of a source that is compiled as `build` does.  Raises what `build` raises."""
    compiler = _compiler(source, flags)
    key = key_of([compiler, "object", str(source.absolute()), os.getcwd()], _text_of(source))
    return cached(key, ".o", lambda scratch: _compiled(source, compiler, scratch)).read_bytes()


def _compiler(source: Path, flags: Sequence[str]) -> list[str]:
    """The command without input and outputs."""
    _check_suffix(source.suffix, source, "it is neither an ELF file nor a library, and of a source ")
    beside = (f"-I{source.absolute().parent}",) if source.suffix in ASSEMBLY else ()
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
    key = key_of([linker, [(name, len(content)) for name, content in files.items()]], b"".join(files.values()))
    return _ready(cached(key, ".elf", lambda scratch: _linked(linker, files, base, scratch)))


def _ready(linked: Path) -> Image:
    return resolved(relocated(Image.read(linked), lambda names: dict.fromkeys(names, 0)))


def build_text(text: str, suffix: str, *flags: str, base: int = 0x10000) -> Image:
    """`build` for a text in the language of the suffix: ".c", ".cpp", ".s" and so on.

    The text is kept in the cache as source-DIGEST with the suffix, the name that messages and source lines give it;
    what it includes is found through the flags (-I), not beside it. Raises what `build` raises.
    """
    _check_suffix(suffix, "the text", "")
    content = text.encode(errors="surrogatepass")
    file = cache_directory() / f"source-{hashlib.sha256(content).hexdigest()[:16]}{suffix}"
    with writing_to(file.parent):
        if not file.is_file() or file.read_bytes() != content:
            write_whole(file, content)
    return build(file, *flags, base=base)


def is_source(path: Path) -> bool:
    """Whether the name is that of a text that `build` compiles."""
    return path.suffix in _LANGUAGES


def _check_suffix(suffix: str, what: object, why: str) -> None:
    if suffix not in _LANGUAGES:
        raise ToolchainError(f"cannot build {what}: {why}its suffix must be one of {' '.join(_LANGUAGES)}")


def _linker(base: int) -> list[str]:
    """The command without inputs and output."""
    if base % _PAGE or not 0 <= base < _ADDRESS_LIMIT:
        raise ToolchainError(f"cannot link at base {base:#x}: give a multiple of {_PAGE} from 0 to below 2**48")
    return [*zig("ld.lld"), *_LINK, f"--image-base={base:#x}"]


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
        run([*compiler, *header, *outputs])
    except ToolchainError as error:
        if not header or isinstance(error, ToolchainUnavailable):
            raise
        run([*compiler, *outputs])  # what is said of it is said without that header
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
    key = key_of([compiler, _NEON], b"")
    _read_for[key] += 1
    if _read_for[key] < _TWICE and not (cache_directory() / f"{key}.json").exists():
        return []
    with contextlib.suppress(ToolchainError, OSError):
        return ["-include-pch", str(cached(key, ".pch", lambda scratch: _header_made(compiler, scratch)))]
    return []


def _header_made(compiler: list[str], scratch: Path) -> tuple[Path, list[Path]]:
    """arm_neon.h as clang reads it, and the headers that it includes, whose content is compared, not their time."""
    made, included = scratch / "neon.pch", scratch / "neon.d"
    read = ["-Xclang", "-fno-pch-timestamp", "-x", "c-header", str(ziglang() / "lib" / "include" / _NEON)]
    run([*compiler, *read, "-MD", "-MT", "kernel", "-MF", str(included), "-o", str(made)])
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
        run(command, scratch)
    except UndefinedSymbols:
        used = sorted(_RUNTIME.glob("*.[cS]"))
        compiler = [*clang_command(), *_COMPILE, *_RUNTIME_FLAGS, *map(str, used)]
        runtime = cached(key_of(compiler, b""), ".a", lambda scratch: _archived(used, compiler, scratch))
        command.append(str(runtime))
        try:
            run(command, scratch)
        except UndefinedSymbols as undefined:
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
            run([*command, *_bound(undefined.names, base + _MISSING)], scratch)
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
    run(compiler, scratch)
    objects = [source.with_suffix(".o").name for source in sources]
    run([*zig("ar"), "rcs", "runtime.a", *objects], scratch)
    return scratch / "runtime.a", sources
