"""`tilewise course`: make the folder of a class, and bring its assignments up to date."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from graders.authoring import class_folder, hub_folder
from graders.authoring.rooms import Rooms, find_root
from graders.judge.records import GraderError


@click.group()
def course() -> None:
    """The folder of a class: gradebook, exchange, sources, roster and a configuration of yours."""


@course.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--id", "course_id", metavar="ID", help="The course id (default: the folder's name).")
@click.option("--exchange", type=click.Path(path_type=Path), help="Default: exchange/ in FOLDER.")
@click.option("--roster", type=click.Path(path_type=Path), help="A CSV of the students.")
def init(folder: Path, course_id: str | None, exchange: Path | None, roster: Path | None) -> None:
    """Make a class in FOLDER, outside the clone. nbgrader's and Tilewise's commands run there."""
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
    """Bring the course's assignments in a class up to date; what you changed stays yours."""
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


def _name_kept(done: class_folder.Updated) -> None:
    for name in done.kept:
        click.echo(f"  {name}: left as you changed it; delete source/{name} to get ours")


@contextmanager
def _told_in_one_line() -> Iterator[None]:
    try:
        yield
    except GraderError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        raise click.ClickException(f"{error.strerror or error}{place}") from error
    except UnicodeDecodeError as error:
        raise click.ClickException("the roster is no text in UTF-8") from error
