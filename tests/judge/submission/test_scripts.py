"""Scripts: the slice that is kept, and what is said about what cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from graders.judge.submission.loading import Submission, SubmissionError, from_text, load
from tests.support.exercise_records import an_exercise
from triton_util.report import Finding

EXERCISE = an_exercise()
IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n"
KERNEL = "@triton.jit\ndef add_kernel(x_ptr):\n    tl.store(x_ptr, 1)\n"
LAUNCHER = "def vector_add(x, y):\n    add_kernel[(1,)](torch.zeros(1))\n    return x\n"
GOOD = IMPORTS + KERNEL + LAUNCHER


def refused(text: str) -> Finding:
    with pytest.raises(SubmissionError) as caught:
        from_text(text, EXERCISE)
    finding = caught.value.finding
    assert "\n" not in finding.message
    return finding


def load_bytes(data: bytes, folder: Path, name: str = "work.py") -> Submission:
    path = folder / name
    path.write_bytes(data)
    return load(path, EXERCISE)


def test_lines_stay_where_they_are() -> None:
    text = '"""About."""\n\nprint("hello")\n' + GOOD + "\nprint(vector_add)\n"
    submission = from_text(text, EXERCISE)
    original, kept = text.split("\n"), submission.source.split("\n")
    for line, was in zip(kept, original, strict=False):
        assert line in ("", was)
    assert submission.locate(5) == ("line", 5)
    assert "print" not in submission.source


def test_neighbours_on_a_line_are_dropped() -> None:
    text = GOOD.replace("import torch\n", "import torch; torch.add = None; X = 'ä'; Y = 3\n")
    text = text.replace("return x", "return (x, Y)")
    submission = from_text(text, EXERCISE)
    assert submission.source.split("\n")[0] == "import torch; Y = 3"


def test_comments_inside_kept_functions_stay() -> None:
    text = GOOD.replace("    return x", "    # YOUR CODE HERE\n    return x")
    assert "# YOUR CODE HERE" in from_text(text, EXERCISE).source


def test_changes_of_modules_are_not_kept() -> None:
    text = GOOD + "tl.load = None\ntriton.cdiv = max\ntorch.manual_seed(0)\nimport os\n"
    submission = from_text(text, EXERCISE)
    assert "manual_seed" not in submission.source
    assert "cdiv" not in submission.source
    assert "import os" not in submission.source


def test_the_allocator_is_kept() -> None:
    text = "def alloc(n, a, s): return torch.empty(n)\n" + GOOD + "triton.set_allocator(alloc)\n"
    kept = from_text(text, EXERCISE).source
    assert "triton.set_allocator(alloc)" in kept
    assert "def alloc" in kept


def test_values_follow_the_order_of_the_file() -> None:
    text = (
        "B = 1\n" + IMPORTS + "def size(n=B): return n + LATE\nB = 2\nLATE = 3\n" + KERNEL
        + LAUNCHER.replace("return x", "return size()")
    )  # fmt: skip
    kept = from_text(text, EXERCISE).source
    assert "B = 1" in kept
    assert "B = 2" not in kept
    assert "LATE = 3" in kept


def test_branches_and_their_defaults_are_kept() -> None:
    text = IMPORTS + KERNEL + (
        "SIZE = 16\nif torch.cuda.is_available():\n    SIZE = 32\n"
        "try:\n    import math as m\nexcept ImportError:\n    m = None\n"
    ) + LAUNCHER.replace("return x", "return SIZE, m")  # fmt: skip
    kept = from_text(text, EXERCISE).source
    for part in ("SIZE = 16", "SIZE = 32", "import math as m", "m = None"):
        assert part in kept


def test_line_ends_and_marks_of_other_systems(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode()
    assert load_bytes(data, tmp_path).source.strip() == GOOD.strip()
    latin = "# -*- coding: latin-1 -*-\n# é\n".encode("latin-1") + GOOD.encode()
    assert "def vector_add" in load_bytes(latin, tmp_path).source


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"\x7fELF\x00\x01\x02", "binary"),
        (b"x = '\xe9'\n", "not-utf8"),
        ("x = 1".encode("utf-16"), "not-utf8"),
        (b"#" * 21_000_000, "too-large"),
        (b"#" * 1_100_000, "too-large"),
        (b"x=1\n" * 10_001, "too-large"),
        (b"def vector_add(x, y):\n  return (\n", "syntax-error"),
        (b"def vector_add(x, y):\n  return " + b"-" * 9000 + b"1", "too-deep"),
        (b"def vector_add(x, y):\n  return " + b"(" * 400 + b")" * 400, "syntax-error"),
        (b"return 3\ndef vector_add(x, y):\n  return 1", "syntax-error"),
    ],
)
def test_bad_scripts_get_one_clear_line(data: bytes, expected: str, tmp_path: Path) -> None:
    with pytest.raises(SubmissionError) as caught:
        load_bytes(data, tmp_path)
    assert caught.value.finding.code == expected
    assert "\n" not in caught.value.finding.message


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.py", tmp_path):
        with pytest.raises(SubmissionError) as caught:
            load(path, EXERCISE)
        assert caught.value.finding.code == "file-missing"
        assert str(path) in caught.value.finding.message


def test_a_renamed_launcher() -> None:
    finding = refused(GOOD.replace("vector_add", "vector_sum"))
    assert finding.code == "function-missing"
    assert "Did you mean vector_sum?" in finding.message
    assert "vector_add(x, y)" in finding.message
    assert "Did you mean Vector_Add?" in refused(GOOD.replace("vector_add", "Vector_Add")).message


def test_a_launcher_that_is_no_function() -> None:
    finding = refused(GOOD.replace("vector_add", "add2") + "vector_add = add2\n")
    assert finding.code == "function-missing"
    assert finding.line == 10


@pytest.mark.parametrize(
    ("signature", "fits"),
    [
        ("x, y", True),
        ("a, b", True),
        ("x, y, out=None", True),
        ("*tensors", True),
        ("x, *rest", True),
        ("x, y, *, debug=False", True),
        ("x, y, /", True),
        ("x", False),
        ("", False),
        ("x, y, n", False),
        ("x, y, *, n", False),
    ],
)
def test_signatures(signature: str, fits: bool) -> None:
    text = GOOD.replace("(x, y)", f"({signature})").replace("return x", "return 1")
    if fits:
        assert from_text(text, EXERCISE).launcher == "vector_add"
        return
    finding = refused(text)
    assert finding.code == "wrong-signature"
    assert "vector_add(x, y)" in finding.message
    assert finding.line == 7


def test_a_name_that_nothing_defines() -> None:
    finding = refused(GOOD.replace("def add_kernel", "def add_kernell"))
    assert finding.code == "undefined-name"
    assert "add_kernel" in finding.message
    assert "Did you mean add_kernell?" in finding.message
    assert finding.line == 8


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("def vector_add(x, y)\n    return x", "A colon is missing"),
        ("def vector_add(x, y):\nreturn x", "has to be indented"),
        ("def vector_add(x, y):\n    return (x", "never closed"),
        ("def vector_add(x, y):\n    return 'x", "closing quote"),
        ("def vector_add(x, y):\n    if x = y:\n        return x", "comparing takes two"),
        ("def vector_add(x, y):\n    return “x”", "typographic quote"),
        ("def vector_add(x, y):\n        a = 1\n    return x", "matches none of the blocks"),
    ],
)
def test_syntax_errors_in_a_tutors_words(broken: str, words: str) -> None:
    finding = refused(IMPORTS + broken)
    assert finding.code == "syntax-error"
    assert words in finding.message
    assert finding.line is not None
    assert finding.original.startswith("SyntaxError")


def test_an_odd_escape_is_no_error() -> None:
    assert from_text(GOOD + "S = '\\d'\n", EXERCISE).launcher == "vector_add"
