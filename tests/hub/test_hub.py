"""A class on the hub: log-in, release, fetch, submit, collect, autograde, feedback, by HTTP.

The hub is docker/jupyterhub_config.py with the settings of docker/compose.yaml, started here
without Docker (see running.py); nbgrader's own pages do the work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from pathlib import Path

import psutil
import pytest

from tests.hub.running import (
    ASSIGNMENT,
    INSTRUCTOR,
    LEARNERS,
    OWNER,
    RunningClass,
    accounts_can_be_real,
    missing,
    running_class,
)
from tests.hub.visitor import Visitor

FORMGRADER = f"formgrader/api/assignment/{ASSIGNMENT}"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]


@pytest.fixture(scope="module")
def running() -> Iterator[RunningClass]:
    with running_class() as started:
        yield started


@pytest.fixture(scope="module")
def people(running: RunningClass) -> dict[str, Visitor]:
    passwords = running.passwords()
    homes = {name: f"/user/{name}/" for name in LEARNERS} | {INSTRUCTOR: "/services/class/"}
    return {
        name: Visitor(running.url, name, password, homes[name])
        for name, password in passwords.items()
    }


def test_wrong_names_and_passwords_stay_outside(running: RunningClass) -> None:
    for name, password in (("ada", "wrong"), ("nobody", ""), ("stranger", "x")):
        visitor = Visitor(running.url, name, password, "/hub/")
        assert visitor.log_in().status_code == 403


def test_from_release_to_feedback(running: RunningClass, people: dict[str, Visitor]) -> None:
    teacher, learners = people[INSTRUCTOR], [people[name] for name in LEARNERS]
    assert teacher.log_in().ok
    assert teacher.get("formgrader").ok, running.log("grader")
    for step in ("assign", "release"):
        done = teacher.send("POST", f"{FORMGRADER}/{step}")
        assert done["success"], done
    for learner in learners:
        assert learner.log_in().ok
        learner.start_server()
        assert learner.session.get(teacher.home, timeout=60).status_code == 403
        hand_in(running, learner, right=learner.name == "ada")
    done = teacher.send("POST", f"{FORMGRADER}/collect")
    assert done["success"], done
    for learner in learners:
        place = f"formgrader/api/submission/{ASSIGNMENT}/{learner.name}/autograde"
        done = teacher.send("POST", place)
        assert done["success"], done
    for step in ("generate_feedback", "release_feedback"):
        done = teacher.send("POST", f"{FORMGRADER}/{step}")
        assert done["success"], done
    scores = {
        entry["student"]: entry["score"]
        for entry in teacher.get(f"formgrader/api/submissions/{ASSIGNMENT}").json()
    }
    assert scores == {"ada": 10, "Grace.H": 0}
    assert "vector_add" in read_feedback(people["ada"])


def hand_in(running: RunningClass, learner: Visitor, right: bool) -> None:
    """Fetch, write (or leave the stub), submit."""
    which = {"course_id": "gpu2026", "assignment_id": ASSIGNMENT}
    done = learner.send("POST", "assignments/fetch", data=which)
    assert done["success"], done
    path = f"api/contents/{ASSIGNMENT}/{ASSIGNMENT}.ipynb"
    model = learner.get(path).json()
    if right:
        content = model["content"]
        (cell,) = (
            cell
            for cell in content["cells"]
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == "vector_add"
        )
        cell["source"] = running.solution("vector_add")
        learner.send("PUT", path, json={"type": "notebook", "content": content})
    done = learner.send("POST", "assignments/submit", data=which)
    assert done["success"], done


def read_feedback(learner: Visitor) -> str:
    which = {"course_id": "gpu2026", "assignment_id": ASSIGNMENT}
    done = learner.send("POST", "assignments/fetch_feedback", data=which)
    assert done["success"], done
    stamps = learner.get(f"api/contents/{ASSIGNMENT}/feedback").json()["content"]
    page = f"{stamps[0]['path']}/{ASSIGNMENT}.html"
    return str(learner.get(f"api/contents/{page}").json()["content"])


def limits(pid: int) -> Set[tuple[str, int]]:
    """Soft limits of a process as the kernel tells them."""
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    found = (re.match(r"(Max .*?) {2,}(\d+) ", line) for line in lines)
    return {match[1]: int(match[2]) for match in found if match}.items()


def test_a_learners_server_has_its_account_and_its_limits(
    running: RunningClass, people: dict[str, Visitor]
) -> None:
    """Runs after the class: the servers are up."""
    home = running.homes / "ada"
    servers = [
        process
        for process in psutil.process_iter(["cwd", "cmdline"])
        if process.info["cwd"] == str(home) and "singleuser" in " ".join(process.info["cmdline"])
    ]
    assert servers, running.log("hub")
    assert limits(servers[0].pid) >= {"Max data size": 4 << 30, "Max processes": 512}.items()
    if accounts_can_be_real():
        assert servers[0].uids().real == 20_000
        assert home.stat().st_mode & 0o777 == 0o700
        assert (running.folder / "exchange/gpu2026").stat().st_uid == OWNER
