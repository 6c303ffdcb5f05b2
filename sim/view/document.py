"""A page of one file: no network, no script, whatever its texts say."""

from __future__ import annotations

from html import escape
from typing import Final

from sim.view.sentences import visible

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
"""A browser loads nothing for the page, whatever is in it."""


def document(title: str, style: str, body: str) -> str:
    """The whole document; `body` is markup in which all texts are escaped.

    Control characters and marks of direction, which names of files may have, are shown as what they are.
    """
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{visible(escape(title))}</title><style>{style}</style></head><body>
{visible(body)}
</body></html>
"""
