"""Generate a text from a small grammar; the same seed gives the same text."""

from __future__ import annotations

import random

import torch

ENDS = " .\n"
ARTICLES = ("a", "the")
ADJECTIVES = ("old", "red", "small", "warm")
NOUNS = ("bird", "cat", "kernel", "tile", "warp")
VERBS = ("finds", "holds", "loads", "sees")
ADVERBS = ("again", "now", "slowly")
WORDS = frozenset((*ARTICLES, *ADJECTIVES, *NOUNS, *VERBS, *ADVERBS))
LETTERS = "".join(sorted(set(ENDS).union(*WORDS)))
"""All characters that a text has. The number of a character is its place in here."""


def sentence(draw: random.Random) -> str:
    """Return one sentence, such as `the old cat sees a warm tile now.`"""

    def thing() -> list[str]:
        adjective = [draw.choice(ADJECTIVES)] if draw.random() < 0.5 else []
        return [draw.choice(ARTICLES), *adjective, draw.choice(NOUNS)]

    adverb = [draw.choice(ADVERBS)] if draw.random() < 0.4 else []
    return " ".join([*thing(), draw.choice(VERBS), *thing(), *adverb]) + "."


def text(sentences: int = 2000, seed: int = 0) -> str:
    """Return `sentences` sentences, one on each line."""
    draw = random.Random(seed)
    return "".join(f"{sentence(draw)}\n" for _ in range(sentences))


def numbers(of: str) -> torch.Tensor:
    """Return the number of each character, int64."""
    return torch.tensor([LETTERS.index(letter) for letter in of])


def letters(of: torch.Tensor) -> str:
    """Return the characters with these numbers."""
    return "".join(LETTERS[number] for number in of.tolist())


def known_words(sample: str) -> tuple[int, int]:
    """Return how many words of a sample are words of the grammar, and how many there are.

    The first and the last word may be cut off, so they do not count.
    """
    words = sample.replace(".", " ").split()[1:-1]
    return sum(word in WORDS for word in words), len(words)
