"""A session as one page: no server, no network, nothing that a text of it could script."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Final

from sim.view.sentences import visible

SCRIPT: Final = "view.js"
STYLE: Final = "view.css"
_BODY: Final = "body { margin: 0; } @media (prefers-color-scheme: dark) { body { background: #16181b; } }\n"


def built(name: str) -> str:
    """A file that is built from `source/`."""
    return files("sim.debug.page").joinpath(name).read_text(encoding="utf-8")


def session_page(title: str, contents: bytes) -> str:
    """The whole document, of what `page_contents` gave."""
    return html_page(title, contents, SCRIPT, STYLE)


def html_page(title: str, contents: bytes, script_name: str, style_name: str) -> str:
    """A document of contents, which a built script shows with a built style.

    A browser runs this script and no other, and loads nothing: the policy names script and style by their digests.
    Texts are inside of the contents, and get into the page as texts only.
    """
    script, style = built(script_name), _BODY + built(style_name)
    digests = [b64encode(sha256(text.encode()).digest()).decode() for text in (script, style)]
    policy = f"default-src 'none'; script-src 'sha256-{digests[0]}'; style-src 'sha256-{digests[1]}'"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{policy}; base-uri 'none'; form-action 'none'">
<title>{escape(visible(title))}</title><style>{style}</style></head><body>
<script id="lanewise-session" type="text/plain">{b64encode(contents).decode()}</script>
<script type="module">{script}</script>
</body></html>
"""
