"""The folder of a class: created once, outside the clone. After that the instructor owns it.

It contains nbgrader's source, the exchange, the gradebook, the roster and a configuration that
imports ours. Only these functions write there, and they never overwrite a file that was changed by
hand. So the clone can be built, cleaned and deleted without any effect on the class.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graders.authoring.refusal import refusal
from graders.authoring.rooms import Rooms

if TYPE_CHECKING:  # jupytext is slow to import, and most commands only look for the folder
    from graders.authoring.course import Built

CONFIG = "nbgrader_config.py"
ROSTER = "roster.csv"
ROSTER_HEAD = "id,first_name,last_name,email,lms_user_id\n"
LEARNER = Path("learner") / CONFIG
WRITTEN = Path(".tilewise") / "assignments.json"  # digests of the assignments written last
COURSE_ID = re.compile(r"[A-Za-z0-9][\w-]{0,63}\Z")

_CONFIG = '''\
"""nbgrader's configuration of this class. It is yours: no command writes it again.

Run nbgrader and tilewise in this folder. TILEWISE_EXCHANGE and TILEWISE_DB override where the
exchange and the gradebook are; nbgrader's own options on the command line override everything.
"""

import os
from pathlib import Path

from graders.grading.plugins.configure import configure

c = get_config()  # noqa: F821 - nbgrader defines it
configure(
    c,
    root=Path(__file__).resolve().parent,
    course_id={course_id!r},
    exchange=os.environ.get("TILEWISE_EXCHANGE", {exchange!r}),
    database=os.environ.get("TILEWISE_DB"),
)

# Your own settings stand below this line, for instance:
# c.ExchangeCollect.check_owner = False  # students have no accounts on this machine
# c.LateSubmissionPlugin.penalty_method = "zero"
'''

_LEARNER = '''\
"""nbgrader's configuration for the learners of {course_id}: where they fetch and submit.

Put it in /etc/jupyter for all of a machine, or in the folder in which a learner works.
TILEWISE_EXCHANGE overrides where the exchange is, as the hub in docker/ does.
"""

import os

c = get_config()  # noqa: F821 - nbgrader defines it
c.CourseDirectory.course_id = {course_id!r}
c.Exchange.root = os.environ.get("TILEWISE_EXCHANGE", {exchange!r})
c.Execute.timeout = 300  # seconds that a cell may take in `nbgrader validate`
'''


@dataclass(frozen=True)
class Updated:
    """Assignments by name: written now, or left alone because they were changed by hand."""

    written: tuple[str, ...]
    kept: tuple[str, ...]


def make(
    rooms: Rooms, folder: Path, course_id: str | None = None, exchange: Path | None = None
) -> Updated:
    """Create a class in `folder`, outside the clone; a GraderError if that is impossible.

    By default the class has the name of its folder, and the exchange is inside that folder.
    """
    folder = folder.expanduser().resolve()
    name = course_id or folder.name
    _check(rooms, folder, name)
    return lay_out(rooms, folder, name, exchange)


def lay_out(
    rooms: Rooms,
    folder: Path,
    course_id: str,
    exchange: Path | None = None,
    only: str | None = None,
) -> Updated:
    """Write the files of a class, wherever it is; `only` one assignment if a lesson is named."""
    place = exchange.expanduser().resolve() if exchange is not None else folder / "exchange"
    if not folder.exists():
        folder.mkdir(parents=True)
        folder.chmod(0o700)  # it contains solutions, hidden tests and grades
    if not place.exists():
        place.mkdir(parents=True)
        place.chmod(0o777)  # learners write into it, and nbgrader requires that
    (folder / LEARNER).parent.mkdir(exist_ok=True)
    texts = {
        folder / LEARNER: _LEARNER.format(course_id=course_id, exchange=str(place)),
        folder / ROSTER: ROSTER_HEAD,
    }
    for path, text in texts.items():
        if not path.exists():
            path.write_text(text, encoding="utf-8")
    updated = update(rooms, folder, only)
    # last, because a folder with a configuration counts as a complete class
    config = _CONFIG.format(course_id=course_id, exchange=str(place))
    (folder / CONFIG).write_text(config, encoding="utf-8")
    return updated


def _check(rooms: Rooms, folder: Path, course_id: str) -> None:
    """Raise a GraderError if a class cannot be created there."""
    if not COURSE_ID.match(course_id):
        raise refusal(
            f"{course_id!r} is no course id: letters, digits, - and _; name one with --id"
        )
    if (folder / CONFIG).exists():
        raise refusal(
            f"{folder} holds a class already: `tilewise course update` there brings its "
            "assignments up to date"
        )
    if folder.exists() and not folder.is_dir():
        raise refusal(f"{folder} is a file: name a folder")
    if folder.is_relative_to(rooms.root):
        raise refusal(
            f"{folder} lies in the clone, where `make clean` or git may delete it: name a folder "
            "outside"
        )


def update(rooms: Rooms, folder: Path, only: str | None = None) -> Updated:
    """Bring the course's assignments in `source` up to date; `only` one lesson's if named.

    An assignment that was changed by hand stays as it is; the instructor's own are ignored.
    """
    from graders.authoring.course import assignments

    before = _written(folder)
    now, written, kept = dict(before), [], []
    for built in assignments(rooms, folder / "source", only):
        name = built.path.stem
        there = _digest(built.path) if built.path.is_file() else None
        if there is not None and there not in (before.get(name), built.digest):
            kept.append(name)
            continue
        if there != built.digest:
            _write(built)
            written.append(name)
        now[name] = built.digest
    path = folder / WRITTEN
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    return Updated(tuple(written), tuple(kept))


def _written(folder: Path) -> dict[str, str]:
    try:
        found = json.loads((folder / WRITTEN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write(built: Built) -> None:
    built.path.parent.mkdir(parents=True, exist_ok=True)
    built.path.write_text(built.text, encoding="utf-8")


def find(named: Path | None, start: Path | None = None) -> Path:
    """The named class, else the one that contains the working folder."""
    if named is not None:
        if not (named / CONFIG).is_file():
            raise refusal(
                f"{named} is no class: it has no {CONFIG}; `tilewise course init {named}` makes one"
            )
        return named.resolve()
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / CONFIG).is_file() and (folder / "source").is_dir():
            return folder
    raise refusal(
        "there is no class in this folder or above it: go to it, name it with --course, or make "
        "one with `tilewise course init DIR`"
    )
