"""Collecting from an exchange in which anybody may write anything."""

from __future__ import annotations

import datetime
import os
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeCollect
from traitlets.config import Config
from traitlets.log import get_logger

from graders.grading.intake import removed_links
from graders.grading.plugins.collect import LEFT_OUT, CollectSafely
from graders.grading.plugins.configure import configure
from tests.support.small_course import ask_alembic_once

STAMP = "2026-11-02 10:00:00.000000 UTC"
ASSIGNMENT = "01_a"


class Exchange:
    """An exchange with an inbound folder, and the course that collects from it."""

    def __init__(self, folder: Path) -> None:
        ask_alembic_once()
        self.course = folder / "course"
        self.inbound = folder / "exchange" / "tilewise" / "inbound"
        self.inbound.mkdir(parents=True)
        (folder / "exchange").chmod(0o777)
        self.course.mkdir()
        self.secret = self.course / "source.txt"
        self.secret.write_text("the model solution")
        self.config = Config()
        configure(self.config, self.course, "tilewise", str(folder / "exchange"))

    def hand_in(self, name: str, text: str = "{}") -> Path:
        """A submission by the rules, in a folder of that name."""
        folder = self.inbound / name
        folder.mkdir()
        (folder / f"{ASSIGNMENT}.ipynb").write_text(text)
        (folder / "timestamp.txt").write_text(STAMP)
        return folder

    def collect(self, collector: type[ExchangeCollect] = CollectSafely, **options: object) -> int:
        """The exit code with which the command ends."""
        config = Config(self.config)
        config.CourseDirectory.assignment_id = ASSIGNMENT
        for name, value in ({"check_owner": False} | options).items():
            setattr(config.ExchangeCollect, name, value)
        coursedir = CourseDirectory(config=config)
        try:
            collector(coursedir=coursedir, config=config).start()
        except SystemExit as ended:
            return int(str(ended.code))
        return 0

    def collected(self) -> dict[str, set[str]]:
        submitted = self.course / "submitted"
        folders = sorted(submitted.glob(f"*/{ASSIGNMENT}")) if submitted.exists() else []
        return {f.parent.name: {p.relative_to(f).as_posix() for p in f.rglob("*")} for f in folders}


@pytest.fixture
def exchange(tmp_path: Path) -> Exchange:
    return Exchange(tmp_path)


NOTEBOOK = {f"{ASSIGNMENT}.ipynb", "timestamp.txt"}


def named(student: str, stamp: str = STAMP) -> str:
    return f"{student}+{ASSIGNMENT}+{stamp}+0a1b"


def test_the_built_configuration_collects_with_it(exchange: Exchange) -> None:
    assert (
        exchange.config.ExchangeFactory.collect == "graders.grading.plugins.collect.CollectSafely"
    )


def test_honest_submissions_come_as_nbgrader_would_bring_them(exchange: Exchange) -> None:
    folder = exchange.hand_in(named("ada"))
    (folder / "data").mkdir()
    (folder / "data" / "x.csv").write_text("1")
    exchange.hand_in(named("a.b+c@d"))
    exchange.collect()
    assert exchange.collected() == {
        "ada": NOTEBOOK | {"data", "data/x.csv"},
        "a.b+c@d": NOTEBOOK,
    }


def test_a_newer_submission_takes_the_place_of_an_older_one(exchange: Exchange) -> None:
    exchange.hand_in(named("ada"), "1")
    exchange.collect()
    exchange.hand_in(named("ada", STAMP.replace("10:", "11:")), "2")
    exchange.collect(update=True)
    path = exchange.course / "submitted" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    assert path.read_text() == "2"


@pytest.fixture(autouse=True)
def all_warnings(caplog: pytest.LogCaptureFixture) -> None:
    """Grading quiets the logger that all of nbgrader shares."""
    caplog.set_level("WARNING", logger=get_logger().name)


def _link_to_file(exchange: Exchange, folder: Path) -> None:
    (folder / f"{ASSIGNMENT}.ipynb").unlink()
    (folder / f"{ASSIGNMENT}.ipynb").symlink_to(exchange.secret)


def _link_to_folder(exchange: Exchange, folder: Path) -> None:
    (folder / "all").symlink_to(exchange.course)


@pytest.mark.parametrize("plant", [_link_to_file, _link_to_folder])
def test_links_are_not_followed(
    exchange: Exchange, plant: Callable[[Exchange, Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    plant(exchange, exchange.hand_in(named("eve")))
    exchange.hand_in(named("ada"))
    exchange.collect()
    files = [p for p in (exchange.course / "submitted").rglob("*") if p.is_file()]
    assert not [path for path in files if "solution" in path.read_text()]
    assert not [p for p in (exchange.course / "submitted").rglob("*") if p.is_symlink()]
    assert exchange.collected()["ada"] == NOTEBOOK
    assert "eve" in caplog.text
    assert "TAMPERED WITH" in caplog.text


def test_stock_nbgrader_follows_them(exchange: Exchange) -> None:
    """Otherwise the test above would show nothing."""
    _link_to_file(exchange, exchange.hand_in(named("eve")))
    exchange.collect(ExchangeCollect)
    path = exchange.course / "submitted" / "eve" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    assert path.read_text() == "the model solution"


@pytest.mark.parametrize(
    "name",
    [
        f"eve+{ASSIGNMENT}+tomorrow+x",
        f"eve+{ASSIGNMENT}+",
        f"eve+{ASSIGNMENT}+99999999999999999999+x",
        named(".."),
        named("."),
        named(""),
        named("eve\nada"),
        named("-rf"),
        named("<script>"),
    ],
)
def test_a_bad_name_is_left_out_and_ends_nothing(
    exchange: Exchange, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    exchange.hand_in(name)
    exchange.hand_in(named("ada"))
    before = set(exchange.course.iterdir())
    exchange.collect()
    assert exchange.collected() == {"ada": NOTEBOOK}
    assert set(exchange.course.iterdir()) - before <= {
        exchange.course / "submitted",
        exchange.course / "gradebook.db",
        exchange.course / ".tilewise",
    }
    assert ("NOT COLLECTED" in caplog.text) != name.startswith(".")  # those nobody looks at
    assert "\nada" not in caplog.text


def test_stock_nbgrader_ends_at_one_bad_name(exchange: Exchange) -> None:
    exchange.hand_in(f"eve+{ASSIGNMENT}+tomorrow+x")
    exchange.hand_in(named("ada"))
    with pytest.raises(ValueError, match="tomorrow"):
        exchange.collect(ExchangeCollect)


def test_nobody_hands_in_for_somebody_else(
    exchange: Exchange, caplog: pytest.LogCaptureFixture
) -> None:
    exchange.hand_in(named("ada", STAMP.replace("2026", "2099")))
    assert exchange.collect(check_owner=True) == LEFT_OUT
    assert exchange.collected() == {}
    assert "says that it is by 'ada'" in caplog.text


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_an_account_without_a_name_is_collected_with_a_warning(
    exchange: Exchange, caplog: pytest.LogCaptureFixture
) -> None:
    os.chown(exchange.hand_in(named("ada")), 1_999_999_999, 1_999_999_999)
    exchange.collect(check_owner=True)
    assert exchange.collected() == {"ada": NOTEBOOK}
    assert "nobody here knows" in caplog.text


def test_what_cannot_be_copied_is_left_out_alone(
    exchange: Exchange, caplog: pytest.LogCaptureFixture
) -> None:
    os.mkfifo(exchange.hand_in(named("pipe")) / "pipe")
    there = os.getcwd()
    os.chdir(exchange.hand_in(named("socket")))  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")
    os.chdir(there)
    (exchange.inbound / named("file")).write_text("no folder")
    exchange.hand_in(named("zoe"))
    exchange.collect()
    assert exchange.collected() == {"zoe": NOTEBOOK}
    assert caplog.text.count(" NOT COLLECTED: ") == 4  # and all of them together


def test_no_bit_of_the_mode_survives(exchange: Exchange) -> None:
    folder = exchange.hand_in(named("eve"))
    (folder / "shell").write_text("#!/bin/sh")
    (folder / "shell").chmod(0o6777)
    folder.chmod(0o577)
    exchange.collect()
    copied = exchange.course / "submitted" / "eve" / ASSIGNMENT
    assert (copied / "shell").stat().st_mode & 0o7777 == 0o644
    assert copied.stat().st_mode & 0o7777 == 0o755


def test_the_time_is_that_of_the_name(exchange: Exchange) -> None:
    folder = exchange.hand_in(named("eve"))
    (folder / "timestamp.txt").write_text("before everybody else")
    exchange.collect()
    copied = exchange.course / "submitted" / "eve" / ASSIGNMENT
    assert (copied / "timestamp.txt").read_text() == STAMP


def test_a_name_of_yesterday_for_a_folder_of_today_is_told(
    exchange: Exchange, caplog: pytest.LogCaptureFixture
) -> None:
    with Gradebook(exchange.config.CourseDirectory.db_url) as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate="2026-11-03 00:00:00 UTC")
    exchange.hand_in(named("eve"))
    exchange.hand_in(named("ada", "2096-11-04 00:00:00 UTC"))
    exchange.collect()
    warnings = [r.getMessage() for r in caplog.records if "PERHAPS TAMPERED" in r.getMessage()]
    assert len(warnings) == 1
    assert "eve" in warnings[0]


def test_a_collection_of_nothing_fails(
    exchange: Exchange, caplog: pytest.LogCaptureFixture
) -> None:
    exchange.hand_in(named("ada"))
    exchange.hand_in(named("kurt"))
    assert exchange.collect(check_owner=True) == LEFT_OUT
    assert "none of the submissions" in caplog.text
    assert "2 NOT COLLECTED: 'ada+01_a+" in caplog.text
    assert exchange.collected() == {}


def test_a_copied_exchange_is_no_suspicion(
    exchange: Exchange, caplog: pytest.LogCaptureFixture
) -> None:
    """`cp -a` keeps when a file was written, and the file system says when it was copied."""
    with Gradebook(exchange.config.CourseDirectory.db_url) as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate="2026-01-03 00:00:00 UTC")
    for student in ("ada", "kurt", "eve"):
        folder = exchange.hand_in(named(student, "2026-01-02 00:00:00 UTC"))
        if student != "eve":  # who has changed it later
            written = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC).timestamp()
            os.utime(folder, (written, written))
    assert exchange.collect() == 0
    warnings = [r.getMessage() for r in caplog.records if "PERHAPS TAMPERED" in r.getMessage()]
    assert ["eve" in warning for warning in warnings] == [True]


def _zip(folder: Path, name: str, inside: str) -> None:
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr(inside, '{"cells": []}')


@pytest.mark.parametrize(
    "pack",
    [
        lambda folder: _zip(folder, "work.zip", "x.ipynb"),
        lambda folder: _zip(folder, "work.ZIP", f"home/{ASSIGNMENT}/{ASSIGNMENT}.ipynb"),
        lambda folder: ((folder / ASSIGNMENT).mkdir(), (folder / ASSIGNMENT / "x.IPYNB").touch()),
    ],
)
def test_a_packed_notebook_and_one_in_a_folder_are_found(
    exchange: Exchange, pack: Callable[[Path], object]
) -> None:
    folder = exchange.hand_in(named("ada"))
    (folder / f"{ASSIGNMENT}.ipynb").unlink()
    pack(folder)
    assert exchange.collect() == 0
    assert f"{ASSIGNMENT}.ipynb" in exchange.collected()["ada"]


def test_of_two_packed_notebooks_none_is_chosen(exchange: Exchange) -> None:
    folder = exchange.hand_in(named("ada"))
    (folder / f"{ASSIGNMENT}.ipynb").unlink()
    for name in ("x", "y"):
        _zip(folder, f"{name}.zip", f"{name}.ipynb")
    exchange.collect()
    assert exchange.collected()["ada"] == {"x.zip", "y.zip", "timestamp.txt"}


def test_a_collection_of_an_empty_exchange_is_no_error(exchange: Exchange) -> None:
    exchange.collect()
    assert exchange.collected() == {}


def test_a_renamed_notebook_is_the_one_that_was_released(exchange: Exchange) -> None:
    source = exchange.course / "source" / ASSIGNMENT
    source.mkdir(parents=True)
    (source / f"{ASSIGNMENT}.ipynb").write_text("{}")
    folder = exchange.hand_in(f"ada+{ASSIGNMENT}+{STAMP}+x")
    (folder / f"{ASSIGNMENT}.ipynb").rename(folder / "final (2).ipynb")
    both = exchange.hand_in(f"kurt+{ASSIGNMENT}+{STAMP}+x")
    (both / "other.ipynb").write_text("{}")
    exchange.collect()
    assert exchange.collected()["ada"] == {f"{ASSIGNMENT}.ipynb", "timestamp.txt"}
    assert "other.ipynb" in exchange.collected()["kurt"]


def test_who_is_killed_while_copying_has_collected_nothing(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a submission with a time of its own would count as collected for ever."""
    exchange.hand_in(f"ada+{ASSIGNMENT}+{STAMP}+1")
    with monkeypatch.context() as patch:
        patch.setattr(CollectSafely, "_settle", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            exchange.collect()
    assert exchange.collected() == {}
    exchange.collect(update=True)
    assert set(exchange.collected()) == {"ada"}
    assert not list((exchange.course / ".tilewise").glob("collecting/*"))


def test_what_a_link_was_is_known_when_grading(exchange: Exchange) -> None:
    folder = exchange.hand_in(named("ada"))
    _link_to_file(exchange, folder)
    exchange.collect()
    assert removed_links.read(exchange.course / "submitted/ada" / ASSIGNMENT) == [
        f"{ASSIGNMENT}.ipynb"
    ]


def test_a_notebook_is_found_and_read_however_it_was_saved(exchange: Exchange) -> None:
    """With capitals in its ending, and with the mark that some editors write first."""
    (exchange.course / "source" / ASSIGNMENT).mkdir(parents=True)
    (exchange.course / "source" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").write_text("{}")
    folder = exchange.hand_in(named("ada"))
    (folder / f"{ASSIGNMENT}.ipynb").unlink()
    (folder / "Übung.IPYNB").write_bytes(b"\xef\xbb\xbf{}")
    exchange.collect()
    assert exchange.collected() == {"ada": NOTEBOOK}
    path = exchange.course / "submitted" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    assert path.read_bytes() == b"{}"


def test_names_are_printed_as_names(exchange: Exchange, caplog: pytest.LogCaptureFixture) -> None:
    exchange.hand_in("Jürgen 王+01_a+no time+x")
    exchange.hand_in(named("ada"))
    exchange.collect()
    assert "'Jürgen 王+01_a+no time+x': its name is not STUDENT+ASSIGNMENT+TIME" in caplog.text
