"""The configuration of a class, read as nbgrader reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graders.authoring.class_folder import CONFIG
from graders.authoring.refusal import refusal
from graders.grading.atomic_files import write_atomically
from graders.judge.plain_text import one_line

MOVED = Path(".tilewise") / "gradebook.json"  # in the course folder: where the gradebook is now


def moved_to(course: Path) -> str | None:
    """Return the URL of the gradebook if `tilewise course move` has moved it."""
    try:
        return str(json.loads((course / MOVED).read_text(encoding="utf-8"))["url"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise refusal(
            f"{course / MOVED} cannot be read, and names the gradebook: "
            "run `tilewise course move` again"
        ) from error


def note_move(course: Path, url: str) -> None:
    """Make all commands of this class use the gradebook at this URL."""
    write_atomically(course / MOVED, {"url": url})


def load_config(course: Path, database: str | None) -> Any:
    """Return the configuration of the class in `course`; `database` overrides its gradebook.

    The instructor owns the file, so any error in it becomes a one-line message.
    """
    from traitlets.config import PyFileConfigLoader

    path = course / CONFIG
    if not path.is_file():
        raise refusal(f"{course} is no class: it has no {CONFIG}; `tilewise course init` makes one")
    try:
        config = PyFileConfigLoader(str(path)).load_config()
    except Exception as error:  # the file may contain any Python
        what = one_line(str(error))
        raise refusal(f"{path} cannot be read: {type(error).__name__}: {what}") from error
    if database is not None:
        config.CourseDirectory.db_url = database
    if "db_url" not in config.CourseDirectory:
        raise refusal(
            f"{path} is not the configuration of a class: it names no gradebook, as "
            "graders.grading.plugins.configure.configure does"
        )
    return config
