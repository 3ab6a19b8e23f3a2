"""An instructor's own nbgrader tests beside ours, graded by both commands."""

import json
import shutil
from pathlib import Path

import nbformat
import pytest

from graders.grading.own_tests import execution, session
from graders.judge.records import GraderError
from tests.support.own_assignment import (
    HIDDEN,
    HOMEWORK,
    RIGHT,
    STUB,
    TESTS,
    WRONG,
    Change,
    add_to_lesson,
    autograded,
    before,
    by_nbgrader,
    by_tilewise,
    generate,
    graded_cell,
    hand_in,
    homework,
    label,
    page,
    write,
)
from tests.support.small_course import ASSIGNMENT, SmallCourse, make

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]
FULL = {name: float(points) for name, (points, _) in TESTS.items()}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    course = make(tmp_path_factory.mktemp("own"))
    write(course, homework())
    return course


@pytest.fixture
def course(template: SmallCourse, tmp_path: Path) -> SmallCourse:
    folder = tmp_path / "course"
    shutil.copytree(template.folder, folder)
    return SmallCourse(folder, template.released)


def test_both_commands_give_what_the_tests_say(course: SmallCourse) -> None:
    hand_in(course, "ada", RIGHT)
    hand_in(course, "kurt", WRONG)
    hand_in(course, "margaret", STUB)
    hand_in(course, "bom", RIGHT, bom=True)
    wanted = {
        "ada": FULL,
        "bom": FULL,
        # 2 * x is right for 0 and 2: a visible test fails, a hidden one fails, half the credit
        "kurt": {"visible": 0.0, "hidden": 0.0, "partial": 2.0, "noisy": 1.0},
        "margaret": dict.fromkeys(FULL, 0.0),
    }
    marks, log = by_nbgrader(course)
    assert marks == wanted, log
    marks, results = by_tilewise(course)
    assert marks == wanted
    assert {result.status for result in results.values()} == {"graded"}
    assert {r.status for r in by_tilewise(course)[1].values()} == {"unchanged"}


def test_a_page_tells_visible_tests_and_no_hidden_one(course: SmallCourse) -> None:
    hand_in(
        course, "kurt", "def square(x):\n    if x < 0:\n        print(In)\n    return abs(x) * x"
    )
    hand_in(course, "tony", WRONG)
    assert by_nbgrader(course)[0]["kurt"] == FULL | {"hidden": 0.0}
    assert "hidden: a negative number" in json.dumps(autograded(course, "kurt"))  # for the grader
    kurt, tony = page(course, "kurt"), page(course, "tony")
    for said in (kurt, tony):
        assert HIDDEN not in said
        assert "a negative number" not in said
        assert "square(-5)" not in said
    assert "A hidden test failed" in kurt
    assert "the square of 3 is 9" in tony


def test_an_edited_test_grades_anew(course: SmallCourse) -> None:
    hand_in(course, "ada", RIGHT)
    assert by_tilewise(course)[0]["ada"] == FULL
    write(course, homework(TESTS | {"visible": (2, "assert square(3) == 10")}))
    marks, results = by_tilewise(course)
    assert results["ada"].status == "graded"
    assert marks["ada"] == FULL | {"visible": 0.0}


def test_files_of_the_assignment_are_there_and_an_edited_one_grades_anew(
    course: SmallCourse,
) -> None:
    (course.folder / "source" / HOMEWORK / "numbers.txt").write_text("9")
    (course.folder / "source" / HOMEWORK / "helper.py").write_text("three = 3")
    test = "from helper import three\nassert square(three) == int(open('numbers.txt').read())"
    write(course, homework({"file": (2, test)}))
    hand_in(course, "ada", RIGHT)
    assert by_nbgrader(course)[0]["ada"] == {"file": 2.0}
    assert by_tilewise(course)[0]["ada"] == {"file": 2.0}
    (course.folder / "source" / HOMEWORK / "numbers.txt").write_text("10")
    marks, results = by_tilewise(course)
    assert (results["ada"].status, marks["ada"]) == ("graded", {"file": 0.0})


@pytest.mark.parametrize(
    ("test", "points"),
    [
        ("11", None),  # above the maximum: stock nbgrader ends the student's grading
        ("-1", None),  # stock nbgrader gives full marks
        ("float('nan')", None),
        ("import numpy\nnumpy.float64(1.5)", 1.5),  # stock nbgrader gives full marks
        ("'a text'", 4.0),
        ("None", 4.0),
        ("import asyncio\nawait asyncio.sleep(0)\n1", 1.0),
        ("import asyncio\nasyncio.run(asyncio.sleep(0))\n1", 1.0),
        ("%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()\n1", 1.0),
        ("import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\n1", 1.0),
        ("open('made.txt', 'w').write('x')\nlen(open('made.txt').read())", 1.0),
        ("!pip install something\n1", 1.0),
        ("input()", 0.0),
        ("%%time\nassert square(3) == 9", 4.0),
        ("%%timeit -n1 -r1\nsquare(3)", 4.0),
        ("import torch\nassert int(torch.arange(4).sum()) == 6", 4.0),
        ("def broken(", 0.0),
        ("import sys\nsys.exit()", 0.0),
    ],
)
def test_cells_mean_what_they_mean_in_nbgrader(
    course: SmallCourse, test: str, points: float | None
) -> None:
    write(course, homework({"test": (4, test), "after": (1, "assert square(3) == 9")}))
    hand_in(course, "ada", RIGHT)
    marks, log = by_nbgrader(course)
    assert marks == {"ada": {"test": points, "after": 1.0}}, (log, autograded(course, "ada"))


def test_a_failing_cell_before_a_test_costs_nothing(course: SmallCourse) -> None:
    hand_in(course, "ada", RIGHT, before("1 / 0"))
    hand_in(course, "kurt", RIGHT, before("%matplotlib no-such-thing"))
    marks, _ = by_nbgrader(course)
    assert marks == {"ada": FULL, "kurt": FULL}


def test_an_endless_cell_is_interrupted_and_the_tests_go_on(course: SmallCourse) -> None:
    with open(course.folder / "nbgrader_config.py", "a") as config:
        config.write("c.AskJudge.cell_seconds = 2\n")
    hand_in(course, "ada", RIGHT, before("while True: pass"))
    hand_in(course, "kurt", "def square(x):\n    while x == 3: pass\n    return x * x")
    marks, _ = by_nbgrader(course)
    assert marks == {"ada": FULL, "kurt": FULL | {"visible": 0.0, "partial": 0.0}}


STUBBORN = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
FLOOD = """
import os
while True:
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, b"x" * 1_000_000)
        except OSError:
            pass
"""

FILES = """
for number in range(100):
    with open(f"file{number}", "wb") as file:
        file.write(b"x" * 10_000_000)
while True: pass
"""


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import os\nos._exit(0)", "ended"),
        ("import ctypes\nctypes.string_at(0)", "ended"),
        (STUBBORN, "could not be interrupted"),
        (FLOOD, "more than"),
        (FILES, "more than"),
    ],
)
def test_what_was_not_run_is_open_and_named(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch, code: str, why: str
) -> None:
    monkeypatch.setattr(execution, "CELL_SECONDS", 2.0)
    hand_in(course, "mallory", RIGHT, before(code))
    hand_in(course, "zoe", RIGHT)
    marks, log = by_nbgrader(course)
    assert marks == {"mallory": dict.fromkeys(FULL), "zoe": FULL}
    assert "mallory" in log
    assert "UNGRADED" in log
    assert why in log
    marks, results = by_tilewise(course)
    assert marks == {"mallory": dict.fromkeys(FULL), "zoe": FULL}
    assert results["mallory"].status == "ungraded"
    assert "not run" in results["mallory"].reason
    assert "not graded yet" in page(course, "mallory")


def _every_cell_markdown(notebook: nbformat.NotebookNode) -> None:
    for cell in notebook.cells:
        cell.cell_type = "markdown"
        for key in ("outputs", "execution_count"):
            cell.pop(key, None)


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("get_ipython().ast_transformers.append(lambda tree: None)", None),
        ("get_ipython().input_transformers_cleanup.append(lambda lines: [])", None),
        ("get_ipython().input_transformers_post.append(lambda lines: [])", None),
        ("get_ipython().set_custom_exc((Exception,), lambda *a, **k: None)", None),
        ("get_ipython().showtraceback = lambda *a, **k: None", None),
        ("import sys\nsys.displayhook = print", None),
        ("import builtins\nbuiltins.AssertionError = None\nbuiltins.sum = lambda x: 4", None),
        ("get_ipython().events.register('pre_run_cell', lambda *a: exit())", None),
        ("", _every_cell_markdown),
    ],
)
def test_simple_forgeries_gain_nothing(
    course: SmallCourse, code: str, change: Change | None
) -> None:
    hand_in(course, "mallory", WRONG, change or before(code))
    marks, _ = by_nbgrader(course)
    for name, points in {"visible": 0.0, "hidden": 0.0}.items():
        assert marks["mallory"][name] == points
    assert marks["mallory"]["partial"] in (0.0, 2.0)


THEFT = """
import os, pathlib, socket, subprocess
got = []
def attempt(name, work):
    try:
        work()
        got.append(name)
    except (OSError, RuntimeError):
        pass
course = pathlib.Path({course!r})
attempt("gradebook", lambda: (course / "gradebook.db").read_bytes())
attempt("write", lambda: open(course / "gradebook.db", "ab").close())
os.chmod(course / "gradebook.db", 0)
attempt("source", lambda: (course / "source/homework/homework.ipynb").read_text())
attempt("others", lambda: os.listdir(course / "submitted"))
attempt("autograded", lambda: os.listdir(course / "autograded"))
attempt("network", lambda: socket.socket())
attempt("program", lambda: subprocess.run(["true"]))
attempt("fork", os.fork)
attempt("hidden", lambda: __import__("graders.course.vector_add.hidden"))
attempt("signal", lambda: os.kill(os.getppid(), 0))
print("GOT", got, [p.name for p in pathlib.Path(".").iterdir()])
assert not got
"""


def test_a_thief_finds_nothing(course: SmallCourse) -> None:
    """The learner's own function says what it reached, while a test runs it."""
    theft = THEFT.format(course=str(course.folder))
    body = "\n".join(f"    {line}" for line in theft.splitlines())
    hand_in(course, "mallory", f"def square(x):\n{body}\n    return x * x")
    mode = (course.folder / "gradebook.db").stat().st_mode
    marks, _ = by_nbgrader(course)
    assert marks["mallory"] == FULL, autograded(course, "mallory")
    assert (course.folder / "gradebook.db").stat().st_mode == mode
    said = json.dumps(autograded(course, "mallory"))
    assert "GOT [] []" in said  # neither a file nor a notebook lies beside it


def test_half_a_gigabyte_of_output_is_cut_and_costs_nothing(course: SmallCourse) -> None:
    loud = "def square(x):\n    for _ in range(500): print('x' * 1_000_000)\n    return x * x"
    write(course, homework({"test": (1, "assert square(3) == 9")}))
    hand_in(course, "ada", loud)
    assert by_nbgrader(course)[0]["ada"] == {"test": 1.0}
    path = course.folder / "autograded" / "ada" / HOMEWORK / f"{HOMEWORK}.ipynb"
    assert path.stat().st_size < 1_000_000


def test_without_a_jail_own_tests_stay_open(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "WITHOUT", ("landlock",))
    hand_in(course, "ada", RIGHT)
    marks, log = by_nbgrader(course)
    assert marks == {"ada": dict.fromkeys(FULL)}
    assert "UNGRADED" in log
    assert "sandbox" in log
    marks, results = by_tilewise(course)
    assert marks == {"ada": dict.fromkeys(FULL)}
    assert results["ada"].status == "ungraded"
    assert "not graded yet" in page(course, "ada")
    from graders.grading.class_report import class_report

    report = class_report(course.folder, HOMEWORK, f"sqlite:///{course.folder / 'gradebook.db'}")
    assert "sandbox" in report.ungraded[0].reason
    monkeypatch.setattr(session, "WITHOUT", ())
    assert by_tilewise(course)[0] == {"ada": FULL}


def test_another_language_stays_open(course: SmallCourse) -> None:
    path = course.folder / "source" / HOMEWORK / f"{HOMEWORK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata["kernelspec"] = {"display_name": "R", "language": "R", "name": "ir"}
    nbformat.write(notebook, path)
    with open(course.folder / "nbgrader_config.py", "a") as config:
        config.write("c.ClearSolutions.code_stub['R'] = 'stop()'\n")
    generate(course, HOMEWORK)
    hand_in(course, "ada", RIGHT)
    marks, log = by_nbgrader(course)
    assert marks == {"ada": dict.fromkeys(FULL)}
    assert "the kernel 'ir'" in log


def test_a_task_and_an_answer_that_a_person_grades_stay_so(course: SmallCourse) -> None:
    answer = nbformat.v4.new_code_cell("YOUR CODE")
    task = label(nbformat.v4.new_markdown_cell("Draw the square."), "draw", 3, task=True)
    write(course, [*homework(), label(answer, "plot", 2, solution=True), task])
    hand_in(course, "ada", "print('drawn')\n1 / 0", answer="plot")
    marks, log = by_nbgrader(course)
    assert marks["ada"]["plot"] is None
    assert marks["ada"]["draw"] is None, log
    cells = {c.id: c for c in autograded(course, "ada").cells}
    assert cells["draw"].metadata.nbgrader.task
    assert cells["plot"].outputs == []  # it stands behind the last test, so nothing has run it
    assert by_tilewise(course)[0] == marks


def test_an_assignment_of_two_notebooks_is_for_nbgraders_command(course: SmallCourse) -> None:
    folder = write(course, homework(), "pair").parent
    (folder / "pair.ipynb").rename(folder / "one.ipynb")
    shutil.copy(folder / "one.ipynb", folder / "two.ipynb")
    generate(course, "pair")
    with pytest.raises(GraderError, match="use `nbgrader autograde pair`"):
        by_tilewise(course, "pair")


LESSON_TEST = "import torch\nassert vector_add(torch.ones(3), torch.ones(3)).tolist() == [2, 2, 2]"
MODEL = Path(__file__).parents[2] / "solutions" / "vector_add.py"


def test_an_assert_in_a_lesson_of_ours_is_run(course: SmallCourse) -> None:
    add_to_lesson(course, graded_cell("mine", 2, LESSON_TEST))
    hand_in(course, "ada", f"right = 1\n{MODEL.read_text()}", name=ASSIGNMENT, answer="vector_add")
    hand_in(course, "margaret", "wrong = 1", name=ASSIGNMENT, answer="vector_add")
    hand_in(course, "stub", STUB, name=ASSIGNMENT)
    marks, results = by_tilewise(course, ASSIGNMENT)
    assert {name: found["mine"] for name, found in marks.items()} == {
        "ada": 2.0, "margaret": 0.0, "stub": 0.0
    }, results  # fmt: skip
    assert marks["ada"]["vector_add-hidden"] == 6.0
    assert marks["stub"]["vector_add-hidden"] == 0.0


def test_a_lesson_without_own_tests_runs_nothing(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a session was started")

    monkeypatch.setattr(session.Session, "run", never)
    hand_in(course, "ada", "right = 1", name=ASSIGNMENT, answer="vector_add")
    marks, _ = by_tilewise(course, ASSIGNMENT)
    assert marks["ada"]["vector_add-hidden"] == 6.0


def test_an_assert_beside_the_judges_call_counts_too(course: SmallCourse) -> None:
    path = course.folder / "source" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    cell = next(c for c in notebook.cells if c.id == "vector_add-public")
    cell.source += "\nassert vector_add.__doc__ == 'Adds.'"
    nbformat.write(notebook, path)
    generate(course, ASSIGNMENT)
    good = "def vector_add(x, y):\n    'Adds.'\n    right = 1"
    hand_in(course, "ada", good, name=ASSIGNMENT, answer="vector_add")
    hand_in(course, "kurt", good.replace("Adds", "Sub"), name=ASSIGNMENT, answer="vector_add")
    marks, _ = by_tilewise(course, ASSIGNMENT)
    assert marks["ada"]["vector_add-public"] == 4.0
    assert marks["kurt"]["vector_add-public"] == 0.0
    assert marks["kurt"]["vector_add-hidden"] == 6.0
    assert "All of them are right" in page(course, "ada", ASSIGNMENT)
    assert "vector_add.__doc__ ==" in page(course, "kurt", ASSIGNMENT)
