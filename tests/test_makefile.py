"""Each `make` command that a text names does something; `make help` lists them all."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from graders.cli import lab

ROOT = Path(__file__).parent.parent
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))
TEXTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", ".ci/run")),
    *sorted((ROOT / ".github").rglob("*.*")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(
        path for path in (ROOT / "docker").rglob("*") if path.is_file() and path.suffix != ".pyc"
    ),
    *sorted((ROOT / "newsfragments").glob("*.md")),
    *sorted(path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)),
]
# `make x` in backquotes, or as a line of a listing: prose says "make" too
NAMED = re.compile(r"(?:`|^)make ((?:[a-z][a-z-]*\b ?)+)", re.MULTILINE)
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(*words: str) -> str:
    """What `make` prints, itself being called by a `make` or not."""
    command = ["make", "--no-print-directory", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_texts_name_is_a_target() -> None:
    for path in TEXTS:
        for found in NAMED.findall(path.read_text(encoding="utf-8")):
            unknown = {word for word in found.split()[:1] if word not in TARGETS}
            assert not unknown, f"{path.relative_to(ROOT)}: `make {found}`: no such target"


@needs_make
@pytest.mark.parametrize("target", sorted(TARGETS))
def test_each_target_does_something(target: str) -> None:
    commands = make("--dry-run", "--always-make", target)
    assert "Nothing to be done" not in commands
    recipe = re.search(rf"^{target}:.*\n(?:\t|ifneq)", MAKEFILE, re.MULTILINE)
    assert recipe, f"Makefile: {target} has no recipe"


@needs_make
def test_help_lists_each_public_target() -> None:
    listed = {line.split()[0] for line in make("help").splitlines()}
    assert listed == TARGETS, "say behind ## what the target is for"
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert phony
    assert set(phony[1].split()) == TARGETS


@needs_make
def test_lab_opens_the_tour_with_the_extension_of_the_course() -> None:
    assert "tilewise lab --folder my_lessons --port 8888" in make("--dry-run", "lab")
    started = lab.command(Path("my_lessons"), 8888)
    assert (ROOT / "lessons" / lab.TOUR).is_file()
    assert f"--LabApp.default_url=/lab/tree/{lab.TOUR}" in started
    for app in ("LabApp", "JupyterNotebookApp"):
        (path,) = [word for word in started if word.startswith(f"--{app}.extra_labextensions")]
        assert (Path(path.partition("=")[2]) / "tilewise" / "package.json").is_file()


def test_nothing_is_installed_as_root_unless_asked() -> None:
    for line in MAKEFILE.splitlines():
        if "apt-get install" in line:
            before = MAKEFILE[: MAKEFILE.index(line)].rsplit("\n", 2)[1]
            assert "$(CI)" in before, f"Makefile: {line.strip()[:60]}: only if it is asked for"


@needs_make
@pytest.mark.parametrize(
    ("ci", "asked", "installs"),
    [
        ("", "test", False),
        ("", "browser", True),
        ("true", "test", True),
    ],
)
def test_chromium_is_installed_when_asked_for(ci: str, asked: str, installs: bool) -> None:
    assert ("apt-get install" in make("--dry-run", f"CI={ci}", asked)) is installs
