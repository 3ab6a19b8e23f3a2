"""A text that follows a few controls: the one pattern behind every explorer.

Each explorer is a function from numbers to text. The widget only re-runs it when a control
moves; where widgets do not render, the function alone does the same.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets

from triton_util.keyboard import keeps_its_keys, keys_html

LABEL_STYLE = {"description_width": "min(11em, 25vw)"}  # a phone keeps the value in sight
WIDE = {"width": "32em", "max_width": "calc(100% - 4px)"}


def slider(name: str, value: int, low: int, high: int) -> Any:
    """A whole number from `low` to `high`; Tab reaches it, arrow keys move it."""
    return ipywidgets.IntSlider(
        value=value, min=low, max=high, description=name, style=LABEL_STYLE, layout=WIDE
    )


def choice(name: str, value: Any, options: Sequence[Any]) -> Any:
    """One of a few values in a drop-down list; Tab reaches it, arrow keys change it."""
    return ipywidgets.Dropdown(
        value=value, options=options, description=name, style=LABEL_STYLE, layout=WIDE
    )


def follow(text_of: Callable[..., str], controls: Mapping[str, Any]) -> Any:
    """A box of controls with the text below them, kept up to date.

    `text_of` is called with the controls' values by name and returns plain text. The text has
    the role `status`, so that a screen reader announces it after each change.
    """
    page = ipywidgets.HTML()

    def refresh(_: Any = None) -> None:
        text = text_of(**{name: control.value for name, control in controls.items()})
        page.value = (
            f"{keys_html()}"
            '<pre role="status" aria-live="polite" style="line-height:1.35">'
            f"{html.escape(text)}</pre>"
        )

    for control in controls.values():
        control.observe(refresh, names="value")
    refresh()
    box = Explorer([*controls.values(), page])
    box.text = text_of(**{name: control.value for name, control in controls.items()})
    return keeps_its_keys(box)


class Explorer(ipywidgets.VBox):  # type: ignore[misc]
    """The box, with its first text beside it: for front ends, and for notebooks that are opened
    again, in which the controls are no more.
    """

    text = ""

    def _repr_mimebundle_(self, **named: Any) -> dict[str, Any]:
        made = super()._repr_mimebundle_(**named)
        return {
            **made,
            "text/html": f"<pre>{html.escape(self.text)}</pre>",
            "text/plain": self.text,
        }
