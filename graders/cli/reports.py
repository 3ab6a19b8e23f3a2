"""Prints reports in the terminal: gates, the finding in words, a picture, the next step."""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Callable

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.text import Text

from graders.judge import discovery
from graders.judge.plain_text import one_line, plain
from graders.judge.records import Exercise
from triton_util.client.phrases import first_sentence
from triton_util.report import Finding, GateStatus, Picture, Report, Verdict

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
MOST_CHARACTERS = 1_000_000  # of a script that are searched for a line
MOST_OF_A_LINE = 66
AROUND = 2  # lines quoted on each side
WIDTH = 80
COLOURS = {".": "dim", "x": "red", "o": "yellow", " ": ""}


def printer(console: Console, points: bool = True) -> Callable[[Report], None]:
    """Return a function that prints one report as a panel; `points`: with points."""

    def show(report: Report) -> None:
        console.print(panel(report, points))

    return show


def panel(report: Report, points: bool = True) -> Panel:
    """Return one report as a framed card of text."""
    parts: list[RenderableType] = [_gates(report)]
    if report.verdict is Verdict.PASSED:
        parts += _passed(report)
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
        width=WIDTH,
    )


def _passed(report: Report) -> list[RenderableType]:
    """Return the text for a pass: cases, the compiled kernels' resources, what comes next."""
    lines: list[RenderableType] = [Text("")]
    if report.cases_total:
        told = f"✓ All {report.cases_total} cases are correct and safe."
        lines.append(Text(told, "bold green"))
    newest = max((item.target for item in report.resources), default=0)
    for item in report.resources:
        if item.target == newest:
            spilled = f"{item.spill_bytes:,} bytes spilled" if item.spill_bytes else "none spilled"
            told = f"  {item.registers} registers a thread on sm_{newest}, {spilled}"
            lines.append(Text.assemble((f"  {item.kernel}", "cyan"), told))
    following = _following(report.exercise)
    if following is not None:
        number = discovery.numbers().get(following.lesson, "")
        place = f" (lesson {number})" if number else ""
        lines.append(
            Text.assemble(
                ("Next: ", "bold"), (following.name, "cyan"), f", {following.title}{place}"
            )
        )
    return lines


def _following(name: str) -> Exercise | None:
    """Return the next exercise of the course."""
    numbers = discovery.numbers()
    known = [item for item in discovery.exercises().values() if item.lesson in numbers]
    names = [item.name for item in known]
    place = names.index(name) + 1 if name in names else len(known)
    return known[place] if place < len(known) else None


def _gates(report: Report) -> Text:
    line = Text()
    for gate, status in report.gates.items():
        mark, style = MARKS[status]
        label = f"{mark} {gate}" + (" (not run)" if mark == "–" else "")
        line.append(label + "   ", style=style)
    return line


def _finding(finding: Finding, submission: str) -> list[RenderableType]:
    """Return a finding's text: what is wrong, where, what to do next, then the details."""
    said, rest = first_sentence(finding.message)
    cell = f"{finding.where}, " if finding.where else ""
    where = f" ({cell}line {finding.line})" if finding.line is not None else ""
    lines: list[RenderableType] = [
        Text.assemble((finding.title, "bold"), where, (f"  [{finding.code}]", "dim")),
        _inline(said),
        *_lines_of_script(submission, finding),
    ]
    if finding.next_step:
        lines.append(Text.assemble(("Next step: ", "bold cyan"), _inline(finding.next_step)))
    if finding.picture is not None:
        lines += _picture(finding.picture)
    facts = [("case", finding.case)] if finding.case else []
    lines += [
        Text.assemble((f"{name}: ", "dim"), value) for name, value in (*facts, *finding.facts)
    ]
    if rest:
        lines.append(_inline(rest))
    if finding.table is not None:
        lines += [
            Text(line, "red" if line.startswith("✗") else "")
            for line in finding.table.lines(WIDTH - 4)
        ]
    return lines


def _inline(text: str) -> Text:
    """Return the text, with words between backticks in the colour of code."""
    parts = text.split("`")
    pairs = ((part, "cyan" if number % 2 else "") for number, part in enumerate(parts))
    return Text.assemble(*pairs)


def _picture(picture: Picture) -> list[RenderableType]:
    """Return a map, readable also without its colours, or numbers side by side."""
    lines: list[RenderableType] = []
    for side in picture.sides:
        if side.rows:
            lines.append(Text(side.name, "bold"))
            lines += [Text("  " + "  ".join(f"{v:>11}" for v in row)) for row in side.rows]
    for row in picture.rows:
        lines.append(Text.assemble(*((cell, COLOURS.get(cell, "red")) for cell in row)))
    if picture.rows:
        lines.append(Text(". correct  x wrong  o never stored  1 to 9 tenths wrong", "dim"))
    return [*lines, Text(picture.caption, "dim")]


def _lines_of_script(submission: str, finding: Finding) -> list[RenderableType]:
    """Return a finding's line with two lines on each side; none if it is in a cell."""
    if finding.line is None or finding.where or not submission.endswith(".py"):
        return []
    lines: list[str] = []
    with contextlib.suppress(OSError, UnicodeError), open(submission, encoding="utf-8") as file:
        lines = file.read(MOST_CHARACTERS).splitlines()
    if finding.line > len(lines):
        return []
    first = max(finding.line - AROUND, 1)
    around = textwrap.dedent("\n".join(lines[first - 1 : finding.line + AROUND])).split("\n")
    numbered = enumerate(around, first)
    return [_line_of_code(number, line, number == finding.line) for number, line in numbered]


def _line_of_code(number: int, line: str, meant: bool) -> Text:
    told = f"{'>' if meant else ' '} {number:>4}  {plain(line)[:MOST_OF_A_LINE]}".rstrip()
    return Text(told, "bold red" if meant else "dim", no_wrap=True)


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
