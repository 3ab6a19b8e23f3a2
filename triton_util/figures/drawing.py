"""A matplotlib figure that carries its own alternative text.

A figure is dark ink on a light panel. In a dark notebook lightness is inverted and hues stay;
photographs are unchanged. Text, position and hatching carry the meaning; colour only repeats it.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from triton_util.theme import dark_css, svg_of

PANEL = "#f7f5ef"
INK = "#1d1d1f"
QUIET = "#5a5a5f"
CSS_PIXELS_PER_INCH = 96
_IN_THE_DARK = dark_css(
    ".tw-drawing", "filter: invert(0.91) hue-rotate(180deg);", otherwise="filter: none;"
)

Look = Literal["plain", "active", "second", "third", "idle", "wrong"]
# Face colour and hatch: all looks differ from one another in their hatch or their lightness.
LOOKS: Mapping[Look, tuple[str, str]] = {
    "plain": ("#ffffff", ""),
    "active": ("#a9cdec", ""),
    "second": ("#f6d28b", "...."),
    "third": ("#bfe3c3", "----"),
    "idle": ("#e4e2db", "////"),
    "wrong": ("#f2b8a8", "xxxx"),
}


@dataclass(frozen=True)
class Drawing:
    """A figure and the same content in words.

    `figure` is an ordinary matplotlib figure (`drawing.figure.savefig(...)` works); `alt` is
    used by screen readers, and where images cannot be shown. `photograph`: its colours are real
    and stay unchanged in a dark notebook.
    """

    figure: Figure
    alt: str
    photograph: bool = False

    def png(self, dpi: int = 160) -> bytes:
        """The figure as PNG bytes at `dpi` dots per inch."""
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", dpi=dpi)
        return buffer.getvalue()

    def svg(self) -> str:
        """The figure as an SVG element that follows the page's theme, as the PNG does."""
        words = html.escape(self.alt, quote=True)
        drawn = svg_of(self.figure, "tilewise")
        named = f'<svg class="tw-drawing" role="img" aria-label="{words}" '
        fits = 'style="max-width:max(100%,40em);height:auto" '
        return f"<style>{_IN_THE_DARK}</style>{drawn.replace('<svg ', named + fits, 1)}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        image = base64.b64encode(self.png()).decode("ascii")
        width = round(self.figure.get_figwidth() * CSS_PIXELS_PER_INCH)
        words = html.escape(self.alt, quote=True)
        kind = "tw-photograph" if self.photograph else "tw-drawing"
        page = (
            f"<style>{_IN_THE_DARK}</style>"
            f'<figure style="margin:0;overflow-x:auto"><img class="{kind}" alt="{words}" '
            f'width="{width}" '
            f'style="max-width:max(100%,40em);height:auto" src="data:image/png;base64,{image}">'
            f"<figcaption><details><summary>The picture in words</summary>{words}</details>"
            "</figcaption></figure>"
        )
        return {"text/html": page, "text/plain": self.alt}


def panel(width: float, height: float, xlim: float, ylim: float) -> tuple[Figure, Axes]:
    """An empty light panel of `width` x `height` inches with plain coordinates.

    x runs from 0 to `xlim`, y from `ylim` at the bottom to 0 at the top, like rows of a table.
    """
    figure = Figure(figsize=(width, height), facecolor=PANEL)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0, xlim)
    axes.set_ylim(ylim, 0)
    axes.axis("off")
    return figure, axes


def cell(
    axes: Axes,
    x: float,
    y: float,
    text: str = "",
    look: Look = "plain",
    width: float = 1.0,
    height: float = 1.0,
    size: float = 10.0,
    bold: bool = False,
) -> None:
    """One labelled rectangle whose top left corner is (x, y)."""
    face, hatch = LOOKS[look]
    box = Rectangle((x, y), width, height, facecolor=face, edgecolor="#b9b5aa", hatch=hatch, lw=0)
    axes.add_patch(box)
    axes.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor=INK, lw=0.9))
    label(axes, x + width / 2, y + height / 2, text, size=size, bold=bold, halo=bool(hatch))


def frame(
    axes: Axes, x: float, y: float, width: float, height: float, title: str, size: float = 10.0
) -> None:
    """A rounded frame around other things, with its title inside at the top left."""
    axes.add_patch(
        FancyBboxPatch(
            (x, y),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.15",
            facecolor="#ffffff",
            edgecolor=INK,
            lw=1.2,
            alpha=0.75,
        )
    )
    axes.text(x + 0.15, y + 0.12, title, ha="left", va="top", fontsize=size, color=INK)


def label(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    size: float = 10.0,
    bold: bool = False,
    align: Literal["left", "center", "right"] = "center",
    quiet: bool = False,
    halo: bool = False,
) -> None:
    """Text centred at the height y; `halo` puts a white patch behind it, for hatched areas."""
    patch = {"facecolor": "#ffffff", "edgecolor": "none", "pad": 1.2} if halo and text else None
    axes.text(
        x,
        y,
        text,
        ha=align,
        va="center",
        fontsize=size,
        fontweight="bold" if bold else "normal",
        color=QUIET if quiet else INK,
        bbox=patch,
    )


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """An arrow from `start` to `end`."""
    axes.annotate("", xy=end, xytext=start, arrowprops={"arrowstyle": "-|>", "color": INK})


def spoken(items: Sequence[object]) -> str:
    """A list as it is read aloud: `0, 1 and 2`."""
    words = [str(item) for item in items]
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + " and " + words[-1]
