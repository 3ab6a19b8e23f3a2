"""The text of the capstone: always the same, made of its own words and letters."""

import torch

from triton_util.capstone import grammar


def test_the_text_is_the_same_for_the_same_seed():
    assert grammar.text(50) == grammar.text(50)
    assert grammar.text(50) != grammar.text(50, seed=1)
    assert grammar.text(50) == grammar.text(60)[: len(grammar.text(50))]


def test_each_sentence_is_made_of_words_and_ends_with_a_stop():
    for line in grammar.text(300).splitlines():
        assert line.endswith(".")
        assert set(line[:-1].split(" ")) <= grammar.WORDS, line


def test_numbers_and_letters_are_each_others_inverse():
    text = grammar.text(20)
    numbers = grammar.numbers(text)
    assert numbers.dtype == torch.int64
    assert 0 <= int(numbers.min()) <= int(numbers.max()) < len(grammar.LETTERS)
    assert grammar.letters(numbers) == text


def test_words_that_are_known_are_counted_without_the_ends():
    assert grammar.known_words("ee the cat xyz a wa") == (3, 4)
    assert grammar.known_words("the") == (0, 0)
