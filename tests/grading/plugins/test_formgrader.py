"""Formgrader's buttons in a real Jupyter server: they work, and the server answers meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.paths import correct
from tests.support.small_course import ASSIGNMENT, SmallCourse, make

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
RIGHT = correct("vector_add", "careful_launcher")
SECONDS = 240.0  # for what takes a few on a quiet machine
SETTINGS = {
    "ServerApp": {
        "disable_check_xsrf": True,
        "allow_root": True,
        "open_browser": False,
        "ip": "127.0.0.1",
        "port_retries": 0,
    },
    "IdentityProvider": {"token": ""},
}


class Server:
    """A Jupyter server in the folder of a class; nothing else says that it has formgrader."""

    def __init__(self, course: SmallCourse, place: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        self.address = f"http://127.0.0.1:{port}/formgrader"
        (place / "jupyter_server_config.json").write_text(json.dumps(SETTINGS))
        self.log, self.course = place / "log", course
        python = [sys.executable, "-m", "jupyter_server", f"--ServerApp.port={port}"]
        environment = {
            **os.environ,
            "JUPYTER_CONFIG_DIR": str(place),
            "JUPYTER_RUNTIME_DIR": str(place / "runtime"),
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                python, cwd=course.folder, env=environment, stdout=log, stderr=subprocess.STDOUT
            )

    def ask(self, path: str, method: str = "GET") -> Any:
        request = urllib.request.Request(f"{self.address}/api/{path}", method=method)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return json.loads(answer.read())

    def wait(self) -> None:
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                assert self.ask("status") == {"status": True}
                return
            except (urllib.error.URLError, ConnectionError):
                assert time.monotonic() < deadline, self.log.read_text()
                assert self.process.poll() is None, self.log.read_text()
                time.sleep(0.2)

    def workers(self) -> list[psutil.Process]:
        found = []
        for child in psutil.Process(self.process.pid).children():
            with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
                if any("formgrader_worker" in word for word in child.cmdline()):
                    found.append(child)
        return found


class Press(threading.Thread):
    """A button of formgrader; `answer` comes when the work is done."""

    def __init__(self, server: Server, button: str) -> None:
        super().__init__(daemon=True)
        self.server, self.button = server, button
        self.answer: dict[str, Any] = {}
        self.start()

    @classmethod
    def autograde(cls, server: Server, student: str) -> Press:
        return cls(server, f"submission/{ASSIGNMENT}/{student}/autograde")

    @classmethod
    def feedback(cls, server: Server, student: str | None = None) -> Press:
        place = ASSIGNMENT if student is None else f"{ASSIGNMENT}/{student}"
        return cls(server, f"assignment/{place}/generate_feedback")

    def run(self) -> None:
        self.answer = self.server.ask(self.button, "POST")

    def done(self) -> dict[str, Any]:
        self.join(SECONDS)
        return self.answer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    course = make(tmp_path_factory.mktemp("course"))
    course.hand_in("ada", RIGHT)
    course.hand_in("kurt", "pass")
    running = Server(course, tmp_path_factory.mktemp("server"))
    try:
        running.wait()
        yield running
    finally:
        running.process.terminate()
        running.process.wait(SECONDS)


def until(true: Callable[[], Any]) -> None:
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def until_at_work(server: Server) -> psutil.Process:
    until(server.workers)
    return server.workers()[0]


def states(server: Server) -> dict[str, Any]:
    return {entry["student"]: entry for entry in server.ask(f"submissions/{ASSIGNMENT}")}


def test_a_worker_that_dies_costs_no_grade_and_is_replaced(server: Server) -> None:
    press = Press.autograde(server, "kurt")
    until_at_work(server).kill()
    answer = press.done()
    assert not answer["success"]
    assert "press Autograde again" in answer["error"]
    assert not states(server)["kurt"]["autograded"]


def test_the_server_answers_while_a_submission_is_graded(server: Server) -> None:
    presses = [Press.autograde(server, "ada"), Press.autograde(server, "kurt")]
    until_at_work(server)
    assert len(states(server)) == 2
    assert all(press.is_alive() for press in presses)  # answered before the grading was done
    answers = [press.done() for press in presses]
    assert all(answer["success"] for answer in answers), answers
    assert len(server.workers()) == 1
    found = states(server)
    assert {name: entry["autograded"] for name, entry in found.items()} == {
        "ada": True,
        "kurt": True,
    }
    assert (found["ada"]["score"], found["kurt"]["score"]) == (10, 0)


def pages(server: Server) -> set[str]:
    """The students who have a feedback page."""
    found = server.course.folder.glob(f"feedback/*/{ASSIGNMENT}/{ASSIGNMENT}.html")
    return {path.parents[1].name for path in found}


def test_the_server_answers_while_feedback_is_written(server: Server) -> None:
    (worker,) = server.workers()
    worker.suspend()
    try:
        presses = [Press.feedback(server, "ada"), Press.feedback(server)]
        assert len(states(server)) == 2
        assert all(press.is_alive() for press in presses)
        assert pages(server) == set()  # the server writes none itself
    finally:
        worker.resume()
    one, everybody = (press.done() for press in presses)
    assert one["success"], one
    assert everybody["success"], everybody
    assert "kurt" not in one["log"]
    assert pages(server) == {"ada", "kurt"}


@contextlib.contextmanager
def without_end(path: Path) -> Iterator[None]:
    """Let who reads a file wait for its text until it is killed."""
    kept = path.rename(path.with_name("kept"))
    os.mkfifo(path)
    try:
        yield
    finally:
        kept.replace(path)


def test_feedback_that_was_not_written_is_asked_for_again(server: Server) -> None:
    graded = server.course.folder / "autograded" / "kurt" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    shutil.rmtree(server.course.folder / "feedback")
    with without_end(graded):
        press = Press.feedback(server)
        until(lambda: pages(server))
        for worker in server.workers():
            worker.kill()
        answer = press.done()
    assert pages(server) == {"ada"}
    assert not answer["success"]
    assert "press Generate feedback again" in answer["error"]
    again = Press.feedback(server).done()
    assert again["success"], again
    assert pages(server) == {"ada", "kurt"}


def test_a_worker_that_died_before_it_began_is_replaced_unseen(server: Server) -> None:
    (worker,) = server.workers()
    worker.suspend()
    press = Press.feedback(server)
    worker.kill()
    answer = press.done()
    assert answer["success"], answer
    assert worker.pid not in {now.pid for now in server.workers()}


def test_the_worker_ends_with_the_server(server: Server) -> None:
    worker = until_at_work(server)
    server.process.kill()
    assert worker.wait(SECONDS) is not None or not worker.is_running()
