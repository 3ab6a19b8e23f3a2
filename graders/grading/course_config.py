"""The configuration of a class, read as nbgrader reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graders.authoring.class_folder import CONFIG
from graders.authoring.refusal import refusal
from graders.judge.plain_text import one_line


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
