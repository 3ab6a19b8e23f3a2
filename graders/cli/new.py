"""`tilewise new`: makes the files of a new lesson, one in each folder."""

from __future__ import annotations

import click

from graders.authoring.rooms import Rooms, find_root
from graders.authoring.skeleton import new_lesson
from graders.judge.records import GraderError


@click.command()
@click.argument("number", type=int)
@click.argument("slug")
@click.option("--exercise", metavar="NAME", help="The launcher's name (default: the slug).")
def new(number: int, slug: str, exercise: str | None) -> None:
    """Make the files of lesson NUMBER with the key SLUG.

    They are a small working lesson. `pytest tests/test_course.py -k SLUG` says what you still
    have to write.
    """
    try:
        rooms = Rooms(find_root())
        paths = new_lesson(rooms, number, slug, exercise or slug)
    except GraderError as error:
        raise click.ClickException(str(error)) from error
    for path in paths:
        click.echo(f"wrote {rooms.name(path)}")
    click.echo(f"then: tilewise build, and pytest tests/test_course.py -k {slug}")
