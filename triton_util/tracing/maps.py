"""Pictures of a record: what a step touches, and the launch order over the tiles.

States differ in shape, and the text beside each map gives the same information.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from triton_util.theme import variables_css
from triton_util.tracing.text import program_name, touch_text
from triton_util.tracing.traced import Argument, Offsets, Traced

MOST_ROWS, MOST_COLUMNS = 24, 48  # cells of a map; in larger tensors a cell is several elements
_CELL = 15
UNTOUCHED, BEFORE, LOADED, STORED = range(4)
LEGEND = {
    UNTOUCHED: "not touched by this program so far",
    BEFORE: "touched by an earlier step",
    LOADED: "loaded now",
    STORED: "stored now",
}
_STYLE = """
.tw-trace { background: var(--tw-paper); color: var(--tw-ink); border: 1px solid var(--tw-line);
  border-radius: 8px; padding: .7em 1em; max-width: 64em; margin: .3em 0;
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
.tw-trace .tw-scroll { overflow-x: auto; }
.tw-trace .tw-note { font-size: .88em; color: var(--tw-muted); margin: .2em 0 .5em; }
.tw-trace figure { overflow-x: auto; max-width: 100%; }
.tw-trace .tw-args { display: flex; flex-wrap: wrap; gap: .6em 1.6em; align-items: flex-start; }
.tw-trace figure { margin: .3em 0; }
.tw-trace figcaption { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9em;
  color: var(--tw-muted); margin-bottom: .25em; }
.tw-trace p:last-child { margin-bottom: 0; }
.tw-trace .tw-say { margin: .1em 0 .5em; font-weight: 600; }
.tw-trace code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .92em;
  background: var(--tw-raised); color: inherit; border-radius: 4px; padding: .1em .35em; }
.tw-trace .tw-c0 { fill: var(--tw-raised); stroke: var(--tw-line); }
.tw-trace .tw-c1 { fill: none; stroke: var(--tw-muted); stroke-width: 1.5; }
.tw-trace .tw-c2 { fill: var(--tw-series-1); }
.tw-trace .tw-c3 { fill: var(--tw-series-2); }
.tw-trace .tw-hit { fill: var(--tw-good); }
.tw-trace .tw-miss { fill: var(--tw-line); }
.tw-trace text { fill: var(--tw-ink); font: 11px system-ui, "DejaVu Sans", sans-serif; }
.tw-trace ul { display: flex; flex-wrap: wrap; gap: .2em 1.3em; list-style: none; padding: 0;
  margin: .5em 0 0; font-size: .92em; color: var(--tw-muted); }
.tw-trace li { display: inline-flex; gap: .4em; align-items: center; margin: 0; }
.tw-trace table { border-collapse: collapse; font-size: .93em; background: none; color: inherit; }
.tw-trace th, .tw-trace td { text-align: right; padding: .15em .6em; border: 0; color: inherit;
  border-bottom: 1px solid var(--tw-line); background: none; }
.tw-trace tr, .tw-trace tr:nth-child(n), .tw-trace tr:hover { background: none; }
.tw-trace th:first-child, .tw-trace td:first-child { text-align: left; padding-left: 0; }
"""


@dataclass(frozen=True)
class View:
    """HTML and the same in words; a notebook displays it, and `print` prints the text."""

    html: str
    text: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}


@cache
def style() -> str:
    """The style element that each view includes."""
    rules = _STYLE.replace(".tw-trace", ".tw-trace" * 3)  # to override JupyterLab's own rules
    return f"<style>{variables_css('.tw-trace')}{rules}</style>"


def panel(inside: str) -> str:
    """The frame of a view around finished HTML."""
    return f'{style()}<div class="tw-trace">{inside}</div>'


def touch_map(record: Traced, program: int, step: int) -> View:
    """What step `step` (from 0) of a program touches, on maps of all arguments.

    Raises IndexError if there is no such program.
    """
    if not 0 <= program < len(record.programs):
        raise IndexError(f"there are the programs 0 to {len(record.programs) - 1}, no {program}")
    touches = list(record.programs[program])
    step = max(0, min(step, len(touches) - 1))
    said = f"{program_name(record, program)}: no accesses"
    if touches:
        told = touch_text(record, touches[step])
        said = f"{program_name(record, program)}, step {step + 1} of {len(touches)}: {told}"
    figures = [
        _argument_figure(argument, _states(record, argument, program, step))
        for argument in record.arguments.values()
        if argument.shape
    ]
    legend = "".join(
        f'<li><svg aria-hidden="true" width="{_CELL}" height="{_CELL}">{_cell(state, 0, 0)}</svg>'
        f"{words}</li>"
        for state, words in LEGEND.items()
    )
    page = panel(
        f'<p class="tw-say" role="status" aria-live="polite">{html.escape(said)}</p>'
        f'<div class="tw-args">{"".join(figures)}</div><ul>{legend}</ul>'
    )
    return View(page, said)


def _states(record: Traced, argument: Argument, program: int, step: int) -> Offsets:
    """The state of each element of an argument, as a 2D array."""
    rows, columns = _table_shape(argument)
    states = np.zeros(rows * columns, np.int64)
    for number, touch in enumerate(record.programs[program][: step + 1]):
        if touch.argument != argument.name or not touch.offsets.size:
            continue
        now = LOADED if touch.operation == "load" else STORED
        places = _flat_places(argument, touch.offsets)
        states[places] = now if number == step else BEFORE
    return states.reshape(rows, columns)


def _table_shape(argument: Argument) -> tuple[int, int]:
    """The shape of an argument as a table: the last axis across, wrapped if it is the only one."""
    if len(argument.shape) == 1:
        elements = argument.shape[0]
        columns = min(elements, 32) or 1
        return max(1, math.ceil(elements / columns)), columns
    return max(1, math.prod(argument.shape[:-1])), max(1, argument.shape[-1])


def _flat_places(argument: Argument, offsets: Offsets) -> Offsets:
    """The place of each offset in the table, row by row."""
    if len(argument.shape) == 1:
        return np.asarray(argument.indices(offsets)[:, 0])
    places = np.ravel_multi_index(tuple(argument.indices(offsets).T), argument.shape)
    return np.asarray(places, np.int64)


def _argument_figure(argument: Argument, states: Offsets) -> str:
    shape = " × ".join(str(size) for size in argument.shape)
    shown, per_cell = _reduced(states)
    note = "" if per_cell == (1, 1) else f", cells of {per_cell[0]} × {per_cell[1]}"
    counts = {state: int((states == state).sum()) for state in (LOADED, STORED, BEFORE)}
    told = ", ".join(f"{count} {LEGEND[state]}" for state, count in counts.items() if count)
    label = html.escape(f"{argument.name}, {shape}: {told or 'nothing touched so far'}", quote=True)
    height, width = shown.shape
    cells = "".join(
        _cell(int(shown[row, column]), column * _CELL, row * _CELL)
        for row in range(height)
        for column in range(width)
    )
    return (
        f"<figure><figcaption>{html.escape(argument.name)} ({shape}{note})</figcaption>"
        f'<svg role="img" aria-label="{label}" width="{width * _CELL}" height="{height * _CELL}">'
        f"{cells}</svg></figure>"
    )


def _reduced(states: Offsets) -> tuple[Offsets, tuple[int, int]]:
    """Reduce the table to few enough cells; a cell shows the strongest state of its elements."""
    # The scale is a power of two, the same for both axes, so tiles keep their edges and shape.
    crowding = max(states.shape[0] / MOST_ROWS, states.shape[1] / MOST_COLUMNS, 1)
    step = 1 << math.ceil(math.log2(crowding))
    steps = (min(step, states.shape[0]), min(step, states.shape[1]))
    rows, columns = (math.ceil(size / step) for size, step in zip(states.shape, steps, strict=True))
    padded = np.zeros((rows * steps[0], columns * steps[1]), np.int64)
    padded[: states.shape[0], : states.shape[1]] = states
    return padded.reshape(rows, steps[0], columns, steps[1]).max(axis=(1, 3)), steps


def _cell(state: int, x: int, y: int) -> str:
    """One cell: empty, a ring, a disc or a diamond."""
    middle_x, middle_y = x + _CELL / 2, y + _CELL / 2
    box = f'<rect class="tw-c0" x="{x + 1}" y="{y + 1}" width="{_CELL - 2}" height="{_CELL - 2}"/>'
    if state in (BEFORE, LOADED):
        radius = 3.2 if state == BEFORE else 4.6
        return f'{box}<circle class="tw-c{state}" cx="{middle_x}" cy="{middle_y}" r="{radius}"/>'
    if state == STORED:
        reach = 5.6
        return (
            f'{box}<path class="tw-c3" d="M{middle_x} {middle_y - reach:g}L{middle_x + reach:g} '
            f'{middle_y}L{middle_x} {middle_y + reach:g}L{middle_x - reach:g} {middle_y}Z"/>'
        )
    return box


def order_map(record: Traced, capacity_bytes: int | None, concurrency: int) -> View:
    """The launch number of each tile of the output, and how often its loads hit the cache.

    capacity_bytes: if None, half of all distinct bytes, so that the order matters.
    """
    if capacity_bytes is None:
        distinct = sum(row.distinct_loaded for row in record.traffic.arguments.values())
        capacity_bytes = max(1, distinct // 2)
    use = record.traffic.l2(capacity_bytes, concurrency)
    places = record.tiles()
    if places is None:
        ids = np.array([record.program_id(number) for number in range(len(record.programs))])
        places = ids[:, [1, 0]]
    said = (
        f"{record.kernel}: {use.hits} of {use.hits + use.misses} block loads "
        f"({use.hit_rate:.0%}) hit a modelled cache of {capacity_bytes:,} bytes with "
        f"{concurrency} program{'' if concurrency == 1 else 's'} at a time"
    )
    rows, columns = (int(size) for size in places.max(axis=0) + 1)
    table = np.full((rows, columns), -1)
    table[places[:, 0], places[:, 1]] = np.arange(len(places))
    width, height = 34, 26
    cells = "".join(
        _order_cell(int(number), column * width, row * height, use.by_program)
        for (row, column), number in np.ndenumerate(table)
        if number >= 0
    )
    lines = [" ".join(f"{number:4d}" if number >= 0 else "   ." for number in row) for row in table]
    text = "\n".join([said, "launch number of each tile:", *lines])
    page = panel(
        f'<p class="tw-say">{html.escape(said)}</p><svg role="img" '
        f'aria-label="{html.escape(text, quote=True)}" width="{columns * width}" '
        f'height="{rows * height}">{cells}</svg><ul><li>number: launch order</li>'
        "<li>bar: share of the tile's loads that hit</li></ul>"
    )
    return View(page, text)


def _order_cell(number: int, x: int, y: int, served: dict[int, tuple[int, int]]) -> str:
    hits, loads = served.get(number, (0, 0))
    share = hits / loads if loads else 0.0
    return (
        f'<rect class="tw-c0" x="{x + 1}" y="{y + 1}" width="32" height="24"/>'
        f'<text x="{x + 17}" y="{y + 14}" text-anchor="middle">{number}</text>'
        f'<rect class="tw-miss" x="{x + 4}" y="{y + 18}" width="26" height="4"/>'
        f'<rect class="tw-hit" x="{x + 4}" y="{y + 18}" width="{26 * share:.1f}" height="4"/>'
    )
