"""check, hint, quiz and progress, from a session to what is shown, with a judge of the tests."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbclient import NotebookClient

from triton_util import client
from triton_util.client import attempts, checking, hints, remembered
from triton_util.client import judge as judge_module
from triton_util.client.card import waiting_html
from triton_util.client.judge import JudgeProcess
from triton_util.notebook.session import Session

FAKE = (sys.executable, "-P", str(Path(__file__).with_name("fake_judge.py")))


@pytest.fixture(autouse=True)
def fake_judge(monkeypatch, tmp_path):
    process = JudgeProcess(FAKE, seconds=20)
    monkeypatch.setattr(judge_module, "_shared", process)
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path / "home"))
    hints.follow("")
    yield process
    process.close()


def vector_add(x, y):
    return "WRONG", x.tl.load, y


def test_a_failing_check(capsys):
    result = client.check(vector_add)
    told = capsys.readouterr().out
    assert not result.passed
    assert result.judged
    assert not result
    assert repr(result).startswith("<vector_add: not there yet, 11 of 25 cases passed in ")
    line = vector_add.__code__.co_firstlineno + 1
    assert result.findings[0].where == f"{Path(__file__).name}, line {line}"
    assert result.findings[0].code_line == 'return "WRONG", x.tl.load, y'
    assert "11 of 25 cases passed in" in told
    assert "Give `tl.load` a mask." in told


def test_a_passing_check_by_name(capsys):
    result = client.check("softmax")
    assert result.passed
    told = capsys.readouterr().out
    assert "✓ softmax: passed" in told
    assert "In the case `n=64` it moves 512 bytes; the model solution 384." in told
    assert "Break it: Leave the `maximum` out: which cases overflow?" in told
    assert "Next: lesson 01_vector_add: Add two vectors." in told
    assert client.check("softmax").passed
    told = capsys.readouterr().out
    assert "512 bytes" in told
    assert "Break it" not in told
    client.progress()
    told = capsys.readouterr().out
    assert "1 of 2 exercises passed" in told
    assert "○ vector_add: not tried yet" in told


def test_two_cards_of_one_exercise_have_names_of_their_own(monkeypatch):
    shown = []
    clock = iter(["14:03:07", "14:03:09"])
    monkeypatch.setattr(checking.Display, "show", lambda self, html, text: shown.append(html))
    monkeypatch.setattr(checking.time, "strftime", lambda _: next(clock))
    for _ in range(2):
        client.check("softmax")
    labels = [re.search(r'role="region" aria-label="([^"]*)"', card)[1] for card in shown]
    assert labels == [
        "Check of softmax at 14:03:07: passed",
        "Check of softmax at 14:03:09: passed",
    ]


@pytest.mark.parametrize(
    ("nodes", "interpreted", "timed"),
    [(["/dev/nvidia0"], False, True), (["/dev/nvidia0"], True, False), ([], False, False)],
)
def test_speed_follows_a_check_that_passes_where_kernels_run_on_a_gpu(
    capsys, monkeypatch, nodes, interpreted, timed
):
    monkeypatch.setattr(client, "gpu_nodes", lambda: nodes)
    monkeypatch.setattr(client, "interpreting", lambda: interpreted)
    assert client.check("softmax").passed
    assert ("its speed" in capsys.readouterr().out) is timed
    assert not client.check(vector_add).passed
    assert "its speed" not in capsys.readouterr().out


def softmax(x):
    return x


def no_exercise(x):
    return x


def sofmax(x):
    return x


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        (no_exercise, "There is no exercise called `no_exercise`"),
        (sofmax, "Did you mean `softmax`?"),
        ("vectoradd", "Did you mean `vector_add`?"),
        (3, "`check` was given a value of type int"),
        (None, "of type NoneType"),
        (len, "of type builtin_function_or_method"),
    ],
)
def test_what_cannot_be_checked_is_said(capsys, argument, words):
    result = client.check(argument)
    assert not result.passed
    assert words in capsys.readouterr().out


def test_name_that_is_not_defined_yet(capsys, monkeypatch):
    monkeypatch.delitem(globals(), "softmax")
    assert not client.check("softmax").passed
    assert "`softmax` is not defined yet" in capsys.readouterr().out


def test_a_name_that_is_unknown_gets_a_short_answer(capsys):
    client.check("nope")
    told = capsys.readouterr().out
    assert "`progress()` lists the exercises." in " ".join(told.split())
    assert "softmax" not in told


def test_without_an_argument_the_call_is_completed(capsys):
    assert not client.check().passed
    assert "For instance: `check(softmax)`." in capsys.readouterr().out
    client.quiz()
    told = capsys.readouterr().out
    assert told == '? Name a lesson: `quiz("vector_add")`. There are: vector_add.\n'


def test_a_kernel_is_answered_with_its_own_launcher(fake_judge):
    added_kernel = SimpleNamespace(fn=no_exercise)  # as triton.jit wraps a function
    namespace = {"added_kernel": added_kernel, "softmax": softmax}
    exec("def vector_add(x):\n    added_kernel[(1,)](x)", namespace)
    place = Session(namespace, ())
    told = checking.wrong_argument(
        added_kernel, "added_kernel", place, checking.exercises(fake_judge)
    )
    assert told is not None
    assert told.findings[0].next_step == "Check its launcher: `check(vector_add)`."


RENAMED = Session({"my_add": vector_add, "three": 3}, ())


@pytest.mark.parametrize(
    ("cell", "missing", "told"),
    [
        ("check(vector_add)", "vector_add", True),
        ("result = check(vector_add)\nresult.passed", "vector_add", True),
        ("speed(vector_add)", "vector_add", True),
        ("check(vector_add)", "torch", False),
        ("print(vector_add)", "vector_add", False),
        ("%time check(vector_add)", "vector_add", False),
    ],
)
def test_a_launcher_under_another_name_is_more_than_a_name_error(monkeypatch, cell, missing, told):
    monkeypatch.setattr(vector_add, "__module__", "__main__")
    error = NameError(f"name {missing!r} is not defined", name=missing)
    report = checking.not_defined(error, cell, RENAMED)
    assert (report is not None) is told
    if report is not None:
        (finding,) = report.findings
        assert finding.title == "`vector_add` is not defined"
        assert "Functions that are: `my_add`." in finding.message
    assert checking.not_defined(None, cell, RENAMED) is None
    assert checking.not_defined(TypeError(missing), cell, RENAMED) is None


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("JUDGE_CRASHES", "exit code 3"),
        ("JUDGE_MUMBLES", "not an answer"),
        ("JUDGE_REFUSES", "the disk is full"),
        ("JUDGE_FORGETS", "could not be understood"),
        ("UNGRADED", "Nothing was judged"),
    ],
)
def test_faults_of_the_judge_are_one_clear_card(capsys, monkeypatch, tmp_path, word, told):
    result = _check_text(monkeypatch, tmp_path, f'def vector_add(x, y):\n    return "{word}"\n')
    shown = capsys.readouterr().out
    assert not result.judged
    assert not result.passed
    assert told in shown
    assert shown.count("could not be checked") == 1
    assert "no fault of your code" in shown
    assert not list((tmp_path / "home").glob("*"))


def test_progress_is_told_while_the_judge_works(monkeypatch, tmp_path):
    told = []
    monkeypatch.setattr(
        client.checking, "shows_progress", lambda *_: lambda *count: told.append(count)
    )
    source = 'def vector_add(x, y):\n    return "JUDGE_COUNTS"\n'
    assert _check_text(monkeypatch, tmp_path, source).passed
    assert told == [(5, 25), (12, 25)]


def test_the_card_of_a_check_at_work_shows_how_far_it_is():
    page = waiting_html("vector_add", 5, 25)
    assert "5 of 25 cases" in page
    assert '<progress max="25" value="5"' in page
    assert "<progress" not in waiting_html("vector_add")


def test_a_stopped_check_says_so_in_one_line_and_starts_a_new_judge(capsys, monkeypatch):
    started = []
    monkeypatch.setattr(JudgeProcess, "start", lambda self: started.append(self))

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(client.checking, "report_on", interrupted)
    with pytest.raises(KeyboardInterrupt) as stop:
        client.check(vector_add)
    assert stop.value._render_traceback_() == ["The check was stopped."]
    assert stop.value.__cause__ is None
    assert "The check was stopped." in capsys.readouterr().out
    assert len(started) == 1


def test_a_card_tells_how_long_the_learner_waited(monkeypatch):
    """For a judge that starts anew, too; the judge itself says 0.2 seconds."""
    clock = iter([100.0, 119.5])
    monkeypatch.setattr(checking, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    report = checking.report_on(vector_add, Session({}, ()), judge_module._shared)
    assert report.seconds == 19.5


def test_fault_of_the_client_is_one_clear_card(capsys, monkeypatch):
    monkeypatch.setattr(client.checking, "gather", lambda *_: 1 / 0)
    assert not client.check(vector_add).judged
    shown = capsys.readouterr().out
    assert "ZeroDivisionError" in shown
    assert "could not be checked" in shown


def test_no_sandbox_is_said(capsys, monkeypatch, tmp_path):
    source = 'def vector_add(x, y):\n    return "TIER_C"\n'
    assert _check_text(monkeypatch, tmp_path, source).passed
    assert "not a grade" in capsys.readouterr().out


def test_function_of_a_module_is_gathered_there(capsys, monkeypatch, tmp_path):
    source = "import math\nSIZE = 4\n\n\ndef vector_add(x, y):\n    return SIZE, 'WRONG', math\n"
    result = _check_text(monkeypatch, tmp_path, source)
    assert result.judged
    assert not result.passed


def test_code_that_passed_is_kept_and_code_that_did_not_is_not(monkeypatch, tmp_path):
    right = 'def vector_add(x, y):\n    return "JUDGE_COUNTS"\n'
    assert not _check_text(monkeypatch, tmp_path, right.replace("JUDGE_COUNTS", "WRONG")).passed
    assert remembered.load(remembered.PASSED_CODE) == {}
    assert _check_text(monkeypatch, tmp_path, right).passed
    kept = remembered.load(remembered.PASSED_CODE)
    assert kept == {"vector_add": right}
    assert not _check_text(monkeypatch, tmp_path, right.replace("JUDGE_COUNTS", "WRONG")).passed
    assert remembered.load(remembered.PASSED_CODE) == kept


def _check_text(monkeypatch, tmp_path, source):
    name = f"learner_{abs(hash(source))}"
    (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    module = __import__(name)
    monkeypatch.delitem(sys.modules, name)
    return client.check(module.vector_add)


def test_hints_and_quiz_in_text(capsys):
    client.hint("vector_add")
    client.hint(vector_add)
    assert "A mask." in capsys.readouterr().out
    client.hint("vector_add", 1)
    assert "Think of the `last` block." in capsys.readouterr().out
    client.quiz("vector_add")
    shown = capsys.readouterr().out
    right = next(line for line in shown.splitlines() if "The last block may be too long" in line)
    client.progress()
    assert "○ quiz: 0 of 1 questions right" in capsys.readouterr().out
    client.quiz("vector_add", 1, right.strip()[0])
    assert capsys.readouterr().out == "✓ Right. There may be fewer elements.\n"
    client.progress()
    assert "✓ quiz: 1 of 1 questions right" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: client.hint("vectoradd"), "There is no exercise `vectoradd`. Did you mean"),
        (lambda: client.hint("vector_add", 9), "has the hints 1 to 3, and no hint 9"),
        (lambda: client.hint("ahead"), "There is no exercise `ahead`"),
        (lambda: client.hint(), "Say of which exercise"),
        (lambda: client.quiz("nothing"), "There is no lesson with a quiz `nothing`"),
        (lambda: client.quiz("vector_add", 7, "a"), "has the questions 1 to 1"),
        (lambda: client.quiz("vector_add", 1, "z"), "has the choices a, b"),
    ],
)
def test_what_there_is_not_is_said_and_no_error(capsys, call, words):
    call()
    assert words in capsys.readouterr().out


def test_hint_follows_the_last_check_and_goes_on_after_a_restart(capsys):
    client.check(vector_add)
    client.hint()
    assert "Hint 1 of 3 for vector_add" in capsys.readouterr().out
    hints.follow("")  # as in a kernel that has just started
    client.hint("vector_add")
    assert "Hint 2 of 3 for vector_add" in capsys.readouterr().out


def test_a_name_that_is_no_exercise_is_no_attempt_and_hint_does_not_follow_it(capsys):
    hints.follow("")  # as in a kernel that has just started
    client.check("vectoradd")
    client.hint()
    assert "Say of which exercise" in capsys.readouterr().out
    client.check("ahead")  # known, and no cell that was run defines it
    assert attempts.load() == {}


def test_a_check_of_nbgrader_validate_is_no_attempt(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert client.check("softmax").passed
    assert attempts.load() == {}
    monkeypatch.delenv("NBGRADER_EXECUTION")
    client.check("softmax")
    assert attempts.load()["softmax"].checks == 1


def test_hint_without_a_judge_is_a_card(capsys, monkeypatch):
    monkeypatch.setattr(judge_module, "_shared", JudgeProcess(("/no/such/program",)))
    client.hint("vector_add")
    client.quiz("vector_add")
    client.progress()
    assert capsys.readouterr().out.count("could not be checked") == 3


CELLS = {
    "setup": f"""
import os
os.environ["TILEWISE_HOME"] = ".tilewise-test"
from triton_util.client import judge
judge._shared.close()
judge._shared = judge.JudgeProcess({FAKE!r})
from triton_util import check, hint, progress, quiz
print(os.environ.get("TRITON_INTERPRET"))
""",
    "constants": "import math\nBLOCK = 4\n",
    "wrong": "%%time\ndef vector_add(x, y):\n    # WRONG\n    return tl.load(x), math, BLOCK\n",
    "check": "result = check(vector_add)\nresult",
    "right": "def vector_add(x, y):\n    return x, BLOCK\n",
    "check again": "check(vector_add)",
    "source": "judge.shared().ask({'op': 'check', 'exercise': 'vector_add', 'name': '',\n"
    " 'source': 'x'})['report']['verdict'], result.findings[0].where, result.passed",
    "hint": "hint('vector_add')",
    "quiz": "quiz('vector_add')",
    "progress": "progress()",
    "renamed": "my_add = vector_add\ndel vector_add\ncheck(vector_add)",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Outputs by cell of a notebook that ran in a real kernel."""
    folder = tmp_path_factory.mktemp("notebook")
    cells = [nbformat.v4.new_code_cell(source.strip("\n")) for source in CELLS.values()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    patch = pytest.MonkeyPatch()
    patch.delenv("TRITON_INTERPRET", raising=False)
    patch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    patch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    try:
        client_ = NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=60,
            allow_errors=True,
            resources={"metadata": {"path": folder}},
        )
        client_.execute()
    finally:
        patch.undo()
    outputs = dict(zip(CELLS, (cell.outputs for cell in notebook.cells), strict=True))
    return outputs, folder


def one_html(outputs) -> str:
    bundles = [item.data for item in outputs if item.output_type == "display_data"]
    assert len(bundles) == 1, [item.output_type for item in outputs]
    return bundles[0]["text/html"]


def test_notebook_without_gpu_is_told_that_it_interprets(ran):
    outputs, _ = ran
    told = "".join(item.text for item in outputs["setup"] if item.output_type == "stream")
    if "None" not in told:  # a machine with a GPU is left alone
        assert "TRITON_INTERPRET=1 is set for this notebook" in told
        assert told.endswith("1\n")


def test_notebook_shows_one_card_and_no_repr(ran):
    outputs, _ = ran
    assert "<code>vector_add</code> not there yet" in one_html(outputs["check"])
    assert "<code>vector_add</code> passed" in one_html(outputs["check again"])
    assert [item.output_type for item in outputs["check"]] == ["display_data"]


def test_notebook_lines_are_those_of_the_cell(ran):
    outputs, _ = ran
    assert outputs["source"][0].data["text/plain"] == "('passed', 'cell [3], line 4', False)"
    assert "cell [3], line 4" in one_html(outputs["check"])
    assert "return tl.load(x), math, BLOCK" in one_html(outputs["check"])


def test_notebook_has_widgets_with_html_and_text_beside(ran):
    outputs, _ = ran
    bundle = outputs["quiz"][0].data
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "<details>" in bundle["text/html"]
    assert "1. Why is there a `mask`?" in bundle["text/plain"]


def test_notebook_says_what_a_name_error_of_a_check_means(ran):
    outputs, _ = ran
    kinds = {cell: [item.output_type for item in shown] for cell, shown in outputs.items()}
    assert kinds.pop("renamed") == ["error", "display_data"]
    assert all("error" not in found for found in kinds.values())
    card = one_html([item for item in outputs["renamed"] if item.output_type != "error"])
    assert "<code>vector_add</code> is not defined" in card
    assert "<code>my_add</code>" in card


def test_notebook_keeps_progress_beside_it(ran):
    outputs, folder = ran
    assert "1 of 2 exercises passed" in one_html(outputs["progress"])
    assert (folder / ".tilewise-test" / "progress.json").is_file()
    assert "Hint 1 of 3" in one_html(outputs["hint"])
