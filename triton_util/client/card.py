"""The card that `check` shows in a notebook. Every text from outside is escaped."""

from __future__ import annotations

import html
import re
from functools import cache

from triton_util.client import phrases
from triton_util.client.picture import legend_html, picture_svg
from triton_util.client.report import Finding, Report, Table
from triton_util.theme import variables_css

_STYLE = """
.tw-card { box-sizing: border-box; max-width: 56em; margin: .4em 0; padding: 0;
  background: var(--tw-paper); color: var(--tw-ink); border: 1px solid var(--tw-line);
  border-left: 5px solid var(--tw-state); border-radius: 8px; overflow: hidden;
  font: 14px/1.55 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
.tw-card * { box-sizing: border-box; }
.tw-card.tw-passed { --tw-state: var(--tw-good); --tw-state-soft: var(--tw-good-soft); }
.tw-card.tw-failed { --tw-state: var(--tw-bad); --tw-state-soft: var(--tw-bad-soft); }
.tw-card.tw-unjudged { --tw-state: var(--tw-warn); --tw-state-soft: var(--tw-warn-soft); }
.tw-card.tw-outdated { --tw-state: var(--tw-warn); --tw-state-soft: var(--tw-warn-soft); }
.tw-card.tw-plain, .tw-card.tw-untouched { --tw-state: var(--tw-accent);
  --tw-state-soft: var(--tw-accent-soft); }
.tw-card .tw-head { display: flex; flex-wrap: wrap; align-items: center; gap: .2em .7em;
  padding: .6em 1em; background: var(--tw-state-soft); }
.tw-card .tw-mark { display: inline-flex; width: 1.7em; height: 1.7em; border-radius: 50%;
  align-items: center; justify-content: center; background: var(--tw-state);
  color: var(--tw-paper); font-weight: 700; flex: none; }
.tw-card .tw-verdict { flex: 1 1 14em; font-weight: 650; font-size: 1.1em; }
.tw-card .tw-verdict code { font-size: .95em; background: none; padding: 0; }
.tw-card .tw-summary { color: var(--tw-muted); margin-left: auto; }
.tw-card .tw-fit { container-type: inline-size; }
.tw-card .tw-body { padding: .7em 1em .9em; overflow-x: auto; }
.tw-card .tw-body > :last-child, .tw-card .tw-finding > :last-child { margin-bottom: 0; }
.tw-card .tw-body > :first-child, .tw-card .tw-finding > :first-child { margin-top: 0; }
.tw-card p { margin: .5em 0; color: inherit; }
.tw-card code, .tw-card pre { font-family: ui-monospace, "JetBrains Mono", Menlo, Consolas,
  "DejaVu Sans Mono", monospace; font-size: .92em; color: inherit;
  background: var(--tw-raised); border-radius: 4px; }
.tw-card code { padding: .08em .32em; }
.tw-card pre { padding: .55em .8em; margin: .35em 0; overflow-x: auto; white-space: pre-wrap;
  border: 0; }
.tw-card .tw-gates { display: flex; flex-wrap: wrap; gap: .4em; list-style: none;
  margin: 0 0 .9em; padding: 0; }
.tw-card .tw-gates li { display: inline-flex; gap: .45em; align-items: baseline; margin: 0;
  border: 1px solid var(--tw-line); border-radius: 999px; padding: .08em .75em; font-size: .93em; }
.tw-card .tw-gates .tw-g-passed { background: var(--tw-good-soft); border-color: var(--tw-good); }
.tw-card .tw-gates .tw-g-failed { background: var(--tw-bad-soft); border-color: var(--tw-bad); }
.tw-card .tw-gates .tw-g-not_run { color: var(--tw-muted); border-style: dashed; }
.tw-card .tw-gates .tw-gm { font-weight: 700; }
.tw-card .tw-gates .tw-g-passed .tw-gm { color: var(--tw-good); }
.tw-card .tw-gates .tw-g-failed .tw-gm { color: var(--tw-bad); }
.tw-card .tw-title { font-weight: 650; font-size: 1.08em; margin: 0 0 .3em; }
.tw-card .tw-tag { display: inline-block; color: var(--tw-muted); min-width: 6.2em; }
.tw-card .tw-where { margin: .6em 0; }
.tw-card .tw-next { border-left: 3px solid var(--tw-accent); background: var(--tw-accent-soft);
  border-radius: 0 6px 6px 0; padding: .45em .8em; margin: .8em 0 .2em; }
.tw-card .tw-next b { color: var(--tw-accent); }
.tw-card figure { margin: .8em 0; }
.tw-card figcaption { color: var(--tw-muted); font-size: .95em; margin-top: .2em; }
.tw-card .tw-map { max-width: 100%; height: auto; display: block; }
.tw-card .tw-right { fill: var(--tw-raised); stroke: var(--tw-line); }
.tw-card .tw-run { fill: var(--tw-good); shape-rendering: crispEdges; }
.tw-card .tw-shade-0 { fill-opacity: .35; } .tw-card .tw-shade-1 { fill-opacity: .55; }
.tw-card .tw-shade-2 { fill-opacity: .2; }
.tw-card .tw-lanes { fill: none; stroke: var(--tw-muted); stroke-dasharray: 3 2; }
.tw-card .tw-end { stroke: var(--tw-ink); stroke-width: 1; }
.tw-card .tw-words { fill: var(--tw-ink); font-size: 12px; }
.tw-card .tw-dot { fill: var(--tw-muted); }
.tw-card .tw-wrong { fill: var(--tw-bad); }
.tw-card .tw-cross { stroke: var(--tw-paper); stroke-width: 1.8; stroke-linecap: round; }
.tw-card .tw-never { fill: var(--tw-warn-soft); stroke: var(--tw-warn); }
.tw-card .tw-ring { fill: none; stroke: var(--tw-warn); stroke-width: 1.6; }
.tw-card .tw-legend { display: flex; flex-wrap: wrap; gap: .2em 1.2em; list-style: none;
  margin: .4em 0 0; padding: 0; font-size: .93em; }
.tw-card .tw-legend li { display: inline-flex; align-items: center; gap: .4em; margin: 0; }
.tw-card details { margin-top: .7em; }
.tw-card summary { cursor: pointer; color: var(--tw-accent); width: fit-content; }
.tw-card summary:focus-visible { outline: 2px solid var(--tw-accent); outline-offset: 2px;
  border-radius: 3px; }
.tw-card .tw-finding + .tw-finding { border-top: 1px solid var(--tw-line); margin-top: .9em;
  padding-top: .9em; }
.tw-card table { border-collapse: collapse; margin: .4em 0; font-size: .93em; color: inherit;
  background: none; }
.tw-card th, .tw-card td { text-align: left; padding: .2em 1.2em .2em 0; border: 0;
  border-bottom: 1px solid var(--tw-line); background: none; color: inherit; }
.tw-card .tw-programs { margin: .9em 0; container-type: inline-size; }
.tw-card .tw-programs figcaption { margin: 0 0 .2em; }
.tw-card .tw-programs p { margin: .15em 0; font-size: .95em; }
.tw-card .tw-programs td, .tw-card .tw-programs th { vertical-align: top;
  font-variant-numeric: tabular-nums; }
.tw-card .tw-programs tbody th { color: inherit; font-weight: inherit; }
.tw-card .tw-programs .tw-off > * { background: var(--tw-bad-soft); }
.tw-card .tw-sign { color: var(--tw-bad); font-weight: 700; }
.tw-card .tw-goal a { color: var(--tw-accent); }
.tw-card .tw-progress { width: 100%; table-layout: auto; }
.tw-card .tw-progress td:nth-child(2), .tw-card .tw-progress td:nth-child(3) { white-space: nowrap; }
@container (max-width: 44em) {
  .tw-card .tw-progress thead, .tw-card .tw-progress td:nth-child(4) { display: none; }
}
@container (max-width: 34em) {
  .tw-card .tw-programs thead { display: none; }
  .tw-card .tw-programs tr { display: block; border-bottom: 1px solid var(--tw-line);
    padding: .25em 0; }
  .tw-card .tw-programs tbody th, .tw-card .tw-programs td { display: flex; border: 0;
    padding: 0 .4em; }
  .tw-card .tw-programs td:empty { display: none; }
  .tw-card .tw-programs tbody th::before, .tw-card .tw-programs td::before {
    content: attr(data-column); color: var(--tw-muted); flex: 0 0 7em; }
  .tw-card .tw-progress tr { display: flex; flex-wrap: wrap; gap: 0 .8em;
    border-bottom: 1px solid var(--tw-line); padding: .2em 0; }
  .tw-card .tw-progress td { border: 0; padding: 0; }
}
.tw-card tr, .tw-card tr:nth-child(n), .tw-card tr:hover { background: none; }
.tw-card th { color: var(--tw-muted); font-weight: 500; }
.tw-card progress { width: 100%; height: .6em; accent-color: var(--tw-state); }
.tw-card .tw-tier { color: var(--tw-muted); font-size: .93em; margin: .8em 0 0; }
"""  # noqa: E501


_WRONG_LINE = ' class="tw-off"'


@cache
def style() -> str:
    """The style element that each card brings along: an output must stand alone."""
    # JupyterLab styles what it renders by selectors of up to three parts: ours have more.
    rules = _STYLE.replace(".tw-card", ".tw-card" * 3)
    return f"<style>{variables_css('.tw-card')}{rules}</style>"


def prose(text: str) -> str:
    """Escaped text in which `words between backticks` are code and blank lines part paragraphs."""
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    return "".join(f"<p>{inline(part)}</p>" for part in paragraphs)


# Not a product: the stars stand close to the words, and nothing stands close outside.
_EMPHASIS = re.compile(r"(?<![\w*)\]])\*(\w(?:[^*\n]*\w)?)\*(?![\w*(\[])")


def inline(text: str) -> str:
    """Escaped text in which `words in backticks` are code, and *those in stars* stressed."""
    parts = re.split(r"`([^`\n]+)`", html.escape(text, quote=True))
    return "".join(
        f"<code>{part}</code>" if number % 2 else _EMPHASIS.sub(r"<em>\1</em>", part)
        for number, part in enumerate(parts)
    )


def frame(state: str, mark: str, verdict: str, summary: str, body: str, label: str) -> str:
    """A card: coloured edge, a mark and a verdict in words, and a body (HTML already)."""
    aside = f'<span class="tw-summary">{inline(summary)}</span>' if summary else ""
    inside = f'<div class="tw-body">{body}</div>' if body else ""
    return (
        f'{style()}<section class="tw-card tw-{state}" role="region" '
        f'aria-label="{html.escape(label, quote=True)}">'
        f'<div class="tw-head"><span class="tw-mark" aria-hidden="true">{mark}</span>'
        f'<span class="tw-verdict" role="heading" aria-level="3">{verdict}</span>{aside}</div>'
        f"{inside}</section>"
    )


def waiting_html(exercise: str, done: int = 0, cases: int = 0) -> str:
    """The card while the judge is at work; with a bar where it is known how far it is."""
    verdict = f"<code>{html.escape(exercise)}</code> is being checked …"
    label = f"Checking {exercise}"
    if not cases:
        return frame("plain", "…", verdict, "", "", label)
    bar = f'<progress max="{cases}" value="{done}" aria-label="{done} of {cases} cases"></progress>'
    return frame("plain", "…", verdict, f"{done} of {cases} cases", bar, label)


def report_html(report: Report, below: str = "", at: str = "") -> str:
    """The card for one report; `below`, which is HTML, stands under its findings.

    at: the time of the check, which tells its region from those of other checks of the exercise.
    """
    verdict = f"<code>{html.escape(report.exercise)}</code> {phrases.headline(report)}"
    first, rest = report.findings[:1], report.findings[1:]
    parts = [_gates(report), *(_finding(finding) for finding in first), _more(rest)]
    parts += [_finding(remark) for remark in report.remarks]
    parts += [
        below,
        _resources(report),
        _small(phrases.offer(report)),
        _small(phrases.tier(report)),
    ]
    parts.append(_small(phrases.judged(report)))
    when = f" at {at}" if at else ""
    label = f"Check of {report.exercise}{when}: {phrases.headline(report)}"
    mark = phrases.STATE_MARK[report.state]
    body = "".join(parts)
    return frame(report.state, mark, verdict, phrases.summary(report), body, label)


def _gates(report: Report) -> str:
    items = "".join(
        f'<li class="tw-g-{status if status in phrases.STATUS_MARK else "not_run"}" '
        f'title="{html.escape(phrases.GATE_MEANING.get(name, ""), quote=True)}">'
        f'<span class="tw-gm" aria-hidden="true">{phrases.STATUS_MARK.get(status, "–")}</span>'
        f"<span>{html.escape(f'{name}: {phrases.STATUS_WORD.get(status, status)}')}</span></li>"
        for name, status in phrases.gates(report)
    )
    return f'<ol class="tw-gates" aria-label="Gates">{items}</ol>' if items else ""


def _finding(finding: Finding) -> str:
    parts = []
    if finding.title:
        parts.append(
            f'<div class="tw-title" role="heading" aria-level="4">{inline(finding.title)}</div>'
        )
    parts.append(prose(finding.message))
    parts.append(_where(finding))
    if finding.picture is not None:
        caption = f"<figcaption>{inline(finding.picture.caption)}</figcaption>"
        drawing = picture_svg(finding.picture) + legend_html(finding.picture)
        parts.append(f"<figure>{drawing}{caption}</figure>")
    if finding.table is not None:
        parts.append(_programs(finding.table))
    if finding.next_step:
        parts.append(f'<div class="tw-next"><b>Next:</b> {inline(finding.next_step)}</div>')
    if finding.original:
        parts.append(
            "<details><summary>The original message</summary>"
            f"<pre>{html.escape(finding.original)}</pre></details>"
        )
    return f'<div class="tw-finding">{"".join(parts)}</div>'


def _programs(table: Table) -> str:
    """What each program did; a line that is wrong says so by a sign, not by its colour alone."""
    head = "".join(f'<th scope="col">{inline(column)}</th>' for column in table.columns)
    body = "".join(
        f"<tr{_WRONG_LINE if wrong else ''}>{_program_cells(table.columns, row, wrong)}</tr>"
        for row, wrong in zip(table.rows, table.wrong, strict=True)
    )
    notes = "".join(f"<p>{inline(note)}</p>" for note in table.notes)
    return (
        f'<figure class="tw-programs"><figcaption>{inline(table.caption)}</figcaption>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}</figure>"
    )


def _program_cells(columns: tuple[str, ...], row: tuple[str, ...], wrong: bool) -> str:
    """The cells of a line, each with the name of its column for screens without room for a head.

    Lines break behind commas alone.
    """
    sign = '<span class="tw-sign" role="img" aria-label="wrong">✗</span>\u00a0' if wrong else ""
    told = [html.escape(cell).replace(" ", "\u00a0").replace(",\u00a0", ", ") for cell in row]
    names = (html.escape(column.replace("`", ""), quote=True) for column in columns)
    (first, number), *others = zip(told, names, strict=True)
    cells = "".join(f'<td data-column="{name}">{cell}</td>' for cell, name in others)
    return f'<th scope="row" data-column="{number}">{sign}{first}</th>{cells}'


def _where(finding: Finding) -> str:
    rows = []
    if finding.case:
        rows.append(f'<div><span class="tw-tag">Failing case</span> {inline(finding.case)}</div>')
    if finding.where:
        rows.append(f'<div><span class="tw-tag">Where</span> {html.escape(finding.where)}</div>')
    code = f"<pre>{html.escape(finding.code_line)}</pre>" if finding.code_line else ""
    return f'<div class="tw-where">{"".join(rows)}{code}</div>' if rows or code else ""


def _more(findings: tuple[Finding, ...]) -> str:
    if not findings:
        return ""
    count = f"{len(findings)} more finding{'s' if len(findings) > 1 else ''}"
    inside = "".join(_finding(finding) for finding in findings)
    return f"<details><summary>{count}</summary>{inside}</details>"


def _resources(report: Report) -> str:
    rows = phrases.resources(report)
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{column}</th>' for column in phrases.RESOURCE_COLUMNS)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        "<details><summary>What the compiler made of it</summary>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></details>"
    )


def _small(line: str) -> str:
    return f'<p class="tw-tier">{inline(line)}</p>' if line else ""
