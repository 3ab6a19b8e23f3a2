"""The speed that the class GPU measured: beside the model solution, and under the roofline."""

from __future__ import annotations

import html
from typing import Any

from triton_util.bench import phrases
from triton_util.bench.page import table
from triton_util.bench.speed_comparison import Runner, SpeedComparison
from triton_util.client.card import frame, prose
from triton_util.figures.roofline import roofline
from triton_util.notebook.session import Display

_COLUMNS = ("", "time", "rate", "of the limit")


def show(data: dict[str, Any]) -> None:
    """Show the speed in an answer; nothing if it is malformed, because the verdict still counts."""
    try:
        found = SpeedComparison.from_json(data)
        shown = speed_html(found), speed_text(found)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, IndexError):
        return
    Display().show(*shown)


def speed_html(found: SpeedComparison) -> str:
    """The card: times in a table, the reasons, and the roofline."""
    name = html.escape(found.exercise)
    points = {found.exercise: found.intensity} if found.operations else {}
    picture = roofline(points, found.tensor_cores) if points else None
    parts = [
        table(_COLUMNS, [_row(found, runner) for runner in found.runners]),
        *(f"<p><b>Note:</b> {html.escape(line)}</p>" for line in phrases.doubts(found)),
        *map(prose, found.remarks),
        f'<p class="tw-tier">{html.escape(_where(found))}</p>',
        "" if picture is None else str(picture._repr_mimebundle_()["text/html"]),
    ]
    verdict = f"<code>{name}</code>: {html.escape(phrases.headline(found))}"
    return frame("plain", "▸", verdict, "", "".join(parts), f"Speed of {found.exercise}")


def speed_text(found: SpeedComparison) -> str:
    """The same in lines."""
    rows = ["  ".join(_row(found, runner)) for runner in found.runners]
    told = [*rows, *phrases.doubts(found), *found.remarks, _where(found)]
    head = f"▸ {found.exercise}: {phrases.headline(found)}"
    return "\n".join([head, *(f"  {line}" for line in told)])


def _row(found: SpeedComparison, runner: Runner) -> tuple[str, ...]:
    if runner.ms is None:
        return (runner.label, "not timed", "", "")
    percent = f"{found.percent(runner.ms):.0f} %"
    return (runner.label, f"{runner.ms:.4f} ms", found.rate(runner.ms), percent)


def _where(found: SpeedComparison) -> str:
    return f"Measured on the class's {found.gpu.name}, {found.workload}. {phrases.limit(found)}"
