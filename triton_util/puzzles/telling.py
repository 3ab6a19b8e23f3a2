"""The response to an answer, as text and as a card."""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass

from triton_util.client.card import frame, prose
from triton_util.client.phrases import STATE_MARK
from triton_util.notebook.session import Display

MARKS = {**STATE_MARK, "plain": "◆"}


@dataclass(frozen=True)
class Told:
    """A response. `state`: passed, failed or plain; `body` is prose, `code` is shown verbatim."""

    state: str
    head: str
    body: str
    code: str = ""

    def text(self) -> str:
        code = textwrap.indent(self.code, "    ")
        parts = [f"{MARKS[self.state]} {self.head}", self.body, code]
        return "\n\n".join(part for part in parts if part)

    def html(self) -> str:
        code = f"<pre>{html.escape(self.code)}</pre>" if self.code else ""
        body = f"{prose(self.body)}{code}"
        label = f"Practice: {self.head}"
        return frame(self.state, MARKS[self.state], html.escape(self.head), "", body, label)

    def show(self) -> None:
        Display().show(self.html(), self.text())
