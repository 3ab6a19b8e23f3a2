"""The sentences of a report that the card and the terminal text share."""

from __future__ import annotations

import re

from triton_util.client.report import Checked, ShownFinding


class NotThere(ValueError):  # noqa: N818 - says what was asked for
    """The requested exercise, hint or question does not exist."""


GATE_MEANING = {
    "read": "the code is there, and nothing works in a kernel's place",
    "compile": "every kernel compiles for a GPU",
    "interpret": "every case is safe, complete and right",
    "traffic": "it moves no more memory than it should",
    "gpu": "it runs on the GPU of this machine",
    "call": "it returns the right numbers in every case",
}
STATUS_WORD = {"passed": "passed", "failed": "failed", "not_run": "not run"}
STATUS_MARK = {"passed": "✓", "failed": "✗", "not_run": "–"}
STATE_MARK = {"passed": "✓", "failed": "✗", "unjudged": "!", "outdated": "!", "untouched": "○"}
PICTURE_LEGEND = {".": "correct", "x": "wrong value", "o": "never stored"}
_SENTENCE = re.compile(r"(?<=[.!?:])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z`(\[\d])|\n\s*\n")


def first_sentence(text: str) -> tuple[str, str]:
    """The first sentence, and the rest. Code between backticks is not split."""
    for end in _SENTENCE.finditer(text):
        if text.count("`", 0, end.start()) % 2 == 0 and text[end.start() - 1] != ":":
            return text[: end.start()], text[end.end() :]
    return text, ""


def facts(finding: ShownFinding) -> list[tuple[str, str]]:
    """The names and values of a finding's small table: the case, and facts about it."""
    case = [("case", finding.case)] if finding.case else []
    return [*case, *finding.facts]


def original(finding: ShownFinding) -> str:
    """The untranslated message; "" if the card already says all of it."""
    said = " ".join(finding.message.split())
    return "" if " ".join(finding.original.split()) in said else finding.original


def headline(report: Checked) -> str:
    """The verdict in a few words."""
    return {
        "passed": "passed",
        "failed": "not there yet",
        "unjudged": "could not be checked",
        "outdated": "was not checked",
        "untouched": "is still to be written",
    }[report.state]


def summary(report: Checked) -> str:
    """How many cases passed; "" if none ran."""
    if report.state == "unjudged":
        return "Nothing was judged. This is no fault of your code."
    if report.state == "outdated":
        return "What the notebook shows is not what Python holds."
    if not report.cases_total:
        return ""
    cases = f"{report.cases_passed} of {report.cases_total} cases passed"
    return f"{cases} in {report.seconds:.1f} s"


def gates(report: Checked) -> list[tuple[str, str]]:
    """(gate, status) in the order that a submission passes the gates."""
    return list(report.gates.items()) if report.counts else []


def tier(report: Checked) -> str:
    """What the sandbox tier means for this result; "" when there is nothing to warn about."""
    if not report.counts or report.sandbox == "A":
        return ""
    if report.sandbox == "B":
        return "Self-check only: the sandbox here is partial, so this result is not a grade."
    if report.sandbox == "C":
        return "Self-check only: there is no sandbox here, so this result is not a grade."
    return ""


def judged(report: Checked) -> str:
    """Which code was judged; "" if unknown."""
    return f"Judged: {report.judged}." if report.judged and report.counts else ""


def offer(report: Checked) -> str:
    """Where to get help; "" if the exercise is solved or unknown."""
    if report.state != "failed" or not report.max_points:
        return ""
    return f'Stuck? `hint("{report.exercise}")` gives a hint, and a clearer one each time.'


def resources(report: Checked) -> list[tuple[str, str, str, str, str]]:
    """The rows of the table of compiled kernels: kernel, target, registers, shared, spills."""
    return [
        (
            item.kernel,
            f"sm_{item.target}",
            str(item.registers),
            f"{item.shared_bytes:,} B",
            f"{item.spill_bytes:,} B",
        )
        for item in report.resources
    ]


RESOURCE_COLUMNS = ("kernel", "target", "registers per thread", "shared memory", "spilled")
