"""Intrinsics that load and store: they serve elements of every kind."""

from __future__ import annotations

from collections.abc import Iterator

from isa.acle.rules import ALL, Rule


def _structures(count: int) -> Iterator[Rule]:
    """VLDn, VSTn and what they do to one lane; a structure of one-lane vectors is the same as consecutive ones."""
    many = f"T*{count}"
    yield Rule(f"ld{count}", f"ld{count}|ld1", f"{many} = base", kinds=ALL)
    yield Rule(f"ld{count}_dup", f"ld{count}r", f"{many} = base", kinds=ALL)
    yield Rule(f"ld{count}_lane", f"ld{count}", f"{many} = base, +{many}, lane", "{0.e}[{3}], {1}", kinds=ALL)
    yield Rule(f"st{count}", f"st{count}|st1", f"void = base, {many}", "{2}, {1}", kinds=ALL)
    yield Rule(f"st{count}_lane", f"st{count}", f"void = base, {many}, lane", "{2.e}[{3}], {1}", kinds=ALL)
    yield Rule(f"ld1_{{t}}_x{count}", "ld1", f"{many} = base", kinds=ALL)
    yield Rule(f"st1_{{t}}_x{count}", "st1", f"void = base, {many}", "{2}, {1}", kinds=ALL)


RULES = (
    Rule("ld1", "ldr", "T = pointer", "{0.q}, {1}", kinds=ALL),
    Rule("ld1_dup", "ld1r", "T = base", "{{{0.v}}}, {1}", kinds=ALL),
    Rule("ld1_lane", "ld1", "T = base, +T, lane", "{{{0.e}}}[{3}], {1}", kinds=ALL),
    Rule("st1", "str", "void = pointer, T", "{2.q}, {1}", kinds=ALL),
    Rule("st1_lane", "st1", "void = base, T, lane", "{{{2.e}}}[{3}], {1}", kinds=ALL),
    Rule("ldr", "ldr", "T = pointer", "{0.q}, {1}", form="q", kinds="p", widths=(128,)),
    Rule("str", "str", "void = pointer, T", "{2.q}, {1}", form="q", kinds="p", widths=(128,)),
    *(rule for count in (2, 3, 4) for rule in _structures(count)),
)
