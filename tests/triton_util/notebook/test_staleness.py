"""What Python holds beside what the notebook shows: a real kernel, with a judge of the tests."""

import json
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from triton_util.client import checking
from triton_util.notebook.session import Cell, Session
from triton_util.notebook.source import gather
from triton_util.notebook.staleness import age, outdated, told

TESTS = Path(__file__).parents[1]
FAKE = (sys.executable, "-P", str(TESTS / "client" / "fake_judge.py"))
SETUP = f"""
import os
os.environ["TILEWISE_HOME"] = ".tilewise-test"
from triton_util.client import judge
judge._shared.close()
judge._shared = judge.JudgeProcess({FAKE!r})
from triton_util import check
from triton_util.notebook import shown
"""
RIGHT = "def vector_add(x, y):\n    return x + y"
CHECK = "result = check(vector_add)"


def ran(folder: Path, *cells: str) -> list:
    """The outputs of a notebook's cells after the set-up; errors do not stop it."""
    made = [nbformat.v4.new_code_cell(source.strip("\n")) for source in (SETUP, *cells)]
    notebook = nbformat.v4.new_notebook(cells=made)
    patch = pytest.MonkeyPatch()
    patch.setenv("PYTHONPATH", str(TESTS.parents[1]))
    patch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    try:
        NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=60,
            allow_errors=True,
            resources={"metadata": {"path": folder}},
        ).execute()
    finally:
        patch.undo()
    assert not [item for item in made[0].outputs if item.output_type == "error"]
    return [cell.outputs for cell in notebook.cells[1:]]


def card(outputs: list) -> str:
    assert [item.output_type for item in outputs] == ["display_data"], outputs
    return str(outputs[0].data["text/plain"])


def test_a_cell_that_does_not_parse_is_never_passed_on_an_older_definition(tmp_path):
    outputs = ran(tmp_path, RIGHT, CHECK, f"{RIGHT}\n)", CHECK, RIGHT, CHECK)
    assert "passed" in card(outputs[1])
    assert "Judged: cell [2], run just now." in card(outputs[1])
    broken = card(outputs[3])
    assert "vector_add: was not checked" in broken
    assert "Cell [4] cannot be read" in broken
    assert "unmatched ')'" in " ".join(broken.split())
    assert "Python still holds the `vector_add` of cell [2], run just now." in " ".join(
        broken.split()
    )
    assert "cell [4], line 3: > )" in " ".join(broken.split())
    assert "passed" in card(outputs[5])
    assert "Judged: cell [6]" in card(outputs[5])


def test_a_cell_that_ended_before_the_definition_is_not_passed_either(tmp_path):
    outputs = ran(tmp_path, RIGHT, f"import nothing_of_that_name\n\n{RIGHT}  # better", CHECK)
    told_ = card(outputs[2])
    assert "was not checked" in told_
    assert "Cell [3] ended before it defined `vector_add`" in told_


@pytest.mark.parametrize(
    ("shown", "verdict", "words"),
    [
        ([RIGHT, CHECK], "passed", "Judged: cell [2]"),
        ([RIGHT + "  # more", CHECK], "was not checked", "Cell [2] was edited and not run"),
        (["x = 1", CHECK], "was not checked", "`vector_add` is shown in no cell"),
    ],
)
def test_what_the_front_end_shows_counts(tmp_path, shown, verdict, words):
    telling = (
        "from triton_util.notebook import shown\n"
        "get_ipython().events.register(\n"
        f"    'pre_run_cell', lambda info: shown.tell({shown!r} + [info.raw_cell]))"
    )
    outputs = ran(tmp_path, RIGHT, telling, CHECK)[1:]
    assert verdict in card(outputs[1])
    assert words in card(outputs[1])


def test_what_was_told_counts_for_the_next_cell_only(tmp_path):
    told_before = "get_ipython().run_cell(\"shown.tell(['x = 1'])\", store_history=False)"
    outputs = ran(tmp_path, RIGHT, told_before, "1", CHECK)
    assert "passed" in card(outputs[3])


def test_an_outdated_check_and_a_stub_are_no_attempts(tmp_path):
    stub = 'def vector_add(x, y):\n    """Add."""\n    # YOUR CODE HERE\n    pass\n'
    outputs = ran(tmp_path, stub, CHECK, f"{RIGHT}\n)", CHECK, RIGHT, CHECK)
    assert "is still to be written" in card(outputs[1])
    assert "no code of yours yet" in card(outputs[1])
    kept = json.loads((tmp_path / ".tilewise-test" / "progress.json").read_text())
    assert kept["exercises"]["vector_add"]["checks"] == 1


class NoJudge:
    def ask(self, request):
        raise AssertionError("a judge was asked")


def session_of(*cells: str, shown: tuple[str, ...] | None = None) -> Session:
    namespace: dict = {"__name__": "__main__"}
    made = []
    for number, source in enumerate(cells, start=1):
        name = f"<currency-{number}>"
        exec(compile(source, name, "exec"), namespace)
        made.append(Cell(f"cell [{number}]", source, name, 1, source, time.time() - 200))
    return Session(namespace, tuple(made), shown)


def test_an_untouched_stub_needs_no_judge():
    session = session_of('def vector_add(x, y):\n    """Add."""\n    # YOUR CODE HERE\n    pass\n')
    report = checking.report_on(session.namespace["vector_add"], session, NoJudge())
    assert report.state == "untouched"
    assert 'hint("vector_add")' in report.findings[0].next_step


def test_a_number_from_a_cell_that_was_used_for_something_else_is_current():
    cells = ("SIZE = 4", "def vector_add(x, y):\n    return SIZE")
    moved_on = session_of(*cells, shown=("print(1)", cells[1]))
    gathered = gather("vector_add", moved_on.namespace["vector_add"], moved_on)
    assert outdated(gathered, moved_on) is None
    edited = session_of(*cells, shown=("SIZE = 8", cells[1]))
    gathered = gather("vector_add", edited.namespace["vector_add"], edited)
    found = outdated(gathered, edited)
    assert found is not None
    assert (found.name, found.why) == ("SIZE", "edited")


def test_age_of_what_was_judged():
    session = session_of("def vector_add(x, y):\n    return x")
    gathered = gather("vector_add", session.namespace["vector_add"], session)
    assert told(gathered, session) == "cell [1], run 3 minutes ago"
    assert [age(s) for s in (3, 61, 7300)] == ["just now", "1 minute ago", "2 hours ago"]
