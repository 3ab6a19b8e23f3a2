"""Dropout beside a residual: the numbers of `tl.rand`, bit for bit, and what is made of them.

Philox-4x32-10 is the generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy
as 1, 2, 3", SC 2011. It turns a counter of four 32-bit words and a key of two into four random
words, and remembers nothing.
"""

from __future__ import annotations

import torch

ROUNDS = 10
WORD = 2**32 - 1  # all bits of a word
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)  # added to the key after each round
# A little below 2**-31, so that the largest number stays below 1 in float32.
TO_UNIT = 4.6566127342e-10

Words = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
Key = int | torch.Tensor


def _product(word: torch.Tensor, multiplier: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The high and the low word of a 64-bit product; that it wraps around leaves its bits alone."""
    product = word * multiplier
    return (product >> 32) & WORD, product & WORD


def philox(counter: Words, key: tuple[Key, Key], rounds: int = ROUNDS) -> Words:
    """Return the four random words of each counter: int64 tensors of numbers below 2**32."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(rounds):
        high_0, low_0 = _product(c0, MULTIPLIERS[0])
        high_1, low_1 = _product(c2, MULTIPLIERS[1])
        c0, c1, c2, c3 = high_1 ^ c1 ^ k0, low_1, high_0 ^ c3 ^ k1, low_0
        k0, k1 = (k0 + KEY_STEPS[0]) & WORD, (k1 + KEY_STEPS[1]) & WORD
    return c0, c1, c2, c3


def random_words(seed: Key, counters: torch.Tensor, rounds: int = ROUNDS) -> Words:
    """Return what `tl.randint4x(seed, counters)` gives, as words without a sign.

    seed: an integer of 64 bits, or a tensor with one for each counter.
    """
    counters = counters.to(torch.int64)
    none = torch.zeros_like(counters)
    counter = (counters & WORD, (counters >> 32) & WORD, none, none)
    return philox(counter, (seed & WORD, (seed >> 32) & WORD), rounds)


def to_unit(words: torch.Tensor) -> torch.Tensor:
    """Return each word as a float32 number in [0, 1): its sign bit says whether it is flipped."""
    positive = torch.where(words > WORD // 2, WORD - words, words)
    return positive.to(torch.float32) * torch.tensor(TO_UNIT, dtype=torch.float32)


def uniform(seed: Key, counters: torch.Tensor) -> torch.Tensor:
    """Return what `tl.rand(seed, counters)` gives: float32 numbers in [0, 1)."""
    return to_unit(random_words(seed, counters)[0])


def elements(x: torch.Tensor) -> torch.Tensor:
    """Return the number of each element, row after row."""
    return torch.arange(x.numel()).reshape(x.shape)


def kept(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """Return which elements of x are kept: element number i where `tl.rand(seed, i) >= p`."""
    return uniform(seed, elements(x)) >= torch.tensor(p, dtype=torch.float32)


def dropout_residual(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """Return residual + x / (1 - p) where x is kept, and residual elsewhere."""
    return torch.where(kept(x, p, seed), residual + x / (1 - p), residual)


def dropout_residual_magnitude(
    x: torch.Tensor, residual: torch.Tensor, p: float, seed: int
) -> torch.Tensor:
    """Return the sum of the absolute values of the terms of each element."""
    return dropout_residual(x.abs(), residual.abs(), p, seed)
