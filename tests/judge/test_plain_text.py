"""What is taken out of a stranger's text before anybody sees it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from graders.cli.reports import panel
from graders.grading.plugins.export import harmless
from graders.judge.pipeline import GATE_NAMES
from graders.judge.plain_text import one_line, plain, presentable
from graders.judge.submission.loading import SubmissionError, from_text, load
from tests.support.exercise_records import an_exercise
from triton_util.report import Finding, GateStatus, Report, Verdict

ESCAPE, TURNED, HALF, LINE = "\x1b[2J\x1b]0;owned\x07", "\u202egrade\u2066", "\ud800", "\u2028"
NASTY = f"x{ESCAPE}{TURNED}{HALF}{LINE}\x9b1m\x00\x7fy"


def is_harmless(text: str) -> bool:
    bad = {"\x1b", "\x07", "\x9b", "\x00", "\x7f", "\u202e", "\u2066", "\ud800", "\u2028"}
    return not bad & set(text)


def test_signs_that_act_go_and_letters_stay() -> None:
    assert is_harmless(plain(NASTY))
    kept = "naïve Größe 名前\n\tمثال 👩\u200d🔬"
    assert plain(kept) == kept
    assert one_line(f"a\n{'b' * 400}") == f"a {'b' * 297}…"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", "\n=1", "\x00=1", " =1"])
def test_no_table_takes_a_name_for_a_formula(text: str) -> None:
    assert harmless(text).startswith("'")


def test_a_syntax_error_shows_no_escape() -> None:
    with pytest.raises(SubmissionError) as caught:
        from_text(f"def vector_add(x, y):\n    return '{ESCAPE}{TURNED}\n", an_exercise())
    finding = caught.value.finding
    assert is_harmless(finding.message + finding.original + finding.title)


def test_a_path_shows_no_escape(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError) as caught:
        load(tmp_path / f"{ESCAPE}{TURNED}.py", an_exercise())
    assert is_harmless(caught.value.finding.message)


def test_a_panel_shows_no_escape_and_no_line_that_cannot_be() -> None:
    finding = presentable(Finding("interpret", "x", NASTY, NASTY, 10**4_000, None, NASTY))
    assert finding.line is None
    gates = dict.fromkeys(GATE_NAMES, GateStatus.FAILED)
    report = Report(NASTY, "", Verdict.FAILED, 0, 10, gates, (finding,), "A", 0.1)
    console = Console(record=True, width=100, file=io.StringIO())
    console.print(panel(report))
    assert is_harmless(console.export_text())
