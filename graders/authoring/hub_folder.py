"""The folder `hub` of a class: accounts, keys and passwords for the containers in docker/.

Accounts are numbered here, not by a container, so that homes and submissions keep their owner
when a container is recreated. Each name has its own password, because anyone who can log in under
another name can also submit under it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graders.authoring.class_folder import LEARNER
from graders.grading.course_config import load_config
from graders.grading.intake.roster import STUDENT, read_roster
from graders.judge.records import GraderError

FOLDER = "hub"
FIRST_NUMBER = 20_000  # of accounts; far above the numbers of system and ordinary accounts
DATABASE = "database:5432:gradebook:tilewise"  # its name in compose.yaml
SYSTEM_ACCOUNTS = ("root:x:0:0:root:/root:/bin/sh", "nobody:x:65534:65534:nobody:/:/bin/false")
SCRYPT = {"n": 2**14, "r": 8, "p": 1}


@dataclass(frozen=True)
class Accounts:
    """The account names, grouped by what changed."""

    new: tuple[str, ...]
    kept: tuple[str, ...]
    left: tuple[str, ...]  # no longer in the roster, so they cannot log in


def prepare(course: Path, instructors: Sequence[str]) -> Accounts:
    """Write the folder `hub` of that class, for its roster and these instructors.

    Existing accounts keep number and password. Nothing is written if a name is invalid.
    """
    folder, owner = course / FOLDER, course.stat()
    learners = [student.id for student in read_roster(course).students]
    _check(learners, instructors)
    if owner.st_uid == 0:
        raise GraderError(
            f"{course} belongs to root, and the grader's container runs as its owner: give it to "
            f"an account of yours (chown -R you {course})"
        )
    folder.mkdir(exist_ok=True)
    folder.chmod(0o700)
    before = _read(folder / "accounts.json")
    accounts, passwords = _accounts(before, learners, instructors, owner.st_uid)
    _keep_secret(folder / "accounts.json", json.dumps(accounts, indent=1) + "\n")
    _hand_out(folder / "passwords.csv", passwords)
    # Written in place: a container sees only the file that existed when it started.
    current = {name: entry for name, entry in accounts.items() if entry["role"] != "left"}
    own = f"class:x:{owner.st_uid}:{owner.st_gid}:the class:/tmp:/bin/bash"
    homes = [
        f"{name}:x:{entry['number']}:{entry['number']}::/home/{name}:/bin/bash"
        for name, entry in current.items()
    ]
    _open_to_all(folder / "passwd", [*SYSTEM_ACCOUNTS, own, *homes])
    groups = [f"{name}:x:{entry['number']}:" for name, entry in current.items()]
    _open_to_all(folder / "group", ["root:x:0:", "nogroup:x:65534:", *groups])
    (course / LEARNER).parent.chmod(0o755)  # learners read it in the hub's container
    (course / LEARNER).chmod(0o644)
    _write_keys(course, folder)
    left = tuple(name for name, entry in accounts.items() if entry["role"] == "left")
    kept = tuple(name for name in current if name not in passwords)
    return Accounts(tuple(passwords), kept, left)


def _check(learners: Iterable[str], instructors: Sequence[str]) -> None:
    if not instructors:
        raise GraderError("a hub needs somebody who may open the class: name an --instructor")
    both = sorted(set(learners) & set(instructors))
    if both:
        raise GraderError(f"{both[0]} stands in the roster: an instructor needs another name")
    for name in (*learners, *instructors):
        if not STUDENT.match(name) or name in ("root", "nobody", "class"):
            raise GraderError(f"{name!a} is no name for an account of the hub")


def _accounts(
    before: dict[str, Any], learners: list[str], instructors: Sequence[str], taken: int
) -> tuple[dict[str, Any], dict[str, str]]:
    """All accounts that ever existed, and the passwords of the new ones."""
    accounts: dict[str, Any] = {name: {**old, "role": "left"} for name, old in before.items()}
    passwords: dict[str, str] = {}
    number = max([FIRST_NUMBER - 1, *(entry["number"] for entry in before.values())])
    roles = dict.fromkeys(learners, "learner") | dict.fromkeys(instructors, "instructor")
    for name, role in roles.items():
        if name not in accounts:
            number += 2 if number + 1 == taken else 1
            passwords[name] = secrets.token_urlsafe(9)
            accounts[name] = {"number": number, **hashed(passwords[name])}
        accounts[name]["role"] = role
    return accounts, passwords


def hashed(password: str) -> dict[str, str]:
    """Salt and scrypt hash of a password, as docker/class_hub.py compares them."""
    salt = secrets.token_bytes(16)
    digest = hashlib.scrypt(password.encode(), salt=salt, **SCRYPT)
    return {"salt": salt.hex(), "scrypt": digest.hex()}


def _read(path: Path) -> dict[str, Any]:
    """The existing accounts; an error if the file is damaged, because homes depend on it."""
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {
            str(name): dict(entry, number=int(entry["number"])) for name, entry in found.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise GraderError(f"{path} is damaged ({error}); bring back a copy of it") from error


def _hand_out(path: Path, passwords: dict[str, str]) -> None:
    """Add the passwords of new accounts to a list that the instructor distributes and deletes."""
    if not passwords:
        return
    text = path.read_text(encoding="utf-8") if path.exists() else "name,password\n"
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(passwords.items())
    _keep_secret(path, text + lines.getvalue())


def _write_keys(course: Path, folder: Path) -> None:
    """Write the database's password, twice, and the file that compose reads; keep existing ones."""
    secret = folder / "database_password"
    if not secret.exists():
        _keep_secret(secret, secrets.token_hex(16))
    password = secret.read_text(encoding="utf-8").strip()
    _keep_secret(folder / "passfile", f"{DATABASE}:{password}\n")
    environment = folder / "env"
    if environment.exists():
        return
    owner, course_id = course.stat(), load_config(course, None).CourseDirectory.course_id
    text = (
        "# docker compose --env-file hub/env: what compose.yaml asks for. Limits may be set here.\n"
        f"COURSE_FOLDER='{course}'\nCOURSE_ID={course_id}\nCLASS_UID={owner.st_uid}\nCLASS_GID={owner.st_gid}\n"
        f"CLASS_TOKEN={secrets.token_hex(32)}\n"
        "#LEARNER_MEMORY=4G\n#LEARNER_THREADS=512\n#HUB_MEMORY=16g\n#GRADER_MEMORY=8g\n"
    )
    _keep_secret(environment, text)


def _keep_secret(path: Path, text: str) -> None:
    """Write a file that only its owner can read; libpq ignores a passfile that others can read."""
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(text, encoding="utf-8")


def _open_to_all(path: Path, lines: Iterable[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o644)
