"""The reference of dropout makes the numbers of Philox and of `tl.rand`, bit for bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from graders.course.randomness.reference import (
    dropout_residual,
    philox,
    random_words,
    to_unit,
    uniform,
)
from graders.judge.predictions import predictions

ROOT = Path(__file__).parents[2]
FULL = 0xFFFFFFFF
# Counter, key and result, as the authors of Philox publish them with their library Random123.
KNOWN = (
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((FULL,) * 4, (FULL,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)


@pytest.mark.parametrize(("counter", "key", "known"), KNOWN)
def test_the_generator_gives_what_its_authors_published(
    counter: tuple[int, ...], key: tuple[int, int], known: tuple[int, ...]
) -> None:
    c0, c1, c2, c3 = (torch.tensor([word]) for word in counter)
    assert tuple(int(word) for word in philox((c0, c1, c2, c3), key)) == known


def test_the_numbers_are_those_of_triton() -> None:
    done = subprocess.run(
        [sys.executable, "tests/course/run_random_numbers.py"],
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    compared = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["engine"] for row in compared} == {False, True}
    assert [row for row in compared if not (row["numbers"] and row["integers"])] == []


def test_every_word_becomes_a_number_from_0_to_below_1() -> None:
    numbers = to_unit(torch.tensor([0, 1, FULL // 2, FULL // 2 + 1, FULL - 1, FULL]))
    assert float(numbers.min()) == 0.0
    assert float(numbers.max()) < 1.0
    assert numbers[2] == numbers[3]  # a set sign bit flips all the others
    assert numbers[0] == numbers[5]


def test_numbers_of_one_seed_are_spread_evenly() -> None:
    numbers = uniform(5, torch.arange(100_000))
    in_tenths = torch.histc(numbers, bins=10, min=0.0, max=1.0)
    assert bool(((in_tenths - 10_000).abs() < 500).all())  # five standard deviations


def test_nothing_of_what_is_dropped_counts() -> None:
    x, residual = torch.full((2000,), float("nan"), dtype=torch.float64), torch.zeros(2000).double()
    share = float(dropout_residual(x, residual, 0.3, 7).isnan().double().mean())
    assert 0.6 < share < 0.8


def by_program(seed: int, block: int, count: int) -> torch.Tensor:
    """The numbers of a kernel that adds the program to the seed and counts the lanes."""
    i = torch.arange(count)
    return uniform(seed + i // block, i % block)


def test_a_bit_of_the_counter_turns_half_of_the_bits_over() -> None:
    """As the lesson's prediction says."""
    words = random_words(7, torch.arange(2048))[0].reshape(-1, 2)
    turned = [bin(int(a ^ b)).count("1") for a, b in words]
    answer = predictions()["bits_that_change"].answer
    assert abs(sum(turned) / len(turned) - answer) < 0.5


def test_what_the_case_study_says_of_two_block_sizes() -> None:
    forward, backward = by_program(7, 2048, 8192), by_program(7, 512, 8192)
    same = (forward == backward).reshape(-1, 512)
    assert bool(same[0].all())
    assert not bool(same[1:].any())
    assert torch.equal(by_program(7, 512, 1024)[512:], by_program(8, 512, 512))
