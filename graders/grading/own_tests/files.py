"""Handles what own tests need besides the notebook: the files beside it, and our programs."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Collection, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

from graders.grading.closure import closure, remember
from graders.grading.store import judge_version

_RUNNING = ("graders.grading.own_tests.running", "graders.grading.own_tests.process")
_NOT_RUNNING = ("graders.judge", "graders.authoring", "graders.grading.marks")
NOTEBOOK = ".ipynb"


def beside(folder: Path, without: Collection[str] = ()) -> Iterator[Path]:
    """Yield the regular files below a folder, except notebooks; links are not followed."""
    for where, folders, names in os.walk(folder):
        folders.sort()
        for path in (Path(where, name) for name in sorted(names)):
            ordinary = path.is_file() and not path.is_symlink()
            if ordinary and path.suffix != NOTEBOOK and path.name not in without:
                yield path


def copy(folder: Path, target: Path, without: Collection[str] = ()) -> None:
    """Replace the files beside the notebook in `target` by those of `folder`."""
    for path in beside(target, without):
        path.unlink()
    for path in beside(folder, without):
        place = target / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)


def digest(*folders: Path) -> str:
    """Return a digest of the files below the folders, and of the programs that execute tests."""
    found = hashlib.sha256(f"{_programs()} {judge_version()} {version('ipython')}".encode())
    for number, folder in enumerate(folders):
        for path in beside(folder):
            with open(path, "rb") as file:
                held = hashlib.file_digest(file, "sha256").hexdigest()
            found.update(
                f"{number} {path.relative_to(folder)!s} {held}\n".encode("utf-8", "replace")
            )
    return found.hexdigest()


@cache
def _programs() -> str:
    found = closure(_RUNNING, without=_NOT_RUNNING).digest()
    remember()
    return found
