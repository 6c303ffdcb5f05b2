"""From C to a library for this computer, through the system's compiler or the clang in the `ziglang` package."""

import functools
import hashlib
import json
import platform
import shutil
from collections.abc import Callable
from pathlib import Path

from sim.toolchain.tools import ToolMissing, cached, run, zig, ziglang, ziglang_version

# Of programs for this computer; what is called is in the process that loads them.
_HOST = ("-std=gnu11", "-O2", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-w")


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
    return cached(key, ".so", lambda scratch: (_built_for_host(text(), compiler, scratch), []))


@functools.cache
def _processor() -> str:
    """What -march=native depends on: the processor's name and features, as Linux lists them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return "\n".join(sorted({line for line in lines if line.startswith(("model name", "flags", "Features", "CPU "))}))


def _host_clang() -> list[str]:
    """The compiler in `ziglang` for this computer, of which C headers are enough: the libraries are those of Python."""
    machine = platform.machine()
    folders = ("include", f"libc/include/{machine}-linux-musl", "libc/include/generic-musl")
    search = [argument for folder in folders for argument in ("-isystem", str(ziglang() / "lib" / folder))]
    return [*zig("clang"), f"--target={machine}-linux-gnu", "-nostdinc", *search]


@functools.cache
def version_text(compiler: str) -> str:
    """What tells one compiler from another: the words of the system's, the version of the package `ziglang`."""
    return ziglang_version() if Path(compiler).name == "zig" else run([compiler, "--version"])


def _built_for_host(text: str, compiler: list[str], scratch: Path) -> Path:
    (scratch / "library.c").write_text(text, encoding="utf-8")
    made = ["-o", "library.so"]
    if Path(compiler[0]).name != "zig":
        run([*compiler, "-shared", "library.c", *made, "-lm"], scratch)
    else:
        run([*compiler, "-c", "library.c", "-o", "library.o"], scratch)
        run([*zig("ld.lld"), "-shared", "library.o", *made], scratch)
    return scratch / "library.so"
