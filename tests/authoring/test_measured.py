"""Marks in a lesson become the figures that were measured, and a wrong mark says what there is."""

import json
import re
from pathlib import Path

import pytest

from graders.authoring.lesson import LessonError, read_lesson
from graders.authoring.measured import FIGURES, MARK, MarkError, with_figures

ROOT = Path(__file__).parents[2]
KEPT = {
    "versions": {"torch": "2.11.0+cu130", "triton": "3.6.0"},
    "later": [{"versions": {"torch": "2.12.0", "triton": "3.6.0"}}],
    "results": [
        {
            "name": "add",
            "bytes": 4e9,
            "flops": 6e12,
            "timings": {"plain": {"median_ms": 2.0}, "torch": {"median_ms": 1.0}},
        }
    ],
}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / FIGURES).parent.mkdir(parents=True)
    (tmp_path / FIGURES).write_text(json.dumps(KEPT))
    return tmp_path


@pytest.mark.parametrize(
    ("unit", "number"),
    [
        ("ms", "2.00"),
        ("µs", "2,000"),
        ("TFLOP/s", "3,000"),
        ("GB/s", "2,000"),
        ("% of torch", "50"),
    ],
)
def test_a_mark_becomes_its_number(clone: Path, unit: str, number: str) -> None:
    text = with_figures(f"It took {{h200: add | plain | {unit}}} in all.", clone)
    assert text == f"It took {number} in all."


def test_the_versions_are_those_of_all_runs(clone: Path) -> None:
    text = with_figures("({h200: versions})", clone)
    assert text == "(torch 2.11.0 and 2.12.0, Triton 3.6.0)"


@pytest.mark.parametrize(
    "mark", ["sub | plain | ms", "add | fast | ms", "add | plain | hours", "add", "a | b | c | d"]
)
def test_a_mark_that_names_nothing_says_so(clone: Path, mark: str) -> None:
    with pytest.raises(MarkError, match=r"known are|three parts"):
        with_figures(f"{{h200: {mark}}}", clone)


def test_the_author_hears_of_it_with_the_file(clone: Path) -> None:
    lesson = clone / "lessons" / "05_adding.py"
    lesson.parent.mkdir()
    lesson.write_text("# %% [markdown]\n# # Adding\n# {h200: nothing}\n\n# %% setup\n")
    with pytest.raises(LessonError, match=r"lessons/05_adding\.py: .*three parts"):
        read_lesson(lesson)


def test_without_a_mark_no_figures_are_needed(tmp_path: Path) -> None:
    assert with_figures("d is {d}", tmp_path) == "d is {d}"
    with pytest.raises(MarkError, match="missing"):
        with_figures("{h200: a | b | ms}", tmp_path)


def test_a_learners_notebook_shows_numbers_and_no_marks() -> None:
    marked = 0
    for path in (ROOT / "lessons").glob("[0-9][0-9]_*.py"):
        marked += len(re.findall(MARK, path.read_text()))
        assert "{h200" not in path.with_suffix(".ipynb").read_text(), f"{path.name}: build it"
    assert marked, "no lesson has a measured figure any more: is the mark still the right one?"
