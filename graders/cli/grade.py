"""`tilewise check` and `tilewise grade`: give one verdict per file and exercise."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graders.judge.sandbox import starting

if TYPE_CHECKING:
    from graders.judge.pipeline import Judge
    from graders.judge.records import Exercise
    from graders.judge.runtime import Mode
    from triton_util.report import Report


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that check and grade have in common."""
    for option in (
        click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path)),
        click.option("--json", "as_json", is_flag=True, help="One line of JSON per verdict."),
        click.option(
            "--mode",
            type=click.Choice(["interpret", "gpu", "all"]),
            default="interpret",
            help="Where kernels run: the interpreter, a GPU, or both.",
        ),
        click.option("--exercise", metavar="NAME", help="Only this exercise (default: all found)."),
    ):
        command = option(command)
    return command


@click.command()
@_options
def check(files: tuple[Path, ...], exercise: str | None, mode: Mode, as_json: bool) -> None:
    """Check FILES (.py or .ipynb) with the public cases, without a grade.

    You can name an exercise after the file: `tilewise check kernels.py softmax`.
    """
    from graders.cli.words import files_and_exercise

    files, exercise = files_and_exercise(files, exercise)
    _run(files, exercise, mode, as_json)


@click.command()
@_options
@click.option(
    "--allow-unsandboxed",
    is_flag=True,
    help="Grade although the sandbox is not enforced; stamped on the reports.",
)
def grade(
    files: tuple[Path, ...],
    exercise: str | None,
    mode: Mode,
    as_json: bool,
    allow_unsandboxed: bool,
) -> None:
    """Grade FILES (.py or .ipynb) with the public and the hidden cases.

    Exit code: 0 if all passed, 1 if some failed, 2 if something could not be graded.
    """
    _run(files, exercise, mode, as_json, official=True, allow_unsandboxed=allow_unsandboxed)


def _run(
    files: tuple[Path, ...],
    name: str | None,
    mode: Mode,
    as_json: bool,
    official: bool = False,
    allow_unsandboxed: bool = False,
) -> None:
    with starting.ahead(gpu=mode != "interpret"):
        # Torch takes seconds to import; meanwhile the judge's processes start.
        from graders.cli import judging
        from graders.judge.pipeline import Judge

        wanted = None if name is None else judging.known_exercise(name)
        judge = Judge(mode, official, allow_unsandboxed)
        sys.exit(_shown(files, wanted, judge, as_json, official))


def _shown(
    files: tuple[Path, ...], wanted: Exercise | None, judge: Judge, as_json: bool, points: bool
) -> int:
    """Judge the files, show each report, and return the exit code."""
    from rich.console import Console

    from graders.cli import judging, reports
    from graders.judge.plain_text import one_line
    from graders.judge.records import GraderError

    show = _print_json if as_json else reports.printer(Console(), points)
    worst = 0
    try:
        with judge:
            for report in judging.reports_on(judge, files, wanted):
                show(report)
                worst = max(worst, judging.EXIT_CODES[report.verdict])
    except GraderError as error:  # of the machine or the course: other files would fail, too
        print(f"Error: {one_line(str(error), 2000)}", file=sys.stderr)
        worst = judging.COULD_NOT_GRADE
    return worst


def _print_json(report: Report) -> None:
    line: dict[str, Any] = report.to_line()
    print(json.dumps(line), flush=True)
