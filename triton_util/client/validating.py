"""Make a cell fail under `nbgrader validate` when its check fails."""

from __future__ import annotations

import textwrap

from triton_util.client.checking import CheckResult

WIDTH = 80  # characters; nbgrader cuts lines off after 83


class NotPassedError(AssertionError):
    """Fails a cell. A notebook shows only its message, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return str(self).split("\n")


def require(result: CheckResult) -> None:
    """Raise NotPassedError with the first finding, unless every check passed."""
    if result.passed:
        return
    if not result.judged:
        head = f"{result.exercise} could not be judged here, which says nothing about your kernel."
    else:
        head = f"{result.exercise} does not pass: {_counted(result)}."
    lines = [head]
    for finding in result.findings[:1]:
        lines += [
            finding.title,
            finding.message,
            finding.next_step and f"Next: {finding.next_step}",
        ]
    told = [part for line in lines if line for part in textwrap.wrap(line, WIDTH)]
    raise NotPassedError("\n".join(told))


def _counted(result: CheckResult) -> str:
    if not result.cases_total:
        return "no case could be run"
    return f"{result.cases_passed} of {result.cases_total} cases hold"
