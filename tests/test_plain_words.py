"""Words that need a second reading stay out of lessons, documents and messages.

`REPLACED` gives the word to write in their place.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from graders.authoring.lesson import read_lesson

ROOT = Path(__file__).parent.parent
REPLACED = {
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bright (kernel|result|solution)s?\b": "correct",
    r"\bbehind the (end|vector|tensor|row|last|matrix)\b": "past the end, after",
    r"\b[Tt]he way back\b": "the backward pass",
    r"\b([Nn]obody|[Ss]omebody|[Ww]hoever)\b": "name the actor: you, the program, the compiler",
    r"\b(tells?|told) apart\b": "distinguishes",
    r"\b(is|are|was|were|be|been) told\b": "reported, named",
    r"\b(stands?|stood|lies|lay) (in|on|beside|above|below)\b": "is in",
    r"\bidle lanes\b": "masked-off lanes",
    r"\btrusted side\b": "the judge process",
    r"\bstrangers?\b": "untrusted code",
    r"\bdealt out\b": "distributed",
}
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
LESSONS = sorted((ROOT / "lessons").glob("[0-9]*.py"))
MESSAGES = sorted((ROOT / "graders/course").rglob("*.py"))
LONGEST_PARAGRAPH = 120  # words


def replaced(text: str) -> list[str]:
    """What the text says, and what to write."""
    return [
        f"{found[0]!r} (write: {better})"
        for pattern, better in REPLACED.items()
        for found in re.finditer(pattern, text)
    ]


def strings(path: Path) -> Iterator[str]:
    """The texts in a module, without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and " " in text and id(node) not in docstrings:
            yield text


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_documents_use_the_words_of_the_field(path: Path) -> None:
    found = replaced(path.read_text(encoding="utf-8"))
    assert not found, f"{path.relative_to(ROOT)} says {', '.join(found)}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_paragraph_is_too_long(path: Path) -> None:
    for paragraph in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
        for part in re.split(r"\n(?=\s*(?:[-*|]|\d+\.) )", paragraph):
            words = len(part.split()) if "|" not in part and "```" not in part else 0
            assert words <= LONGEST_PARAGRAPH, (
                f"{path.relative_to(ROOT)}: {words} words in a paragraph: split {part[:60]!r}"
            )


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lessons_use_the_words_of_the_field(path: Path) -> None:
    kinds = ("markdown", "case_study", "model_answer")
    cells = (cell.source for cell in read_lesson(path).cells if cell.kind in kinds)
    found = replaced("\n".join(cells).replace("\n", " "))
    assert not found, f"{path.name} says {', '.join(found)}"


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_messages_use_the_words_of_the_field(path: Path) -> None:
    found = [word for text in strings(path) for word in replaced(text)]
    assert not found, f"{path.relative_to(ROOT)} says {', '.join(found)}"


OF_PRACTICE = {
    r"\b(stands?|stood|lies|lay) \w+": "is",
    r"\bbehind\b": "past the end, after",
    r"\bwalks?\b": "pass, loop",
    r"<= where < is right": "<= instead of <",
}


def test_puzzles_use_the_words_of_the_field() -> None:
    """A puzzle shows the mistake of a wrong kernel in the words of tests/course."""
    for path in sorted((ROOT / "tests" / "course").rglob("wrong.toml")):
        for name, kernel in tomllib.loads(path.read_text(encoding="utf-8")).items():
            says = kernel["says"]
            found = [word for word in OF_PRACTICE if re.search(word, says)] + replaced(says)
            assert not found, f"{path.relative_to(ROOT)}: {name}: {says!r}"
