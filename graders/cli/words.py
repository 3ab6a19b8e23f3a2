"""What the words of a command mean, and the one line in which it ends if something is wrong."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click


def files_and_exercise(
    words: tuple[Path, ...], exercise: str | None
) -> tuple[tuple[Path, ...], str | None]:
    """Return the files and the exercise, which may be among them unless a file has its name.

    A word that is neither ends the command, with a suggestion.
    """
    files = [word for word in words if word.exists()]
    for word in words:
        if word in files:
            continue
        if exercise is None and files and str(word) in _exercises():
            exercise = str(word)
        else:
            raise _unclear(_neither(word, with_file=bool(files)))
    if not files:
        raise _unclear("Name the file to check: `tilewise check FILE`.")
    return tuple(files), exercise


def _unclear(message: str) -> click.ClickException:
    """Return the error for an unknown word: exit code 2, as for click's usage errors."""
    return click.UsageError(message)


def _neither(word: Path, with_file: bool) -> str:
    folder = word.parent if word.parent.is_dir() else Path()
    there = [
        str(folder / path.name) if folder != Path() else path.name
        for path in folder.iterdir()
        if path.suffix in (".py", ".ipynb")
    ]
    if with_file and not word.suffix:
        return f"There is no exercise {word}.{did_you_mean(str(word), _exercises())}"
    return f"There is no file {word}.{did_you_mean(str(word), there)}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ` Did you mean x?` or ""."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {near[0]}?" if near else ""


def _exercises() -> list[str]:
    from graders.judge import discovery  # it imports torch

    return list(discovery.exercises())


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """End a command with one line if an input is wrong, or a file cannot be read or written."""
    from graders.judge.records import GraderError  # imported late: a check starts before torch

    try:
        yield
    except GraderError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        raise click.ClickException(f"{error.strerror or error}{place}") from error
