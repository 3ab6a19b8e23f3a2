"""`speed`: how fast a kernel is on this machine's GPU, or the known limits without a GPU."""

from __future__ import annotations

import html
from typing import Any

from triton_util.client import attempts
from triton_util.client.card import frame, prose, report_html
from triton_util.client.checking import exercises, gathered, given_cells, name_of, wrong_argument
from triton_util.client.judge import JudgeProcess, JudgeUnavailable
from triton_util.client.report import Checked, could_not_check, learners_mistake
from triton_util.client.text import report_text
from triton_util.notebook.session import Display, Session
from triton_util.notebook.source import GatherError

# After a check: long enough to measure, short enough to wait for.
QUICK_SECONDS, PATIENT_SECONDS = 2.0, 6.0


def speed(function: Any, session: Session, judge: JudgeProcess, quick: bool = False) -> None:
    """Show how fast a launcher is; `quick` skips torch.compile. Does not raise learners' errors."""
    name = name_of(function)
    display = Display()
    try:
        mistake = wrong_argument(function, name, session, exercises(judge))
        if mistake is not None:
            _show_report(display, mistake)
            return
        request = {
            "op": "speed",
            "exercise": name,
            "source": gathered(function, name, session, given_cells(name, judge)).text,
            "name": "<notebook>",
            "folder": str(attempts.folder()),
            "seconds": QUICK_SECONDS if quick else PATIENT_SECONDS,
            "compiled": not quick,
        }
        waiting = f"<code>{html.escape(name)}</code> is being timed …"
        display.note(frame("plain", "…", waiting, "", "", f"Timing {name}"), "")
        display.show(*_shown(name, judge.ask(request)))
    except GatherError as error:
        told = learners_mistake(name, "no-source", error.title, error.message, error.next_step)
        _show_report(display, told)
    except JudgeUnavailable as error:
        _show_report(display, could_not_check(name, error.message, error.mend, error.detail))


def _show_report(display: Display, report: Checked) -> None:
    display.show(report_html(report), report_text(report))


def _shown(name: str, answer: dict[str, Any]) -> tuple[str, str]:
    """The judge's answer as HTML and as text."""
    from triton_util.bench import (  # loads torch and matplotlib, so import it only to show
        page,
        phrases,
    )
    from triton_util.bench.speed_comparison import Modelled, SpeedComparison

    if "comparison" in answer:
        found = SpeedComparison.from_json(answer["comparison"])
        return page.comparison_html(found), phrases.comparison_text(found)
    if "modelled" in answer:
        modelled = Modelled(**answer["modelled"])
        return page.modelled_html(modelled), phrases.modelled_text(modelled)
    told = f"`{name}` is too small a thing for its speed to be measured."
    if answer.get("plain"):
        told = f"`{name}` is plain Python: it launches no kernel whose speed could be measured."
    return frame("plain", "▸", "No speed", "", prose(told), "No speed"), told
