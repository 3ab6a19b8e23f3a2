"""The process that reads: its limits hold, and no walk over what a stranger sends is quadratic.

A quadratic walk over a megabyte takes many minutes; the limit of the processor's time, which ends
the reading, is seconds. So what is read at all was not walked quadratically.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graders.judge.submission import reader
from graders.judge.submission.loading import (
    SubmissionError,
    defined_functions,
    from_text,
    load,
    notebook_in_order,
)
from tests.support.damaged_files import SCRIPT, damaged, honest_notebook
from tests.support.exercise_records import an_exercise
from triton_util.report import Finding

EXERCISE = an_exercise()
MEGABYTE = 990_000
KERNEL = "import triton\n@triton.jit\ndef kernel(x):\n    pass\n"
LAUNCHER = "def vector_add(x, y):\n    kernel[(1,)](x)\n    return S\n"


def said(text: str) -> str:
    try:
        from_text(text[:MEGABYTE], EXERCISE)
    except SubmissionError as error:
        return error.finding.code
    return "read"


def refusal_of(read: Callable[[], object]) -> Finding | None:
    try:
        read()
    except SubmissionError as error:
        return error.finding
    return None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x " + " " * 900_000 + "\n%magic\nS = 1\n" + KERNEL + LAUNCHER, "read"),
        ("\n" * 900_000 + "S = 1\n" + KERNEL + LAUNCHER, "read"),
        ("%x\n" + "?" * 900_000 + "x\nS = 1\n" + KERNEL + LAUNCHER, "read"),
        ("S = []\n" + "S.append(1)\n" * 4_000 + KERNEL + LAUNCHER, "read"),
        ("S = []\n" + "S.append(1)\n" * 8_000 + KERNEL + LAUNCHER, "too-large"),
        ("S = 0\n" + "S = S + 1\n" * 8_000 + KERNEL + LAUNCHER, "too-large"),
        ("S = '" + "a" * 900_000 + "';" + "S = S;" * 8_000 + "pass\n" + KERNEL + LAUNCHER, "read"),
        ("import torch as S\n" * 8_000 + KERNEL + LAUNCHER, "read"),
        (KERNEL + LAUNCHER + "".join(f"def {'S' * 90_000}{i}(): pass\n" for i in range(9)),
         "undefined-name"),
        (KERNEL + LAUNCHER.replace("S", ", ".join(f"m{i}" for i in range(20_000))),
         "undefined-name"),
    ],
    ids=("spaces", "lines", "questions", "appends", "more-appends", "values", "one-line",
         "imports", "names", "missing"),
)  # fmt: skip
def test_what_was_quadratic_is_read(text: str, expected: str) -> None:
    assert said(text) == expected


def test_a_missing_name_is_not_looked_for_in_each_broken_cell() -> None:
    broken = {"cell_type": "code", "source": "(" + "x = 3\n" * 100_000}
    names = ", ".join(f"m{i}" for i in range(20_000))
    text = json.dumps(
        {"cells": [broken, {"cell_type": "code", "source": KERNEL + LAUNCHER.replace("S", names)}]}
    )
    with pytest.raises(SubmissionError) as caught:
        from_text(text, EXERCISE, "work.ipynb")
    assert caught.value.finding.code == "undefined-name"


def test_strings_that_never_close_are_cut_in_one_walk(tmp_path: Path) -> None:
    path = tmp_path / "work.ipynb"
    path.write_bytes(b'{"cells": ["' + b'\\"' * 15_000_000)
    with pytest.raises(SubmissionError) as caught:
        load(path, EXERCISE)
    assert caught.value.finding.code == "too-large"


def test_too_much_memory_is_a_finding_and_the_next_one_is_read(tmp_path: Path) -> None:
    path = tmp_path / "work.ipynb"
    path.write_text('{"cells": [' + '{"a":1},' * 2_400_000 + "{}]}")
    with pytest.raises(SubmissionError) as caught:
        load(path, EXERCISE)
    assert caught.value.finding.code == "too-costly"
    assert "512 MB" in caught.value.finding.message
    assert said(SCRIPT) == "read"


def test_a_huge_text_cell_is_refused_before_it_costs_memory(tmp_path: Path) -> None:
    book = honest_notebook()
    text = {"cell_type": "markdown", "metadata": {}, "source": "word " * 8_000_000}
    book["cells"].insert(0, text)
    path = tmp_path / "work.ipynb"
    path.write_text(json.dumps(book))
    for read in (lambda: load(path, EXERCISE), lambda: notebook_in_order(path)):
        with pytest.raises(SubmissionError) as caught:
            read()
        assert caught.value.finding.code == "too-large"


def test_too_much_time_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "SECONDS", 1)
    impatient = reader.Reader()
    monkeypatch.setattr(reader, "_shared", (os.getpid(), impatient))
    try:
        assert said("x = [" + "1 < " * 240_000 + "1]") == "too-costly"
    finally:
        impatient.close()


def test_a_process_that_was_killed_is_started_again() -> None:
    fresh = reader.Reader()
    fresh.start()
    assert fresh._started is not None
    fresh._started.process.kill()
    descriptor = os.memfd_create("text")
    os.write(descriptor, b"def f(): pass")
    try:
        assert fresh.ask("names", descriptor, {"notebook": False}) == {"names": ["f"]}
    finally:
        fresh.close()
        os.close(descriptor)


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "a\0b"])
def test_only_ordinary_files_are_opened(path: str) -> None:
    with pytest.raises(SubmissionError) as caught:
        load(Path(path), EXERCISE)
    assert caught.value.finding.code == "file-missing"


def test_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "work.py")
    with pytest.raises(SubmissionError):
        load(tmp_path / "work.py", EXERCISE)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "iso8859-15"])
def test_honest_scripts_in_other_encodings(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "work.py"
    declared = f"# -*- coding: {encoding} -*-\n" if encoding != "utf-8-sig" else ""
    text = declared + SCRIPT.replace("n_elements", "größe").replace("mask", "é")
    path.write_bytes(text.encode(encoding))
    assert "größe = out.numel()" in load(path, EXERCISE).source


@pytest.mark.parametrize("encoding", ["cp1257", "koi8-t", "hz", "ptcp154", "rot13", "hex", "none"])
def test_a_script_in_a_rare_encoding_is_read_or_named(encoding: str, tmp_path: Path) -> None:
    """Where the fork may open no module of Python's, that is no fault of the judge."""
    path = tmp_path / "work.py"
    path.write_text(f"# -*- coding: {encoding} -*-\n" + SCRIPT)
    refused = refusal_of(lambda: load(path, EXERCISE))
    assert refused is None or refused.code == "not-utf8"


def test_a_notebook_with_a_mark_in_front(tmp_path: Path) -> None:
    path = tmp_path / "work.ipynb"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(honest_notebook()).encode())
    assert "def vector_add" in load(path, EXERCISE).source
    assert len(notebook_in_order(path)["cells"]) == 4


@given(seed=st.integers(0, 10**9))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_damage_is_refused_or_read(seed: int, tmp_path: Path) -> None:
    made = damaged(seed)
    path = tmp_path / f"work{made.suffix}"
    path.write_bytes(made.data)
    for read in (lambda: load(path, EXERCISE), lambda: notebook_in_order(path)):
        refused = refusal_of(read)
        assert refused is None or refused.code != "reading-failed", refused.message
        assert refused is None or "\x1b" not in refused.message
    names = defined_functions(path)
    assert names is None or isinstance(names, set)
    assert said(SCRIPT) == "read"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
cells = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(["code", "markdown", "raw", "x"]) | json_values,
        "source": st.text(max_size=30) | json_values,
        "metadata": json_values,
        "id": json_values,
        "attachments": json_values,
    },
)


@given(notebook=st.fixed_dictionaries({"cells": st.lists(cells | json_values, max_size=4)}))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_json_is_refused_or_put_in_order(notebook: object, tmp_path: Path) -> None:
    import nbformat

    path = tmp_path / "work.ipynb"
    path.write_text(json.dumps(notebook))
    refused = refusal_of(lambda: notebook_in_order(path))
    if refused is not None:
        assert refused.code != "reading-failed", refused.message
        return
    found = notebook_in_order(path)
    for number, cell in enumerate(found["cells"]):
        cell["id"] = f"cell-{number}"  # the mending of a class gives ids
    nbformat.validate(nbformat.from_dict(found))
