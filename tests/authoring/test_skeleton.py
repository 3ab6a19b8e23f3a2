"""`tilewise new`: the files that it makes work, and the lint says what is still to be written."""

import importlib.util
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from graders.authoring.course import assignment, learners_notebook
from graders.authoring.lesson import read_lesson, read_solutions, stub
from graders.authoring.lint import house
from graders.authoring.lint.house import lint_house, lint_lesson
from graders.authoring.rooms import Rooms
from graders.authoring.skeleton import new_lesson
from graders.cli.new import new
from graders.judge import discovery
from graders.judge.records import Exercise, GraderError, Hidden
from tests.support.small_course import lesson_rooms

SLUG = "doubling"


@pytest.fixture
def rooms(tmp_path: Path) -> Rooms:
    return lesson_rooms(tmp_path)


def load(path: Path) -> object:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_file_in_each_room(rooms: Rooms) -> None:
    written = {rooms.name(path) for path in new_lesson(rooms, 16, SLUG, "double")}
    assert written == {
        "lessons/16_doubling.py",
        "solutions/doubling.py",
        "graders/course/doubling/__init__.py",
        "graders/course/doubling/contract.py",
        "graders/course/doubling/exercise.py",
        "graders/course/doubling/predictions.py",
        "graders/course/doubling/quiz.py",
        "graders/course/doubling/hidden.py",
        "tests/course/doubling/double/correct/textbook.py",
        "tests/course/doubling/double/wrong.toml",
    }


def test_the_files_agree_with_each_other(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    new_lesson(rooms, 16, SLUG, "double")
    record = load(rooms.exercise(SLUG)).EXERCISES[0]  # type: ignore[attr-defined]
    assert isinstance(record, Exercise)
    hidden = load(rooms.hidden(SLUG)).HIDDEN["double"]  # type: ignore[attr-defined]
    assert isinstance(hidden, Hidden)
    assert {case.part for case in hidden.cases} <= set(record.parts)
    solution = read_solutions(rooms.solutions / f"{SLUG}.py")["double"]
    assert stub(solution).count("# YOUR CODE HERE") == 2
    monkeypatch.setattr(discovery, "exercise", lambda name: record)
    path = rooms.lessons / f"16_{SLUG}.py"
    learner, source = learners_notebook(rooms, path), assignment(rooms, path, rooms.root / "source")
    assert "tl.store(output_ptr" not in learner.text
    assert source is not None
    assert "tl.store(output_ptr" in source.text


def test_the_lint_names_each_file_and_what_is_missing(
    rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_lesson(rooms, 16, SLUG, "double")
    record = load(rooms.exercise(SLUG))
    exercises = {"double": record.EXERCISES[0]}  # type: ignore[attr-defined]
    monkeypatch.setattr(discovery, "exercises", lambda: exercises)
    monkeypatch.setattr(discovery, "exercise", exercises.__getitem__)
    monkeypatch.setattr(discovery, "lessons", lambda: (SLUG,))
    monkeypatch.setattr(discovery, "quiz", lambda slug: load(rooms.course / SLUG / "quiz.py").QUIZ)  # type: ignore[attr-defined]
    messages = "\n".join(lint_lesson(rooms, rooms.lessons / f"16_{SLUG}.py"))
    assert "lessons/16_doubling.py: " in messages
    assert "solutions/doubling.py: " in messages
    assert "TODO" in messages
    assert "tests/course/doubling/double: has 1 correct kernels; write 8" in messages
    assert "traffic.json: nothing is known of double; run `tilewise build --traffic`" in messages
    # all else is left to the author to fill in: nothing that was written is wrong
    asked = ("TODO", "kernels", "traffic.json", "HIDDEN['double']", "CONTRACTS", "predictions.py")
    assert [line for line in messages.split("\n") if not any(word in line for word in asked)] == []


def test_a_taken_number_slug_or_file_is_refused(rooms: Rooms) -> None:
    with pytest.raises(GraderError, match=r"number 01 is taken by lessons/01_vector_add\.py"):
        new_lesson(rooms, 1, SLUG, "double")
    with pytest.raises(GraderError, match="slug 'vector_add' is taken"):
        new_lesson(rooms, 16, "vector_add", "double")
    new_lesson(rooms, 16, SLUG, "double")
    (rooms.lessons / f"16_{SLUG}.py").unlink()
    with pytest.raises(GraderError, match=r"never overwritten: solutions/doubling\.py"):
        new_lesson(rooms, 16, SLUG, "double")
    with pytest.raises(GraderError, match="is no name"):
        new_lesson(rooms, 17, "Über", "double")


def test_the_command_says_what_to_do_next(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(rooms.root)
    done = CliRunner().invoke(new, ["16", SLUG, "--exercise", "double"])
    assert done.exit_code == 0, done.output
    assert "wrote lessons/16_doubling.py" in done.output
    assert "tests/test_course.py -k doubling" in done.output


def test_a_file_without_a_counterpart_is_named(rooms: Rooms) -> None:
    shutil.copy(rooms.solutions / "vector_add.py", rooms.solutions / "stranded.py")
    rooms.kernels("nobody", "tour").mkdir(parents=True)
    messages = lint_house(rooms)
    assert any(message.startswith("solutions/stranded.py: ") for message in messages)
    assert any(message.startswith("tests/course/tour/nobody: ") for message in messages)


def test_a_solution_that_reached_the_learner_is_seen(rooms: Rooms) -> None:
    path = rooms.lessons / "01_vector_add.py"
    learner = learners_notebook(rooms, path)
    learner.path.write_text(learner.text)
    assert list(house._leaks(rooms, read_lesson(path))) == []
    store = "    tl.store(output_ptr + offsets, x + y, mask=mask)"
    leaked = learner.text.replace("    pass\\n", f"    pass\\n{store}\\n", 1)
    assert leaked != learner.text
    learner.path.write_text(leaked)
    messages = list(house._leaks(rooms, read_lesson(path)))
    assert messages
    assert "lessons/01_vector_add.ipynb: the cell vector_add holds the solution's" in messages[0]
