"""What the sizes of failing cases have in common."""

import pytest
import torch

from graders.judge.diagnosis.sizes import SeenCase, failing_sizes

PARAMETERS = ("x", "n_bins")
SIZES = (1, 7, 33, 64, 100, 128, 129, 192, 500, 1000, 1024)


def cases(fails, block=64, rows=3, sizes=SIZES):
    return [SeenCase((torch.empty(rows, n), 20), {"BLOCK_SIZE": block}, fails(n)) for n in sizes]


def test_more_than_one_block():
    code, text = failing_sizes(cases(lambda n: n > 64), PARAMETERS)
    assert code == "second-block-wrong"
    assert "`x.shape[1]` is larger than `BLOCK_SIZE` (64)" in text.message
    assert "all 7 failing cases are like that, and the 4 other cases are correct" in text.message


def test_a_block_that_is_not_full():
    code, text = failing_sizes(cases(lambda n: n % 64 != 0), PARAMETERS)
    assert code == "part-of-block-wrong"
    assert "`x.shape[1]` is not a multiple of `BLOCK_SIZE` (64)" in text.message


def test_a_block_that_is_no_argument_of_the_kernel():
    seen = [SeenCase(case.args, {}, case.failed) for case in cases(lambda n: n > 64)]
    code, text = failing_sizes(seen, PARAMETERS)
    assert code == "second-block-wrong"
    assert "is larger than 64" in text.message


def test_a_number_is_a_size_too():
    seen = [SeenCase((torch.empty(5), n), {"BINS": 64}, n > 64) for n in SIZES]
    _, text = failing_sizes(seen, PARAMETERS)
    assert "`n_bins` is larger than `BINS` (64)" in text.message


def test_blocks_that_change_with_the_case_have_no_number():
    seen = [
        SeenCase((torch.empty(3, n), 20), {"BLOCK_SIZE": block}, n > block)
        for n in SIZES
        for block in (16, 64)
    ]
    code, text = failing_sizes(seen, PARAMETERS)
    assert code == "second-block-wrong"
    assert "is larger than `BLOCK_SIZE`:" in text.message


def test_some_cases_may_be_right_by_chance():
    seen = cases(lambda n: n > 64 and n != 1000)
    assert failing_sizes(seen, PARAMETERS)[0] == "second-block-wrong"


@pytest.mark.parametrize(
    "fails",
    [
        pytest.param(lambda n: True, id="all fail"),
        pytest.param(lambda n: n in (33, 129), id="too few fail"),
        pytest.param(lambda n: n > 64 or n == 7, id="one fails that should not"),
        pytest.param(lambda n: n in (100, 129, 1000), id="most that should fail are right"),
    ],
)
def test_sizes_that_tell_nothing(fails):
    assert failing_sizes(cases(fails), PARAMETERS) is None


def test_nothing_is_told_of_no_cases():
    assert failing_sizes([], PARAMETERS) is None
