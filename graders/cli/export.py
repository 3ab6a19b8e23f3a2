"""`tilewise export`: writes the table of grades that a learning platform imports."""

from __future__ import annotations

from pathlib import Path

import click

from graders.authoring import class_folder
from graders.authoring.refusal import is_refusal
from graders.grading.course_config import load_config
from graders.grading.gradebooks import opened
from graders.grading.plugins import export as plugins

PLUGINS = {
    "grades": plugins.GradesExportPlugin,
    "canvas": plugins.CanvasExportPlugin,
    "moodle": plugins.MoodleExportPlugin,
    "gradescope": plugins.GradescopeExportPlugin,
}


@click.command()
@click.argument("platform", type=click.Choice(list(PLUGINS)))
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENT]...")
@click.option("--course", type=click.Path(path_type=Path), help="Default: the one that you are in.")
@click.option("--db", metavar="URL", help="The gradebook, e.g. postgresql+psycopg://…")
@click.option("--to", type=click.Path(path_type=Path), help="Default: PLATFORM.csv in reports/.")
def export(
    platform: str,
    assignments: tuple[str, ...],
    course: Path | None,
    db: str | None,
    to: Path | None,
) -> None:
    """Write a table of these assignments (default: all) that PLATFORM's gradebook imports.

    PLATFORM `grades` is nbgrader's own table, grades.csv. A grade that is still open stays empty,
    and ungraded students are named. A late penalty is computed from the current score.
    """
    try:
        place = class_folder.find(course)
        path = to or place / "reports" / f"{platform}.csv"
        written, remarks = _write(platform, assignments, place, db, path)
    except OSError as error:
        why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise click.ClickException(f"the table cannot be written ({why}): name it with --to") from (
            error
        )
    except Exception as error:
        if is_refusal(error):
            raise click.ClickException(str(error)) from error
        raise
    click.echo(f"{', '.join(written)}: {path}")
    for line in remarks:
        kind, _, rest = line.partition(": ")
        click.echo(f"  {kind.lower()}: {rest}")


def _write(
    platform: str, assignments: tuple[str, ...], course: Path, db: str | None, path: Path
) -> tuple[list[str], list[str]]:
    """Write the table; return its assignments, and the grades that it leaves empty."""
    from nbgrader.apps.api import NbGraderAPI

    config = load_config(course, db)
    exporter = PLUGINS[platform](parent=NbGraderAPI(config=config))
    exporter.to, exporter.assignment = str(path), list(assignments)
    exporter.log.setLevel("ERROR")  # this command itself names ungraded students
    path.parent.mkdir(parents=True, exist_ok=True)
    with opened(str(config.CourseDirectory.db_url), *assignments) as gradebook:
        exporter.export(gradebook)
    return list(exporter.accounts), list(plugins.remarks(exporter.accounts))
