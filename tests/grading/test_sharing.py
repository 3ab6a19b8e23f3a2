"""Groups of equal kernels among 500 submissions: all that were planted, and no other."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from graders.cli.report import report
from graders.grading import sharing as module
from graders.grading.sharing import Sharing, sharing
from graders.judge import discovery
from graders.judge.submission.reader import shared as reader
from tests.support.small_course import ASSIGNMENT, SmallCourse, make

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]
EXERCISE = discovery.exercise("vector_add")
ADD = """\
@triton.jit
def {k}(a, b, c, n, BLOCK: tl.constexpr):
    {o} = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # {comment}
    {m} = {o} < n
    v = tl.load(a + {o}, mask={m}, other={constant})
    tl.store(c + {o}, v + tl.load(b + {o}, mask={m}), mask={m})


def vector_add(x, y):
    out = torch.empty_like(x)
    {k}[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK=64)
    return out
"""
HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n"


def written(number: int, constant: int) -> str:
    """One program; everything but `constant` differs in name only."""
    return HEAD + ADD.format(
        k=f"kernel_{number}", o=f"o{number}", m=f"m{number}", comment=number, constant=constant
    )


def hand_in(course: Path, student: str, text: str) -> None:
    path = course / "submitted" / student / ASSIGNMENT / f"{ASSIGNMENT}.py"
    path.parent.mkdir(parents=True)
    path.write_text(text)


def found(course: Path) -> Sharing:
    return sharing(course, ASSIGNMENT, [EXERCISE])


def groups(result: Sharing) -> list[set[str]]:
    return [{sharer.student for sharer in group.sharers} for group in result.groups]


def test_planted_groups_among_500_are_found_and_no_others(tmp_path: Path) -> None:
    """Every program has a constant of its own, but for three groups; a person is asked once."""
    planted = [set(range(7, 500, 100)), {11, 12}, {498, 3, 250}]
    alike = {number: min(group) for group in planted for number in group}
    for number in range(500):
        hand_in(tmp_path, f"s{number:03}", written(number, alike.get(number, number)))
    asked = []
    ask = reader().ask
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader(), "ask", lambda *a: asked.append(a[0]) or ask(*a))
        result = found(tmp_path)
    assert sorted(map(sorted, groups(result))) == sorted(
        sorted(f"s{number:03}" for number in group) for group in planted
    )
    assert (result.read, result.unread, result.taught) == (500, (), [])
    assert len(asked) == 500  # each is read once, whatever the others are
    assert "lines 7 to 11" in result.groups[0].sharers[0].places[0]
    assert "def kernel_7(" in result.groups[0].text


def test_what_most_of_a_class_wrote_is_not_asked_about(tmp_path: Path) -> None:
    for number in range(5):
        hand_in(tmp_path, f"s{number}", written(number, 0 if number < 3 else number))
    result = found(tmp_path)
    assert result.asked == []
    assert [group.taught for group in result.taught] == ["more than half of the class wrote them"]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    """Two have the model solution, renamed; two share their own; one wrote no kernel."""
    made = make(tmp_path_factory.mktemp("course"))
    source = nbformat.read(
        made.folder / "source" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4
    )
    model = next(cell.source for cell in source.cells if cell.id == "vector_add")
    made.hand_in("ada", model)
    made.hand_in("grace", model.replace("offsets", "places") + "\n# mine")
    for number, name in enumerate(("kurt", "tony")):
        made.hand_in(name, written(number, 3))
    for number, name in enumerate(("alan", "emmy", "barbara")):
        made.hand_in(name, written(number, 10 + number))
    made.hand_in("jean", "vector_add = 1")
    return made


def test_the_model_solution_is_told_apart(course: SmallCourse) -> None:
    result = found(course.folder)
    assert [[s.student for s in group.sharers] for group in result.asked] == [["kurt", "tony"]]
    (taught,) = result.taught
    assert [s.student for s in taught.sharers] == ["ada", "grace"]
    assert "model solution" in taught.taught
    assert result.unread == ("jean",)
    assert "cell " in result.asked[0].sharers[0].places[0]


def test_the_report_shows_the_groups_as_a_question(course: SmallCourse, tmp_path: Path) -> None:
    arguments = [ASSIGNMENT, "--course", str(course.folder), "--to", str(tmp_path), "--sharing"]
    done = CliRunner().invoke(report, arguments)
    assert done.exit_code == 0, done.output
    assert "1 groups of kernels that are equal after renaming" in done.output
    page = (tmp_path / f"{ASSIGNMENT}.html").read_text()
    assert "A question to you, and no verdict" in page
    asked, taught = page.split("As the lesson teaches")
    assert "<li>kurt: cell" in asked
    assert "ada" not in asked.split("equal after renaming</h2>")[1]
    assert "ada, grace" in taught


def test_nothing_is_compared_unless_it_is_asked_for(
    course: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "kernels_in", lambda *_: pytest.fail("a submission was read"))
    arguments = [ASSIGNMENT, "--course", str(course.folder), "--to", str(tmp_path)]
    assert CliRunner().invoke(report, arguments).exit_code == 0
    assert "equal after renaming" not in (tmp_path / f"{ASSIGNMENT}.html").read_text()


def test_code_cannot_write_into_the_page(course: SmallCourse, tmp_path: Path) -> None:
    nasty = written(1, 77).replace("# 1", "# </code><script>alert(1)</script>\u202e")
    for name in ("x1", "x2"):
        hand_in(course.folder, name, nasty)
    arguments = [ASSIGNMENT, "--course", str(course.folder), "--to", str(tmp_path), "--sharing"]
    assert CliRunner().invoke(report, arguments).exit_code == 0
    page = (tmp_path / f"{ASSIGNMENT}.html").read_text()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
    assert "\u202e" not in page


@pytest.mark.parametrize("kind", ["raw", "markdown"])
def test_a_kernel_in_a_cell_of_another_kind_is_compared(tmp_path: Path, kind: str) -> None:
    """Grading makes its cell a code cell again: so it has points, and may be a copy."""
    for number, student in enumerate(("ada", "kurt", "tony")):
        cells = [nbformat.v4.new_code_cell(written(number, 1 if number < 2 else 2))]
        if student == "kurt":
            cells = [getattr(nbformat.v4, f"new_{kind}_cell")(cells[0].source)]
        path = tmp_path / "submitted" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    result = found(tmp_path)
    assert groups(result) == [{"ada", "kurt"}]
    assert result.unread == ()
