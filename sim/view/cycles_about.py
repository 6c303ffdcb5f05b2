"""Where the figures of a core come from, on the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.timing.core import Core
from sim.timing.report import Json


def show_about(core: Core, console: Console) -> None:
    """What the core is, how far it was from measurements, what is not modelled, and every source."""
    console.print(f"[bold]{escape(core.name)}[/bold]: {escape(core.title)}", highlight=False)
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", overflow="fold")
    table.add_column(overflow="fold")
    before = ""
    for name, text in _rows(core):
        table.add_row("" if name == before else name, escape(text))
        before = name
    console.print(table)


def about_as_json(core: Core) -> Json:
    """The same, with the source of every class."""
    classes = {
        name: {"latency": float(timing.latency), "throughput": float(timing.throughput), "basis": timing.basis,
               "status": timing.status, "source": timing.source}
        for name, timing in core.classes.items()
    }  # fmt: skip
    about = core.about
    return {
        "core": core.name,
        "title": core.title,
        "order": core.order,
        "width": core.width,
        "pipes": list(core.pipes),
        "clock": {**core.clock._asdict(), "megahertz": float(core.clock.megahertz)} if core.clock else None,
        "validation": [known._asdict() for known in about.validation],
        "not_modelled": list(about.not_modelled),
        "parameters": {name: {"value": _value(core, name), "source": text} for name, text in about.parameters.items()},
        "sources": list(about.sources),
        "classes": classes,
    }


def _rows(core: Core) -> Iterator[tuple[str, str]]:
    about = core.about
    yield "pipeline", f"{'in order' if core.order == 'in' else 'out of order'}, {core.width} a cycle"
    yield "pipes", " ".join(core.pipes)
    if core.clock:
        yield "clock", f"{float(core.clock.megahertz):g} MHz, {core.clock.basis} ({core.clock.source})"
    yield from (("validation", f"{known.error} on {known.kernels} ({known.source})") for known in about.validation)
    if not about.validation:
        yield "validation", "not compared with measured kernels"
    yield "classes", _counted(core)
    for status in ("unmodelled", "absent"):
        if names := [name for name, timing in core.classes.items() if timing.status == status]:
            yield f"  {status}", ", ".join(names)
    yield from (("not modelled", text) for text in about.not_modelled)
    yield from ((name, f"{_value(core, name)} ({source})") for name, source in about.parameters.items())
    yield from (("source", text) for text in about.sources)


def _counted(core: Core) -> str:
    """How many classes rest on what."""
    bases = Counter(timing.basis for timing in core.classes.values())
    return f"{len(core.classes)}: " + ", ".join(f"{count} {basis}" for basis, count in bases.most_common())


def _value(core: Core, name: str) -> float | int:
    value = getattr(core, name)
    return int(value) if value == int(value) else float(value)
