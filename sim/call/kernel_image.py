"""A kernel's code: one of its sources, and what is linked with it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from sim.kernels.kernel import Kernel
from sim.toolchain.image import Image
from sim.toolchain.objects import open_image

_SHOWN = 6


def open_kernel(kernel: Kernel, source: Path, *flags: str) -> Image:
    """`open_image` of one of a kernel's sources, as the kernel wants it.  Raises what that raises."""
    return open_image(source, kernel.symbol, *flags, beside=kernel.with_sources, constructors=kernel.constructors)


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


def _some(names: list[str]) -> str:
    return ", ".join([*names[:_SHOWN], *["..."] * (len(names) > _SHOWN)])
