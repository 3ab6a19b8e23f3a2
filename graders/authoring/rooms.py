"""The folders of the clone, and the settings in pyproject.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from graders.authoring.refusal import refusal

LESSON_PATTERN = "[0-9][0-9]_*.py"


@dataclass(frozen=True)
class Settings:
    """The targets of badges and set-up cells: `[tool.tilewise]` of pyproject.toml, and the tag of
    the version there, so that a notebook always gets the course it was made for.
    """

    repository: str  # "owner/name" on GitHub
    tag: str

    @property
    def address(self) -> str:
        """The address for `git clone` and pip."""
        return f"https://github.com/{self.repository}"

    def colab(self, notebook: str) -> str:
        """The address at which Colab opens the notebook of that path in the repository."""
        place = f"{self.repository}/blob/{self.tag}/{notebook}"
        return f"https://colab.research.google.com/github/{place}"


@dataclass(frozen=True)
class Rooms:
    """The folders of one clone."""

    root: Path

    @property
    def lessons(self) -> Path:
        return self.root / "lessons"

    @property
    def solutions(self) -> Path:
        return self.root / "solutions"

    @property
    def course(self) -> Path:
        """A folder for each lesson: its contract, references, mistakes, hidden cases."""
        return self.root / "graders" / "course"

    def exercise(self, slug: str) -> Path:
        return self.course / slug / "exercise.py"

    def contract(self, slug: str) -> Path:
        return self.course / slug / "contract.py"

    def hidden(self, slug: str) -> Path:
        return self.course / slug / "hidden.py"

    @property
    def generated(self) -> Path:
        """The files that `tilewise build` derives from lessons and solutions."""
        return self.course / "generated"

    @property
    def order(self) -> Path:
        """The order of the lessons as data (see `graders.judge.discovery.numbers`)."""
        return self.generated / "order.json"

    @property
    def lesson_cells(self) -> Path:
        """Fingerprints of the lessons' cells (see `graders.judge.submission.given_cells`)."""
        return self.generated / "lesson_cells.json"

    @property
    def model_answers(self) -> Path:
        """The model answers of case studies (see `graders.judge.predictions.model_answer`)."""
        return self.generated / "model_answers.json"

    def kernels(self, exercise: str, lesson: str = "*") -> Path:
        """The folder of the kernels with a known verdict (see `graders.authoring.kernels`).

        lesson: needed only for a new folder; an existing one is found without it.
        """
        home = self.root / "tests" / "course"
        return next(home.glob(f"{lesson}/{exercise}"), home / lesson / exercise)

    def lesson_files(self) -> list[Path]:
        """The lessons in their order; [] when there are none."""
        return sorted(self.lessons.glob(LESSON_PATTERN))

    def lesson_file(self, slug: str) -> Path:
        """The lesson of that slug; otherwise a GraderError that lists the known ones."""
        for path in self.lesson_files():
            if slug in (path.stem, slug_of(path)):
                return path
        known = ", ".join(path.stem for path in self.lesson_files()) or "none"
        raise refusal(f"there is no lesson {slug!r} in {self.lessons}. Known: {known}")

    def name(self, path: Path) -> str:
        """The path as messages show it: relative to the root of the clone if possible."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)

    def settings(self) -> Settings:
        """The repository that badges and set-up cells point to."""
        path = self.root / "pyproject.toml"
        read = tomllib.loads(path.read_text())
        table = read.get("tool", {}).get("tilewise", {})
        if "repository" not in table:
            raise refusal(
                'pyproject.toml: the table [tool.tilewise] needs repository = "owner/name", '
                "the place that the Colab badges point to"
            )
        tag = table.get("tag") or f"v{read.get('project', {}).get('version', '0')}"
        return Settings(table["repository"], tag)


def slug_of(path: Path) -> str:
    """`lessons/04_strides.py` → `strides`."""
    return path.stem.partition("_")[2]


def find_root(start: Path | None = None) -> Path:
    """The clone that contains `start` (the working folder), else the one this module is in."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[2]):
        if (folder / "lessons").is_dir() and (folder / "pyproject.toml").is_file():
            return folder
    raise refusal(
        "this is not an instructor's clone: no folder with lessons/ and pyproject.toml here or "
        "above; clone the repository and run the command in it"
    )
