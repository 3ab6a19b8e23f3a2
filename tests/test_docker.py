"""The container files: linted, parsed, and the entry point run. No image is built here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

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
    assert grader["networks"] == ["grading"]
    compose = yaml.safe_load((DOCKER / "compose.yaml").read_text())
    assert compose["networks"]["grading"]["internal"] is True


def test_no_password_stands_in_the_compose_file(services: dict[str, Any]) -> None:
    assert "POSTGRES_PASSWORD" not in services["database"]["environment"]
    assert ":?" in services["hub"]["environment"]["CLASS_PASSWORD"]


def test_every_file_that_compose_builds_from_exists(services: dict[str, Any]) -> None:
    for name, service in services.items():
        if "build" in service:
            assert (ROOT / service["build"]["dockerfile"]).exists(), name


def test_the_lab_entry_point_never_overwrites_a_learners_work(tmp_path: Path) -> None:
    lessons, work = tmp_path / "lessons", tmp_path / "work"
    lessons.mkdir()
    work.mkdir()
    for name in ("a.ipynb", "b.ipynb"):
        (lessons / name).write_text("fresh")
    (work / "a.ipynb").write_text("my work")
    variables = {
        "TILEWISE_LESSONS": str(lessons),
        "TILEWISE_WORK": str(work),
        "PATH": "/usr/bin:/bin",
    }
    entry = ["sh", str(DOCKER / "lab-entrypoint.sh"), "echo", "started"]
    done = subprocess.run(entry, env=variables, capture_output=True, text=True, check=True)
    assert done.stdout == "started\n"
    assert (work / "a.ipynb").read_text() == "my work"
    assert (work / "b.ipynb").read_text() == "fresh"
