"""An environment broken on purpose: nobody gets a zero, one line says what to mend."""

import contextlib
import os
import shutil
import subprocess
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from graders.authoring.kernels import correct_kernel
from graders.authoring.rooms import Rooms, find_root
from graders.grading.autograde import Autograder
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse, make

ROOMS = Rooms(find_root(Path(__file__)))
KERNEL = correct_kernel(ROOMS, "vector_add", "careful_launcher")
# what a real judge would run, with a word for the fake one
CLASS = {name: f"{KERNEL}\n# {word}\n" for name, word in
         (("ada", "right 1"), ("kurt", "wrong"), ("tony", "right 2"))}  # fmt: skip


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    course = make(tmp_path_factory.mktemp("course"))
    for student, code in CLASS.items():
        course.hand_in(student, code)
    return course


def scores(course: Path) -> dict[str, set[float | None]]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {
            submission.student.id: {
                grade.auto_score
                for notebook in submission.notebooks
                for grade in notebook.grades
                if grade.cell.name.startswith("vector_add")
            }
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
        }


def run(python: str, course: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`tilewise autograde` by that Python."""
    root = Path(__file__).resolve().parents[2]
    command = ("-m", "graders.cli.main", "autograde", ASSIGNMENT, "--course", str(course))
    return subprocess.run(
        [python, *command],
        env={**os.environ, "PYTHONPATH": str(root), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def complete_later(course: Path) -> None:
    """The environment is mended: the next run has everything to do, and does it."""
    grader = Autograder(course, ASSIGNMENT)
    results = list(grader.grade(grader.students(), FakeJudging()))
    assert {result.status for result in results} == {"graded"}
    assert scores(course) == {"ada": {4, 6}, "kurt": {0}, "tony": {4, 6}}


def without_triton(folder: Path) -> Path:
    """An environment with all that is installed here but triton; returns its packages."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.lower().startswith(("triton", "__editable__", "_editable")):
            (packages / entry.name).symlink_to(entry)
    return packages


@pytest.mark.slow
def test_without_triton_nobody_is_graded(template: SmallCourse, tmp_path: Path) -> None:
    course = tmp_path / "course"
    shutil.copytree(template.folder, course)
    packages = without_triton(tmp_path / "venv")
    python = str(tmp_path / "venv" / "bin" / "python")
    done = run(python, course)
    assert (done.returncode, scores(course)) == (1, {})
    assert done.stderr.strip().splitlines()[-1].startswith("Error: triton is not installed here")
    assert "Traceback" not in done.stderr
    # installed, but broken: every worker stumbles over it
    (packages / "triton").mkdir()
    (packages / "triton" / "__init__.py").write_text("raise ImportError('libtriton.so is damaged')")
    (packages / "triton-3.9.0.dist-info").mkdir()
    (packages / "triton-3.9.0.dist-info" / "METADATA").write_text("Name: triton\nVersion: 3.9.0\n")
    done = run(python, course)
    assert done.returncode == 2
    last = done.stdout.strip().splitlines()[-1]
    assert last.startswith("  ada, kurt, tony: ")
    assert "libtriton.so is damaged" in last
    assert set().union(*scores(course).values()) <= {None}
    complete_later(course)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small file system, and not everywhere")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("room", [0, 24_000, 48_000])
def test_a_full_disk_stops_the_run_and_costs_nobody_a_grade(
    template: SmallCourse, small_disk: Path, room: int
) -> None:
    course = small_disk / "course"
    shutil.copytree(template.folder, course, ignore=shutil.ignore_patterns("exchange"))
    free = shutil.disk_usage(small_disk).free
    (small_disk / "ballast").write_bytes(b"x" * max(0, free - room))
    results = []
    grader = Autograder(course, ASSIGNMENT)
    with contextlib.suppress(OSError):  # the command says it in one line
        results += grader.grade(grader.students(), FakeJudging())
    assert len([r for r in results if r.status == "graded"]) < len(CLASS)
    for result in results:
        if result.status == "ungraded":
            assert "disk" in result.reason.lower() or "space" in result.reason.lower()
    (small_disk / "ballast").unlink()
    right = {"ada": {4, 6}, "kurt": {0}, "tony": {4, 6}}
    assert all(found <= right[student] | {None} for student, found in scores(course).items())
    complete_later(course)
