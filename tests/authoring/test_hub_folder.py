"""The folder `hub` of a class: who may log in, by which number, and who may read what."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from graders.authoring import class_folder, hub_folder
from graders.cli.course import course as command
from graders.judge.records import GraderError
from tests.support.small_course import lesson_rooms

OWNER = 15_000 if os.geteuid() == 0 else os.geteuid()


@pytest.fixture
def course(tmp_path: Path) -> Path:
    (tmp_path / "clone").mkdir()
    folder = tmp_path / "gpu2026"
    class_folder.lay_out(lesson_rooms(tmp_path / "clone"), folder, "gpu2026")
    os.chown(folder, OWNER, -1)
    enrol(folder, "ada", "Grace.H")
    return folder


def enrol(course: Path, *names: str) -> None:
    (course / class_folder.ROSTER).write_text("\n".join(["id", *names]) + "\n")


def accounts(course: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((course / "hub/accounts.json").read_text())
    return found


def numbers(course: Path) -> dict[str, int]:
    return {name: entry["number"] for name, entry in accounts(course).items()}


def test_everybody_gets_an_account_of_the_system_and_a_password(course: Path) -> None:
    done = hub_folder.prepare(course, ["teacher"])
    assert done == hub_folder.Accounts(("ada", "Grace.H", "teacher"), (), ())
    system = {
        fields[0]: int(fields[2])
        for line in (course / "hub/passwd").read_text().splitlines()
        if len(fields := line.split(":")) == 7
    }
    assert numbers(course).items() <= system.items()
    assert system["class"] == OWNER
    with (course / "hub/passwords.csv").open() as file:
        passwords = {row["name"]: row["password"] for row in csv.DictReader(file)}
    assert len(set(passwords.values())) == 3
    assert not any(
        word in (course / "hub/accounts.json").read_text() for word in passwords.values()
    )


def test_numbers_and_passwords_stay_when_the_roster_changes(course: Path) -> None:
    hub_folder.prepare(course, ["teacher"])
    before, passwords = accounts(course), (course / "hub/passwords.csv").read_text()
    enrol(course, "aaron", "Grace.H")
    done = hub_folder.prepare(course, ["teacher"])
    assert done == hub_folder.Accounts(("aaron",), ("Grace.H", "teacher"), ("ada",))
    after = accounts(course)
    assert after["Grace.H"] == before["Grace.H"]
    assert len(set(numbers(course).values())) == 4
    assert after["aaron"]["number"] > max(entry["number"] for entry in before.values())
    assert after["ada"] == before["ada"] | {"role": "left"}
    assert "\nada:" not in (course / "hub/passwd").read_text()
    assert (course / "hub/passwords.csv").read_text().startswith(passwords)
    enrol(course, "ada", "aaron", "Grace.H")
    hub_folder.prepare(course, ["teacher"])
    assert accounts(course)["ada"] == before["ada"]  # who comes back finds the home again


def test_keys_are_the_owners_alone_and_stay(course: Path) -> None:
    hub_folder.prepare(course, ["teacher"])
    secret = ("accounts.json", "passwords.csv", "database_password", "passfile", "env")
    for name in secret:  # libpq ignores a passfile that others can read
        assert (course / "hub" / name).stat().st_mode & 0o777 == 0o600, name
    kept = {name: (course / "hub" / name).read_text() for name in secret[2:]}
    password = kept["database_password"]
    assert kept["passfile"] == f"database:5432:gradebook:tilewise:{password}\n"
    assert "COURSE_ID=gpu2026\n" in kept["env"]
    hub_folder.prepare(course, ["teacher"])
    assert kept == {name: (course / "hub" / name).read_text() for name in secret[2:]}


def test_a_number_of_the_owner_is_nobody_elses(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_folder, "FIRST_NUMBER", OWNER - 1)
    hub_folder.prepare(course, ["teacher"])
    assert OWNER not in numbers(course).values()
    assert len(set(numbers(course).values())) == 3


@pytest.mark.parametrize(
    ("instructor", "reason"),
    [("ada", "stands in the roster"), ("root", "is no name"), ("a:b", "is no name")],
)
def test_names_that_cannot_be_accounts(course: Path, instructor: str, reason: str) -> None:
    with pytest.raises(GraderError, match=reason):
        hub_folder.prepare(course, [instructor])
    assert not (course / "hub").exists()


def test_damaged_accounts_are_not_guessed(course: Path) -> None:
    hub_folder.prepare(course, ["teacher"])
    (course / "hub/accounts.json").write_text('{"ada": ')
    with pytest.raises(GraderError, match="bring back a copy"):
        hub_folder.prepare(course, ["teacher"])
    assert (course / "hub/accounts.json").read_text() == '{"ada": '


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to root")
def test_no_class_of_root(course: Path) -> None:
    os.chown(course, 0, 0)
    with pytest.raises(GraderError, match="belongs to root"):
        hub_folder.prepare(course, ["teacher"])


def test_the_command_says_where_the_passwords_are(course: Path) -> None:
    done = CliRunner().invoke(command, ["hub", "--course", str(course), "--instructor", "teacher"])
    assert done.exit_code == 0, done.output
    assert "3 new accounts" in done.output
    assert str(course / "hub/passwords.csv") in done.output
