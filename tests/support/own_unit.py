"""The independent module of the example, with faults that a word on the command line of its simulator chooses."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Final

from rtl_models.adapters import read_adapter
from rtl_models.session import Session
from rtl_models.tools.build_cache import Simulator, TopModule, built
from rtl_models.unit_harness import TOP
from rtl_models.unit_run import Built
from sim.toolchain.kept import write_whole
from sim.toolchain.tools import cache_directory

EXAMPLE: Final = Path(__file__).parents[2] / "rtl_models" / "examples" / "requantizer"
ADAPTER: Final = EXAMPLE / "adapter.toml"
NONE, DROPS, DOUBLES, CHANGES, WAITS, ROUNDS, WAITS_IN_A_REGISTER, GIVES_UP, NO_RESET, REORDERS, LESS = range(11)
_PLANTED: Final = (
    (
        "skid_buffer",
        "s_ready = !full;",
        f"s_ready = !full || fault == {DROPS} || (fault == {GIVES_UP} && waited > 60) || swap;",
    ),
    (
        "skid_buffer",
        "else if (m_ready) full",
        f"else if (m_ready && !swap && !(fault == {DOUBLES} && s_valid && !full)) full",
    ),
    (
        "skid_buffer",  # once for each beat that is kept, the one behind it goes before it
        "  reg [Bits-1:0] kept;",
        f"""  reg [Bits-1:0] kept;
  reg            swapped;
  wire           swap = fault == {REORDERS} && full && m_ready && s_valid && !swapped;
  always @(posedge clk) swapped <= full && (swap || swapped);""",
    ),
    ("skid_buffer", "m_data  = full", "m_data  = full && !swap"),
    ("skid_buffer", "if (s_valid && s_ready) kept", "if (s_valid && s_ready && !swap) kept"),
    ("requantizer", "biased   <= taken", f"biased   <= (fault == {LESS} ? -5 : 0) + taken"),
    ("requantizer", "if (go[6]) m_bytes", f"if (go[6] || fault == {CHANGES}) m_bytes"),
    ("requantizer", "= valid[6];", f"= valid[6] && (m_ready || fault != {WAITS});"),
    ("requantizer", "if (rst) valid", f"if (rst && fault != {NO_RESET}) valid"),
    ("requantizer", "&& shift != 0", f"&& shift != 0 && !(fault == {ROUNDS} && lane == 2)"),
    ("requantizer", "= !valid[k] ||", f"= !valid[k] && !(fault == {WAITS_IN_A_REGISTER} && k == 6) ||"),
)
"""Of the module's files the right text and the wrong one."""
_CHOSEN: Final = """
);
  integer fault;
  initial if (!$value$plusargs("fault=%d", fault)) fault = 0;
  reg [7:0] waited;
  always @(posedge clk) waited <= m_valid && !m_ready ? waited + 1 : 0;
"""


def with_faults() -> Built:
    """The module with all faults in it, in a folder of the cache that is the same every time."""
    texts = {name: (EXAMPLE / f"{name}.sv").read_text() for name in ("requantizer", "skid_buffer")}
    for name, right, wrong in _PLANTED:
        if texts[name].count(right) != 1:
            raise ValueError(f"{name}.sv has {texts[name].count(right)} times {right!r}, not once")
        texts[name] = texts[name].replace(right, wrong)
    content = {f"{name}.sv": text.replace("\n);\n", _CHOSEN, 1) for name, text in texts.items()}
    content[ADAPTER.name] = ADAPTER.read_text()
    key = hashlib.sha256(repr(content).encode()).hexdigest()[:16]
    folder = cache_directory() / "rtl" / f"planted-{key}"
    for name, text in content.items():
        if not (folder / name).is_file():
            write_whole(folder / name, text.encode())
    adapter = read_adapter(folder / ADAPTER.name)
    return Built(adapter.unit, 4, strict=False, adapter=adapter)


def alone(unit: Built) -> TopModule:
    """The module by itself, with all its ports to be seen, for four numbers a beat."""
    adapter = unit.adapter
    if adapter is None:
        raise ValueError(f"{unit.title} has no adapter")
    folder = adapter.file.parent
    control = [f'public_flat_rw -module "{adapter.module}" -var "{port}"' for port in adapter.ports.values()]
    texts = {"ports.vlt": "\n".join(["`verilator_config", *control, ""])}
    source = f"{adapter.module}.sv"
    return TopModule(adapter.module, texts | {source: (folder / source).read_text()}, (folder,))


def own_bench_says(unit: Built, fault: int) -> dict[str, str]:
    """What the bench of the example says, which knows nothing of lanewise's, with one of the faults."""
    made = built(alone(unit))
    session = Session("example", "requantizer", 1, Simulator((*made.command, f"+fault={fault}"), made.tracing), {})
    said = session.run("requantizer_bench")
    shutil.rmtree(session.folder)
    return said


def said_of(unit: Built, fault: int, bench: str, scenarios: str) -> dict[str, str]:
    """What the tests of a bench say that match the pattern, with one of the faults."""
    made = built(unit.design(unit.adapter.file.parent)) if unit.adapter else built(unit.design())
    chosen = Simulator((*made.command, f"+fault={fault}"), made.tracing)
    session = Session(unit.unit.name, TOP, 1, chosen, unit.variables)
    said = session.run(bench, scenarios)
    shutil.rmtree(session.folder)
    return said
