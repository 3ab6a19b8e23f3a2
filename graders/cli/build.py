"""`tilewise build`: derives the learners' notebooks from lessons and solutions."""

from __future__ import annotations

import sys

import click

from graders.authoring import model_solutions, practice_items, register_figures, traffic_figures
from graders.authoring.course import build as build_course
from graders.authoring.course import stale
from graders.authoring.lint.house import lint_house, lint_lesson
from graders.authoring.rooms import Rooms, find_root
from graders.judge.passed_card import REGISTERS
from graders.judge.records import GraderError
from graders.judge.running.traffic import FIGURES
from triton_util.model_solutions import FILE as MODELS
from triton_util.puzzles.items import FILE as PUZZLES


@click.command()
@click.option("--check", is_flag=True, help="Change nothing; exit 1 if a notebook is not fresh.")
@click.option("--lint", is_flag=True, help="Change nothing; list all that a lesson still lacks.")
@click.option("--lesson", metavar="SLUG", help="This lesson only.")
@click.option("--traffic", is_flag=True, help="Measure what the solutions move and need.")
@click.option("--practice", is_flag=True, help="Make the puzzles of `practice()`.")
def build(check: bool, lint: bool, lesson: str | None, traffic: bool, practice: bool) -> None:
    """Derive the learners' notebooks, lessons/NN_slug.ipynb, which are committed.

    The files for nbgrader are in the folder of a class: see `tilewise course`.
    """
    try:
        rooms = Rooms(find_root())
        if check:
            _check(rooms, lesson)
            return
        if lint:
            _lint(rooms, lesson)
            return
        if traffic and traffic_figures.write(rooms):
            click.echo(f"wrote {rooms.name(FIGURES)}")
        if traffic and register_figures.write(rooms):
            click.echo(f"wrote {rooms.name(REGISTERS)}")
        if practice and practice_items.write(rooms):
            click.echo(f"wrote {rooms.name(PUZZLES)}")
        if practice and model_solutions.write(rooms):
            click.echo(f"wrote {rooms.name(MODELS)}")
        for path in build_course(rooms, lesson):
            click.echo(f"wrote {rooms.name(path)}")
    except GraderError as error:
        raise click.ClickException(str(error)) from error
    click.echo("the notebooks are up to date")


def _lint(rooms: Rooms, lesson: str | None) -> None:
    paths = rooms.lesson_files() if lesson is None else [rooms.lesson_file(lesson)]
    messages = [message for path in paths for message in lint_lesson(rooms, path)]
    messages += lint_house(rooms) if lesson is None else []
    for message in messages:
        click.echo(message)
    if messages:
        sys.exit(1)
    click.echo("nothing is missing")


def _check(rooms: Rooms, lesson: str | None) -> None:
    paths = stale(rooms, lesson)
    for path in paths:
        if path in (rooms.order, rooms.lesson_cells) or path.with_suffix(".py").is_file():
            click.echo(f"{rooms.name(path)} is not what its lesson gives: run `tilewise build`")
        else:
            click.echo(f"{rooms.name(path)} belongs to no lesson: delete it")
    if paths:
        sys.exit(1)
    click.echo("everything is fresh")
