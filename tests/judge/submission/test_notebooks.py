"""Notebooks of every kind: what is found in them, and what is said about broken ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graders.judge.submission.loading import Submission, SubmissionError, from_text, load
from graders.judge.submission.notebooks import without_outputs
from tests.support.exercise_records import an_exercise

EXERCISE = an_exercise()
IMPORTS = "import torch, triton\nimport triton.language as tl\n"
KERNEL = "@triton.jit\ndef add_kernel(x_ptr, B: tl.constexpr):\n    tl.store(x_ptr, B)\n"
LAUNCHER = "def vector_add(x, y):\n    add_kernel[(1,)](torch.zeros(1), B=1)\n    return x\n"


def code(source: str | list[str], **more: Any) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, **more}


def notebook(*cells: Any, **more: Any) -> str:
    return json.dumps({"cells": list(cells), **more})


def read(text: str) -> Submission:
    return from_text(text, EXERCISE, "work.ipynb")


def refused(text: str) -> tuple[str, str]:
    with pytest.raises(SubmissionError) as caught:
        read(text)
    finding = caught.value.finding
    assert finding.gate == "read"
    assert "\n" not in finding.message
    assert "Traceback" not in finding.message
    return finding.code, finding.message


def lines(submission: Submission) -> list[str]:
    return [line for line in submission.source.split("\n") if line.strip()]


def test_only_what_the_launcher_needs_is_kept() -> None:
    submission = read(
        notebook(
            {"cell_type": "markdown", "source": "# Vector addition"},
            code("import os, torch, triton\nimport triton.language as tl\nos.system('echo hello')"),
            code(KERNEL),
            code("data = torch.randn(3)\nprint(data)"),
            code(LAUNCHER + "vector_add(data, data)"),
            code("assert False"),
        )
    )
    assert "\n".join(lines(submission)) == (IMPORTS + KERNEL + LAUNCHER).strip()


def test_places_are_cells_and_lines() -> None:
    submission = read(
        notebook({"cell_type": "markdown"}, code(IMPORTS), code(KERNEL), code(LAUNCHER))
    )
    rows = submission.source.split("\n")
    assert submission.locate(rows.index("def vector_add(x, y):") + 1) == ("cell 4", 1)
    assert submission.locate(rows.index("@triton.jit") + 1) == ("cell 3", 1)
    assert submission.locate(None) == ("", None)


def test_helpers_and_constants_of_other_cells_come_along() -> None:
    submission = read(
        notebook(
            code(IMPORTS),
            code("SIZE = 8\nSIZES = [SIZE]\nSIZES.append(16)\nUNUSED = 3"),
            code("@triton.jit\ndef twice(v):\n    return v * FACTOR\nFACTOR = tl.constexpr(2)"),
            code(KERNEL.replace("B)", "twice(B))")),
            code(LAUNCHER.replace("B=1", "B=SIZES[0]")),
        )
    )
    kept = "\n".join(lines(submission))
    for part in ("SIZE = 8", "SIZES.append(16)", "def twice", "FACTOR = "):
        assert part in kept
    assert "UNUSED" not in kept


def test_colab_and_other_shapes() -> None:
    colab = notebook(
        code(["!pip install triton\n", "%matplotlib inline\n", "import torch, triton\n"]),
        code("import triton.language as tl\nx = !ls\nvector_add?"),
        code("%%time\n" + KERNEL),
        code("%%bash\nls -l (((\n"),
        code("if True:\n    %timeit 1\n" + LAUNCHER, metadata={"id": "abc"}),
        metadata={"colab": {"provenance": []}},
    )
    assert len(lines(read(colab))) == 8
    old = json.dumps(
        {
            "nbformat": 3,
            "worksheets": [
                {
                    "cells": [
                        {"cell_type": "code", "language": "python", "input": [IMPORTS, KERNEL]},
                        {"cell_type": "code", "input": LAUNCHER},
                    ]
                }
            ],
        }
    )
    assert len(lines(read(old))) == 8


def test_strings_that_look_like_magics_stay() -> None:
    text = 'TEXT = """\n%matplotlib\n!ls\n"""\n'
    submission = read(
        notebook(code(IMPORTS), code(KERNEL), code(text), code(LAUNCHER.replace("x\n", "TEXT\n")))
    )
    assert "%matplotlib" in submission.source


def test_a_broken_cell_elsewhere_does_not_matter() -> None:
    submission = read(notebook(code(IMPORTS), code("def ("), code(KERNEL), code(LAUNCHER)))
    assert "def (" not in submission.source


def test_a_broken_cell_that_is_needed_is_named() -> None:
    code_, message = refused(
        notebook(code(IMPORTS), code(KERNEL), code("def vector_add(x, y)\n    return x"))
    )
    assert code_ == "syntax-error"
    assert message.startswith("cell 3, line 1: `def vector_add(x, y)`. A colon is missing")
    code_, message = refused(notebook(code(IMPORTS), code(KERNEL + "  x ="), code(LAUNCHER)))
    assert code_ == "syntax-error"
    assert "cell 2" in message


def test_the_last_definition_of_a_helper_wins() -> None:
    submission = read(
        notebook(code(IMPORTS), code(KERNEL), code(LAUNCHER), code(KERNEL.replace("B)", "B + 1)")))
    )
    assert "B + 1" in submission.source
    assert submission.source.count("def add_kernel") == 1


def test_two_different_launchers_are_named_with_both_places() -> None:
    text = notebook(
        code(IMPORTS), code(KERNEL), code(LAUNCHER), code(LAUNCHER.replace("return x", "return y"))
    )
    code_, message = refused(text)
    assert code_ == "defined-twice"
    assert "cell 3, line 1" in message
    assert "cell 4, line 1" in message


def test_repeated_and_stub_launchers_do_not_count() -> None:
    stub = "def vector_add(x, y):\n    '''Add.'''\n    # YOUR CODE HERE\n    pass\n"
    for cells in ([LAUNCHER, LAUNCHER], [stub, LAUNCHER], [LAUNCHER, stub]):
        submission = read(notebook(code(IMPORTS), code(KERNEL), *map(code, cells)))
        assert "add_kernel[(1,)]" in submission.source
        assert submission.source.count("def vector_add") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "empty"),
        ("{}", "not-a-notebook"),
        ("[1, 2]", "not-a-notebook"),
        ('{"cells": [}', "broken-json"),
        ('{"cells": ' + "[" * 5000, "broken-json"),
        (notebook(), "empty"),
        (notebook(code("  \n")), "empty"),
        (notebook({"cell_type": "markdown", "source": "hello"}), "empty"),
        (notebook(code("x = 1")), "function-missing"),
        (notebook({"cell_type": "code"}, code(["a", "b"])), "function-missing"),
        (notebook(7, code("x = 1")), "damaged-notebook"),
        (notebook(None, code("x = 1")), "damaged-notebook"),
        (notebook({"source": "x = 1"}), "damaged-notebook"),
        (notebook({"cell_type": 7, "source": "x = 1"}), "damaged-notebook"),
        (notebook(code(["a", 3])), "damaged-notebook"),
        (notebook({"cell_type": "code", "source": 3}), "damaged-notebook"),
        ('{"cells": 3}', "not-a-notebook"),
        ("null", "not-a-notebook"),
        ('{"nbformat": ' + "4" * 5000 + ', "cells": []}', "broken-json"),
        ("[" * 200_000, "broken-json"),
    ],
)
def test_bad_notebooks_get_one_clear_line(text: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "work.ipynb"
    path.write_text(text)
    with pytest.raises(SubmissionError) as caught:
        load(path, EXERCISE)
    assert caught.value.finding.code == expected
    assert "\n" not in caught.value.finding.message


def test_large_outputs_are_cut_away(tmp_path: Path) -> None:
    output = {"output_type": "stream", "text": ['"outputs": [ \\" ] ' * 1000] * 1500}
    path = tmp_path / "work.ipynb"
    path.write_text(
        notebook(code(IMPORTS), code(KERNEL, outputs=[output]), code(LAUNCHER, outputs=[[], [[]]]))
    )
    assert path.stat().st_size > 30_000_000
    assert "def vector_add" in load(path, EXERCISE).source


def test_large_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "work.ipynb"
    path.write_text(notebook(code(LAUNCHER + "#" * 50_000_000)))
    with pytest.raises(SubmissionError) as caught:
        load(path, EXERCISE)
    assert caught.value.finding.code == "too-large"
    assert "50 MB" in caught.value.finding.message


def test_cutting_outputs_keeps_everything_else() -> None:
    cells = [
        code('print("[\\"outputs\\": [")', outputs=[{"text": "]]]"}, ["["]], execution_count=1),
        code("y = 2", outputs=[]),
    ]
    cut = json.loads(without_outputs(notebook(*cells, metadata={"a": [1]}).encode()))
    assert cut == {
        "cells": [{**cells[0], "outputs": []}, {**cells[1], "outputs": []}],
        "metadata": {"a": [1]},
    }


def test_a_refusal_counts_lines_from_the_top_of_its_cell() -> None:
    with pytest.raises(SubmissionError) as caught:
        read(notebook(code(IMPORTS + KERNEL), code("# mine\ndef vector_add(x):\n    return x")))
    assert (caught.value.finding.where, caught.value.finding.line) == ("cell 2", 2)
