"""`tilewise gradescope`: builds an autograder for Gradescope."""

from __future__ import annotations

from pathlib import Path

import click

from graders.authoring.rooms import Rooms, find_root
from graders.cli.words import errors_in_one_line
from graders.grading.gradescope.packing import Visibility, pack, settings_of

VISIBILITIES = ("visible", "after_due_date", "after_published", "hidden")


@click.command()
@click.argument("assignment")
@click.option("--to", type=click.Path(path_type=Path), help="Default: ASSIGNMENT-gradescope.zip.")
@click.option(
    "--hidden",
    type=click.Choice(VISIBILITIES),
    default="after_published",
    show_default=True,
    help="When students see the results on the hidden cases.",
)
@click.option(
    "--allow-unsandboxed",
    is_flag=True,
    help="Grade although the container does not allow the complete sandbox.",
)
def gradescope(
    assignment: str, to: Path | None, hidden: Visibility, allow_unsandboxed: bool
) -> None:
    """Build a zip that grades ASSIGNMENT (a lesson) inside Gradescope's own container.

    Upload it in Gradescope under Configure Autograder. It contains the solutions and hidden cases:
    keep it to yourself.
    """
    with errors_in_one_line():
        rooms = Rooms(find_root())
        settings = settings_of(rooms, assignment, hidden, allow_unsandboxed)
        path = to or Path(f"{settings.assignment}-gradescope.zip")
        size = pack(rooms, settings, path)
    click.echo(f"{path}: {', '.join(settings.exercises)}; {size / 1e6:.1f} MB")
    click.echo("  upload it under Configure Autograder; it contains solutions and hidden cases")
    if settings.by_hand:
        click.echo(f"  not in it, because you grade it by hand: {', '.join(settings.by_hand)}")
