"""The documentation: Markdown pages, and a reference that is generated from what the public modules export.

`generated/` is written anew by every build: a page for each module that `api.md` lists, what the program says of itself
(`made_pages`), and what lies outside of this folder, the README and the notebooks among them.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.logging import getLogger

DOCS: Final = Path(__file__).parent
sys.path.insert(0, str(DOCS))  # for `made_pages`, `dead_links`
ROOT: Final = DOCS.parent
GENERATED: Final = DOCS / "generated"
OUTSIDE: Final = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md") if (ROOT / name).is_file()),
    *sorted((ROOT / "rtl_models").glob("*.md")),
    ROOT / "notebooks" / "README.md",
]
NOTEBOOKS: Final = sorted((ROOT / "notebooks").glob("*.ipynb"))
CONTENTS: Final = {
    "In five minutes": (DOCS, *(f"quickstart-{name}" for name in ("kernel", "hardware", "cycles", "library"))),
    "Your kernel": (DOCS, "kernels", "checking", "debugging", "proving", "captured-calls", "machine"),
    "Your arithmetic": (DOCS, "conventions", "models", "operators"),
    "Your cycles": (DOCS, "cycles", "cycles-error"),
    "Your hardware": (DOCS, "hardware", "own-hardware"),
    "Hardware, in full": (GENERATED / "rtl_models",),
    "Every night": (DOCS, "campaigns", "ci", "scaling"),
    "Look up": (DOCS, "commands", "api", "stability", "glossary"),
    "Look up, as the program says it": (GENERATED, "help", "conventions", "layer_conventions", "instructions/README"),
    "What it rests on": (DOCS, "evidence", "comparison", "architecture", "where-things-go"),
    "Exact arithmetic": (DOCS / "spec",),
    "Notebooks": (GENERATED / "notebooks",),
    "Project": (GENERATED, *(page.stem for page in OUTSIDE if page.parent == ROOT)),
}
"""What stands above pages: their folder, and which of it where not all.  Sphinx misses one that is left out."""
FUNCTION, CLASS, ERROR, DATA = range(4)
KINDS: Final = (("Functions", "autofunction"), ("Classes", "autoclass"), ("Errors", "autoexception"), ("Data", ""))
"""What stands above exports of each kind, and the directive for one; data has no docstring."""
_MODULE: Final = re.compile(r"^\| `([\w.]+)`", re.MULTILINE)
"""A row of the table in api.md."""
_COMMAND: Final = re.compile(r"^\| `(\w+)`", re.MULTILINE)
"""A row of the table in commands.md."""

project = "lanewise"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
nb_execution_mode = "off"  # the tests run them; they are shown as they are kept
html_theme = "furo"
html_title = "lanewise"
html_show_copyright = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["wide.css"]
highlight_language = "none"
myst_heading_anchors = 4
add_module_names = False
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
maximum_signature_line_length = 88
python_display_short_literal_types = True
toc_object_entries_show_parents = "hide"


def setup(app: Sphinx) -> None:
    """Called by Sphinx: write the pages that are generated, and read docstrings as the plain text that they are."""
    app.connect("source-read", _as_built)
    app.connect("autodoc-process-docstring", _read_as_text)
    app.connect("autodoc-process-signature", _with_short_types)
    app.connect("autodoc-skip-member", _is_left_out)
    app.connect("build-finished", _tell_dead_links)
    shutil.rmtree(GENERATED, ignore_errors=True)
    for page in OUTSIDE:
        name = page.relative_to(ROOT)
        _write(name, _with_links(page.read_text(encoding="utf-8"), page, GENERATED / name))
    names = _MODULE.findall((DOCS / "api.md").read_text(encoding="utf-8"))
    modules = {name: import_module(name) for name in names}
    for name, module in modules.items():
        _write(Path("api", f"{name}.rst"), "\n".join(_page(module, modules)))
    made_pages = import_module("made_pages")
    _write(Path("help.md"), "\n".join(made_pages.help_page()))
    _write(Path("conventions.md"), "\n".join(made_pages.conventions_page()))
    _write(Path("layer_conventions.md"), "\n".join(made_pages.layer_conventions_page()))
    for name, lines in made_pages.instruction_pages():
        _write(Path("instructions", f"{name}.md"), "\n".join(lines))
    for notebook in NOTEBOOKS:
        _write(Path("notebooks", notebook.name), notebook.read_text(encoding="utf-8"))
    _write(Path("contents.txt"), "\n".join(_contents()))


def _contents() -> Iterator[str]:
    """The tables of contents that index.md includes: every page is in one of them, in a folder its README first."""
    for caption, (folder, *names) in CONTENTS.items():
        pages = {page.stem for kind in ("*.md", "*.ipynb") for page in folder.glob(kind)}
        found = sorted(pages, key=lambda name: (name != "README", name))
        entries = [f"/{(folder / name).relative_to(DOCS)}" for name in names or found]
        yield from ("```{toctree}", ":hidden:", f":caption: {caption}", "", *entries, "```", "") if entries else ()


def _write(name: Path, text: str) -> None:
    path = GENERATED / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _as_built(app: Sphinx, name: str, text: list[str]) -> None:
    """Pages are written as they lie in the repository: what they link to is moved, modules become links."""
    page = DOCS / f"{name}.md"
    if page.is_file() and GENERATED not in page.parents:
        text[0] = _with_links(text[0], page, page)
    if name == "commands":
        text[0] = _COMMAND.sub(r"| [`\1`](generated/help.md#lanewise-\1)", text[0])
    if name == "api":
        text[0] = _MODULE.sub(r"| {py:mod}`\1`", text[0])


def _with_links(text: str, page: Path, place: Path) -> str:
    """The text of a page for another place: links to files lead to what they led to, or to its generated page."""

    def moved(link: re.Match[str]) -> str:
        path, mark, anchor = link[1].partition("#")
        target = (page.parent / path).resolve()
        if ":" in path or not path or not target.exists():
            return link[0]
        target = GENERATED / target.relative_to(ROOT) if target in (*OUTSIDE, *NOTEBOOKS) else target
        return f"]({os.path.relpath(target, place.parent)}{mark}{anchor})"

    return re.sub(r"\]\(([^)\s]+)\)", moved, text)


def _tell_dead_links(app: Sphinx, error: Exception | None) -> None:
    for link in () if error else import_module("dead_links").dead_links(Path(app.outdir)):
        getLogger(__name__).warning("a link that leads nowhere: %s", link)


def _page(module: ModuleType, modules: Mapping[str, ModuleType]) -> Iterator[str]:
    """What a module exports, by kind; what a more special module exports too is described there."""
    name = module.__name__
    yield from (
        name,
        "=" * len(name),
        "",
        f".. py:module:: {name}",
        "",
        *_as_rst(inspect.cleandoc(module.__doc__ or "").splitlines()),
        "",
    )
    elsewhere = {one: other for one in module.__all__ if (other := _more_special(module, one, modules))}
    own = sorted((one for one in module.__all__ if one not in elsewhere), key=lambda one: _kind(module, one))
    if elsewhere:
        links = ", ".join(f":py:obj:`~{other}.{one}`" for one, other in elsewhere.items())
        yield from (f"Exported here too, and described where they belong: {links}.", "")
    for kind, members in groupby(own, key=lambda one: _kind(module, one)):
        title = KINDS[kind][0]
        yield from (title, "-" * len(title), "")
        if kind == DATA:
            yield from _data(module, members)
        else:
            for member in members:
                yield from (f".. {KINDS[kind][1]}:: {name}.{member}", "   :members:" if kind else "", "")


def _more_special(module: ModuleType, name: str, modules: Mapping[str, ModuleType]) -> str:
    value = getattr(module, name)
    others = [other for other, its in modules.items() if name in its.__all__ and getattr(its, name) is value]
    return next((other for other in others if len(other) > len(module.__name__)), "")


def _kind(module: ModuleType, name: str) -> int:
    value = getattr(module, name)
    if inspect.isclass(value):
        return ERROR if issubclass(value, Exception) else CLASS
    return FUNCTION if inspect.isroutine(value) else DATA


def _data(module: ModuleType, names: Iterable[str]) -> Iterator[str]:
    """Constants, each with the text that stands below it in its home; those of one type without one together."""
    for (kind, text), members in groupby(names, key=lambda name: (type(getattr(module, name)), _text(module, name))):
        first, *others = members
        yield from (f".. py:data:: {first}", *(f"             {name}" for name in others))
        yield from (f"   :type: {kind.__name__}", "", *(f"   {line}" for line in _as_rst(text.splitlines())), "")


def _text(module: ModuleType, name: str) -> str:
    texts = ModuleAnalyzer.for_module(_home(module, name)).find_attr_docs()
    return "\n".join(texts.get(("", name), ()))


def _home(module: ModuleType, name: str) -> str:
    """The module from which a module imports a name."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and any(name in (alias.asname, alias.name) for alias in node.names):
            return str(node.module)
    return module.__name__


def _read_as_text(*given: Any) -> None:
    """What autodoc has of a docstring are its lines, to be changed in place."""
    given[-1][:] = _as_rst(given[-1])


def _with_short_types(*given: Any) -> tuple[str | None, str | None]:
    """A signature with arrays as numpy.typing writes them, and without what says nothing."""
    arguments, returned = (
        # as typing spells it: fields are called `type`, and would be linked to
        text and _CLASS.sub("Type[", _MADE.sub("...", _ARRAY.sub(r"NDArray[\1]", text)))
        for text in given[-2:]
    )
    return "" if arguments == "(*args, **kwargs)" else arguments, returned


def _is_left_out(app: Sphinx, kind: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """The fields of a NamedTuple say nothing but their numbers; its docstring has them."""
    return True if type(member).__name__ == "_tuplegetter" else None


_ARRAY: Final = re.compile(
    r"~?(?:numpy\.)?ndarray\[tuple\[[~.\w]+, \.\.\.\], [~.\w]*dtype\[([~.\w]+(?:\[[~.\w]+\])?)\]\]"
)
_MADE: Final = re.compile(r"<factory>|<function [\w.]+(?:<lambda>)?>|<class '\w+'>")
"""Defaults that are not written as Python: with one a signature is shown raw, without links."""
_CLASS: Final = re.compile(r"\btype\[")
_CODE: Final = re.compile(r"(`[^`]+`)")


def _as_rst(lines: list[str]) -> list[str]:
    """A docstring as reStructuredText.

    Docstrings are plain text: paragraphs, lists with dashes or stars, examples with >>>, indented lines that are shown
    as they are, and `code`.  Nothing else has a meaning.
    """
    made: list[str] = []
    for block in "\n".join(lines).split("\n\n"):
        block = block.strip("\n")
        if block.startswith(">>>") or not block.strip():
            made += [*block.splitlines(), ""]
        elif block.startswith("    "):
            made += ["::", "", *block.splitlines(), ""]
        else:
            for part in re.split(r"\n(?=[-*] )", block):
                mark = part[:2] if re.match(r"[-*] ", part) else ""
                made += [mark + _inline(" ".join(part[len(mark) :].split()))]
            made.append("")
    return made


def _inline(text: str) -> str:
    text = re.sub("::$", ":", text)  # what is indented below it is shown as it is anyway
    parts = (_code(part[1:-1]) if _CODE.fullmatch(part) else _escaped(part) for part in _CODE.split(text) if part)
    return "\\ ".join(parts)


def _code(text: str) -> str:
    """A name that is documented becomes a link."""
    return f":py:obj:`{text}`" if re.fullmatch(r"[A-Za-z_][\w.]*", text) else f"``{text.strip()}``"


def _escaped(text: str) -> str:
    return re.sub(r"([\\*|_`]|:(?=\w))", r"\\\1", text)  # FILE:LINE is no link to a file
