"""Reports in the terminal: gates, the finding in words, a picture, the next step."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.text import Text

from graders.judge.plain_text import one_line
from graders.judge.report import Finding, GateStatus, Report, Verdict

MARKS = {
    GateStatus.PASSED: ("✓", "green"),
    GateStatus.FAILED: ("✗", "red"),
    GateStatus.NOT_RUN: ("–", "dim"),
}
VERDICT_STYLE = {Verdict.PASSED: "green", Verdict.FAILED: "red", Verdict.UNGRADED: "yellow"}
TIER_WORDS = {
    "A": "sandbox A: enforced",
    "B": "sandbox B: partly enforced",
    "C": "sandbox C: none, a self-check and not a grade",
    "none": "nothing was run",
}
MOST_CHARACTERS = 1_000_000  # of a script that are looked through for a line
MOST_OF_A_LINE = 76


def printer(console: Console, points: bool = True) -> Callable[[Report], None]:
    """A function that prints one report as a panel, with points where it is a grade."""

    def show(report: Report) -> None:
        console.print(panel(report, points))

    return show


def panel(report: Report, points: bool = True) -> Panel:
    """One report as a framed card of text."""
    parts: list[RenderableType] = [_gates(report)]
    for finding in report.findings:
        parts += [Text(""), *_finding(finding, report.submission)]
    for remark in report.remarks:
        parts += [Text(""), Text("A remark, which costs nothing:", "dim")]
        parts += _finding(remark, report.submission)
    if report.speed is not None:
        parts += [Text(""), Text.assemble(("Speed: ", "bold"), report.speed.told)]
    parts += [Text(""), Text(_footer(report), style="dim")]
    style = VERDICT_STYLE[report.verdict]
    worth = _points(report) if points else ""
    name = f"{report.exercise or 'no exercise'} · {one_line(report.submission)}"
    return Panel(
        Group(*parts),
        title=f"[bold]{escape(name)}[/bold]",
        title_align="left",
        subtitle=f"[{style}]{report.verdict.upper()}[/{style}] {worth}".rstrip(),
        subtitle_align="right",
        border_style=style,
        width=88,
    )


def _gates(report: Report) -> Text:
    line = Text()
    for gate, status in report.gates.items():
        mark, style = MARKS[status]
        label = f"{mark} {gate}" + (" (not run)" if mark == "–" else "")
        line.append(label + "   ", style=style)
    return line


def _finding(finding: Finding, submission: str) -> list[RenderableType]:
    cell = f"{finding.where}, " if finding.where else ""
    where = f" ({cell}line {finding.line})" if finding.line is not None else ""
    lines: list[RenderableType] = [
        Text.assemble((finding.title, "bold"), where, (f"  [{finding.code}]", "dim")),
    ]
    quoted = _line_of_script(submission, finding)
    if quoted:
        lines.append(Text(f"    {quoted}", style="cyan"))
    lines.append(Text(finding.message))
    if finding.case:
        lines.append(Text(f"Case: {finding.case}", style="dim"))
    if finding.picture is not None:
        lines.append(Text("\n".join(finding.picture.rows)))
        lines.append(Text(f". right  x wrong  o never stored; {finding.picture.caption}", "dim"))
    if finding.table is not None:
        lines.append(Text("\n".join(finding.table.lines())))
    if finding.next_step:
        lines.append(Text.assemble(("Next step: ", "bold"), finding.next_step))
    return lines


def _line_of_script(submission: str, finding: Finding) -> str:
    """The line that a finding is about; "" where it stands in a cell, or cannot be read."""
    if finding.line is None or finding.where or not submission.endswith(".py"):
        return ""
    with contextlib.suppress(OSError, UnicodeError), open(submission, encoding="utf-8") as file:
        lines = file.read(MOST_CHARACTERS).splitlines()
        if finding.line <= len(lines):
            return one_line(lines[finding.line - 1].strip(), MOST_OF_A_LINE)
    return ""


def _points(report: Report) -> str:
    if report.points is None:
        return "no points given or taken"
    bonus = report.speed.bonus if report.speed is not None else 0
    more = f" + {bonus} for speed" if bonus else ""
    return f"{report.points:g} of {report.max_points} points{more}"


def _footer(report: Report) -> str:
    passed = f"{report.cases_passed} of {report.cases_total} cases passed · "
    cases = passed if report.cases_total else ""
    on_gpu = f", {report.gpu_seconds:.1f} s of it on the GPU" if report.gpu_seconds else ""
    took = f"{report.seconds:.1f} s{on_gpu}"
    return f"{cases}{TIER_WORDS.get(report.sandbox, report.sandbox)} · {took}"
