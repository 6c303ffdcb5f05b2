"""A session as a widget of a notebook, by anywidget: Jupyter, VS Code and marimo take it."""

from __future__ import annotations

from typing import Any

import traitlets
from anywidget import AnyWidget

from sim.debug.page.contents import page_contents
from sim.debug.page.html import SCRIPT, STYLE, built
from sim.debug.session import Session


class SessionWidget(AnyWidget):  # type: ignore[misc]  # its hints are partial
    """What a page shows, in a cell.

    `position` is that of the session: moving one moves the other, but for what moves the session in Python, after which
    `look` shows where it stands.
    """

    _esm = built(SCRIPT)
    _css = built(STYLE)
    data = traitlets.Bytes().tag(sync=True)
    position = traitlets.Int().tag(sync=True)

    def __init__(self, session: Session) -> None:
        super().__init__(data=page_contents(session), position=session.position)
        self._session = session
        self.observe(self._go, names="position")

    def look(self) -> None:
        """Show where the session stands now."""
        self.position = self._session.position

    def _go(self, change: Any) -> None:
        self._session.goto(change["new"])
