"""rubric.toml: what is read, and what is wrong with it."""

from pathlib import Path

import pytest

from graders.grading.plugins import rubric_items

GOOD = """
[01_a]
why = [{label = " Row\\n stride ", points = 3}, {label = "x", points = -1, comment = "No."}]
"""


def test_items_have_a_comment_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "rubric.toml").write_text(GOOD)
    assert rubric_items.read_items(tmp_path, "01_a") == {
        "why": [
            {"label": "Row stride", "points": 3, "comment": "Row stride"},
            {"label": "x", "points": -1, "comment": "No."},
        ]
    }
    assert rubric_items.read_items(tmp_path, "02_b") == {}


def test_without_a_file_there_are_no_buttons(tmp_path: Path) -> None:
    rubric_items.set_page(tmp_path, "01_a")
    assert rubric_items.of_page() == {"items": {}}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[01_a", "at end of document"),
        ("[01_b]", "the class has no assignment '01_b': did you mean '01_a'?"),
        ("01_a = 3", r"\[01_a\] is a table of questions"),
        ("[01_a]\nwhy = {}", "why is a list of items"),
        ('[01_a]\nwhy = [{label = "x"}]', "an item of why is"),
        ('[01_a]\nwhy = [{label = "x", points = "3"}]', "are a number"),
    ],
)
def test_what_is_wrong_with_a_rubric(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "source" / "01_a").mkdir(parents=True)
    (tmp_path / "rubric.toml").write_text(text)
    with pytest.raises(ValueError, match=why):
        rubric_items.read_items(tmp_path, "01_a")
    rubric_items.set_page(tmp_path, "01_a")
    assert rubric_items.of_page()["error"].startswith("rubric.toml: ")
