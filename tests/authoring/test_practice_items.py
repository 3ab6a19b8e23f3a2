"""The puzzles: the file holds what the course gives, and each is made of known kernels.

tests/test_course.py judges those kernels.
"""

from __future__ import annotations

import ast
import gzip
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from graders.authoring import practice_items
from graders.authoring.distractors import made_wrong
from graders.authoring.rooms import Rooms, find_root
from graders.judge import discovery
from graders.judge.pipeline import Judge
from tests.support.capturing import SECRET
from tests.support.known_kernels import IMPORTS, Kernel, kernels
from tests.support.paths import wrong
from triton_util.puzzles import items, ordering
from triton_util.puzzles.puzzle import Puzzle
from triton_util.report import Verdict

ROOMS = Rooms(find_root(Path(__file__)))
ITEMS = items.load()
ORDERS = [item for item in ITEMS if isinstance(item, items.OrderItem)]
MENDS = [item for item in ITEMS if isinstance(item, items.MendItem)]


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(secret=SECRET) as running:
        yield running


def solution(exercise: str) -> Kernel:
    lesson = discovery.exercise(exercise).lesson
    return Kernel(exercise, "solution", ROOMS.solutions / f"{lesson}.py")


def test_the_file_is_what_the_course_gives() -> None:
    made = items.compressed(items.to_data(practice_items.items(ROOMS)))
    kept = items.FILE.read_bytes()
    assert gzip.decompress(made) == gzip.decompress(kept), "run `tilewise build --practice`"


def test_there_are_enough_of_them_in_a_small_file() -> None:
    assert len({item.id for item in ITEMS}) == len(ITEMS) >= 300
    assert {item.exercise for item in ITEMS} >= {"vector_add", "matmul", "softmax", "attention"}
    assert items.FILE.stat().st_size < 100_000


def test_every_lesson_has_at_least_six() -> None:
    of = Counter(discovery.exercise(item.exercise).lesson for item in ITEMS)
    assert {slug: of[slug] for slug in discovery.lessons() if of[slug] < 6} == {}


def test_a_plain_function_is_not_called_a_kernel() -> None:
    named = {item.exercise: Puzzle(item).asks.split(".")[0] for item in MENDS}
    assert named["throughput"] == "The judge refuses this function"
    assert named["vector_add"] == "The judge refuses this kernel"


def test_lines_in_order_are_a_model_solution() -> None:
    for item in ORDERS:
        model = solution(item.exercise)
        functions = {
            node.name: ast.dump(node)
            for node in ast.parse("\n".join(practice_items.statements(model.text))).body
            if isinstance(node, ast.FunctionDef)
        }
        (function,) = ast.parse("\n".join(item.lines)).body
        assert isinstance(function, ast.FunctionDef)
        assert functions[function.name] == ast.dump(function), item.id


def test_lines_that_do_not_belong_change_what_it_means() -> None:
    for item in ORDERS:
        assert 1 <= len(item.extra) <= 2, item.id
        for line in item.extra:
            assert line not in item.lines, item.id
            text = [*item.before, *item.asked, line, *item.after]
            assert not ordering.same("\n".join(item.lines), "\n".join(text)), item.id


def with_a_made_line() -> Iterator[tuple[str, str, str]]:
    """Id, exercise and text of each model solution with a line in place that was made wrong."""
    for item in ORDERS:
        whole = "\n".join(practice_items.statements(solution(item.exercise).text))
        function = "\n".join(item.lines)
        assert whole.count(function) == 1, item.id
        for number in range(item.first, item.last):
            wrong = made_wrong(item.lines[number])
            if wrong in item.extra:
                lines = [*item.lines[:number], wrong, *item.lines[number + 1 :]]
                text = whole.replace(function, "\n".join(lines))
                yield f"{item.id}/{number}", item.exercise, IMPORTS + text


MADE = {
    f"{discovery.exercise(exercise).lesson}/{exercise}/{name}": (exercise, text)
    for name, exercise, text in with_a_made_line()
}


def test_many_lines_are_made_wrong() -> None:
    assert len(MADE) > 50


@pytest.mark.parametrize(("exercise", "text"), MADE.values(), ids=MADE)
def test_a_line_that_was_made_wrong_is_refused_in_its_place(
    exercise: str, text: str, judge: Judge
) -> None:
    """Some of them, others with each commit, as tests/support/drawn.py says."""
    report = judge.judge_text(text, discovery.exercise(exercise))
    assert report.verdict is Verdict.FAILED, report.verdict


def test_a_kernel_to_be_fixed_is_a_wrong_kernel_and_its_fix_a_correct_one() -> None:
    correct = {
        (kernel.exercise, practice_items.statements(kernel.text))
        for kind in ("solution", "right")
        for kernel in kernels(kind)
    }
    for item in MENDS:
        text = wrong(item.exercise, item.id.rpartition("/")[2])
        assert practice_items.statements(text) == item.lines, item.id
        assert 1 <= len(item.wrong) <= 2, item.id
        assert all(item.lines[number] != line for number, line in item.wrong), item.id
        assert (item.exercise, item.mended) in correct, item.id


def test_a_mistake_is_told_in_words_and_not_by_the_kernel() -> None:
    for item in MENDS:
        assert item.title, item.id
        assert item.message, item.id
        assert not any("#" in line or '"""' in line for line in item.lines), item.id


def test_nothing_hidden_is_in_the_file() -> None:
    """Neither a case of hidden.py nor the misconceptions' code, only their words."""
    text = gzip.decompress(items.FILE.read_bytes()).decode()
    shapes = {
        shape
        for path in ROOMS.course.glob("*/hidden.py")
        for shape in re.findall(r"\(\d[\d_]+(?:, \d+)+\)", path.read_text(encoding="utf-8"))
    }
    assert len(shapes) > 20
    assert [shape for shape in shapes if shape in text] == []
    allowed = ("solutions", "kernels")
    source = Path(practice_items.__file__).read_text(encoding="utf-8")
    assert set(re.findall(r"rooms\.(\w+)", source)) == set(allowed)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("    tl.store(p, x, mask=m)", "    tl.store(x, p, mask=m)"),
        ("acc += tl.dot(a, b)", "acc += tl.dot(b, a)"),
        ("offsets = tl.arange(0, N)", "offsets = tl.arange(1, N)"),
        ("mask = (i < M) & (j < N)", "mask = (i <= M) & (j < N)"),
        ("grid = (triton.cdiv(n, 128),)", "grid = (n // 128,)"),
        ("most = triton.cdiv(n, 128) + parts", ""),  # rounded down it is enough, too
        ("for i in range(0, tl.cdiv(K, B)):", ""),
        ("return output", ""),
    ],
)
def test_slips_that_are_made(line: str, wrong: str) -> None:
    assert made_wrong(line) == wrong
