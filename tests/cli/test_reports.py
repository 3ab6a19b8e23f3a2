"""Reports in the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from graders.cli.reports import panel
from triton_util.report import Finding, Report, Verdict


def printed(submission: str, finding: Finding) -> str:
    report = Report(submission, "copy", Verdict.FAILED, 0, 10, {}, (finding,), "A", 0.1)
    console = Console(width=88)
    with console.capture() as captured:
        console.print(panel(report))
    return captured.get()


@pytest.mark.parametrize(
    ("name", "line", "where", "quoted"),
    [
        ("work.py", 2, "", True),
        ("work.py", 3, "", False),  # there is none
        ("work.py", None, "", False),
        ("work.py", 2, "cell 1", False),
        ("gone.py", 2, "", False),
        ("work.ipynb", 2, "", False),
    ],
)
def test_the_line_of_a_script_is_quoted(
    tmp_path: Path, name: str, line: int | None, where: str, quoted: bool
) -> None:
    for made in ("work.py", "work.ipynb"):
        (tmp_path / made).write_text("import torch\n    out\x1b[2J = x.clone()")
    finding = Finding("read", "slip", "A slip", "It slips.", line, where=where)
    text = printed(str(tmp_path / name), finding)
    assert ("out[2J = x.clone()" in text) is quoted
    assert "\x1b" not in text
