"""The container files: linted, parsed, and the entry point run. No image is built here.

tests/hub runs the hub and the grader with the settings of compose.yaml, without Docker.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePath
from typing import Any

import pytest
import yaml

from graders.authoring import class_folder, hub_folder
from tests.support.small_course import lesson_rooms
from tests.test_declared import for_learners, modules

ROOT = Path(__file__).parent.parent
DOCKER = ROOT / "docker"


@pytest.mark.parametrize("path", sorted(DOCKER.glob("*.Dockerfile")), ids=lambda p: p.name)
def test_dockerfiles_pass_hadolint(path: Path) -> None:
    hadolint = shutil.which("hadolint", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if hadolint is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([hadolint, "--no-color", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]
    return services


def test_the_grader_runs_without_privileges_or_a_network(services: dict[str, Any]) -> None:
    grader = services["grader"]
    assert grader["read_only"] is True
    assert grader["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in grader["security_opt"]
    compose = yaml.safe_load((DOCKER / "compose.yaml").read_text())
    assert grader["networks"] == ["grading", "class"]
    assert all(compose["networks"][name]["internal"] is True for name in grader["networks"])


def test_no_learner_is_on_a_machine_with_the_class(services: dict[str, Any]) -> None:
    """The hub's container sees of the class: accounts, and the learners' configuration."""
    of_class = [
        volume.partition("/")[2].partition(":")[0]
        for volume in services["hub"]["volumes"]
        if "COURSE_FOLDER" in volume
    ]
    assert sorted(of_class) == ["hub/accounts.json", "hub/group", "hub/passwd", "learner"]


def test_memory_and_processes_of_all_that_runs_strangers_code_are_bounded(
    services: dict[str, Any],
) -> None:
    for name in ("hub", "grader"):
        assert {"mem_limit", "pids_limit"} <= set(services[name]), name


def test_no_password_stands_in_the_compose_file(services: dict[str, Any]) -> None:
    assert "POSTGRES_PASSWORD" not in services["database"]["environment"]
    for name in ("hub", "grader"):
        settings = services[name]["environment"]
        token = settings.get("CLASS_TOKEN") or settings["JUPYTERHUB_API_TOKEN"]
        assert token == "${CLASS_TOKEN:?}"


def test_what_compose_asks_for_stands_in_the_file_that_the_class_gives(tmp_path: Path) -> None:
    """Each variable without a default, in hub/env; each mount from the class, in its folder."""
    (tmp_path / "clone").mkdir()
    course = tmp_path / "gpu2026"
    class_folder.lay_out(lesson_rooms(tmp_path / "clone"), course, "gpu2026")
    os.chown(course, 15_000 if os.geteuid() == 0 else os.geteuid(), -1)
    hub_folder.prepare(course, ["teacher"])
    text = (DOCKER / "compose.yaml").read_text()
    given = (course / "hub/env").read_text()
    asked = set(re.findall(r"\$\{(\w+):\?\}", text))
    assert asked <= set(re.findall(r"^(\w+)=", given, re.MULTILINE))
    mounts = re.findall(r"\$\{COURSE_FOLDER:\?\}/([\w./]+)", text)
    assert len(mounts) > 5
    assert all((course / mount).exists() for mount in mounts)


OURS_TO_READ = ("CLASS_", "COURSE_", "HUB_", "LEARNER_", "TILEWISE_", "NBGRADER_")


def test_each_setting_of_ours_is_read(services: dict[str, Any]) -> None:
    """By the hub's configuration, or by the code that the grader runs."""
    hub = "".join(path.read_text() for path in DOCKER.glob("*.py"))
    code = "".join(path.read_text() for path in (ROOT / "graders").rglob("*.py"))
    for name, reads in (("hub", hub), ("grader", code)):
        ours = [key for key in services[name]["environment"] if key.startswith(OURS_TO_READ)]
        assert ours
        unread = [key for key in ours if f'"{key}"' not in reads]
        assert not unread, f"docker/compose.yaml: nobody reads {unread} of the {name}"


def test_the_hub_is_asked_for_its_health_where_it_listens(services: dict[str, Any]) -> None:
    """Its image begins with the lab's, whose check asks JupyterLab."""
    (port,) = (place.rpartition(":")[2] for place in services["hub"]["ports"])
    asked = re.findall(r"127\.0\.0\.1:(\d+)/hub/health", (DOCKER / "hub.Dockerfile").read_text())
    assert asked == [port]
    assert f'"http://:{port}"' in (DOCKER / "jupyterhub_config.py").read_text()


def test_a_command_of_the_grader_starts_in_the_class(services: dict[str, Any]) -> None:
    """There its configuration is: the clone has none."""
    (place,) = (
        volume.rpartition(":")[2]
        for volume in services["grader"]["volumes"]
        if volume.startswith("${COURSE_FOLDER:?}:")
    )
    text = (DOCKER / "grader.Dockerfile").read_text()
    assert re.findall(r"^WORKDIR (\S+)$", text, re.MULTILINE)[-1] == place
    assert "working_dir" not in services["grader"]


def test_the_proxy_is_a_version_that_there_is() -> None:
    text = (DOCKER / "hub.Dockerfile").read_text()
    (version,) = re.findall(r"configurable-http-proxy@(\S+)", text)
    assert version != "5.0.0", "docker/hub.Dockerfile: that version was never published"


@pytest.mark.parametrize("path", sorted(DOCKER.glob("compose*.yaml")), ids=lambda p: p.name)
def test_each_compose_file_starts_something_from_files_that_exist(
    path: Path, services: dict[str, Any]
) -> None:
    """What stands beside compose.yaml adds to a service of it, or says what the service is."""
    named = yaml.safe_load(path.read_text())["services"]
    assert named
    for name, service in named.items():
        assert name in services or {"build", "image"} & set(service), name
        if "build" in service:
            place = path.parent / service["build"]["context"]
            assert (place / service["build"]["dockerfile"]).is_file(), name


@pytest.mark.parametrize("path", sorted(DOCKER.glob("*.Dockerfile")), ids=lambda p: p.name)
def test_every_path_that_is_copied_exists(path: Path) -> None:
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", path.read_text(), re.MULTILINE)
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert lines
    for name in (name for line in lines for name in line.split()):
        assert list(ROOT.glob(name)) if name != "." else True, name
        assert not any(PurePath(name).match(pattern) for pattern in ignored), name


def installed(path: Path, folder: str, project: str) -> tuple[list[tuple[str, str]], str, str]:
    """Where packages are installed and where the project lies then; folder and project at the end.

    A stage that stands on the lab's image begins with the lab's.
    """
    given, runs = (folder, project), []
    for line in path.read_text().replace("\\\n", " ").splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            folder, project = given if "LAB_IMAGE" in rest else ("/", "")
        elif word == "WORKDIR":
            folder = posixpath.join(folder, rest)
        elif word == "COPY" and {"constraints.txt", "."} & set(rest.split()[:-1]):
            project = posixpath.normpath(posixpath.join(folder, rest.split()[-1]))
        elif word == "RUN" and "constraints.txt" in rest:
            runs.append((folder, project))
    return runs, folder, project


def test_packages_are_installed_in_the_folder_of_the_project() -> None:
    lab, folder, project = installed(DOCKER / "lab.Dockerfile", "/", "")
    hub, _, _ = installed(DOCKER / "hub.Dockerfile", folder, project)
    grader, _, _ = installed(DOCKER / "grader.Dockerfile", "/", "")
    assert [len(lab), len(hub), len(grader)] == [1, 1, 1]
    for place, where in (*lab, *hub, *grader):
        assert place == where


def test_the_lab_gets_every_module_that_a_learner_installs() -> None:
    """And no hidden case, no solution, nothing that grades a class."""
    text = (DOCKER / "lab.Dockerfile").read_text()
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", text.rpartition("\nFROM ")[2], re.MULTILINE)
    copied = [ROOT / name for line in lines for name in line.split() if "*" not in name]
    assert "COPY graders/course /course\nRUN rm /course/*/hidden.py\n\nFROM" in text
    assert "COPY --from=public /course graders/course" in text
    copied += [path for path in (ROOT / "graders/course").rglob("*.py") if path.stem != "hidden"]
    asked = [path for path in modules("triton_util", "graders") if for_learners(path)]
    missing = [
        path.relative_to(ROOT).as_posix()
        for path in asked
        if not any(path.is_relative_to(place) for place in copied)
    ]
    assert not missing
    secret = [ROOT / "solutions", ROOT / "graders/course/tour/hidden.py", ROOT / "graders/grading"]
    assert not any(one.is_relative_to(place) for one in secret for place in copied)


def test_the_lab_entry_point_brings_the_course_and_overwrites_no_work(tmp_path: Path) -> None:
    lessons, work = tmp_path / "lessons", tmp_path / "work"
    lessons.mkdir()
    work.mkdir()
    for name in ("a.ipynb", "b.ipynb"):
        (lessons / name).write_text("fresh")
    (work / "a.ipynb").write_text("my work")
    variables = {
        "TILEWISE_LESSONS": str(lessons),
        "TILEWISE_WORK": str(work),
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
    }
    entry = ["sh", str(DOCKER / "lab-entrypoint.sh"), "printenv", "JUPYTER_PATH"]
    done = subprocess.run(entry, env=variables, capture_output=True, text=True, check=True)
    assert (Path(done.stdout.strip()) / "labextensions/tilewise/package.json").is_file()
    assert (work / "a.ipynb").read_text() == "my work"
    assert (work / "b.ipynb").read_text() == "fresh"


def test_the_gpu_of_the_class_runs_closed_and_without_the_class() -> None:
    gpu = yaml.safe_load((DOCKER / "compose.serve.yaml").read_text())["services"]["gpu"]
    assert gpu["read_only"] is True
    assert gpu["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in gpu["security_opt"]
    assert gpu["networks"] == ["class"]
    assert "volumes" not in gpu
    assert "ports" not in gpu
    assert gpu["command"] == ["serve"]
