"""What an attempt of a beginner is: slips in a right kernel, and what the judge must say."""

from __future__ import annotations


class Attempt:
    """Slips in the model solution: `(text, what a beginner writes instead)`, one or several.

    `code` is that of the finding that comes first; `words` stand in what the learner reads of it,
    without the marks of Markdown.
    """

    def __init__(self, code: str, words: str, *slips: tuple[str, str]) -> None:
        self.code = code
        self.words = words
        self.slips = slips

    def written(self, right: str) -> str:
        """The text with its slips; each of them must find its place."""
        for old, new in self.slips:
            assert old in right, old
            right = right.replace(old, new)
        return right
