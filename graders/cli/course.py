"""`tilewise course`: makes the folder of a class, and updates its assignments."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from graders.authoring import class_folder, hub_folder
from graders.authoring.rooms import Rooms, find_root
from graders.cli.words import errors_in_one_line

_MOVED = {  # what `move` names, and its table
    "students": "student",
    "assignments": "assignment",
    "submissions": "submitted_assignment",
    "grades": "grade",
    "comments": "comment",
}


@click.group()
def course() -> None:
    """Manage the folder of a class: gradebook, exchange, sources, roster and your settings."""


@course.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--id", "course_id", metavar="ID", help="The course id (default: the folder's name).")
@click.option("--exchange", type=click.Path(path_type=Path), help="Default: exchange/ in FOLDER.")
@click.option("--roster", type=click.Path(path_type=Path), help="A CSV of the students.")
def init(folder: Path, course_id: str | None, exchange: Path | None, roster: Path | None) -> None:
    """Make a class in FOLDER, outside the clone. Run nbgrader's and Tilewise's commands there."""
    with _told_in_one_line():
        students = roster.read_text(encoding="utf-8") if roster is not None else None
        done = class_folder.make(Rooms(find_root()), folder, course_id, exchange)
        if students is not None:
            (folder / class_folder.ROSTER).write_text(students, encoding="utf-8")
    click.echo(f"{folder}: a class with {len(done.written) + len(done.kept)} assignments")
    click.echo(f"  for the learners: {folder / class_folder.LEARNER}")
    click.echo(f"  your settings:    {folder / class_folder.CONFIG}")
    if students is None:
        click.echo(f"  your students:    {folder / class_folder.ROSTER}, one line for each")
    _name_kept(done)


@course.command()
@click.option("--course", "named", type=click.Path(path_type=Path), help="Default: where you are.")
def update(named: Path | None) -> None:
    """Update the course's assignments in a class; your own changes stay."""
    with _told_in_one_line():
        folder = class_folder.find(named)
        done = class_folder.update(Rooms(find_root()), folder)
    click.echo(f"{len(done.written)} assignments brought up to date")
    for name in done.written:
        click.echo(f"  {name}: run `nbgrader generate_assignment {name} --force`")
    _name_kept(done)


@course.command()
@click.option("--course", "named", type=click.Path(path_type=Path), help="Default: where you are.")
@click.option(
    "--instructor",
    "instructors",
    multiple=True,
    metavar="NAME",
    required=True,
    help="Who may open the class in the hub; again for each.",
)
def hub(named: Path | None, instructors: tuple[str, ...]) -> None:
    """Make or renew hub/ of a class: accounts for its roster, and keys for docker/compose.yaml."""
    with _told_in_one_line():
        folder = class_folder.find(named)
        done = hub_folder.prepare(folder, instructors)
    place = folder / hub_folder.FOLDER
    click.echo(f"{len(done.new)} new accounts, {len(done.kept)} as they were")
    if done.new:
        click.echo(f"  passwords to hand out: {place / 'passwords.csv'} (delete it then)")
    for name in done.left:
        click.echo(f"  {name}: no longer in the roster, cannot log in any more")


@course.command()
@click.option("--course", "named", type=click.Path(path_type=Path), help="Default: where you are.")
@click.option("--db", metavar="URL", help="The gradebook, e.g. postgresql+psycopg://…")
def rules(named: Path | None, db: str | None) -> None:
    """Write due dates, extensions and penalties of rules.toml into the gradebook; show them.

    Grading, reports and exports do this automatically; use this command to see the result now.
    """
    from graders.grading.course_config import load_config
    from graders.grading.intake.rules import read_rules
    from graders.grading.ledger.settled import due_dates, settle

    with _told_in_one_line():
        folder = class_folder.find(named)
        config, said = load_config(folder, db), read_rules(folder)
        settle(folder, config, list(due_dates(config)))
        dates = due_dates(config)
    for assignment, due in dates.items():
        limit = said.attempts.get(assignment, said.attempts.get("*"))
        when = f"{due:%Y-%m-%d %H:%M} UTC" if due is not None else "no due date"
        click.echo(f"{assignment}: {when}, {limit or 'any number of'} attempts")
    late = said.late
    if late.per_day:
        click.echo(f"late: {late.per_day:g} % for each begun day, at most {late.most:g} %")
    else:
        click.echo("late: as nbgrader's LateSubmissionPlugin says")
    click.echo(f"late days without a penalty: {late.free_days} for each student")
    for student, own in said.extensions.items():
        for assignment, extension in own.items():
            parts = ", ".join(f"{number:g} {unit}" for unit, number in extension.items())
            click.echo(f"extension: {student}, {assignment}: {parts}")


@course.command()
@click.argument("url", metavar="URL")
@click.option("--course", "named", type=click.Path(path_type=Path), help="Default: where you are.")
@click.option("--db", metavar="URL", help="The gradebook to move, if it is not the class's.")
@click.option("--replace", is_flag=True, help="Delete another gradebook that is at URL.")
def move(url: str, named: Path | None, db: str | None, replace: bool) -> None:
    """Move the gradebook to the database at URL, e.g. postgresql+psycopg://user@host/grades.

    Everything is copied: points by hand, comments, penalties, extensions. Then all totals are
    compared, and the class uses the new gradebook. If the command is stopped before its end, the
    class keeps the old one; run it again.
    """
    from graders.grading.course_config import load_config
    from graders.grading.ledger.moving import move as move_gradebook
    from graders.grading.ledger.moving import shown

    with _told_in_one_line():
        folder = class_folder.find(named)
        done = move_gradebook(folder, load_config(folder, db), url, replace)
    rows = {name: done.rows[table] for name, table in _MOVED.items()}
    told = ", ".join(f"{number} {name}" for name, number in rows.items())
    click.echo(f"{shown(url)}: {told}{' (copied before)' if done.was_there else ''}")
    click.echo(f"  compared: all rows, and {done.accounts} totals of the ledger; they are equal")
    click.echo(f"  the old gradebook stays as it is, and no longer counts: {shown(done.source)}")
    click.echo("  restart formgrader if it is open: until then it writes into the old one")
    if not done.in_use:
        click.echo(f"  NOT IN USE: TILEWISE_DB or {class_folder.CONFIG} names another gradebook")


@course.command()
@click.argument("assignment")
@click.option("--course", "named", type=click.Path(path_type=Path), help="Default: where you are.")
@click.option(
    "--answer",
    nargs=2,
    metavar="STUDENT TEXT",
    help="Answer this student's open requests; the next feedback page shows the text.",
)
def requests(assignment: str, named: Path | None, answer: tuple[str, str] | None) -> None:
    """List who asks for ASSIGNMENT to be graded again, and answer.

    A student asks in a text cell that begins with "Regrade request:", or in a file regrade.md
    beside the notebook. Exit code 2 if a request is open.
    """
    from graders.grading.intake.requests import answer as store_answer
    from graders.grading.intake.requests import read_requests
    from graders.judge.plain_text import one_line

    with _told_in_one_line():
        folder = class_folder.find(named)
        if answer:
            count = store_answer(folder, assignment, *answer)
            click.echo(f"{answer[0]}: {count} answered; write the page with `tilewise feedback`")
            return
        found = read_requests(folder, assignment)
    waiting = [request for request in found if not request.answer]
    click.echo(f"{assignment}: {len(found)} requests, {len(waiting)} open")
    for request in found:
        state = f"answered: {one_line(request.answer)}" if request.answer else "open"
        click.echo(f"  {request.student}: {one_line(request.text, 1_000)}")
        click.echo(f"    {state}")
    sys.exit(2 if waiting else 0)


def _name_kept(done: class_folder.Updated) -> None:
    for name in done.kept:
        click.echo(f"  {name}: left as you changed it; delete source/{name} to get ours")


@contextmanager
def _told_in_one_line() -> Iterator[None]:
    try:
        with errors_in_one_line():
            yield
    except UnicodeDecodeError as error:
        raise click.ClickException("the roster is no text in UTF-8") from error
