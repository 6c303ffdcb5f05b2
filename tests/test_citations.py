"""Citations lead somewhere: pages, sections and rows of docs, and the links and anchors of every Markdown page.

The form of a citation is in CONTRIBUTING.md.  What is read is found here: all text of the checkout.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from sim.golden.registry.conventions import CONVENTIONS
from sim.kernels import kernel_modes, kernel_names

ROOT = Path(__file__).resolve().parents[1]
DOCS, SPEC = "docs/", "spec/"
PAGES = DOCS + SPEC  # in two parts, so that the made-up citations below are none of this file
SUFFIXES = {".py", ".md", ".ipynb", ".toml", ".sv", ".svh", ".c", ".cpp", ".S", ".txt"}


NUMBER = r"\d+(?:\.\d+)*[a-z]?(?![\w])"
NUMBERS = rf"{NUMBER}(?:(?:, and | and |, ){NUMBER})*"
CITATION = re.compile(rf"(?<![\w./-])(docs/[\w/-]*(?:\.\w+)*)(?: (section|row)s? ({NUMBERS}))?")
MALFORMED = (
    re.compile(r"(?<![\w/])(?<!\]\()spec/\w+\.md"),
    re.compile(r"docs/[\w/-]+\.md, (?:\"|(?:section|row)s?\b)"),
    re.compile(r"docs/[\w/-]+\.md (?:section|row)s? (?!\d)"),
    re.compile(rf"docs/[\w/-]+\.md (?:section|row)s? {NUMBERS}(?: to |-|\.\.)\d\w*"),
    re.compile(rf"(?:section|row)s? {NUMBERS} of docs/"),
)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)(?: \"[^\"]*\")?\)|^\[[^\]]+\]:\s+(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Citation:
    """A path below docs, and where `kind` is "section" or "row" the numbers in it."""

    path: str
    kind: str
    numbers: tuple[str, ...]


def citations(text: str) -> Iterator[Citation]:
    for path, kind, numbers in CITATION.findall(on_one_line(text)):
        yield Citation(path, kind, tuple(re.findall(NUMBER, numbers)))


def on_one_line(text: str) -> str:
    """Without line ends, the marks of comments, and backquotes, so that a citation may be broken anywhere."""
    return re.sub(r"\s*\n\s*(?:#+|//+|\*)?\s*|`|[ \t]+", lambda m: "" if m.group() == "`" else " ", text)


def citation_faults(text: str, root: Path) -> Iterator[str]:
    line = on_one_line(text)
    yield from (f"{found.group()!r} is not of the form" for form in MALFORMED for found in form.finditer(line))
    for citation in citations(text):
        page = root / citation.path
        if not page.exists():
            yield f"{citation.path} does not exist"
            continue
        known = {"": (), "section": sections, "row": rows}[citation.kind]
        there = known(page.read_text()) if callable(known) else ()
        yield from (f"{citation.path} has no {citation.kind} {n}" for n in citation.numbers if n not in there)


def prose(text: str) -> str:
    """Markdown without its blocks of code."""
    return re.sub(r"^```.*?^```|^    .*?$", "", text, flags=re.MULTILINE | re.DOTALL)


def sections(page: str) -> list[str]:
    """The numbers of the headings."""
    return re.findall(r"^##+ (\d+(?:\.\d+)*)\.? ", prose(page), re.MULTILINE)


def rows(page: str) -> list[str]:
    """The numbers in the first column of the tables."""
    return re.findall(r"^\| (\d+[a-z]?) \|", prose(page), re.MULTILINE)


def anchors(page: str) -> set[str]:
    """Of the headings, as GitHub makes them."""
    found: list[str] = []
    for heading in re.findall(r"^#+ (.+?)\s*$", prose(page), re.MULTILINE):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        same = sum(re.fullmatch(rf"{re.escape(slug)}(-\d+)?", other) is not None for other in found)
        found.append(f"{slug}-{same}" if same else slug)
    return set(found)


def links(text: str) -> list[tuple[str, str]]:
    """The path and the anchor of every relative link."""
    shown = re.sub(r"`[^`\n]*`", "", prose(text))
    targets = [one or other for one, other in LINK.findall(shown)]
    split = (target.partition("#") for target in targets if not re.match(r"[a-z][\w+.-]*:", target))
    return [(path, anchor) for path, _, anchor in split]


def link_faults(text: str, page: Path) -> Iterator[str]:
    for path, anchor in links(text):
        target = page.parent / path if path else page
        if is_built(target):
            continue
        if not target.exists():
            yield f"the link to {path} leads nowhere"
        elif anchor and (target.suffix != ".md" or anchor not in anchors(target.read_text())):
            yield f"the anchor {path}#{anchor} does not exist"


# The checkout.


@cache
def texts(top: str) -> dict[Path, str]:
    """Every text file at or below one entry of the checkout; of a notebook, the text of its cells."""
    files = (path for path in (ROOT / top, *sorted((ROOT / top).rglob("*"))) if path.is_file() and not is_built(path))
    return {path: text_of(path) for path in files if is_text(path)}


def is_built(path: Path) -> bool:
    """Whether `make docs` wrote it: its own links are checked there, where a warning is an error."""
    return path.is_relative_to(ROOT / "docs" / "generated") or path.is_relative_to(ROOT / "build")


def is_text(path: Path) -> bool:
    return path.suffix in SUFFIXES or path.name == "Makefile"


def text_of(path: Path) -> str:
    text = path.read_text()
    if path.suffix != ".ipynb":
        return text
    return "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])


TOPS = sorted(
    path.name for path in ROOT.iterdir() if not path.name.startswith(".") and (path.is_dir() or is_text(path))
)
MARKED = (".md", ".ipynb")


@pytest.mark.parametrize("top", TOPS)
def test_every_citation_resolves(top: str) -> None:
    faults = {path: list(citation_faults(text, ROOT)) for path, text in texts(top).items()}
    assert {path: found for path, found in faults.items() if found} == {}


@pytest.mark.parametrize("top", TOPS)
def test_every_relative_link_and_anchor_resolves(top: str) -> None:
    faults = {p: list(link_faults(text, p)) for p, text in texts(top).items() if p.suffix in MARKED}
    assert {path: found for path, found in faults.items() if found} == {}


def test_every_row_that_a_convention_declares_is_on_the_page() -> None:
    declared = {row for convention in CONVENTIONS.values() for row in convention.rows}
    assert declared - set(rows((ROOT / PAGES / "known_differences.md").read_text())) == set()


@pytest.mark.parametrize("top", ["Makefile", "README.md", "docs", "isa", "notebooks", "rtl_models", "sim", "tests"])
def test_text_is_found_everywhere(top: str) -> None:
    assert any(texts(top).values())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["", "section", "row"])
@pytest.mark.parametrize("top", ["sim", "tests"])
def test_citations_of_each_kind_are_found(kind: str, top: str) -> None:
    assert kind in {citation.kind for text in texts(top).values() for citation in citations(text)}


@pytest.mark.parametrize("part", [0, 1], ids=["path", "anchor"])
def test_links_of_each_kind_are_found(part: int) -> None:
    every = chain.from_iterable(texts(top).items() for top in TOPS)
    found = [link for path, text in every if path.suffix in MARKED for link in links(text)]
    assert any(link[part] for link in found)


def test_no_section_and_no_row_is_there_twice() -> None:
    numbered = {page: found for page, text in texts("docs").items() for found in (sections(text), rows(text))}
    assert {page: found for page, found in numbered.items() if len(set(found)) < len(found)} == {}


def test_the_index_of_the_arithmetic_has_every_page() -> None:
    index = ROOT / PAGES / "README.md"
    linked = {path for path, _ in links(index.read_text())}
    assert {page.name for page in index.parent.iterdir()} - linked == {"README.md"}


def test_the_index_of_the_arithmetic_has_every_kernel() -> None:
    index = (ROOT / PAGES / "README.md").read_text()
    assert [name for name in kernel_names() if f"`{name}`" not in index] == []


@pytest.mark.parametrize("name", sorted(set(kernel_names()) - {"requantize", "quantized_add"}))
def test_the_index_of_the_arithmetic_has_every_mode(name: str) -> None:
    index = (ROOT / PAGES / "README.md").read_text()
    assert [mode for mode in kernel_modes(name) if f"`{mode}`" not in index] == []


# The checker, on a small checkout.

PAGE = """# Rounding

## 1. Up

| row | result |
| --- | --- |
| 1 | 2 |
| 10b | 3 |

```
## 7. In a block of code
```

## 2. Down, and `away`

## Down
## Down
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / PAGES).mkdir(parents=True)
    (tmp_path / PAGES / "page.md").write_text(PAGE)
    return tmp_path


@pytest.mark.parametrize(
    "text",
    [
        f"{PAGES}page.md",
        f"Source: {PAGES}page.md.",
        f"({PAGES}page.md section 2)",
        f"{PAGES}page.md sections 1 and 2; {PAGES}page.md rows 1, 10b.",
        f"see `{PAGES}page.md` row 10b",
        f"    # {PAGES}page.md\n    # section 1",
        f"{PAGES}page.md row\n    1",
        f"the folder {PAGES}",
        f"https://example.org/{PAGES}other.md",
    ],
)
def test_a_citation_that_resolves_has_no_fault(text: str, root: Path) -> None:
    assert list(citation_faults(text, root)) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f"{PAGES}other.md", f"{PAGES}other.md does not exist"),
        (f"{PAGES}page.md section 3", f"{PAGES}page.md has no section 3"),
        (f"{PAGES}page.md section 7", f"{PAGES}page.md has no section 7"),
        (f"{PAGES}page.md sections 1, 2 and 9", f"{PAGES}page.md has no section 9"),
        (f"{PAGES}page.md row 2", f"{PAGES}page.md has no row 2"),
        (f"{PAGES}page.md rows 1 and 10c", f"{PAGES}page.md has no row 10c"),
        (f"// {PAGES}page.md\n// row 10", f"{PAGES}page.md has no row 10"),
        (f"{PAGES}page.md, row 1", f"'{PAGES}page.md, row' is not of the form"),
        (f'{PAGES}page.md, "Up"', f"'{PAGES}page.md, \"' is not of the form"),
        (f"{PAGES}page.md rows 1 to 10b", f"'{PAGES}page.md rows 1 to 10b' is not of the form"),
        (f"{PAGES}page.md section Up", f"'{PAGES}page.md section ' is not of the form"),
        (f"row 1 of {PAGES}page.md", f"'row 1 of {DOCS}' is not of the form"),
        (f"{SPEC}page.md", f"'{SPEC}page.md' is not of the form"),
    ],
)
def test_a_citation_that_does_not_resolve_is_a_fault(text: str, fault: str, root: Path) -> None:
    assert list(citation_faults(text, root)) == [fault]


@pytest.mark.parametrize(
    "link",
    ["page.md", "page.md#rounding", "#1-up", "page.md#2-down-and-away", "#down-1", "../../docs", "https://a.b/c#d"],
)
def test_a_link_that_resolves_has_no_fault(link: str, root: Path) -> None:
    assert list(link_faults(f"[there]({link})", root / PAGES / "page.md")) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[there](other.md)", "the link to other.md leads nowhere"),
        ("![drawn](drawing.svg)", "the link to drawing.svg leads nowhere"),
        ("[there]: other.md", "the link to other.md leads nowhere"),
        ("[there](page.md#3-left)", "the anchor page.md#3-left does not exist"),
        ("[there](#down-2)", "the anchor #down-2 does not exist"),
        ("[there](page.md#7-in-a-block-of-code)", "the anchor page.md#7-in-a-block-of-code does not exist"),
    ],
)
def test_a_link_that_leads_nowhere_is_a_fault(text: str, fault: str, root: Path) -> None:
    assert list(link_faults(text, root / PAGES / "page.md")) == [fault]


def test_a_link_in_code_is_none() -> None:
    assert links("`[a](b.md)`\n\n```\n[c](d.md)\n```\n\n    [e](f.md)\n") == []
