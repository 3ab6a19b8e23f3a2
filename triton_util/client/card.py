"""The card that `check` shows in a notebook. Every text from outside is escaped."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Sequence

from triton_util.client import phrases
from triton_util.client.cards.heat_map import picture_html
from triton_util.client.cards.style import style
from triton_util.client.report import Checked, Quoted, ShownFinding
from triton_util.report import Table

_WRONG_LINE = ' class="tw-off"'


# Lines between ```python (or ```) and ```
_FENCED = re.compile(r"\n?```\w*\n(.*?)\n?```\n?", re.DOTALL)


def prose(text: str) -> str:
    """Escape text; `words in backticks` and fenced lines become code, blank lines paragraphs."""
    told = []
    for number, piece in enumerate(_FENCED.split(text)):
        if number % 2:
            told.append(f"<pre>{html.escape(piece)}</pre>")
        else:
            paragraphs = [part.strip() for part in re.split(r"\n\s*\n", piece) if part.strip()]
            told += [f"<p>{inline(part)}</p>" for part in paragraphs]
    return "".join(told)


def head_and_rest(text: str) -> tuple[str, str]:
    """HTML of a question: what comes before its first fenced lines, and the rest."""
    head, fence, rest = text.partition("```")
    return inline(head.strip()), prose(fence + rest)


def without_fences(text: str) -> str:
    """The same as text: fenced lines are indented."""
    pieces = _FENCED.split(text)
    pieces[1::2] = [f"\n{textwrap.indent(code, '    ')}\n" for code in pieces[1::2]]
    return "".join(pieces).strip()


# Emphasis, not a product: the stars touch the words inside and touch nothing outside.
_EMPHASIS = re.compile(r"(?<![\w*)\]])\*(\w(?:[^*\n]*\w)?)\*(?![\w*(\[])")


def inline(text: str) -> str:
    """Escape text; `words in backticks` become code, and *words in stars* emphasis."""
    parts = re.split(r"`([^`\n]+)`", html.escape(text, quote=True))
    return "".join(
        f"<code>{part}</code>" if number % 2 else _EMPHASIS.sub(r"<em>\1</em>", part)
        for number, part in enumerate(parts)
    )


def frame(
    state: str,
    mark: str,
    verdict: str,
    summary: str,
    body: str,
    label: str,
    cells: Sequence[str] = (),
) -> str:
    """A card: coloured edge, a mark, a verdict in words, and a body that is already HTML.

    cells: the fingerprints of the cells that the card is about. When the notebook shows other
    text in those cells, the course's extension dims the card.
    """
    of = f' data-cells="{html.escape(" ".join(cells), quote=True)}"' if cells else ""
    aside = f'<span class="tw-summary">{inline(summary)}</span>' if summary else ""
    inside = f'<div class="tw-body">{body}</div>' if body else ""
    return (
        f'{style()}<section class="tw-card tw-{state}" role="region" '
        f'aria-label="{html.escape(label, quote=True)}"{of}>'
        f'<div class="tw-head"><span class="tw-mark" aria-hidden="true">{mark}</span>'
        f'<span class="tw-verdict" role="heading" aria-level="3">{verdict}</span>{aside}</div>'
        f"{inside}</section>"
    )


def waiting_html(exercise: str, done: int = 0, cases: int = 0) -> str:
    """The card while the judge is at work, with a progress bar if the number of cases is known."""
    verdict = f"<code>{html.escape(exercise)}</code> is being checked …"
    label = f"Checking {exercise}"
    if not cases:
        return frame("plain", "…", verdict, "", "", label)
    bar = f'<progress max="{cases}" value="{done}" aria-label="{done} of {cases} cases"></progress>'
    return frame("plain", "…", verdict, f"{done} of {cases} cases", bar, label)


def report_html(report: Checked, below: str = "", at: str = "") -> str:
    """The card for one report; `below` is HTML that goes under its findings.

    at: the time of the check. It gives the card a label that differs from those of earlier checks.
    """
    verdict = f"<code>{html.escape(report.exercise)}</code> {phrases.headline(report)}"
    first, rest = report.findings[:1], report.findings[1:]
    whole = not report.counts
    parts = [*(_finding(finding, whole) for finding in first)]
    parts += [_small(phrases.offer(report)), below]
    parts += [_finding(remark) for remark in report.remarks]
    parts += [_small(phrases.tier(report)), _folded(report, [_more(rest)])]
    when = f" at {at}" if at else ""
    label = f"Check of {report.exercise}{when}: {phrases.headline(report)}"
    mark = phrases.STATE_MARK[report.state]
    body, summary = "".join(parts), phrases.summary(report)
    return frame(report.state, mark, verdict, summary, body, label, report.cells)


def _folded(report: Checked, parts: list[str]) -> str:
    """The folded part of a card: gates, the compiler's figures, and the cells that were judged."""
    inside = [*parts, _gates(report), _resources(report), _small(phrases.judged(report))]
    told = "".join(inside)
    return f"<details><summary>About this check</summary>{told}</details>" if told else ""


def _gates(report: Checked) -> str:
    items = "".join(
        f'<li class="tw-g-{status if status in phrases.STATUS_MARK else "not_run"}" '
        f'title="{html.escape(phrases.GATE_MEANING.get(name, ""), quote=True)}">'
        f'<span class="tw-gm" aria-hidden="true">{phrases.STATUS_MARK.get(status, "–")}</span>'
        f"<span>{html.escape(f'{name}: {phrases.STATUS_WORD.get(status, status)}')}</span></li>"
        for name, status in phrases.gates(report)
    )
    return f'<ol class="tw-gates" aria-label="Gates">{items}</ol>' if items else ""


def _finding(finding: ShownFinding, whole: bool = False) -> str:
    """Title, a sentence, the line, what to do next, the picture; the rest is folded.

    whole: show the whole message, because it is short.
    """
    said, rest = (finding.message, "") if whole else phrases.first_sentence(finding.message)
    parts = []
    if finding.title:
        parts.append(
            f'<div class="tw-title" role="heading" aria-level="4">{inline(finding.title)}</div>'
        )
    parts += [prose(said), _where(finding)]
    if finding.next_step:
        parts.append(f'<div class="tw-next"><b>Next:</b> {inline(finding.next_step)}</div>')
    if finding.picture is not None:
        parts.append(picture_html(finding.picture))
    parts.append(_details(finding, rest))
    return f'<div class="tw-finding">{"".join(parts)}</div>'


def _details(finding: ShownFinding, rest: str) -> str:
    """The small table of facts, the rest of the message, and what each program did."""
    parts = [_facts(finding), prose(rest)]
    if finding.table is not None:
        parts.append(_programs(finding.table))
    original = phrases.original(finding)
    if original:
        parts.append(f"<p>The original message:</p><pre>{html.escape(original)}</pre>")
    told = "".join(parts)
    return f"<details><summary>What was seen</summary>{told}</details>" if told else ""


def _facts(finding: ShownFinding) -> str:
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{inline(value)}</td></tr>'
        for name, value in phrases.facts(finding)
    )
    return f'<table class="tw-facts"><tbody>{rows}</tbody></table>' if rows else ""


def _programs(table: Table) -> str:
    """The table of programs; a sign marks each wrong line, not its colour alone."""
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
    """The cells of a row, each with its column's name for narrow screens that show no header.

    Lines break only after commas.
    """
    sign = '<span class="tw-sign" role="img" aria-label="wrong">✗</span>\u00a0' if wrong else ""
    told = [html.escape(cell).replace(" ", "\u00a0").replace(",\u00a0", ", ") for cell in row]
    names = (html.escape(column.replace("`", ""), quote=True) for column in columns)
    (first, number), *others = zip(told, names, strict=True)
    cells = "".join(f'<td data-column="{name}">{cell}</td>' for cell, name in others)
    return f'<th scope="row" data-column="{number}">{sign}{first}</th>{cells}'


def _where(finding: ShownFinding) -> str:
    """The line and its neighbours, with a link to it that the course's extension follows."""
    lines = finding.quoted or ((Quoted(0, finding.code_line, True),) if finding.code_line else ())
    place = _link(finding) if finding.where else ""
    if not lines:
        return f'<div class="tw-where">{place}</div>' if place else ""
    blank = min((_indent(line.text) for line in lines if line.text.strip()), default=0)
    code = "".join(_quoted(line, line.text[blank:]) for line in lines)
    return f'<div class="tw-where">{place}<pre>{code}</pre></div>'


def _link(finding: ShownFinding) -> str:
    label = html.escape(finding.where)
    meant = next((line for line in finding.quoted if line.meant), None)
    if meant is None or not finding.cell:
        return f'<div class="tw-place">{label}</div>'
    return (
        f'<div class="tw-place"><a class="tw-jump" href="#" role="button" '
        f'data-cell="{html.escape(finding.cell, quote=True)}" data-line="{meant.number}">'
        f"{label}</a></div>"
    )


def _quoted(line: Quoted, text: str) -> str:
    number = f'<span class="tw-number">{line.number or ""}</span>'
    told = html.escape(text) or " "
    return (
        f'<span class="tw-line">{number}<mark>{told}</mark></span>'
        if line.meant
        else (f'<span class="tw-line">{number}{told}</span>')
    )


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _more(findings: tuple[ShownFinding, ...]) -> str:
    if not findings:
        return ""
    count = f"{len(findings)} more finding{'s' if len(findings) > 1 else ''}"
    inside = "".join(_finding(finding) for finding in findings)
    return f"<details><summary>{count}</summary>{inside}</details>"


def _resources(report: Checked) -> str:
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
