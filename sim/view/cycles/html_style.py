"""The style sheet of the page: light and dark, in the colours of Okabe and Ito."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --ground: #ffffff; --card: #f5f6f8; --ink: #1c1e21; --soft: #5c636b; --edge: #d9dce0;
  --held: #d55e00; --operands: #0072b2; --issue: #e69f00; --executes: #009e73; --done: #a9adb3; --hot: #e69f00;
  --bar: #56b4e9; --binding: #d55e00; }
@media (prefers-color-scheme: dark) { :root { --ground: #16181b; --card: #202327; --ink: #e6e8ea; --soft: #9aa2ab;
  --edge: #353a40; --operands: #56b4e9; --done: #646b73; --hot: #b87900; --bar: #2d7fb0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 78rem; background: var(--ground); color: var(--ink);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; } h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
a { color: var(--operands); } nav a { margin-right: 1rem; }
.soft { color: var(--soft); }
.figures { display: flex; flex-wrap: wrap; gap: .7rem; }
.figures div { background: var(--card); border: 1px solid var(--edge); border-radius: .5rem; padding: .5rem .9rem; }
.figures b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.tables { columns: 3 20rem; column-gap: 2rem; }
.tables div { break-inside: avoid; overflow: hidden; }
.note { margin: .5rem 0 0; }
table { border-collapse: collapse; width: 100%; }
td, th { padding: .18rem .5rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--edge); }
th { color: var(--soft); font-weight: 500; font-size: .85rem; }
td.soft { color: var(--soft); }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.measure { background: linear-gradient(var(--bar), var(--bar)) no-repeat 0 100% / calc(var(--share) * 100%) 3px; }
.binding { background-image: linear-gradient(var(--binding), var(--binding)); }
.scroll { overflow-x: auto; border: 1px solid var(--edge); border-radius: .5rem; background: var(--card); }
.listing td { font: 13px/1.4 ui-monospace, monospace; white-space: pre; border-bottom: 0; padding: .05rem .6rem; }
.listing td.why { white-space: normal; font-family: system-ui, sans-serif; color: var(--soft); }
.listing tr.source td { padding-top: .5rem; color: var(--ink); font-weight: 600; }
.listing td.heat { background: color-mix(in srgb, var(--hot) calc(var(--heat) * 100%), transparent); }
.listing .place { color: var(--soft); }
.rows { display: flex; }
.names { position: sticky; left: 0; background: var(--card); border-right: 1px solid var(--edge);
  padding: 22px .8rem 0 .6rem; }
.names div { height: 20px; font: 12px/20px ui-monospace, monospace; white-space: pre; }
.timeline { flex: none; margin-left: 2px; }
.timeline line.rule { stroke: var(--edge); }
.timeline text.rule { fill: var(--soft); font: 11px system-ui, sans-serif; }
.timeline .arrow { fill: none; stroke: var(--soft); stroke-width: 1; opacity: .45; }
rect.held { fill: var(--held); } rect.operands { fill: var(--operands); } rect.issue { fill: var(--issue); }
rect.executes { fill: var(--executes); } rect.done { fill: var(--done); }
.legend span { margin-right: 1.1rem; white-space: nowrap; }
.legend i { display: inline-block; width: 1rem; height: .7rem; border-radius: 2px; margin-right: .35rem; }
.legend i.held { background: var(--held); } .legend i.operands { background: var(--operands); }
.legend i.issue { background: var(--issue); } .legend i.executes { background: var(--executes); }
.legend i.done { background: var(--done); }
"""
