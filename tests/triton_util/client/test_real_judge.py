"""check against the real judge: from cells to a verdict, and what a hostile cell can do (nothing).

One judge serves the whole module, as one serves a whole notebook.
"""

import linecache
import os

import pytest

from triton_util.client import checking
from triton_util.client import judge as judge_module
from triton_util.client.judge import JudgeProcess
from triton_util.notebook.session import Cell, Session

IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n"
KERNEL = """\
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)
"""
LAUNCHER = """\
def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    output = torch.empty_like(x)
    n_elements = output.numel()
    add_kernel[(triton.cdiv(n_elements, 1024),)](x, y, output, n_elements, BLOCK_SIZE=1024)
    return output
"""


@pytest.fixture(scope="module")
def judge():
    process = JudgeProcess(seconds=200)
    yield process
    process.close()


@pytest.fixture(autouse=True)
def own_progress(monkeypatch, tmp_path):
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path))


def session_of(*cells: str) -> Session:
    namespace: dict = {"__name__": "__main__"}
    ran = []
    for number, source in enumerate(cells, start=1):
        filename = f"<real-judge-cell-{number}-{hash(source)}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        exec(compile(source, filename, "exec"), namespace)
        ran.append(Cell(f"cell [{number}]", source, filename))
    return Session(namespace, tuple(ran))


def report_of(judge, *cells: str):
    session = session_of(*cells)
    return checking.report_on(session.namespace["vector_add"], session, judge)


def test_kernel_spread_over_cells_passes(judge):
    helper = "@triton.jit\ndef total(x, y):\n    return x + y\n"
    report = report_of(
        judge,
        IMPORTS,
        "BLOCK = 512\nUNRELATED = open\n",
        helper,
        KERNEL.replace("x + y,", "total(x, y),"),
        LAUNCHER.replace("1024", "BLOCK"),
    )
    assert report.state == "passed", report.findings
    assert report.cases_passed == report.cases_total > 20
    assert {item.target for item in report.resources} == {80, 90}


def test_helpers_of_the_course_may_be_used(judge):
    kernel = KERNEL.replace(
        "offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)",
        "offsets = get_1d_offset(BLOCK_SIZE, tl.program_id(axis=0))",
    ).replace("offsets < n_elements", "get_1d_mask(offsets, n_elements)")
    report = report_of(
        judge,
        IMPORTS + "from triton_util import cdiv, get_1d_mask, get_1d_offset\n",
        kernel,
        LAUNCHER.replace("triton.cdiv", "cdiv"),
    )
    assert report.state == "passed", report.findings


def test_forgotten_mask_is_named_with_the_learners_line(judge):
    report = report_of(
        judge, IMPORTS, "# a cell between\n" + KERNEL.replace(", mask=mask", ""), LAUNCHER
    )
    assert report.state == "failed"
    first = report.findings[0]
    assert first.gate == "interpret"
    assert "mask" in first.next_step
    assert first.where in ("cell [2], line 6", "cell [2], line 7", "cell [2], line 8")
    assert "tl." in first.code_line


def test_wrong_value_comes_with_a_picture(judge):
    report = report_of(judge, IMPORTS, KERNEL.replace("x + y", "x - y"), LAUNCHER)
    assert report.state == "failed"
    picture = report.findings[0].picture
    assert picture is not None
    assert picture.caption
    assert [side.name for side in picture.sides] == ["got", "expected"]  # all of it is wrong


def test_print_if_that_was_left_in_is_a_finding(judge):
    kernel = KERNEL.replace("    mask =", '    print_if(f"offsets {offsets}", "=0")\n    mask =')
    report = report_of(judge, IMPORTS + "from triton_util import print_if\n", kernel, LAUNCHER)
    assert report.state == "failed"
    told = " ".join(f"{item.title} {item.message} {item.next_step}" for item in report.findings)
    assert "print_if is still in the kernel" in told.replace("`", "")


def test_breakpoint_if_that_was_left_in_is_a_finding(judge):
    kernel = KERNEL.replace("    mask =", '    breakpoint_if("=0")\n    mask =')
    report = report_of(judge, IMPORTS + "from triton_util import breakpoint_if\n", kernel, LAUNCHER)
    assert report.state == "failed"
    told = " ".join(f"{item.title} {item.message} {item.next_step}" for item in report.findings)
    assert "breakpoint_if is still in the kernel" in told.replace("`", "")


HOSTILE = {
    "endless": "while tl.program_id(0) < 1_000_000:\n        offsets += 0",
    "far store": "tl.store(output_ptr + offsets + 10**9, 1.0)",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_kernel_is_a_finding(judge, name):
    kernel = KERNEL.replace("    mask =", f"    {HOSTILE[name]}\n    mask =")
    report = report_of(judge, IMPORTS, kernel, LAUNCHER)
    assert report.state == "failed", report.findings
    assert report.findings[0].title


def test_endless_launcher_is_told(judge):
    judge.ask({"op": "exercises"})
    launcher = LAUNCHER.replace("    output =", "    while True:\n        pass\n    output =")
    report = report_of(judge, IMPORTS, KERNEL, launcher)
    assert [item.code for item in report.findings] == ["timeout"], report.findings
    (found,) = report.findings
    assert found.title.startswith("The launcher does not finish")
    assert found.code_line.strip() == "while True:"


@pytest.mark.parametrize("line", ["os._exit(0)", "os.kill(os.getppid(), 9)", "os.abort()"])
def test_hostile_launcher_is_a_finding_and_the_judge_lives(judge, line):
    judge.ask({"op": "exercises"})
    before = judge.pid
    launcher = LAUNCHER.replace("    output =", f"    {line}\n    output =")
    report = report_of(judge, IMPORTS + "import os\n", KERNEL, launcher)
    assert report.state == "failed", report.findings
    assert judge.pid == before
    assert report_of(judge, IMPORTS, KERNEL, LAUNCHER).state == "passed"


def test_hints_and_quiz_are_there_for_every_exercise(judge, monkeypatch, capsys):
    from triton_util import client

    monkeypatch.setattr(judge_module, "_shared", judge)
    listed = checking.exercises(judge)
    assert "vector_add" in {item.name for item in listed}
    for item in listed:
        for step in (1, 2, 3):
            client.hint(item.name, step)
    for lesson in {item.lesson for item in listed}:
        client.quiz(lesson)
    client.progress()
    shown = capsys.readouterr().out
    assert shown.count("Hint 3 of 3") == len(listed)
    assert "could not be checked" not in shown
    taught = [item for item in listed if item.number]  # the others have no lesson yet
    assert f"0 of {len(taught)} exercises passed" in shown
    kept = os.listdir(os.environ["TILEWISE_HOME"])
    assert kept == ["remembered.json"], "of hints the last one is remembered, and nothing else"
