"""What all pictures of cycles share: colours that colour-blind readers tell apart, a title that says what is seen.

Pictures are `matplotlib.figure.Figure` objects of their own: no backend is chosen, nothing is kept by pyplot.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Final, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY: Final = "#999999"
"""The eight colours of Okabe and Ito (Color Universal Design, 2008), and a grey for what is not the point."""
_SERIES: Final = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, BLACK, GREY)
_MARKERS: Final = "os^DvphX"
_CORES: Final = (
    "cortex-a53", "cortex-a55", "cortex-a72", "cortex-a76", "cortex-x1", "lane128", "neoverse-n1", "neoverse-v1",
)  # fmt: skip
"""The cores that have a look of their own, in its order; others take what is free."""
_SOFT: Final = "#555555"


def content_of(figure: Figure, file: Path) -> bytes:
    """What a file has that the picture is drawn to, as its ending says: .png or .svg."""
    content = io.BytesIO()
    figure.savefig(content, format=file.suffix.lstrip("."), dpi=150)
    return content.getvalue()


class Look(NamedTuple):
    """A series is known by its colour, and by its marker where colours fail."""

    colour: str
    marker: str


def looks(count: int) -> list[Look]:
    """One look for each of `count` series."""
    return [Look(*pair) for pair in islice(cycle(zip(_SERIES, _MARKERS, strict=True)), count)]


def looks_of(names: Sequence[str]) -> list[Look]:
    """One look for each of these series: the cores that are looked at most have the same in every picture."""
    own = {core: look for core, look in zip(_CORES, looks(len(_CORES)), strict=True) if core in names}
    unlike = [Look(*pair) for pair in zip(_SERIES, _MARKERS[1:] + _MARKERS[:1], strict=True)]
    free = chain((look for look in looks(len(_SERIES)) if look not in own.values()), cycle(unlike))
    return [own[name] if name in own else next(free) for name in names]


def picture(title: str, subtitle: str, height: float = 4.5) -> tuple[Figure, Axes]:
    """An empty figure of 8 by `height` inches with one pair of axes: what is seen, and below it what is drawn."""
    figure = Figure(figsize=(8, height), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=12.5, wrap=True)
    axes = figure.add_subplot()
    axes.set_title(subtitle, loc="left", fontsize=9.5, color=_SOFT)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    return figure, axes


def legend_beside(axes: Axes) -> None:
    """The names of the series, right of the axes."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9.5)


def number(value: float) -> str:
    """Three digits of a figure: `0.31`, `6.27`, `84`; whole from 100 on."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share of 1 in whole percent."""
    return f"{100 * share:.0f} %"
