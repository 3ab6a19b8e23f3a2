"""What a wrong result looks like, where no mistake is known that computes it."""

import pytest
import torch

from graders.judge.diagnosis import shapes
from graders.judge.records import Evidence


def evidence(wrong, again=None):
    right = torch.zeros(wrong.shape)
    return Evidence((), right, right + wrong, None, again=again)


def shows(shape, wrong, again=None):
    return shape(evidence(wrong, again), wrong)


def rows(wrong, columns=20):
    return torch.tensor(wrong)[:, None].expand(len(wrong), columns).clone()


def test_wrong_in_later_rounds_alone():
    again = rows([False, True, False, True])
    assert shows(shapes.in_later_rounds, again, again)
    assert not shows(shapes.in_later_rounds, ~again, again)
    assert not shows(shapes.in_later_rounds, again)
    few = torch.zeros_like(again)
    few[1, 3] = True
    assert not shows(shapes.in_later_rounds, few, again)


def test_the_first_row_alone_is_right():
    assert shows(shapes.only_first_row_right, rows([False, True, True, True]))
    assert not shows(shapes.only_first_row_right, rows([False, True, False, True]))
    assert not shows(shapes.only_first_row_right, rows([True, True, True, True]))
    assert not shows(shapes.only_first_row_right, rows([False, True]))


@pytest.mark.parametrize("turned", [False, True])
def test_the_first_of_each_so_many_is_right(turned):
    wrong = rows([number % 4 != 0 for number in range(14)])
    wrong = wrong.t() if turned else wrong
    assert shows(shapes.first_of_each_right, wrong)
    assert not shows(shapes.first_of_each_right, ~wrong)
    wrong[5, 7] = False
    assert shows(shapes.first_of_each_right, wrong)  # a line is wrong where any of it is


def test_the_first_of_too_few_tiles_may_be_chance():
    assert not shows(shapes.first_of_each_right, rows([number % 8 != 0 for number in range(16)]))
