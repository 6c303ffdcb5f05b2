"""Where the figures of a core come from, on the terminal."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.timing.analysis.error_range import error_as_json
from sim.timing.analysis.report import Json
from sim.timing.model.core import Core
from sim.view.cycles.sentences import unseen_in_words


def show_about(core: Core, console: Console) -> None:
    """What the core is, how far it was from measurements, what is not modelled, and every source."""
    console.print(f"[bold]{escape(core.name)}[/bold]: {escape(core.title)}", highlight=False)
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", overflow="fold")
    table.add_column(overflow="fold")
    about = core.about
    bases = Counter(timing.basis for timing in core.classes.values())
    counts = ", ".join(f"{count} {basis}" for basis, count in bases.most_common())
    rows = [
        ("pipeline", f"{'in order' if core.order == 'in' else 'out of order'}, {core.width} a cycle"),
        ("pipes", " ".join(core.pipes)),
    ]
    if core.clock:
        rows.append(("clock", f"{float(core.clock.megahertz):g} MHz, {core.clock.basis} ({core.clock.source})"))
    rows += [("validation", f"{known.error} on {known.kernels} ({known.source})") for known in about.validation]
    if not about.validation:
        rows.append(("validation", "not compared with measured kernels"))
    rows += [("unseen kernels", text) for text in unseen_in_words(core)]
    rows.append(("classes", f"{len(core.classes)}: {counts}"))
    for status in ("unmodelled", "absent"):
        if names := [name for name, timing in core.classes.items() if timing.status == status]:
            rows.append((f"  {status}", ", ".join(names)))
    rows += [("not modelled", text) for text in about.not_modelled]
    rows += [(name, f"{_value(core, name)} ({source})") for name, source in about.parameters.items()]
    rows += [("source", text) for text in about.sources]
    before = ""
    for name, text in rows:
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
        "unseen": error_as_json(core),
        "not_modelled": list(about.not_modelled),
        "parameters": {name: {"value": _value(core, name), "source": text} for name, text in about.parameters.items()},
        "sources": list(about.sources),
        "classes": classes,
    }


def _value(core: Core, name: str) -> float | int:
    value = getattr(core, name)
    return int(value) if value == int(value) else float(value)
