"""`tilewise report`: writes one static page and a table about a class."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from graders.authoring import class_folder
from graders.authoring.refusal import is_refusal, refusal
from graders.grading.class_report import ClassReport, class_report, to_html
from graders.grading.report.tables import as_json, write_csv
from graders.judge.plain_text import one_line

if TYPE_CHECKING:  # torch takes seconds to import
    from graders.grading.sharing import Sharing


@click.command()
@click.argument("assignment")
@click.option("--course", type=click.Path(path_type=Path), help="Default: the one that you are in.")
@click.option("--db", metavar="URL", help="The gradebook, e.g. postgresql+psycopg://…")
@click.option("--to", type=click.Path(path_type=Path), help="A folder (default: reports/).")
@click.option("--json", "in_json", is_flag=True, help="Write ASSIGNMENT.json, too.")
@click.option("--sharing", "shared", is_flag=True, help="List kernels equal after renaming.")
def report(
    assignment: str,
    course: Path | None,
    db: str | None,
    to: Path | None,
    in_json: bool,
    shared: bool,
) -> None:
    """Write ASSIGNMENT.html and ASSIGNMENT.csv: grades, questions, misconceptions, open cases.

    The page runs and loads nothing. It names students, so it is for instructors only.
    ASSIGNMENT.json has the same data for programs; docs/report.schema.json describes it.
    """
    try:
        place = class_folder.find(course)
        found = class_report(place, assignment, db)
        if shared:
            found = replace(found, sharing=_sharing(place, assignment))
        folder = to or place / "reports"
        folder.mkdir(parents=True, exist_ok=True)
        page, table = folder / f"{assignment}.html", folder / f"{assignment}.csv"
        page.write_text(to_html(found), encoding="utf-8")
        write_csv(found, table)
        written = [page, table]
        if in_json:
            written.append(folder / f"{assignment}.json")
            text = json.dumps(as_json(found), indent=1, ensure_ascii=False)
            written[-1].write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise click.ClickException(
            f"the report cannot be written ({why}): name another folder with --to"
        ) from error
    except Exception as error:
        if is_refusal(error):
            raise click.ClickException(str(error)) from error
        raise
    click.echo(f"{len(found.students)} submissions: {', '.join(map(str, written))}")
    _name_what_is_missing(found)
    if found.sharing is not None:
        groups = found.sharing.asked
        click.echo(f"  {len(groups)} groups of kernels that are equal after renaming: see {page}")


def _name_what_is_missing(found: ClassReport) -> None:
    for student in found.ungraded:
        click.echo(f"  not graded: {one_line(student.name)}: {one_line(student.reason)}")
    for student in found.students:
        if student.account.remark:
            click.echo(f"  {one_line(student.name)}: {one_line(student.account.remark)}")
    for student in found.waiting:
        click.echo(f"  waits for a person: {one_line(student.name)}: {student.account.waits_for}")
    for student in found.off_roster:
        click.echo(f"  not on the roster: {one_line(student.name)}")
    if found.absent:
        names = ", ".join(one_line(account.student) for account in found.absent)
        click.echo(f"  nothing handed in: {names}")


def _sharing(course: Path, assignment: str) -> Sharing:
    from graders.grading.sharing import sharing
    from graders.judge import discovery

    lesson = assignment.partition("_")[2]
    exercises = [e for e in discovery.exercises().values() if e.lesson in (lesson, assignment)]
    if not exercises:
        raise refusal(f"{assignment} has no exercise of the course: nothing to compare")
    return sharing(course, assignment, exercises)
