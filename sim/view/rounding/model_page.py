"""A network beside what a runtime made of it, as one page: the layers in a list, with the heat of their differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from sim.models.compare import LayerReport
from sim.models.network import Network
from sim.models.report import ModelReport
from sim.view.cycles.html_style import STYLE
from sim.view.document import document
from sim.view.rounding.model import apart_sentences, operator_of, shared_sentences, told_of_layer

_CELLS: Final = 96
"""Of a strip: more places of an axis share cells."""
_LINKED: Final = 24
"""Layers that part to which links lead."""
_STYLE: Final = (
    STYLE
    + """
h1, summary, p, li { overflow-wrap: anywhere; }
.verdict { font-size: 1.1rem; border-left: 4px solid var(--executes); padding: .3rem .8rem; margin: 1rem 0; }
.verdict.bad { border-color: var(--held); }
.layers { margin-top: 1.2rem; border: 1px solid var(--edge); border-radius: .5rem; overflow: hidden; }
.layers details + details { border-top: 1px solid var(--edge); }
.layers summary { display: grid; grid-template-columns: 3rem 13rem minmax(6rem, 1fr) 6rem 2fr; gap: .2rem .8rem;
  padding: .35rem .8rem; cursor: pointer; list-style: none; border-left: 4px solid var(--executes);
  background: color-mix(in srgb, var(--held) calc(var(--heat, 0) * 45%), transparent); }
.layers summary::-webkit-details-marker { display: none; }
.layers summary:hover b, .layers details[open] > summary b { text-decoration: underline; }
.layers .departs summary, .layers .differs summary { border-color: var(--held); }
.layers .departs summary .soft, .layers .differs summary .soft { color: var(--ink); }
.layers .skipped summary { border-color: var(--done); color: var(--soft); }
.layers .number { text-align: right; font-variant-numeric: tabular-nums; }
.layers summary b { font-weight: 600; }
.body { padding: .5rem .9rem 1rem 1.1rem; background: var(--card); }
.body h3 { margin: .8rem 0 .2rem; }
.body ul { margin: .2rem 0; padding-left: 1.2rem; }
.strip { display: flex; gap: 1px; height: 1.3rem; }
.strip i { flex: 1 1 0; min-width: 0; border-radius: 1px; background:
  color-mix(in srgb, var(--held) calc(var(--heat) * 100%), color-mix(in srgb, var(--soft) 22%, transparent)); }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
@media (max-width: 50rem) { body { padding: .8rem; }
  .layers summary { grid-template-columns: 2rem 1fr auto; }
  .layers summary > :nth-child(3) { grid-row: 2; grid-column: 2 / 4; }
  .layers summary > :nth-child(4) { grid-row: 1; grid-column: 3; }
  .layers summary > :nth-child(5) { grid-column: 2 / 4; } }
"""
)


def model_page(report: ModelReport) -> str:
    """The whole document; the first layers that part are open."""
    title = f"{report.network.name} against {report.against}"
    several = f" of {len(report.pictures)} pictures" if report.pictures else ""
    seed = f"inputs of seed {report.seed}" if report.seed is not None else f"tensors{several}"
    counts = (
        ("layers", len(report.layers)), ("compared", len(report.compared)),
        ("as the others", len(report.compared) - len(report.apart)), ("apart", len(report.apart)),
        ("skipped", len(report.layers) - len(report.compared)),
    )  # fmt: skip
    figures = "".join(f'<div><span class="soft">{name}</span><b>{count:,}</b></div>' for name, count in counts)
    shared = "".join(f'<p class="note">{escape(sentence)}</p>' for sentence in shared_sentences(report))
    look = "verdict bad" if report.apart else "verdict"
    links = "".join(
        f'<a href="#layer-{one.layer.number}">layer {one.layer.number}</a>' for one in report.apart[:_LINKED]
    )
    layers = "\n".join(_layer(report, layer) for layer in report.layers)
    return document(
        title,
        _STYLE,
        f'<h1>{escape(title)}</h1><p class="soft">{escape(seed)}</p><p class="{look}">{escape(report.verdict)}</p>'
        f'<div class="figures">{figures}</div>{shared}<nav>{links}</nav>'
        f'<div class="layers">{layers}</div>',
    )


def _layer(report: ModelReport, layer: LayerReport) -> str:
    """A line, and under it what is known of the layer."""
    network, of = report.network, layer.layer
    name = ", ".join(report.outputs_of(layer))
    # a single wrong element shows, and half of them are nearly as hot as all
    heat = min(1.0, 0.25 + (layer.differing / layer.elements) ** 0.5) if layer.differing and layer.elements else 0
    is_open = " open" if report.apart and layer is report.apart[0] else ""
    body = "".join(_facts(network, layer))
    line = (
        f'<span class="number soft">{of.number}</span><b>{escape(operator_of(of))}</b><span>{escape(name)}</span>'
        f'<span>{layer.outcome}</span><span class="soft">{escape(told_of_layer(report, layer))}</span>'
    )
    return (
        f'<details id="layer-{of.number}" class="{layer.outcome}"{is_open}><summary style="--heat:{heat:.3f}">{line}'
        f'</summary><div class="body">{body}</div></details>'
    )


def _facts(network: Network, layer: LayerReport) -> Iterator[str]:
    told = list(apart_sentences(layer))
    if told:
        heading = "What would make it" if layer.causes else "Where it parts"
        yield f"<h3>{heading}</h3><ul>" + "".join(f"<li>{escape(one)}</li>" for one in told) + "</ul>"
    if layer.trace is not None:
        yield f"<h3>The first element, step by step</h3><p><code>{escape(layer.trace.steps_text)}</code></p>"
    if layer.explanation is not None and layer.explanation.hints:
        yield "<h3>Hints</h3><ul>" + "".join(f"<li>{escape(one)}</li>" for one in layer.explanation.hints) + "</ul>"
    for axis, counts in enumerate(layer.along):
        if len(counts) > 1:
            yield f"<h3>Differences along axis {axis}, {len(counts):,} long</h3>{_strip(counts)}"
    for word, numbers in (("input", layer.layer.inputs), ("output", layer.layer.outputs)):
        for number in numbers:
            if number >= 0:
                tensor = network.tensors[number]
                yield f'<p class="soft">{word} {escape(tensor.name)} <code>{escape(str(tensor))}</code></p>'
    if layer.conventions:
        shown = ", ".join(layer.conventions[:12]) + (", ..." if len(layer.conventions) > 12 else "")
        yield f'<p class="soft">{"nearest" if layer.outcome == "differs" else "given by"}: {escape(shown)}</p>'


def _strip(counts: Sequence[int]) -> str:
    """Cells as hot as their places have differences, beside the most that any has."""
    width = -(-len(counts) // _CELLS)
    sums = [sum(counts[at : at + width]) for at in range(0, len(counts), width)]
    most = max(sums)
    cells = []
    for at, count in enumerate(sums):
        place = f"{at * width}" if width == 1 else f"{at * width} to {min((at + 1) * width, len(counts)) - 1}"
        cells.append(f'<i style="--heat:{count / most:.3f}" title="{place}: {count:,}"></i>')
    return f'<div class="strip">{"".join(cells)}</div>'
