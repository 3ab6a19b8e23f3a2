"""Explanations and comparisons as self-contained HTML, light and dark."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence

from triton_util.client.card import frame
from triton_util.explain import phrases
from triton_util.explain.facts import Explained, Made
from triton_util.explain.ptx import LineFacts
from triton_util.explain.text import ROWS

_STYLE = """<style>
.tw-explain .tw-scroll { overflow-x: auto; }
.tw-explain .tw-code td { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono",
  monospace; font-size: .88em; white-space: pre-wrap; vertical-align: top;
  padding: .05em .8em 0 0; }
.tw-explain .tw-code td:first-child { color: var(--tw-muted); text-align: right;
  user-select: none; }
.tw-explain .tw-code td:last-child { color: var(--tw-accent); white-space: normal;
  min-width: 14em; }
.tw-explain .tw-code tr.tw-busy td { background: var(--tw-accent-soft); }
.tw-explain .tw-bar { display: inline-block; width: 7em; height: .7em; margin-right: .6em;
  background: var(--tw-raised); border: 1px solid var(--tw-line); vertical-align: middle; }
.tw-explain .tw-bar i { display: block; height: 100%; background: var(--tw-accent); }
.tw-explain .tw-bar.tw-over i { background: var(--tw-bad); }
.tw-explain pre.tw-ptx { max-height: 24em; overflow: auto; white-space: pre; }
</style>"""


def explanation_html(explanation: Explained) -> str:
    """A card: per specialisation the figures of all targets, remarks, and the source by line."""
    groups: dict[str, list[Made]] = {}
    for made in explanation.made:
        key = f"{made.label} {sorted(made.arguments.items())}" if not made.error else made.kernel
        groups.setdefault(key, []).append(made)
    parts = [_group(explanation, group, first=n == 0) for n, group in enumerate(groups.values())]
    if not parts:
        parts = [f"<p>{_escaped(explanation.name)} launches no kernel on these arguments.</p>"]
    if explanation.left_out:
        parts.append(f"<p>{explanation.left_out} further specialisations are not shown.</p>")
    verdict = f"What the compiler makes of <code>{_escaped(explanation.name)}</code>"
    label = f"What the compiler makes of {explanation.name}"
    return _wrapped(frame("plain", "⚙", verdict, "", "".join(parts), label))


def _wrapped(card: str) -> str:
    return f'<div class="tw-explain">{_STYLE}{card}</div>'


def _group(explanation: Explained, group: Sequence[Made], first: bool) -> str:
    title = f'<p class="tw-title">{_escaped(group[0].label)}</p>'
    sound = [made for made in group if not made.error]
    heads = "".join(
        f'<th scope="col">{made.target.name}<br>{_escaped(made.target.cards)}</th>'
        for made in sound
    )
    rows = "".join(
        f'<tr><th scope="row">{name}</th>'
        + "".join(f"<td>{_cell(name, made, value(made))}</td>" for made in sound)
        + "</tr>"
        for name, value in ROWS
    )
    figures = f'<div class="tw-scroll"><table><tr><td></td>{heads}</tr>{rows}</table></div>'
    notes = "".join(f"<li>{_escaped(note)}</li>" for note in _notes(explanation, group))
    sources = "".join(
        _source(explanation, made, opened=first and n == 0) for n, made in enumerate(sound)
    )
    return title + (figures if sound else "") + (f"<ul>{notes}</ul>" if notes else "") + sources


def _notes(explanation: Explained, group: Sequence[Made]) -> list[str]:
    """The remarks, each with the targets that it applies to."""
    held: dict[str, list[str]] = {}
    for made in group:
        for remark in phrases.remarks(explanation, made):
            held.setdefault(remark, []).append(made.target.name)
    whole = len(group)
    return [
        remark if len(names) == whole else f"{', '.join(names)}: {remark}"
        for remark, names in held.items()
    ]


def _cell(row: str, made: Made, text: str) -> str:
    shares = {
        "shared memory per program": made.shared_bytes / made.target.shared_per_program,
        "registers per thread": made.registers / 255,
        "on one processor": made.occupancy.share,
    }
    if row not in shares:
        return _escaped(text)
    share = shares[row]
    over = " tw-over" if share > 1 else ""
    bar = (
        f'<span class="tw-bar{over}" aria-hidden="true">'
        f'<i style="width:{min(1.0, share):.0%}"></i></span>'
    )
    return bar + _escaped(text)


def _source(explanation: Explained, made: Made, opened: bool) -> str:
    lines = made.lines or {}
    if not any(lines):
        return ""
    rows = "".join(_rows(explanation, lines))
    return (
        f"<details{' open' if opened else ''}><summary>By source line, for {made.target.name}"
        f'</summary><div class="tw-scroll"><table class="tw-code">{rows}</table></div></details>'
        f"<details><summary>PTX for {made.target.name}, by source line</summary>"
        f'<pre class="tw-ptx" tabindex="0">{_escaped(ptx_by_line(explanation, made))}</pre>'
        "</details>"
    )


def _rows(explanation: Explained, lines: Mapping[int, LineFacts]) -> Iterator[str]:
    """The rows of lines that became instructions; a mark replaces the lines between them."""
    last = 0
    for number in sorted(number for number in lines if number):
        if last and number > last + 1:
            yield "<tr><td>⋮</td><td></td><td></td></tr>"
        yield _row(explanation, number, lines[number])
        last = number


def _row(explanation: Explained, number: int, facts: LineFacts) -> str:
    said = phrases.describe_line(facts)
    busy = ' class="tw-busy"' if said else ""
    return (
        f"<tr{busy}><td>{number}</td><td>{_escaped(explanation.line(number))}</td>"
        f"<td>{_escaped(said)}</td></tr>"
    )


def ptx_by_line(explanation: Explained, made: Made) -> str:
    """The PTX instructions below the source lines they came from."""
    parts = []
    for number, facts in sorted((made.lines or {}).items()):
        text = explanation.line(number).strip() if number else "(of no line)"
        parts += [f"// {number}: {text}", *(f"    {item}" for item in facts.ptx)]
    return "\n".join(parts)


def _escaped(text: str) -> str:
    return html.escape(text, quote=True)


def comparison_html(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A card with one table: what, before, after."""
    top = "".join(f'<th scope="col">{_escaped(head)}</th>' for head in heads)
    body = "".join(
        f'<tr><th scope="row">{_escaped(row[0])}</th>'
        + "".join(f"<td>{_escaped(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    table = f'<div class="tw-scroll"><table><tr>{top}</tr>{body}</table></div>'
    return _wrapped(frame("plain", "⇄", _escaped(title), "", table, title))
