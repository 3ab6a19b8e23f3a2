"""`tilewise report`: one static page and a table about a class."""

from __future__ import annotations

from pathlib import Path

import click

from graders.authoring import class_folder
from graders.grading.class_report import class_report, to_html, write_csv
from graders.grading.course_config import load_config
from graders.judge.plain_text import one_line
from graders.judge.records import GraderError


@click.command()
@click.argument("assignment")
@click.option("--course", type=click.Path(path_type=Path), help="Default: the one that you are in.")
@click.option("--db", metavar="URL", help="The gradebook, e.g. postgresql+psycopg://…")
@click.option("--to", type=click.Path(path_type=Path), help="A folder (default: reports/).")
def report(assignment: str, course: Path | None, db: str | None, to: Path | None) -> None:
    """Write ASSIGNMENT.html and ASSIGNMENT.csv: grades, gates, misconceptions, open cases.

    The page runs and loads nothing. It names students: it is for instructors.
    """
    try:
        place = class_folder.find(course)
        database = str(load_config(place, db).CourseDirectory.db_url)
        found = class_report(place, assignment, database)
        folder = to or place / "reports"
        folder.mkdir(parents=True, exist_ok=True)
        page, table = folder / f"{assignment}.html", folder / f"{assignment}.csv"
        page.write_text(to_html(found), encoding="utf-8")
        write_csv(found, table)
    except GraderError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise click.ClickException(
            f"the report cannot be written ({why}): name another folder with --to"
        ) from error
    click.echo(f"{len(found.students)} submissions: {page}, {table}")
    for student in found.ungraded:
        click.echo(f"  not graded: {one_line(student.name)}: {one_line(student.reason)}")
