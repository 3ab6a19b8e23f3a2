"""The picture of a scan says in words what it shows."""

import pytest

from triton_util.figures.scans import scans


def test_what_is_carried_is_the_sum_of_all_blocks_before():
    alt = scans([3, 1, 4, 1, 5], 2).alt
    assert alt.startswith("A scan of 5 numbers in blocks of 2. x: 3, 1, 4, 1 and 5;")
    assert "each block scanned alone: 3, 4, 4, 5 and 5" in alt
    assert "carried into the block: 0, 0, 4, 4 and 9" in alt
    assert "running sums: 3, 4, 8, 9 and 14" in alt


@pytest.mark.parametrize(("numbers", "block"), [(range(17), 4), (range(4), 0)])
def test_what_it_cannot_show_is_refused(numbers, block):
    with pytest.raises(ValueError, match="at most 16"):
        scans(list(numbers), block)
