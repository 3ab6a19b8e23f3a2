"""The parts of the site's builder: explorers, predictions, pages and the cache, without a build."""

from __future__ import annotations

import base64
import html
import itertools
import json
import re
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("docutils", reason="the site's packages are not installed: tilewise[site]")

from tilewise_site import documents, executing, interactive, lessons, outputs
from tilewise_site.running import Shown

from triton_util.explore.blocks import blocks_1d_text


def control(name: str, values: tuple[object, ...], start: int, kind: str) -> interactive.Control:
    return interactive.Control(name, name, kind, values, start)


def test_every_state_of_an_explorer_is_what_the_notebook_would_show() -> None:
    controls = [
        control("n_elements", tuple(range(12)), 7, "range"),
        control("BLOCK_SIZE", (2, 4, 8), 1, "select"),
        control("pid", (0, 1, 2), 1, "range"),
    ]
    made = interactive.explorer_html("blocks", controls, blocks_1d_text, False, "x")
    data = json.loads(re.search(r'application/json">(.*?)</script>', made)[1])
    combinations = list(itertools.product(*(one.values for one in controls)))
    assert len(data["states"]) == len(combinations)
    for place, values in enumerate(combinations):
        lines = data["texts"][data["states"][place]]
        shown = "\n".join(data["lines"][line] for line in lines)
        assert shown == blocks_1d_text(*values), values
    assert html.escape(blocks_1d_text(7, 4, 1)) in made, "what it starts with needs no script"


def test_states_cannot_end_the_script_that_holds_them() -> None:
    controls = [control("n", (0, 1), 0, "range")]
    made = interactive.explorer_html("x", controls, lambda n: f"</script><b>{n}", True, "x")
    inside = made[made.index("application/json") :]
    assert inside.count("</script>") == 1
    assert "<b>" not in inside


def test_an_explorer_that_is_too_large_for_a_page_is_refused() -> None:
    controls = [control(name, tuple(range(40)), 0, "range") for name in "abc"]
    with pytest.raises(ValueError, match="64,000 states"):
        interactive.explorer_html("huge", controls, lambda a, b, c: "", False, "x")


def test_each_control_has_a_label_of_its_own() -> None:
    controls = [control("rows", (1, 2), 0, "range"), control("GPU", ("T4", "H200"), 1, "select")]
    made = interactive.explorer_html("x", controls, lambda rows, GPU: f"{rows} {GPU}", False, "x")
    fields = re.findall(r'<(?:input|select)[^>]* id="([^"]+)"', made)
    assert re.findall(r'<label for="([^"]+)"', made) == fields == ["x-0", "x-1"]
    assert '<option value="1" selected>H200</option>' in made


def test_a_prediction_shows_no_answer_before_the_guess() -> None:
    made = interactive.prediction_html(1536.0, "bytes", "relu_bytes", "x")
    assert ">relu bytes</label>" in made
    assert ">rows (bytes)</label>" in interactive.prediction_html(1.0, "bytes", "rows", "x")
    assert "1,536" not in re.sub(r"<[^>]*>", "", made)
    assert 'data-actual="1536.0"' in made


def notebook(*cells: tuple[str, str]) -> lessons.Lesson:
    kinds = {"code": nbformat.v4.new_code_cell, "text": nbformat.v4.new_markdown_cell}
    return lessons.Lesson("01_x", tuple(kinds[kind](source) for kind, source in cells))


STUB = "def double(x):\n    # YOUR CODE HERE\n    pass"


def test_a_cell_that_needs_the_learners_answer_is_shown_without_an_output() -> None:
    lesson = notebook(("text", "# X"), ("code", STUB), ("code", "double(2) + 1"))
    page = lessons.page(lesson, [Shown(""), Shown("", failed=True)], "")
    assert "# YOUR CODE HERE" in page
    assert "double(2) + 1" in page
    assert "needs your own answer" in page


def test_what_the_stub_made_is_labelled() -> None:
    lesson = notebook(("text", "# X"), ("code", STUB), ("code", "print(double(2))"))
    page = lessons.page(lesson, [Shown(""), Shown("<pre>None</pre>")], "")
    assert "still unfinished" in page
    unrelated = notebook(("text", "# X"), ("code", STUB), ("code", "print(2)"))
    assert "still unfinished" not in lessons.page(unrelated, [Shown(""), Shown("2")], "")


def test_a_formula_becomes_mathml() -> None:
    page = lessons.with_formulas("before $$a \\cdot b$$ after")
    assert "<math" in page
    assert "$$" not in page


def test_pictures_become_files_and_styles_are_said_once() -> None:
    signature, size = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", (2).to_bytes(4) + (4).to_bytes(4)
    png = base64.b64encode(signature + size).decode()
    cell = f'<style>.a{{}}</style><img alt="x" width="10" src="data:image/png;base64,{png}">'
    content, rules = outputs.without_styles(cell + cell)
    content, pictures = outputs.pictures_as_files(content, "../figures")
    assert len(pictures) == 1
    assert "base64" not in content
    assert content.count('height="20"') == 2
    assert outputs.style_sheet(rules) == ".a{}\n"


def test_a_lesson_is_run_again_when_its_text_or_the_code_under_it_changes(monkeypatch) -> None:
    before = executing.key(["x = 1"])
    assert executing.key(["x = 1"]) == before
    assert executing.key(["x = 2"]) != before
    monkeypatch.setattr(executing, "_surroundings", lambda: "another judge")
    assert executing.key(["x = 1"]) != before


def test_the_rooms_that_a_lesson_reaches_are_in_its_key() -> None:
    for room in executing.ROOMS:
        assert list((executing.REPOSITORY / room).rglob("*.py")), f"{room} has moved"
    assert not any("solutions" in room or "hidden" in room for room in executing.ROOMS)


def test_the_workflow_pins_its_actions_and_asks_for_no_secret() -> None:
    text = (executing.REPOSITORY / ".github/workflows/site.yml").read_text()
    used = re.findall(r"uses: (\S+)", text)
    assert used
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), f"{action}: pin the commit"
    assert "secrets." not in text


def test_links_out_of_the_documents_lead_to_the_repository(tmp_path: Path) -> None:
    inner = tmp_path / "decisions"
    inner.mkdir()
    (tmp_path / "learn.md").write_text("# Learn\n[code](../README.md) [why](decisions/0001-a.md)")
    (inner / "0001-a.md").write_text("# Why\n[up](../learn.md) [code](../../graders/judge)")
    found = {one.page: one.text for one in documents.read_documents(tmp_path, "host/x", "main")}
    assert "[code](host/x/blob/main/README.md) [why](decisions/0001-a.md)" in found["docs/learn"]
    why = found["docs/decisions/0001-a"]
    assert "[up](../learn.md) [code](host/x/blob/main/graders/judge)" in why


def test_a_registered_prediction_is_a_field_on_the_page_too() -> None:
    from types import SimpleNamespace

    from tilewise_site import running

    from triton_util.client import predicting

    page = SimpleNamespace(shown=[], source="", identity=lambda: "p1")
    judge = SimpleNamespace(ask=lambda request: {"answer": 24_000, "unit": "bytes", **request})
    with running._standing_in(page):
        predicting.predict("relu_bytes", None, judge, None)
    (shown,) = page.shown
    assert 'data-told="24,000"' in shown
    assert ">relu bytes</label>" in shown
