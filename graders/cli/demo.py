"""`tilewise demo`: takes a demo class through nbgrader, without a browser."""

from __future__ import annotations

import sys
import time

import click
from rich.console import Console
from rich.table import Table

from graders.authoring.rooms import Rooms, find_root
from graders.grading.demo import Demo, DemoRow
from graders.judge.records import GraderError


@click.command()
@click.option("--lesson", metavar="SLUG", default="vector_add", help="The lesson handed in.")
@click.option("--quiet", is_flag=True, help="Only the gradebook.")
def demo(lesson: str, quiet: bool) -> None:
    """Build the course, hand in ten notebooks, autograde them, print the gradebook.

    Every step is an unmodified nbgrader command. Exit code 1 if a correct notebook does not get
    its points, or a wrong one does.
    """
    started = time.monotonic()
    console = Console()
    try:
        rooms = Rooms(find_root())
        say = (lambda line: None) if quiet else (lambda line: console.print(line, style="dim"))
        course = Demo(rooms, rooms.root / "build" / "demo", lesson, say)
        rows = course.run()
    except GraderError as error:
        raise click.ClickException(str(error)) from error
    console.print(gradebook_table(course.assignment, rows))
    surprises = [row.pupil.name for row in rows if not as_expected(row)]
    console.print(f"{len(rows)} submissions in {time.monotonic() - started:.0f} s; {course.course}")
    if surprises:
        console.print(f"Not as expected: {', '.join(surprises)}")
        sys.exit(1)


def as_expected(row: DemoRow) -> bool:
    """Whether a correct notebook got hidden points, or a wrong one none."""
    if row.hidden is None:
        return False
    return (row.hidden > 0) == row.pupil.passes


def gradebook_table(title: str, rows: list[DemoRow]) -> Table:
    """Return the gradebook as one table for the terminal."""
    table = Table(title=f"Gradebook of {title}")
    for heading in ("student", "handed in", "public", "hidden", "finding", "repaired"):
        right = heading in ("public", "hidden")
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(
            row.pupil.name,
            row.pupil.handed_in,
            _points(row.public),
            _points(row.hidden),
            row.findings,
            "; ".join(row.notes),
        )
    return table


def _points(points: float | None) -> str:
    return "not graded" if points is None else f"{points:g}"
