"""The instruction table on the terminal: its forms, what one does, and the report of a differential run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from textwrap import wrap

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from isa.catalogue import alike, description
from isa.instruction import Form, Instruction
from isa.lane import Load, walk
from isa.refusals import TRAP_REASONS
from isa.text.statements import Statement
from sim.call.definitions import EMULATOR_FAULTS
from sim.verify.verification import Verification, reproduce_command
from sim.view.sentences import counted, until_then

_LONGEST = 1000
"""Characters of a statement that are shown."""


def show_forms(forms: Sequence[Form], console: Console) -> None:
    """A line for each mnemonic and extension with the shapes of its operands, and how many forms there are."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("mnemonic", no_wrap=True)
    table.add_column("extension", no_wrap=True)
    table.add_column("forms", overflow="fold")
    rows: dict[tuple[str, str], list[str]] = {}
    for form in forms:
        rows.setdefault((form.mnemonic, form.extension), []).append(form.shape)
    for (mnemonic, extension), shapes in rows.items():
        table.add_row(mnemonic, extension, escape("  ".join(shapes)))
    console.print(table)
    console.print(counted(len(forms), "form"), highlight=False)


def show_instruction(instruction: Instruction, lines: Sequence[Statement], console: Console) -> None:
    """One instruction: its statements, what it reads and writes, whether it can set QC."""
    console.print(Text(f"  {instruction.text}", style="bold"))
    for line in lines:
        text = line.text if len(line.text) <= _LONGEST else f"{line.text[:_LONGEST]} ..."
        _print_indented(console, f"{text}  (i=0..{line.lanes - 1})" if line.lanes > 1 else text, 4)
        for definition in line.where:
            _print_indented(console, f"where {definition}", 8)
    if instruction.traps:
        effects = f"ends the run: {TRAP_REASONS[instruction.form.mnemonic]}"
    else:
        reads = [str(place) for place in instruction.places_read]
        reads += ["memory"] if any(isinstance(node, Load) for node in walk(instruction.lanes)) else []
        writes = [str(place) for place in instruction.places_written if place.file != "zr"]
        writes += ["memory"] if instruction.stores else []
        saturates = "sets QC where it saturates" if instruction.can_saturate else "never sets QC"
        effects = f"reads {', '.join(reads) or 'nothing'}; writes {', '.join(writes) or 'nothing'}; {saturates}"
    _print_indented(console, effects, 4)


def _print_indented(console: Console, text: str, indent: int) -> None:
    """The text in lines that fit, those after the first indented further; a word that is longer than a line stays."""
    room = max(console.width - indent, 20)
    for line in wrap(text, room, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False):
        console.print(Text(" " * indent + line), soft_wrap=True)


def show_mnemonics(forms: Sequence[Form], console: Console) -> None:
    """Every distinct behaviour of the forms once, with the forms that share it."""
    groups: dict[tuple[str, str, str], list[Form]] = {}
    for form in forms:
        groups.setdefault((form.mnemonic, form.extension, description(form)), []).append(form)
    for members in groups.values():
        show_heading(members[0], console)
        for group in alike(members):
            show_instruction(group.example, group.statements, console)
            if others := [form.shape for form in group.forms if form is not group.example.form]:
                _print_indented(console, f"the same for  {'  '.join(others)}", 4)
            console.print()


def show_heading(form: Form, console: Console) -> None:
    """Mnemonic, extension, and what the semantics say of themselves."""
    extension = f"extension {form.extension}" if form.features else "base"
    console.print(Text.assemble((form.mnemonic, "bold"), f"  ({extension})"))
    if text := description(form):
        _print_indented(console, text, 2)
    console.print()


def show_verification(report: Verification, console: Console) -> None:
    """The counts, the forms that are missing, every difference, the verdict and the command that repeats it."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    for name, figure in _figures(report):
        table.add_row(name, f"{figure:,}")
    console.print(table)
    lists: dict[str, Sequence[str]] = {}
    mnemonics = Counter(row.name.split()[0] for row in report.unsupported_rows)
    lists["not supported"] = [f"{mnemonic} ({n})" if n > 1 else mnemonic for mnemonic, n in mnemonics.items()]
    lists["compared with the exact evaluator only"] = [
        result.form for result in report.results if result.evidence == "two evaluators"
    ]
    lists["the emulator is known to be wrong in a part of the result"] = [
        f.form for f in report.results if any(re.fullmatch(k.pattern, f.form) for k in EMULATOR_FAULTS)
    ]
    lists["not compared"] = list(report.uncompared)
    for name, forms in lists.items():
        if forms:
            console.print(f"[bold]{name}[/bold]", highlight=False)
            _print_indented(console, "  ".join(forms), 2)
    for result in report.differences:
        console.print("[red]DIFFERENCE[/red]", escape(result.difference), highlight=False, soft_wrap=True)
        again = reproduce_command(result.form, report.seed, report.vectors)
        console.print(f"  reproduce: {escape(again)}", highlight=False, soft_wrap=True)
    if report.interrupted:
        found = until_then(len(report.differences), len(report.results), "form", "differ")
        verdict = f"[yellow]INTERRUPTED[/yellow]: {found}"
    elif report.differences:
        verdict = f"[red]FAILED[/red]: {len(report.differences)} of {len(report.results)} forms differ"
    elif report.vectors_compared == 0:
        verdict = "[red]FAILED[/red]: nothing was compared"
    elif report.uncompared:
        verdict = f"[red]FAILED[/red]: of {len(report.uncompared)} forms nothing was compared"
    else:
        verdict = f"[green]PASSED[/green]: no difference in {counted(len(report.results), 'form')}"
    console.print(verdict, highlight=False)
    console.print(f"reproduce: {escape(report.reproduce)}", highlight=False, soft_wrap=True)


def _figures(report: Verification) -> Iterable[tuple[str, int]]:
    if report.rows:
        supported = [row.name for row in report.supported_rows]
        yield "rows of the encoding space", len(report.rows)
        yield "  integer or polynomial", len(report.rows_of("integer"))
        yield "  floating point", len(report.rows_of("floating"))
        yield "rows supported", len(supported)
        yield "  verified by emulation", report.verified("emulation", supported)
        yield "  verified by defining sum", report.verified("definition", supported)
        yield "rows not supported", len(report.unsupported_rows)
        yield "other forms of the table", len(report.elsewhere)
        yield "  verified by emulation ", report.verified("emulation", report.elsewhere)
        yield "  verified by definition ", report.verified("definition", report.elsewhere)
    else:
        yield "forms", len(report.asked)
        yield "  verified by emulation", report.verified("emulation", report.asked)
        yield "  verified by definition", report.verified("definition", report.asked)
    yield "machine words run", sum(result.words for result in report.results)
    yield "lane vectors compared", report.vectors_compared
    yield "lanes compared", report.lanes_compared
    yield "forms with a difference", len(report.differences)
    yield "seed", report.seed
