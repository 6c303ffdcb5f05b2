"""Links of built pages that lead nowhere: to a file that is not there, or to a place that its page does not have."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The places that a page has, and what it links to or shows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: dict[str, None] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.places.add(value)
            if name in ("href", "src") and value:
                self.links[value] = None


def dead_links(folder: Path) -> Iterator[str]:
    """Such as "models.html: what.html#there", of all pages of a folder.  Links to other sites are not followed."""
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        for link in page.links:
            url = urlsplit(link)
            if url.scheme in ("http", "https", "data", "mailto"):
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            has_place = target not in pages or not url.fragment or unquote(url.fragment) in pages[target].places
            if not target.is_file() or not has_place:
                yield f"{path.relative_to(folder.resolve())}: {link}"
