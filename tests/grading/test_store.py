"""What regrades: a change of what judges an exercise, and nothing else."""

from __future__ import annotations

import ast
import io
import json
import os
import shutil
import subprocess
import sys
import tokenize
from collections.abc import Callable
from pathlib import Path

import pytest

from graders.authoring.kernels import correct_kernels
from graders.grading import closure, store
from graders.grading.closure import ROOT, read_source, without_remarks
from graders.judge import discovery
from graders.judge.static import names
from tests.support.paths import ROOMS as HERE
from tests.support.paths import correct, wrong

ROOMS = ("graders", "solutions", "triton_util")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the rooms that count."""
    return copied(tmp_path_factory.mktemp("house"), *ROOMS)


def copied(root: Path, *rooms: str) -> Path:
    for room in rooms:
        shutil.copytree(ROOT / room, root / room, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def versions(root: Path, timed: bool = False) -> dict[str, str]:
    """Of the judge, of what of it runs without a GPU, and of each exercise, read afresh."""
    exercise, sources = store.exercise_version.__wrapped__, store.sources_version.__wrapped__
    known = {name: exercise(name, timed, root) for name in discovery.exercises()}
    return {"judge": sources(root), "without a GPU": sources(root, False), **known}


def changed(root: Path, file: str, change: Callable[[str], str], timed: bool = False) -> set[str]:
    """The names of the versions that a change of one file changes."""
    path = root / file
    text, before = path.read_text(), versions(root, timed)
    try:
        path.write_text(change(text))
        assert path.read_text() != text, f"{file}: the change changed nothing"
        after = versions(root, timed)
    finally:
        path.write_text(text)
    return {name for name in before if before[name] != after[name]}


def one_more_name(text: str) -> str:
    return f"{text}\nA_NEW_NAME = 1\n"


def of_lesson(*lessons: str) -> set[str]:
    return {name for name, record in discovery.exercises().items() if record.lesson in lessons}


@pytest.mark.parametrize(
    "file",
    [
        "triton_util/explain/ptx.py",
        "triton_util/explain/launches.py",
        "triton_util/bench/statistics.py",
        "triton_util/indexing.py",
        "triton_util/launching.py",
        "triton_util/debugging.py",
        "triton_util/conditions.py",
        "triton_util/interpreter/operations/libdevice.py",
        "graders/judge/sandbox/serve.py",
        "graders/judge/compiling/compile_task.py",
        "graders/judge/plan/timing.py",
        "graders/judge/speed/gate.py",
        "graders/grading/marks.py",
    ],
)
def test_what_judges_regrades_everything(house: Path, file: str) -> None:
    """The version of the judge is a part of every key."""
    assert "judge" in changed(house, file, one_more_name)


@pytest.mark.parametrize("module", store.GPU_ONLY)
def test_what_runs_on_a_gpu_alone_changes_no_verdict_without_one(house: Path, module: str) -> None:
    assert changed(house, f"{module.replace('.', '/')}.py", one_more_name) == {"judge"}


@pytest.mark.parametrize(
    "kernel",
    [
        ("autotuned_matmul", "textbook"),
        ("softmax", "tuned_rows"),
        ("fair_ms", "not_waited_for"),
        ("softmax", "max_not_subtracted"),
        ("vector_add", "missing_mask"),
    ],
)
def test_what_runs_on_a_gpu_alone_runs_nowhere_else(
    gpu_taken_out: Path, kernel: tuple[str, str], tmp_path: Path
) -> None:
    """Each function of these modules raises an error in a copy of the house."""
    exercise, name = kernel
    right = name in correct_kernels(HERE.kernels(exercise))
    path = tmp_path / f"{name}.py"
    path.write_text(correct(exercise, name) if right else wrong(exercise, name))
    asked = ["grade", str(path), "--exercise", exercise, "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "graders.cli.main", *asked],
        cwd=gpu_taken_out,
        env={**os.environ, "PYTHONPATH": str(gpu_taken_out), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )
    verdict = json.loads(done.stdout)["verdict"]
    assert verdict == ("passed" if right else "failed"), done.stdout + done.stderr


@pytest.fixture(scope="module")
def gpu_taken_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = copied(tmp_path_factory.mktemp("without_gpu"), *ROOMS, "lessons")
    for module in store.GPU_ONLY:
        path = root.joinpath(*module.split(".")).with_suffix(".py")
        path.write_text(ast.unparse(Broken().visit(ast.parse(path.read_text()))))
    return root


class Broken(ast.NodeTransformer):
    """Functions and methods that raise an error, whatever they did."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.body = ast.parse(f"raise SystemError('{node.name} ran without a GPU')").body
        return node


def test_every_key_holds_the_version_of_the_judge() -> None:
    keys = {
        store.key(["x = 1"], name, "interpret", judge)
        for name in discovery.exercises()
        for judge in ("one", "another")
    }
    assert len(keys) == 2 * len(discovery.exercises())


def test_a_misconception_regrades_the_lessons_that_name_it(house: Path) -> None:
    regraded = changed(
        house, "graders/course/reductions/mistakes/softmax_records.py", one_more_name
    )
    assert "softmax" in regraded
    assert not {"vector_add", "judge"} & regraded


def test_hidden_cases_and_records_regrade_their_lesson(house: Path) -> None:
    for part in ("hidden", "exercise"):
        regraded = changed(house, f"graders/course/fusion/{part}.py", one_more_name)
        assert regraded == of_lesson("fusion"), part


def test_figures_of_a_solution_regrade_its_exercise(house: Path) -> None:
    def twice(text: str) -> str:
        figures = json.loads(text)
        figures["gelu"] = {case: 2 * moved for case, moved in figures["gelu"].items()}
        return json.dumps(figures)

    assert changed(house, "graders/course/generated/traffic.json", twice) == {"gelu"}


def test_data_beside_the_records_is_by_exercise_or_by_lesson() -> None:
    known = {*discovery.exercises(), *discovery.lessons(), *discovery.numbers()}
    for path in (ROOT / "graders" / "course" / "generated").glob("*.json"):
        if path.name not in (store.ORDER, store.MODEL_ANSWERS, store.REGISTERS):
            assert set(json.loads(path.read_text())) <= known, f"{path.name}: no key holds it"


@pytest.mark.parametrize("file", ["solutions/fusion.py", "graders/course/fusion/workloads.py"])
def test_what_only_speed_depends_on_regrades_where_speed_counts(house: Path, file: str) -> None:
    assert changed(house, file, one_more_name) == set()
    assert of_lesson("fusion") <= changed(house, file, one_more_name, timed=True)


@pytest.mark.parametrize(
    "file",
    [
        "graders/course/common/shared.py",
        "graders/judge/pipeline.py",
        "graders/course/reductions/exercise.py",
        "graders/course/reductions/hidden.py",
        "triton_util/interpreter/launch.py",
    ],
)
def test_a_remark_regrades_nothing(house: Path, file: str) -> None:
    def remarked(text: str) -> str:
        _, said, code = text.split('"""', 2)
        code = code.replace("\n\n\n", "  # here\n    # and here\n\n\n\n")
        return f'"""{said} And more.\n"""\n# a comment\n{code}# the end'

    assert changed(house, file, remarked) == set()


def test_what_only_shows_results_regrades_nothing(house: Path) -> None:
    assert changed(house, "triton_util/client/card.py", one_more_name) == set()
    assert changed(house, "graders/grading/class_report.py", one_more_name) == set()


def test_nothing_that_judges_knows_the_capstone() -> None:
    """A model that trains is no part of a mark."""
    names = [*store.JUDGING, "graders.course.capstone.exercise", "graders.course.capstone.hidden"]
    found = closure.closure(names, ROOT, without=store.SHOWING).modules
    assert not [name for name in found if name.startswith("triton_util.capstone")]


def test_a_comment_in_a_kernel_counts_because_triton_reads_it() -> None:
    text = "@triton.jit\ndef kernel():\n    pass  # {}\n"
    assert read_source(text.format("a")).digest != read_source(text.format("b")).digest


def test_the_whole_room_of_the_judge_is_known() -> None:
    """A module that no program imports judges nothing; one of these is new or forgotten."""
    judging = closure.closure(store.JUDGING, without=store.SHOWING)
    records = closure.closure(
        ["graders.course.vector_add.exercise", "graders.course.decoding.exercise"]
    )
    known = {*judging.modules.values(), *judging.files, *records.modules.values()}
    missing = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "graders" / "judge").rglob("*.py")
        if path not in known
    }
    # What a notebook asks, beside verdicts: answers to guesses and case studies, and what a card
    # shows of a kernel that is right.
    asked = {f"graders/judge/{name}.py" for name in ("serve", "predictions", "showing")}
    assert missing <= asked, "name the program that imports it in graders.grading.store.JUDGING"


def test_what_a_submission_may_import_of_ours_is_known() -> None:
    homes = {name.rpartition(".")[0] for name in names.TRITON_UTIL}
    assert homes <= set(closure.closure(store.JUDGING, without=store.SHOWING).modules)


def test_comments_are_told_from_strings_as_python_does() -> None:
    """On every module of ours: what is left parses to the same program, and holds no comment."""
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            bare = without_remarks(text, ast.Module([], []))
            assert ast.dump(ast.parse(bare)) == ast.dump(ast.parse(text)), path
            said = tokenize.generate_tokens(io.StringIO(bare).readline)
            assert not [token for token in said if token.type == tokenize.COMMENT], path


def test_what_was_read_is_kept_by_content(tmp_path: Path) -> None:
    file, text = tmp_path / "sources.json", b"from graders.judge import records  # why\n"
    kept = closure.DigestMemory(file)
    first = kept.source(text)
    kept.keep()
    written = file.read_text()
    again = closure.DigestMemory(file)
    assert again.source(text) == first
    again.keep()
    assert file.read_text() == written
    file.write_text(written[:-20])
    assert closure.DigestMemory(file).source(text) == first


def test_a_docstring_goes_and_a_string_stays() -> None:
    text = "\n".join(['"""Doc."""', "x = {", '    "a":', '    "b  # no comment",', "}", ""])
    bare = without_remarks(text, ast.parse(text))
    assert "Doc" not in bare
    assert "b  # no comment" in bare
