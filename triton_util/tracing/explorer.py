"""The record as an interactive view: sliders that the keyboard moves, and text beside them."""

from __future__ import annotations

import html
from typing import Any

from triton_util.environment import in_notebook
from triton_util.keyboard import keeps_its_keys, keys_html
from triton_util.tracing.maps import panel, touch_map
from triton_util.tracing.text import (
    COALESCED,
    TRAFFIC_COLUMNS,
    intensity_text,
    record_text,
    traffic_rows,
)
from triton_util.tracing.traced import Traced


def summary_html(record: Traced) -> str:
    """The traffic table and the operations per byte."""
    head = "".join(f'<th scope="col">{column}</th>' for column in TRAFFIC_COLUMNS)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in traffic_rows(record)
    )
    name = html.escape(record.kernel)
    return panel(
        f'<p class="tw-say"><code>{name}</code>: {len(record.programs)} programs</p>'
        f'<div class="tw-scroll" tabindex="0" role="region" aria-label="Traffic of {name}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        f'<p class="tw-note">{html.escape(COALESCED)}</p>'
        f"<p>{html.escape(intensity_text(record))}</p>"
    )


def explorer(record: Traced) -> Any:
    """Sliders for the program and the step. Tab reaches them, arrow keys move them."""
    import ipywidgets as widgets

    if not record.programs:
        return widgets.HTML(summary_html(record))
    wide = widgets.Layout(width="32em", max_width="calc(100% - 4px)")
    program = widgets.IntSlider(
        min=0, max=max(0, len(record.programs) - 1), description="program", layout=wide
    )
    step = widgets.IntSlider(min=1, max=1, description="step", layout=wide)  # counts from 1
    page = widgets.HTML()

    def show(_: Any = None) -> None:
        step.max = max(1, len(record.programs[program.value]))
        page.value = touch_map(record, program.value, step.value - 1).html

    program.observe(show, names="value")
    step.observe(show, names="value")
    show()
    summary = widgets.HTML(keys_html() + summary_html(record))
    return keeps_its_keys(widgets.VBox([summary, program, step, page]))


def bundle(record: Traced) -> dict[str, Any]:
    """The forms of a record for a notebook: widgets, else HTML, else text."""
    first = touch_map(record, 0, 0).html if record.programs else ""
    made: dict[str, Any] = {
        "text/html": summary_html(record) + first,
        "text/plain": record_text(record),
    }
    if in_notebook():
        widget = explorer(record)
        made["application/vnd.jupyter.widget-view+json"] = {
            "version_major": 2,
            "version_minor": 0,
            "model_id": widget.model_id,
        }
    return made
