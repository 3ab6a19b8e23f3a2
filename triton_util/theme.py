"""One palette for cards, widgets and plots, light and dark.

The page chooses, live: JupyterLab and Notebook by their theme, VS Code and Colab by theirs,
anything else by the system's preference. A colour never carries a meaning alone: code that uses
one also writes the word or draws a different shape.
"""

from __future__ import annotations

import html
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LIGHT = {
    "paper": "#fcfcfa",
    "raised": "#f3f4f7",
    "ink": "#1c2430",
    "muted": "#545f70",
    "line": "#d3d8e0",
    "good": "#17703f",
    "good-soft": "#e3f3ea",
    "bad": "#ab231c",
    "bad-soft": "#fbe8e6",
    "warn": "#7d5200",
    "warn-soft": "#faf0da",
    "accent": "#2454a4",
    "accent-soft": "#e6edf9",
    "series-1": "#2455a3",
    "series-2": "#b84a07",
    "series-3": "#17703d",
    "series-4": "#8a3c9e",
    "series-5": "#9f1b57",
    "series-6": "#5a6474",
}
DARK = {
    "paper": "#171a21",
    "raised": "#222731",
    "ink": "#e7eaf0",
    "muted": "#a7b0be",
    "line": "#3a424f",
    "good": "#63d297",
    "good-soft": "#15301f",
    "bad": "#ff8f86",
    "bad-soft": "#3a1c1a",
    "warn": "#f3c063",
    "warn-soft": "#34290f",
    "accent": "#8fb8fa",
    "accent-soft": "#1a2a45",
    "series-1": "#8fb9fa",
    "series-2": "#ff9d5c",
    "series-3": "#63d29a",
    "series-4": "#d59be6",
    "series-5": "#ff8fb4",
    "series-6": "#a9b2c0",
}
SERIES = tuple(LIGHT[name] for name in LIGHT if name.startswith("series-"))

# If the page says which theme it shows, that decides; otherwise the system's preference does.
_SAYS_DARK = (
    'body[data-jp-theme-light="false"]',
    "body.vscode-dark",
    "html[theme=dark]",
    "html[data-theme=dark]",
)
_SAYS_LIGHT = (
    'body[data-jp-theme-light="true"]',
    "body.vscode-light",
    "html[theme=light]",
    "html[data-theme=light]",
)


def variables_css(selector: str) -> str:
    """CSS that defines `--tw-<name>` for every colour on `selector`, light and dark."""
    dark_by_page = ", ".join(f"{page} {selector}" for page in _SAYS_DARK)
    light_by_page = ", ".join(f"{page} {selector}" for page in _SAYS_LIGHT)
    return (
        f"{selector} {{ {_declare(LIGHT)} color-scheme: light; }}\n"
        f"@media (prefers-color-scheme: dark) {{ {selector} {{ {_declare(DARK)} "
        "color-scheme: dark; } }\n"
        f"{light_by_page} {{ {_declare(LIGHT)} color-scheme: light; }}\n"
        f"{dark_by_page} {{ {_declare(DARK)} color-scheme: dark; }}\n"
    )


def dark_css(selector: str, declarations: str, otherwise: str) -> str:
    """CSS with `declarations` for dark pages and `otherwise` for light ones."""
    dark_by_page = ", ".join(f"{page} {selector}" for page in _SAYS_DARK)
    light_by_page = ", ".join(f"{page} {selector}" for page in _SAYS_LIGHT)
    return (
        f"@media (prefers-color-scheme: dark) {{ {selector} {{ {declarations} }} }}\n"
        f"{light_by_page} {{ {otherwise} }}\n"
        f"{dark_by_page} {{ {declarations} }}\n"
    )


def _declare(palette: dict[str, str]) -> str:
    return " ".join(f"--tw-{name}: {value};" for name, value in palette.items())


def plot_style() -> dict[str, Any]:
    """Settings for `matplotlib.rc_context`: the palette, readable sizes, unobtrusive axes."""
    from matplotlib.rcsetup import cycler

    return {
        "figure.facecolor": LIGHT["paper"],
        "axes.facecolor": LIGHT["paper"],
        "savefig.facecolor": LIGHT["paper"],
        "text.color": LIGHT["ink"],
        "axes.labelcolor": LIGHT["ink"],
        "axes.titlecolor": LIGHT["ink"],
        "axes.edgecolor": LIGHT["muted"],
        "xtick.color": LIGHT["muted"],
        "ytick.color": LIGHT["muted"],
        "grid.color": LIGHT["line"],
        "legend.facecolor": LIGHT["paper"],
        "legend.edgecolor": LIGHT["line"],
        # Series differ by line and marker too, so that colour is not needed to distinguish them.
        "axes.prop_cycle": cycler(color=SERIES)
        + cycler(linestyle=["-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1))])
        + cycler(marker=["o", "s", "^", "D", "v", "P"]),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "font.size": 11,
        "svg.fonttype": "none",
        "font.family": "sans-serif",
    }


def _without(drawn: str, tag: str) -> str:
    """The SVG text without the elements of that name."""
    first, *others = drawn.split(f"<{tag}")
    return first + "".join(part.partition(f"</{tag}>")[2] for part in others)


def svg_of(figure: Figure, salt: str, tight: bool = False) -> str:
    """The figure as an SVG element that does not affect the page around it."""
    import matplotlib as mpl

    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        box = "tight" if tight else None
        figure.savefig(text, format="svg", bbox_inches=box, metadata={"Date": None})
    drawn = text.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    # Matplotlib's style sheet would apply to every element of the page.
    return _without(_without(drawn, "style"), "metadata")


def figure_html(figure: Figure, alt: str) -> str:
    """The figure as inline SVG that follows the page's theme; `alt` says what it shows.

    Colours of the light palette become CSS variables, so draw with `plot_style` and the values of
    `LIGHT` and `SERIES`. The figure is neither closed nor displayed.
    """
    drawn = svg_of(figure, alt, tight=True)
    for name, value in LIGHT.items():
        drawn = drawn.replace(value, f"var(--tw-{name}, {value})")
    label = html.escape(alt, quote=True)
    drawn = drawn.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return (
        f"<style>{variables_css('.tw-figure')}"
        ".tw-figure { margin: .4em 0; background: var(--tw-paper); border-radius: 8px; "
        "padding: 8px; }"
        # On a narrow page a figure scrolls before its text becomes too small to read.
        ".tw-figure { overflow-x: auto; max-width: min(100%, max-content); }"
        ".tw-figure svg { max-width: max(100%, 42em); height: auto; "
        "stroke-linejoin: round; }</style>"
        f'<figure class="tw-figure">{drawn}</figure>'
    )
