"""A kernel's code: one of its sources, and what is linked with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from isa.errors import LanewiseError
from sim.kernels.kernel import Kernel
from sim.toolchain.compile_commands import object_as_told
from sim.toolchain.image import Image
from sim.toolchain.objects import open_image

_SHOWN = 6


def open_kernel(kernel: Kernel, source: Path, *flags: str) -> Image:
    """`open_image` of one of a kernel's sources, as the kernel wants it.  Raises what that raises."""
    return open_image(source, kernel.symbol, *flags, beside=kernel.with_sources, constructors=kernel.constructors)


@dataclass(frozen=True, kw_only=True)
class Build:
    """How a kernel's code is made, where it is not as the kernel says; what is not given is as there.

    `files` are that code, or `compile_with` is how the first source is compiled, as `object_as_told` takes it;
    `symbol` is the function in it, `beside` is linked with it, and with `constructors` those run before the calls.
    """

    files: Sequence[Path] = ()
    compile_with: str | None = None
    symbol: str | None = None
    beside: Sequence[Path] = ()
    constructors: bool = False

    def of(self, kernel: Kernel) -> Kernel:
        """The kernel with that code, without a program of intrinsics where it has another.

        Raises LanewiseError where both of files and command are given, and what compiling raises.
        """
        files = files_named(kernel, self.files)
        if self.compile_with is not None:
            if files:
                raise LanewiseError("--object names what is compiled, --compile how to do it: give one of them")
            files = (object_as_told(self.compile_with, kernel.sources[0]),)
        if files or self.symbol is not None:
            sources = files or kernel.sources
            kernel = replace(kernel, sources=sources, symbol=self.symbol or kernel.symbol, program=None)
        constructors = kernel.constructors or self.constructors
        return replace(kernel, with_sources=(*kernel.with_sources, *self.beside), constructors=constructors)


def files_named(kernel: Kernel, files: Sequence[Path]) -> tuple[Path, ...]:
    """Files in the place of a kernel's sources; a name of which there is no file is that of one of these."""
    own = {source.name: source for source in kernel.sources}
    return tuple(file if file.exists() else own.get(str(file), file) for file in files)


def left_out(image: Image, reached: Collection[str] = ()) -> list[str]:
    """What of a program is not there or was not done, in sentences.

    Calls that come back have not reached what is not there; `reached` are the names that one got to.
    """
    said = []
    if absent := sorted(set(image.absent) - set(reached)):
        said.append(f"no call reached what nothing here defines: {_some(absent)}")
    if image.constructors:
        places = list(dict.fromkeys(map(image.place_of, image.constructors)))
        said.append(
            f"{len(image.constructors)} constructors of static objects were not run ({_some(places)}): "
            "Kernel(..., constructors=True) and --constructors run them before the calls"
        )
    return said


def without_lines(image: Image, symbol: str) -> list[str]:
    """What to do where nothing says of which source line a function's code is, in a sentence."""
    if image.source_line(image.symbol(symbol).address) is not None:
        return []
    return [f"{image.path.name} has no source lines of {symbol}: compile it with -g"]


def _some(names: list[str]) -> str:
    return ", ".join([*names[:_SHOWN], *["..."] * (len(names) > _SHOWN)])
