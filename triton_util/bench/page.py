"""A comparison of speeds as a card: table, pictures, and the compiler's figures of the kernel."""

from __future__ import annotations

import html
from collections.abc import Sequence

from triton_util.bench import phrases
from triton_util.bench.speed_comparison import Modelled, SpeedComparison
from triton_util.client.card import frame, prose
from triton_util.figures.roofline import roofline
from triton_util.figures.speed_comparison import speed_comparison as drawing
from triton_util.theme import LIGHT, figure_html

_STYLE = """<style>
.tw-bench .tw-scroll { overflow-x: auto; }
.tw-bench td, .tw-bench th { white-space: nowrap; font-variant-numeric: tabular-nums; }
.tw-bench .tw-figure { max-width: 100%; }
</style>"""


def comparison_html(found: SpeedComparison) -> str:
    """The card of one run; it is self-contained and follows the theme."""
    name = html.escape(found.exercise)
    verdict = f"<code>{name}</code>: {html.escape(phrases.headline(found))}"
    picture = drawing(found)
    parts = [
        table(phrases.COLUMNS, phrases.rows(found)),
        "".join(f"<p><b>Note:</b> {html.escape(line)}</p>" for line in phrases.doubts(found)),
        figure_html(picture.figure, picture.alt) if any(r.believed for r in found.runners) else "",
        _remarks(found),
        f'<p class="tw-tier">{html.escape(phrases.limit(found))}</p>',
        f'<p class="tw-tier">{html.escape(phrases.method(found))}</p>',
    ]
    label = f"Speed of {found.exercise}: {phrases.headline(found)}"
    return _wrapped(frame("plain", "▸", verdict, "", "".join(parts), label))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in HTML; the first cell of each row is its heading."""
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row">{html.escape(row[0])}</th>'
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="tw-scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody>'
        "</table></div>"
    )


def modelled_html(found: Modelled) -> str:
    """The card for a machine without a GPU: the limits on known GPUs, and no speed."""
    name = html.escape(found.exercise)
    points = {found.exercise: found.intensity} if found.operations else {}
    picture = roofline(points, found.tensor_cores)
    parts = [
        f"<p>{phrases.NO_GPU} {phrases.MODELLED}</p>",
        f"<p>{html.escape(found.workload)}: {phrases.work(found)}. {html.escape(found.moved)}</p>",
        table(phrases.MODELLED_COLUMNS, phrases.modelled_rows(found)),
        str(picture._repr_mimebundle_()["text/html"]) if points else "",
        '<p class="tw-tier">The picture shows four of these GPUs.</p>' if points else "",
    ]
    verdict = f"<code>{name}</code>: the limit on known GPUs, modelled"
    label = f"Modelled limits of {found.exercise}"
    return _wrapped(frame("plain", "▸", verdict, "", "".join(parts), label))


def _wrapped(card: str) -> str:
    return f'<div class="tw-bench">{_STYLE}{card}</div>'


def _remarks(found: SpeedComparison) -> str:
    told = "".join(prose(remark) for remark in found.remarks)
    return f'<div class="tw-next"><b>What may help</b>{told}</div>' if told else ""


def page(title: str, cards: list[str]) -> str:
    """A whole page of cards; it loads nothing and runs nothing."""
    name = html.escape(title)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">"
        f"<title>{name}</title><style>body {{ margin: 1.2em auto; max-width: 62em; padding: 0 1em; "
        f"background: {LIGHT['raised']}; font: 16px/1.5 system-ui, sans-serif; }} "
        "@media (prefers-color-scheme: dark) { body { background: #0e1015; color: #e7eaf0; } }"
        f"</style></head><body><h1>{name}</h1>{''.join(cards)}</body></html>\n"
    )
