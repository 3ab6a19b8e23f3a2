"""From a small lesson to its two notebooks: the learner's, and nbgrader's source."""

import json
import shutil
import tomllib
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from graders.authoring.course import assignment, built_course, stale
from graders.authoring.course import build as build_each
from graders.authoring.grade_cells import hidden_points, public_points
from graders.authoring.lesson import read_lesson, read_solutions, solution_lines, stub
from graders.authoring.rooms import Rooms, find_root
from graders.cli.build import build as build_command
from graders.judge import discovery
from graders.judge.records import GraderError

LESSON = """\
# %% [markdown]
# # Adding two vectors
#
# A short text.

# %% setup

# %% [markdown]
# Now you.

# %% exercise="vector_add"

# %% gpu
if torch.cuda.is_available():
    print("fast")

# %% [markdown] case_study="contiguity" points=5
# Why does `x[:, :2]` fail?

# %% [markdown] model_answer="contiguity"
# Because its rows lie further apart than they are wide.
#
# **Rubric** 3 points for the row stride, 2 for the repair.
"""


@pytest.fixture
def rooms(tmp_path: Path) -> Rooms:
    clone = Rooms(find_root(Path(__file__)))
    shutil.copy(clone.root / "pyproject.toml", tmp_path)
    for name in ("lessons", "solutions"):
        (tmp_path / name).mkdir()
    shutil.copy(clone.solutions / "vector_add.py", tmp_path / "solutions")
    (tmp_path / "lessons" / "01_vector_add.py").write_text(LESSON)
    return Rooms(tmp_path)


def build(rooms: Rooms) -> list[Path]:
    return list(build_each(rooms))


def cells(path: Path) -> dict[str, nbformat.NotebookNode]:
    return {cell.id: cell for cell in nbformat.read(path, as_version=4).cells}


def learner(rooms: Rooms) -> dict[str, nbformat.NotebookNode]:
    return cells(rooms.lessons / "01_vector_add.ipynb")


def source(rooms: Rooms) -> dict[str, nbformat.NotebookNode]:
    built = assignment(rooms, rooms.lesson_file("vector_add"), rooms.root / "source")
    assert built is not None
    return {cell.id: cell for cell in nbformat.reads(built.text, as_version=4).cells}


def test_the_learner_gets_a_stub_and_nothing_of_the_solution(rooms: Rooms) -> None:
    build(rooms)
    text = (rooms.lessons / "01_vector_add.ipynb").read_text()
    solution = read_solutions(rooms.solutions / "vector_add.py")["vector_add"]
    found = learner(rooms)["vector_add"].source
    assert found.count("# YOUR CODE HERE\n    pass") == 2
    assert "def vector_add(x: torch.Tensor, y: torch.Tensor)" in found
    for line in solution_lines(solution):
        assert line not in found
    assert "Rubric" not in text
    assert "further apart" not in text
    assert "grade_cell" not in text


def test_the_instructor_gets_solution_grade_cells_and_model_answer(rooms: Rooms) -> None:
    build(rooms)
    found = source(rooms)
    exercise = discovery.exercise("vector_add")
    public, hidden = found["vector_add-public"], found["vector_add-hidden"]
    assert found["vector_add"].metadata.nbgrader.solution
    assert public.metadata.nbgrader.points == public_points(exercise) > 0
    assert hidden.metadata.nbgrader.points == hidden_points(exercise) > 0
    assert public_points(exercise) + hidden_points(exercise) == exercise.max_points
    assert "### BEGIN HIDDEN TESTS" in hidden.source
    assert 'grade_cell("vector_add", part="hidden")' in hidden.source
    assert "Rubric" in found["contiguity"].source
    assert found["contiguity"].metadata.nbgrader.points == 5


def test_both_notebooks_are_valid_and_without_outputs(rooms: Rooms) -> None:
    build(rooms)
    for found in (learner(rooms), source(rooms)):
        for cell in found.values():
            assert cell.get("outputs", []) == []
            assert cell.get("execution_count") is None


def test_only_a_picture_of_a_learners_notebook_is_an_output(rooms: Rooms) -> None:
    lesson = rooms.lessons / "01_vector_add.py"
    imports = "# %% setup\nfrom triton_util import figures\n"
    drawing = '# %%\nfigures.blocks_1d(7, 4)\n\n# %%\nprint("run")\n\n# %% [markdown]\n# Now you.'
    text = LESSON.replace("# %% setup\n", imports).replace("# %% [markdown]\n# Now you.", drawing)
    lesson.write_text(text)
    build(rooms)
    shown = {name: cell.outputs for name, cell in learner(rooms).items() if cell.get("outputs")}
    assert list(shown) == ["vector_add-02"]
    assert not any(cell.get("outputs") for cell in source(rooms).values())
    assert stale(rooms) == []


def test_two_builds_are_identical_and_the_second_writes_nothing(rooms: Rooms) -> None:
    first = {built.path: built.text for built in built_course(rooms)}
    assert build(rooms)
    assert first == {built.path: built.text for built in built_course(rooms)}
    assert build(rooms) == []


def test_stale_names_changed_and_orphaned_notebooks(rooms: Rooms) -> None:
    build(rooms)
    assert stale(rooms) == []
    lesson = rooms.lessons / "01_vector_add.py"
    lesson.write_text(lesson.read_text().replace("A short text.", "Another text."))
    orphan = rooms.lessons / "09_gone.ipynb"
    orphan.write_text("{}")
    assert stale(rooms) == [rooms.lessons / "01_vector_add.ipynb", orphan]


def test_the_command_checks_and_builds(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(rooms.root)
    runner = CliRunner()
    before = runner.invoke(build_command, ["--check"])
    assert before.exit_code == 1
    assert "lessons/01_vector_add.ipynb is not what its lesson gives" in before.output
    assert runner.invoke(build_command, []).exit_code == 0
    assert runner.invoke(build_command, ["--check"]).exit_code == 0
    unknown = runner.invoke(build_command, ["--lesson", "strides"])
    assert unknown.exit_code == 1
    assert "Known: 01_vector_add" in unknown.output


def test_a_broken_lesson_does_not_keep_the_others_from_being_built(rooms: Rooms) -> None:
    (rooms.lessons / "00_broken.py").write_text("# %% [markdown]\n# # Broken\n")
    with pytest.raises(GraderError, match=r"^lessons/00_broken.py: the first code cell"):
        build(rooms)
    assert (rooms.lessons / "01_vector_add.ipynb").is_file()


def test_the_badge_points_to_the_setting(rooms: Rooms) -> None:
    build(rooms)
    link = rooms.settings().colab("lessons/01_vector_add.ipynb")
    assert link in learner(rooms)["colab-badge"].source
    version = tomllib.loads((rooms.root / "pyproject.toml").read_text())["project"]["version"]
    assert link.endswith(f"/blob/v{version}/lessons/01_vector_add.ipynb")
    setup = next(cell for cell in learner(rooms).values() if "google.colab" in cell.source)
    assert f"@v{version}" in setup.source


def test_the_setup_cell_prepares_before_triton_is_imported(rooms: Rooms) -> None:
    build(rooms)
    code = [cell for cell in learner(rooms).values() if cell.cell_type == "code"]
    setup, imports = code[:2]
    assert "prepare()" in setup.source
    assert "import triton\n" not in setup.source
    assert "import triton\n" in imports.source
    for cell in (setup, imports):
        compile(cell.source, f"<{cell.id}>", "exec")


def test_the_setup_cell_is_folded_and_the_imports_are_not(rooms: Rooms) -> None:
    build(rooms)
    setup, imports = [c for c in learner(rooms).values() if c.cell_type == "code"][:2]
    assert setup.metadata == {"jupyter": {"source_hidden": True}, "cellView": "form"}
    assert setup.source.startswith("# @title ")
    assert imports.metadata == {}


def build_and_name(rooms: Rooms, path: Path) -> str:
    build(rooms)
    return read_lesson(path).title


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# %% setup\n", "", "the first code cell must be `# %% setup`"),
        ('exercise="vector_add"', 'exercise="vector_ad"', "has no cell `# %% vector_ad`"),
        ("points=5", "", "needs its points"),
        ('model_answer="contiguity"', 'model_answer="other"', "belongs to no case study"),
        ("**Rubric**", "Points:", "**Rubric**"),
        ("# %% gpu", "# %% tpu", "unknown kind of cell `# %% tpu`"),
        ('exercise="vector_add"', 'exercize="vector_add"', "unknown cell metadata exercize"),
        ("# # Adding", "# Adding", "needs a heading"),
    ],
)
def test_an_authors_mistake_names_the_file_and_the_fix(
    rooms: Rooms, old: str, new: str, message: str
) -> None:
    path = rooms.lessons / "01_vector_add.py"
    assert old in LESSON
    path.write_text(LESSON.replace(old, new, 1))
    with pytest.raises(GraderError, match=r"^lessons/01_vector_add.py: ") as caught:
        build_and_name(rooms, path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text", ["def f():\n    return 1", "### END SOLUTION\n### BEGIN SOLUTION", "### BEGIN SOLUTION"]
)
def test_a_solution_without_proper_regions_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "vector_add.py"
    path.write_text(f"# %% vector_add\n{text}\n")
    with pytest.raises(GraderError, match="regions"):
        read_solutions(path)


def test_the_stub_keeps_indentation_and_parses() -> None:
    body = "    ### BEGIN SOLUTION\n    y = x\n    return y\n    ### END SOLUTION"
    solution = f"def f(x):\n    # plan\n{body}"
    assert stub(solution) == "def f(x):\n    # plan\n    # YOUR CODE HERE\n    pass"
    assert solution_lines(solution) == ["y = x", "return y"]


def test_the_built_notebook_is_stable_json(rooms: Rooms) -> None:
    build(rooms)
    text = (rooms.lessons / "01_vector_add.ipynb").read_text()
    assert text == json.dumps(json.loads(text), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
