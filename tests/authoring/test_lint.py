"""Each rule for a lesson's text fires, and names the fix."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from graders.authoring.lesson import read_lesson
from graders.authoring.lint.text import lint_text
from graders.cli.build import build
from graders.judge import discovery
from tests.support.paths import ROOMS

SLUG = "vector_add"
TEXT = ROOMS.lesson_file(SLUG).read_text(encoding="utf-8")
BROKEN = {
    "begin the first cell": (r"\A.*\n# # ", "# %% [markdown]\n# "),
    "how many minutes": (r"minutes", "hours"),
    "by words, cells and exercises it takes": (r"\d+ minutes", "20 minutes"),
    "words come before the first code": (r"\A(.*\n# # .*\n)", r"\1# " + "word " * 800 + "\n"),
    "has no record in graders/course": (r'predict\("\w+"', 'predict("unheard_of"'),
    "leave None for the learner": (r'(predict\("\w+"), None', r"\1, 3"),
    "asks for the prediction": (r"predict\(", "forget("),
    "ask for it by": (r"\*\*Predict|Try:", "**Guess"),
    "ask the quiz in one cell": (r"quiz\(", "riddle("),
    "calls progress()": (r"progress\(\)", "pass"),
    "open each case study": (r"answer\(", "reply("),
    "no catch(…) takes": (r"\Z", "\n# %%\nmine = None\n"),
    "write **The contract.**": (r"\*\*The contract\.\*\*", "The contract."),
    "with that many points": (r"\*\*Rubric \(\d", "**Rubric (9"),
    "part `## For the GPU`": (r"## For the GPU", "## More"),
    "guard the GPU cell": (r"if ON_GPU:", "if True:"),
    "does not exist": (r"figures\.(\w+)", "figures.nothing_like_it"),
    "by links": (r"\Z", "\n# %% [markdown]\n# ![a picture](a.png)\n"),
    "assert nothing": (r"\Z", "\n# %%\nassert True\n"),
    "break the line": (r"\Z", "\n# %%\nx = " + "1 + " * 40 + "1\n"),
    "without 'obviously'": (r"\Z", "\n# %% [markdown]\n# This is obviously so.\n"),
    "name the GPU": (r"\Z", "\n# %% [markdown]\n# Measured on a GPU: fast.\n"),
    "name the versions": (r"\Z", "\n# %% [markdown]\n# Measured on an NVIDIA H200: fast.\n"),
    "there is no lesson 77": (r"\Z", "\n# %% [markdown]\n# See lesson 77.\n"),
    "does not parse": (r"\Z", "\n# %%\nx = = 1\n"),
}


WITHOUT_REFERENCES = {
    "`| in this course | elsewhere |`": (r"\| elsewhere \|", "| theirs |"),
    "end with `References:`": (r"References:", "Sources:"),
    "give the reference a link": (r"\]\(https://[^)]*\)", "]"),
}


def found_in(text: str, path: Path) -> list[str]:
    """What the rules say about a lesson that is written to that path."""
    (path.parent.parent / "benchmarks").symlink_to(ROOMS.root / "benchmarks")
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return list(lint_text(ROOMS, read_lesson(path)))


@pytest.mark.parametrize("message", BROKEN)
def test_a_rule_that_is_broken_is_named(message: str, tmp_path: Path) -> None:
    pattern, new = BROKEN[message]
    broken, count = re.subn(pattern, new, TEXT)
    assert count, "the lesson has nothing of the kind any more: change the pattern"
    found = found_in(broken, tmp_path / "lessons" / f"01_{SLUG}.py")
    assert [one for one in found if message in one], found


@pytest.mark.parametrize("message", WITHOUT_REFERENCES)
def test_a_later_lesson_ends_with_names_and_references(message: str, tmp_path: Path) -> None:
    pattern, new = WITHOUT_REFERENCES[message]
    path = ROOMS.lesson_file("experts")
    broken, count = re.subn(pattern, new, path.read_text(encoding="utf-8"))
    assert count
    found = found_in(broken, tmp_path / "lessons" / path.name)
    assert [one for one in found if message in one], found


def test_the_command_lists_what_is_missing() -> None:
    done = CliRunner().invoke(build, ["--lint", "--lesson", SLUG])
    assert (done.exit_code, done.output) == (0, "nothing is missing\n")


def test_a_missing_contract_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "contract", lambda name: None)
    done = CliRunner().invoke(build, ["--lint", "--lesson", SLUG])
    assert f"graders/course/{SLUG}/contract.py: CONTRACTS['vector_add'] is missing" in done.output


def test_the_tour_checks_its_own_exercise_only() -> None:
    """Another one that it solved would be counted as the learner's own work."""
    text = ROOMS.lesson_file("tour").read_text(encoding="utf-8")
    checked = set(re.findall(r"\bcheck\((\w+)\)", text))
    assert checked
    assert {discovery.exercise(name).lesson for name in checked} == {"tour"}
