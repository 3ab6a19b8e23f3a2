"""The report as plain text, for terminals and for notebooks that show no HTML."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from triton_util.client import phrases
from triton_util.client.cards.heat_map import picture_text
from triton_util.client.report import Checked, ShownFinding
from triton_util.report import Table
from triton_util.tables import aligned, fitted

_WIDTH = 80


def report_text(report: Checked, below: Sequence[str] = ()) -> str:
    """The content of the card, in lines of at most about 80 characters."""
    mark = phrases.STATE_MARK[report.state]
    head = f"{mark} {report.exercise}: {phrases.headline(report)}"
    summary = phrases.summary(report)
    lines = [f"{head} ({summary})" if summary and report.cases_total else head]
    if summary and not report.cases_total:
        lines.append(_wrap(summary))
    gates = phrases.gates(report)
    if gates:
        told = [f"{phrases.STATUS_MARK.get(status, '–')} {name}" for name, status in gates]
        lines.append("  gates: " + "  ".join(told))
    for finding in report.findings:
        lines += ["", _finding(finding, whole=not report.counts)]
    for remark in report.remarks:
        lines += ["", _finding(remark)]
    if below:
        lines += ["", *map(_told, below)]
    rows = phrases.resources(report)
    if rows:
        lines += ["", textwrap.indent("\n".join(aligned(phrases.RESOURCE_COLUMNS, rows)), "  ")]
    for line in (phrases.offer(report), phrases.tier(report), phrases.judged(report)):
        if line:
            lines += ["", _wrap(line)]
    return "\n".join(lines)


def _finding(finding: ShownFinding, whole: bool = False) -> str:
    """A finding in the order of the card: what is wrong, where, what to do next; then the facts."""
    said, rest = (finding.message, "") if whole else phrases.first_sentence(finding.message)
    lines = [_wrap(finding.title)] if finding.title else []
    lines += [_wrap(part) for part in said.split("\n") if part.strip()]
    if finding.where or finding.code_line:
        lines += [f"  {finding.where or 'Where'}:", *_quoted(finding)]
    if finding.next_step:
        lines.append(_wrap(f"Next: {finding.next_step}"))
    if finding.picture is not None:
        lines.append(textwrap.indent(picture_text(finding.picture), "    "))
    lines += [_wrap(f"{name}: {value}") for name, value in phrases.facts(finding)]
    lines += [_wrap(part) for part in rest.split("\n") if part.strip()]
    if finding.table is not None:
        lines.append(_programs(finding.table))
    original = phrases.original(finding)
    if original:
        lines.append(textwrap.indent(original.strip(), "    | "))
    return "\n".join(lines)


def _quoted(finding: ShownFinding) -> list[str]:
    if not finding.quoted:
        return [f"    > {finding.code_line}"] if finding.code_line else []
    return [
        f"  {'>' if line.meant else ' '} {line.number:>3}  {line.text}".rstrip()
        for line in finding.quoted
    ]


def _told(text: str) -> str:
    """A sentence in lines; or a head with code below it, whose lines stay as they are."""
    head, _, code = text.partition("\n")
    return "\n".join([_wrap(head), textwrap.indent(code, "    ")]) if code else _wrap(head)


def _wrap(text: str) -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_long_words=False
    )


def _programs(table: Table) -> str:
    lines = "\n".join(fitted(table.columns, table.rows, table.wrong, _WIDTH - 4))
    notes = [_wrap(note) for note in table.notes]
    return "\n".join([_wrap(table.caption), textwrap.indent(lines, "    "), *notes])
