"""Lint of the lessons' texts: every convention of a lesson, each with the mend in its message."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from pathlib import Path

import pytest

import triton_util
from graders.authoring.lesson import Lesson, read_lesson
from graders.authoring.rooms import slug_of
from graders.judge import discovery
from graders.judge.predictions import predictions
from triton_util import explore, figures

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "lessons").glob("[0-9][0-9]_*.py"))
UNGRADED = {"tour"}
WIDTH = 120  # characters of a code line; wider ones scroll in a notebook
SHOULD_NOT_APPEAR = ("TODO", "FIXME", "lorem", "click here", "simply ", "obviously")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "path" in metafunc.fixturenames:
        metafunc.parametrize("path", LESSONS, ids=lambda path: path.stem)


@cache
def lesson(path: Path) -> Lesson:
    return read_lesson(path)


def code(path: Path) -> list[ast.Module]:
    """The code cells, parsed; a cell that does not parse fails here."""
    kinds = ("code", "setup", "gpu")
    return [ast.parse(cell.source) for cell in lesson(path).cells if cell.kind in kinds]


def calls(path: Path, name: str) -> list[ast.Call]:
    """The calls of the function `name` in the code cells."""
    return [
        node
        for module in code(path)
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name | ast.Attribute)
        and (node.func.id if isinstance(node.func, ast.Name) else node.func.attr) == name
    ]


def text(path: Path) -> str:
    """All that a learner reads: the markdown cells."""
    return "\n".join(
        cell.source for cell in lesson(path).cells if cell.kind in ("markdown", "case_study")
    )


def attributes(path: Path, owner: str) -> set[str]:
    """The names used as `owner.name` in the code cells."""
    return {
        node.attr
        for module in code(path)
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == owner
    }


def test_there_are_lessons() -> None:
    assert len(LESSONS) >= 9


def test_the_title_and_the_time_stand_in_the_first_cell(path: Path) -> None:
    first = lesson(path).cells[0].source
    assert first.startswith("# "), f"{path.name}: the first cell starts with the title"
    assert re.search(r"\b(\d+|ten) minutes", first), f"{path.name}: say how long it takes"


def test_a_prediction_is_asked_for_before_it_is_made(path: Path) -> None:
    cells = lesson(path).cells
    made = [i for i, cell in enumerate(cells) if "predict(" in cell.source]
    assert made, f'{path.name}: no prediction; add one and ask for it by predict("id", None)'
    for index in made:
        before = "\n".join(cell.source for cell in cells[max(0, index - 8) : index])
        asked = "**Predict" in before or "Try:" in before
        assert asked, f"{path.name}, cell {index}: ask for the prediction in the text before it"


def test_predictions_are_known_and_left_open(path: Path) -> None:
    """Their answers stand with the judge, and the notebook holds none."""
    for call in calls(path, "predict"):
        name, guess = call.args
        assert isinstance(name, ast.Constant)
        assert name.value in predictions(), (
            f"{path.name}: {name.value!r} has no record in graders/course/<slug>/predictions.py"
        )
        assert isinstance(guess, ast.Constant), f"{path.name}: {name.value}: leave None"
        assert guess.value is None, f"{path.name}: {name.value}: leave None for the learner"


SECOND_EDITION = (
    *("tour", "vector_add", "debugging", "memory_vs_compute", "strides", "tiles_2d"),
    "autograd",
    "below_triton",
    "low_precision",
    "persistent",
    "decoding",
    "atomics_and_scans",
    "randomness",
    "experts",
    "capstone",
)


def test_no_answer_of_a_prediction_stands_in_the_notebook(path: Path) -> None:
    asked = {ast.literal_eval(call.args[0]) for call in calls(path, "predict")}
    records = f"graders.course.{slug_of(path)}.predictions"
    recorded = importlib.import_module(records).PREDICTIONS
    assert set(recorded) == asked
    for record in recorded.values():
        for sentence in (part for part in record.because.split(". ") if len(part.split()) > 3):
            assert sentence not in text(path), f"{path.name}: {sentence!r} gives an answer away"


@pytest.mark.parametrize("slug", SECOND_EDITION)
def test_the_first_code_comes_within_five_minutes(slug: str) -> None:
    """Of reading: a slow reader takes 150 words in a minute."""
    (path,) = (path for path in LESSONS if slug_of(path) == slug)
    words = 0
    for cell in lesson(path).cells:
        if cell.kind == "code":
            break
        words += len(cell.source.split()) if cell.kind == "markdown" else 0
    assert words <= 5 * 150, f"{path.name}: {words} words before the first code"


def test_each_case_study_can_be_opened(path: Path) -> None:
    opened = [ast.literal_eval(call.args[0]) for call in calls(path, "answer")]
    assert opened == lesson(path).names("case_study")


def test_what_is_caught_was_asked_for_under_that_name(path: Path) -> None:
    asked: set[str] = set()
    for module in code(path):
        for node in module.body:
            if isinstance(node, ast.Assign) and _is_none(node.value):
                asked |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    used = {
        arg.id for call in calls(path, "catch") for arg in call.args if isinstance(arg, ast.Name)
    } & asked
    assert used == asked, f"{path.name}: asked for {asked - used}, caught {used - asked}"


def _is_none(node: ast.expr) -> bool:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return all(isinstance(part, ast.Constant) and part.value is None for part in parts)


def test_the_quiz_of_the_lesson_is_asked_once(path: Path) -> None:
    asked = [ast.unparse(call.args[0]) for call in calls(path, "quiz")]
    assert asked == [f"'{slug_of(path)}'"], f'{path.name}: one cell quiz("{slug_of(path)}")'


def test_progress_ends_the_lesson(path: Path) -> None:
    assert calls(path, "progress"), f"{path.name}: a cell with progress()"


def test_every_exercise_states_its_contract_and_names_its_hint(path: Path) -> None:
    cells = lesson(path).cells
    if slug_of(path) in UNGRADED:
        assert not lesson(path).names("exercise")
        return
    assert lesson(path).names("exercise"), f"{path.name}: a lesson has an exercise"
    previous = 0
    for index, cell in enumerate(cells):
        if cell.kind == "exercise":
            before = "\n".join(other.source for other in cells[previous:index])
            assert f"## Exercise: `{cell.name}`" in before, f"{path.name}: heading of {cell.name}"
            assert "**The contract.**" in before, f"{path.name}: contract of {cell.name}"
            assert f'hint("{cell.name}")' in before, f"{path.name}: mention the hint of {cell.name}"
            previous = index


def test_case_studies_have_points_a_model_answer_and_a_rubric_that_adds_up(path: Path) -> None:
    if slug_of(path) in UNGRADED:
        return
    studies = [cell for cell in lesson(path).cells if cell.kind == "case_study"]
    assert studies, f"{path.name}: a lesson has a case study"
    for study in studies:
        answer = lesson(path).model_answer(study.name)
        given = sum(int(n) for n in re.findall(r"^- (\d+) points?:", answer, re.MULTILINE))
        assert given == study.points, f"{path.name}: the rubric gives {given} of {study.points}"
        stated = re.search(r"\*\*Rubric \((\d+) points\)\*\*", answer)
        assert stated, f"{path.name}: **Rubric (N points)**"
        assert int(stated[1]) == study.points


def test_the_gpu_part_is_skipped_honestly(path: Path) -> None:
    if slug_of(path) in UNGRADED:
        return
    cells = [cell for cell in lesson(path).cells if cell.kind == "gpu"]
    assert cells, f"{path.name}: a lesson has a part for the GPU"
    assert "## For the GPU" in text(path)
    for cell in cells:
        assert "if ON_GPU:" in cell.source, f"{path.name}: guard the cell by a plain `if ON_GPU:`"
        assert 'print("Not run:' in cell.source, f"{path.name}: say that it was not run, and why"


def test_the_time_of_an_exercise_is_never_shown_unchecked(path: Path) -> None:
    exercises = set(lesson(path).names("exercise"))
    for cell in lesson(path).cells:
        if cell.kind != "gpu":
            continue
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("do_bench"):
                names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
                unchecked = sorted(names & exercises)
                assert not unchecked, f"{path.name}: time {unchecked} with `time_beside`"


def test_names_of_figures_and_explorers_exist(path: Path) -> None:
    for name in attributes(path, "figures"):
        assert hasattr(figures, name), f"{path.name}: figures.{name} does not exist"
    for name in attributes(path, "explore"):
        assert hasattr(explore, name), f"{path.name}: explore.{name} does not exist"
    for module in code(path):
        for node in ast.walk(module):
            if isinstance(node, ast.ImportFrom) and node.module == "triton_util":
                for alias in node.names:
                    submodule = (ROOT / "triton_util" / alias.name).is_dir()
                    assert alias.name in triton_util.__all__ or submodule, (path.name, alias.name)


def test_every_widget_has_its_text_next_to_it(path: Path) -> None:
    used = attributes(path, "explore")
    for name in used & {n.removesuffix("_text") for n in explore.__all__ if n.endswith("_text")}:
        assert f"{name}_text" in used, f"{path.name}: print(explore.{name}_text(...)) after it"


def test_every_figure_is_the_last_expression_of_its_cell(path: Path) -> None:
    """A figure that is made in the middle of a cell is never shown."""
    for module in code(path):
        for statement in module.body[:-1]:
            shown = isinstance(statement, ast.Expr) and "figures." in ast.unparse(statement)
            assert not shown, f"{path.name}: {ast.unparse(statement)} is not shown"


def test_pictures_come_from_code_and_not_from_links(path: Path) -> None:
    assert "![" not in text(path), f"{path.name}: figures are made by code, with alternative text"
    assert "<img" not in text(path)


def test_nothing_is_asserted_about_a_learners_result(path: Path) -> None:
    for module in code(path):
        for node in module.body:
            assert not isinstance(node, ast.Assert), f"{path.name}: use check(...) or print"


def test_code_lines_fit_a_notebook(path: Path) -> None:
    for cell in lesson(path).cells:
        if cell.kind in ("code", "gpu"):
            for line in cell.source.splitlines():
                assert len(line) <= WIDTH, f"{path.name}: break the line: {line}"


def test_plain_words(path: Path) -> None:
    for phrase in SHOULD_NOT_APPEAR:
        assert phrase not in text(path).replace("\n", " "), f"{path.name}: {phrase!r}"


def test_figures_of_speed_name_their_hardware(path: Path) -> None:
    """TFLOP/s and GB/s in a measured sentence say on which card."""
    for paragraph in re.split(r"\n\s*\n", text(path)):
        if re.search(r"[Mm]easured (on|at)", paragraph):
            assert re.search(r"H200|H100|A100|T4", paragraph), f"{path.name}: {paragraph[:80]}"


def test_links_to_other_lessons_name_lessons_of_the_plan(path: Path) -> None:
    for number in re.findall(r"[Ll]essons? (\d\d)", text(path)):
        assert 0 <= int(number) <= 21, f"{path.name}: there is no lesson {number}"


def test_the_tour_checks_no_exercise_of_another_lesson() -> None:
    """What it solves would be counted as the learner's own, before the lesson has begun."""
    path = next(path for path in LESSONS if slug_of(path) == "tour")
    calls = [node for tree in code(path) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    checked = {ast.unparse(call.args[0]) for call in calls if ast.unparse(call.func) == "check"}
    assert checked
    assert {discovery.exercise(name).lesson for name in checked} == {"tour"}
