"""A class of ten goes through nbgrader's own commands, with the real judge, once."""

import re
from pathlib import Path

import nbformat
import pytest

from graders.authoring.grade_cells import hidden_points, public_points
from graders.authoring.rooms import Rooms, find_root
from graders.cli.demo import as_expected, gradebook_table
from graders.grading.demo import Demo, DemoRow
from graders.judge import discovery

pytestmark = pytest.mark.slow
EXERCISE = discovery.exercise("vector_add")


class Class:
    """The demonstration after its run: rows by pupil, and everything that was said."""

    def __init__(self, folder: Path) -> None:
        self.said: list[str] = []
        rooms = Rooms(find_root(Path(__file__)))
        self.demo = Demo(rooms, folder / "demo", "vector_add", self.said.append)
        self.rows: dict[str, DemoRow] = {row.pupil.name: row for row in self.demo.run()}

    def autograded(self, name: str) -> nbformat.NotebookNode:
        folder = self.demo.course / "autograded" / name / self.demo.assignment
        return nbformat.read(folder / f"{self.demo.assignment}.ipynb", as_version=4)

    def page(self, name: str) -> str:
        return self.demo.feedback(self.rows[name].pupil).read_text()


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Class:
    return Class(tmp_path_factory.mktemp("class"))


def test_right_ones_get_all_points_and_wrong_ones_none(grown: Class) -> None:
    full = (public_points(EXERCISE), hidden_points(EXERCISE))
    assert len(grown.rows) >= 8
    for row in grown.rows.values():
        assert (row.public, row.hidden) == (full if row.pupil.passes else (0, 0)), row
        assert as_expected(row)


def test_the_export_agrees_with_the_gradebook(grown: Class) -> None:
    for row in grown.rows.values():
        assert row.exported == (row.public or 0) + (row.hidden or 0)


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("kurt", "offset-ignores-pid"),
        ("margaret", "stub-unchanged"),
        ("niklaus", "syntax-error"),
        ("tony", "missing-mask"),
    ],
)
def test_findings_reach_the_pupil_by_name(grown: Class, name: str, finding: str) -> None:
    assert finding in grown.rows[name].findings or finding in grown.page(name)


def test_mangled_notebooks_were_mended_and_say_so(grown: Class) -> None:
    assert grown.rows["grace"].notes[0].startswith("missing and put back: ")
    assert grown.rows["jean"].notes[0].startswith("metadata lost and restored: ")
    assert grown.rows["ada"].notes == ()


def test_honest_noise_is_silent_and_nothing_was_tampered_with(grown: Class) -> None:
    warnings = [line for line in grown.said if "WARNING" in line or "ERROR" in line]
    assert [line for line in warnings if "exchange directory" not in line] == []


def test_grade_cells_hold_a_number_in_range_and_no_error(grown: Class) -> None:
    for name in grown.rows:
        for cell in grown.autograded(name).cells:
            for output in cell.get("outputs", []):
                assert output.output_type in ("stream", "execute_result")
                if output.output_type == "stream":
                    assert output.name == "stdout"
                else:
                    points = float(output.data["text/plain"])
                    assert 0 <= points <= cell.metadata.nbgrader.points


def test_no_code_of_a_pupil_was_executed(grown: Class) -> None:
    for name in grown.rows:
        for cell in grown.autograded(name).cells:
            if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade"):
                assert cell.outputs == []


def test_feedback_shows_findings_and_no_hidden_test(grown: Class) -> None:
    hidden = discovery.hidden("vector_add")
    assert hidden is not None
    public = {case.name for case in EXERCISE.cases}
    secret = {case.name for case in hidden.cases} - public
    for name in grown.rows:
        page = grown.page(name)
        assert "HIDDEN TESTS" not in page
        assert "grade_cell" not in page
        found = [case for case in secret if re.search(rf"\b{re.escape(case)}\b", page)]
        assert found == []


def test_feedback_loads_nothing_and_runs_nothing(grown: Class) -> None:
    for name in grown.rows:
        page = grown.page(name)
        assert "default-src 'none'" in page
        assert "<script" not in page
        assert re.findall(r"(?:src|url)\s*[=(]\s*[\"']?\s*(?:https?:)?//", page) == []
        assert not re.search(r"<link\b|@import", page)


def test_feedback_came_back_to_the_pupil(grown: Class) -> None:
    fetched = grown.demo.fetched_feedback().read_text()
    assert "missing-mask" in fetched


def test_the_gradebook_prints_as_a_table(grown: Class) -> None:
    table = gradebook_table("01_vector_add", list(grown.rows.values()))
    assert table.row_count == len(grown.rows)
