"""The edits of the mutation score, and the file of survivors that are allowed."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from benchmarks.mutant_edits import edits, independent
from benchmarks.mutants import Survivor, fits, kernels, meaning, mutants, state, summary, survivors
from graders.judge import discovery

TEXT = '''
@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    """Text."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows < n) & (rows >= 0)
    other_mask = rows > 0
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in range(0, n, BLOCK):
        x = tl.load(x_ptr + rows[:, None] * stride, mask=mask, other=0.0)
        acc += tl.sum(x.to(tl.float32), axis=1)
    tl.store(out_ptr + rows, -acc, mask=mask)


def launcher(x, y):
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 8), 2)
    kernel[grid](x, y, out, x.numel(), 1, BLOCK=8)
    return out
'''
EXPECTED = [
    ("comparison", "(rows <= n) & (rows >= 0)"),
    ("bound", "(rows < n - 1) &"),
    ("arithmetic", "tl.program_id(0) * BLOCK - tl.arange"),
    ("operand dropped", "mask = rows < n"),
    ("name", "out_ptr + rows[:, None]"),
    ("name", "mask=other_mask"),
    ("constant", "tl.program_id(1)"),
    ("constant", "other=1.0"),
    ("constant", "axis=2"),
    ("axis", "rows[None, :]"),
    ("mask dropped", "tl.store(out_ptr + rows, -acc)"),
    ("other dropped", "mask=mask)"),
    ("dtype", "dtype=tl.float16"),
    ("cast dropped", "tl.sum(x, axis=1)"),
    ("function", "acc += tl.max("),
    ("sign", "tl.store(out_ptr + rows, acc, mask=mask)"),
    ("accumulation", "acc = tl.sum("),
    ("bound", "range(0, n + 1, BLOCK)"),
    ("delete", "(deleted)"),
    ("move", "(moved after) mask = "),
    ("move", "(moved before) for k in"),
    ("rounded down", "(x.numel() // 8, 2)"),
    ("grid", "(2, triton.cdiv(x.numel(), 8))"),
    ("grid", "triton.cdiv(x.numel(), 8) + 1"),
    ("arguments exchanged", "kernel[grid](y, x, out,"),
]
ROW = {
    "key": "k", "meaning": "m", "exercise": "copy", "kernel": "textbook", "path": "a.py", "line": 3,
    "kind": "bound", "before": "a < n", "after": "a < n + 1", "verdict": "passed", "points": 10,
    "max_points": 10, "public_points": 10, "code": "", "same_ptx": False,
}  # fmt: skip


@cache
def of(exercise: str) -> list[tuple[str, str]]:
    """Kernel and edit of each mutant of an exercise."""
    return [
        (f"{exercise}/{kernel.name}", f"{mutant.before} => {mutant.after}")
        for kernel in kernels(exercise)
        for mutant in mutants(kernel)
    ]


@pytest.mark.parametrize(("kind", "after"), EXPECTED)
def test_each_edit_is_made(kind: str, after: str) -> None:
    assert any(edit.kind == kind and after in edit.after for edit in edits(ast.parse(TEXT)))


def test_what_only_tunes_is_left_alone() -> None:
    plain, tuned = ast.parse(TEXT), ast.parse(TEXT.replace("BLOCK=8)", "BLOCK=8, num_warps=2)"))
    assert len([*edits(tuned)]) == len([*edits(plain)])


def test_an_edit_leaves_the_original_as_it_was() -> None:
    tree = ast.parse(TEXT)
    list(edits(tree))
    assert ast.unparse(tree) == ast.unparse(ast.parse(TEXT))


def test_a_mutant_is_named_by_its_line_in_the_file() -> None:
    solution = next(kernels("copy"))
    mutant = next(one for one in mutants(solution) if one.before.startswith("tl.store("))
    path = discovery.model_path(discovery.exercise("copy"))
    assert path is not None
    assert "tl.store(" in path.read_text().splitlines()[mutant.line - 1]


def test_what_the_judge_does_not_read_has_the_same_meaning() -> None:
    plain = "def f(x):\n    return x is 1\n"
    assert meaning(plain) == meaning('def f(x: int):\n    "Text."\n    return x == 1\n    x = 2\n')
    assert meaning(plain) != meaning(plain.replace("1", "2"))
    assert meaning("A = 1\n" + plain) != meaning("A = 2\n" + plain)


def test_a_survivor_is_equivalent_allowed_or_unexplained() -> None:
    allowed = Survivor(("copy/…",), "… < n => … < n + 1", "why")
    assert state(ROW, []) == "unexplained"
    assert state(ROW, [allowed]) == "allowed"
    assert state({**ROW, "same_ptx": True}, []) == "equivalent"
    assert state({**ROW, "points": 7}, []) == "refused"
    assert state({**ROW, "verdict": "ungraded", "points": None}, []) == "ungraded"
    again = {**ROW, "key": "other"}
    lines, unexplained = summary([ROW, again, {**ROW, "verdict": "same"}], [])
    assert unexplained == 1
    assert "a.py:3 [bound] a < n  =>  a < n + 1" in lines[1]


def test_a_pattern_is_plain_text_around_dots() -> None:
    assert fits("a[…] * b", "a[0, 1] * b")
    assert not fits("a[…] * b", "a[0] + b")


@pytest.mark.parametrize("known", survivors(), ids=lambda known: known.edit[:40])
def test_each_allowed_survivor_exists(known: Survivor) -> None:
    assert known.why.endswith(".")
    for pattern in known.of:
        exercise = pattern.partition("/")[0].replace("…", "vector_add")
        assert any(fits(pattern, name) and fits(known.edit, edit) for name, edit in of(exercise)), (
            f"tests/course/survivors.toml: {pattern} has no edit {known.edit}: delete the entry"
        )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("m, k = a.shape", "n = b.shape[1]", True),
        ("p = tl.exp(s - top)", "fade = tl.exp(old - top)", True),
        ("offsets = pid * BLOCK", "mask = offsets < n", False),
        ("n = b.shape[1]", "m, n = a.shape", False),
        ("old = tl.atomic_add(a_ptr, 1)", "x = tl.load(a_ptr)", False),
        ("x = helper(a_ptr)", "y = tl.load(a_ptr)", False),
        ("sizes[0] = 1", "n = sizes[0]", False),
        ("tl.store(a_ptr, x)", "y = tl.load(a_ptr)", False),
    ],
)
def test_independent_assignments_may_be_in_either_order(one, other, same):
    assert independent(*(ast.parse(text).body[0] for text in (one, other))) is same
