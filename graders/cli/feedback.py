"""`tilewise feedback`: writes each student's page, and one zip for the learning platform."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from graders.authoring import class_folder
from graders.cli.words import errors_in_one_line
from graders.grading.course_config import load_config
from graders.grading.feedback_zip import generate, pack, write_team_pages
from graders.judge.plain_text import one_line
from graders.judge.records import GraderError


@click.command()
@click.argument("assignment")
@click.option("--course", type=click.Path(path_type=Path), help="Default: the one that you are in.")
@click.option("--db", metavar="URL", help="The gradebook, e.g. postgresql+psycopg://…")
@click.option("--zip", "target", type=click.Path(path_type=Path), help="Where the zip goes.")
def feedback(assignment: str, course: Path | None, db: str | None, target: Path | None) -> None:
    """Write the feedback of ASSIGNMENT again and pack it: feedback/ASSIGNMENT.zip.

    Its files have the platform's own names, so the platform accepts the zip. Exit code 2 if
    students have no page; they are named.
    """
    with errors_in_one_line():
        place = class_folder.find(course)
        _generate(place, assignment, db)
        path = target or place / "feedback" / f"{assignment}.zip"
        done = pack(place, assignment, path)
    click.echo(f"{len(done.packed)} pages: {path}")
    for student in done.missing:
        click.echo(f"  no page: {one_line(student)}: not graded yet")
    sys.exit(2 if done.missing else 0)


def _generate(course: Path, assignment: str, database: str | None) -> None:
    """Run nbgrader's own command for all graded students."""
    config = load_config(course, database)
    if not list(course.glob(f"autograded/*/{assignment}")):
        raise GraderError(f"nobody is graded: run `tilewise autograde {assignment}` first")
    generate(config, assignment)
    write_team_pages(course, assignment, config)
