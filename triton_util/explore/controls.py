"""A figure or a text that follows a few controls: the pattern behind every explorer.

Each explorer is a function from numbers to text; some also draw a figure of the same numbers. The
widget only calls the function again when a control moves. Without widgets, call the function
directly.
"""

from __future__ import annotations

import asyncio
import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets

from triton_util.figures.drawing import Drawing
from triton_util.keyboard import button, keeps_its_keys, keys_html

LABEL_STYLE = {"description_width": "min(11em, 25vw)"}  # keeps the value visible on a phone
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


def follow(
    text_of: Callable[..., str],
    controls: Mapping[str, Any],
    draw: Callable[..., Drawing | None] | None = None,
    plays: str = "",
) -> Any:
    """A box of controls with a figure and the text below them, kept up to date.

    `text_of` is called with the controls' values by name and returns plain text. It has the role
    `status`, so that a screen reader announces it after each change. `draw` makes a figure of the
    same values, which sighted readers see instead of the text; it returns None or raises ValueError
    if there is none. `plays` names the slider that the buttons move.
    """
    page = ipywidgets.HTML()

    def values() -> dict[str, Any]:
        return {name: control.value for name, control in controls.items()}

    def shown() -> tuple[str, str]:
        text, figure = text_of(**values()), _figure(draw, values())
        return _page(text, "" if figure is None else figure.svg()), text

    def refresh(_: Any = None) -> None:
        page.value = f"{keys_html()}{shown()[0]}"

    for control in controls.values():
        if draw is not None and hasattr(control, "continuous_update"):
            control.continuous_update = False  # a figure is slow: draw only after a drag
        control.observe(refresh, names="value")
    refresh()
    buttons = []
    if plays:

        def pictured(value: int) -> bool:
            return draw is None or _figure(draw, {**values(), plays: value}) is not None

        buttons = [Player(controls[plays], pictured)]
    box = Explorer([*controls.values(), *buttons, page])
    box.page, box.text = shown()
    return keeps_its_keys(box)


_UNSEEN = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)"


def _page(text: str, svg: str) -> str:
    """The text, or the figure with the text for screen readers."""
    style = _UNSEEN if svg else "line-height:1.35"
    said = f'<pre role="status" aria-live="polite" style="{style}">{html.escape(text)}</pre>'
    return f'<div style="overflow-x:auto;position:relative">{svg}{said}</div>'


def _figure(
    draw: Callable[..., Drawing | None] | None, values: Mapping[str, Any]
) -> Drawing | None:
    if draw is None:
        return None
    try:
        return draw(**values)
    except ValueError:  # too large for a figure
        return None


class Player(ipywidgets.HBox):  # type: ignore[misc]
    """Play, step forward and step back buttons for a slider.

    The kernel counts the steps, not the page as in `ipywidgets.Play`: a page skips the steps that
    a slow kernel has not drawn in time. `pictured` returns whether a value has a picture. The
    buttons move only to values that have one, so a pass stops at the loop's last step.
    """

    SECONDS = 1.2  # between two pictures

    def __init__(self, moved: Any, pictured: Callable[[int], bool]) -> None:
        self.moved, self.pictured = moved, pictured
        self.play = ipywidgets.ToggleButton(description="▶ Play", tooltip="step by itself")
        self.play.observe(self._switched, names="value")
        back, forth = button("◀ Back", lambda: self.step(-1)), button("Step ▶", self.step)
        super().__init__([self.play, back, forth])
        for one in self.children:
            one.layout.width = "6.5em"

    def step(self, by: int = 1) -> bool:
        """Move the slider, which redraws the picture; whether there was a value to move to."""
        value = self.moved.value + by
        if not self.moved.min <= value <= self.moved.max or not self.pictured(value):
            return False
        self.moved.value = value
        return True

    def _switched(self, change: Mapping[str, Any]) -> None:
        self.play.description = "⏸ Pause" if change["new"] else "▶ Play"
        if not change["new"]:
            self.timer.cancel()
            return
        if not self.step():
            self.moved.value = self.moved.min  # play again from the start
        self._later()

    def _later(self) -> None:
        loop = asyncio.get_running_loop()
        self.timer = loop.call_later(self.SECONDS, self._played)

    def _played(self) -> None:
        if self.step():
            self._later()
        else:
            self.play.value = False


class Explorer(ipywidgets.VBox):  # type: ignore[misc]
    """The box, which also stores its first text, for front ends without widgets and for notebooks
    that are opened again, in which the controls no longer exist.
    """

    text = page = ""

    def _repr_mimebundle_(self, **named: Any) -> dict[str, Any]:
        made = super()._repr_mimebundle_(**named)
        return {
            **made,
            "text/html": self.page,
            "text/plain": self.text,
        }
