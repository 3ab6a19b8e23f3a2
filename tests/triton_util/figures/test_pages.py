"""The picture of a cache in pages says in words what it shows."""

import pytest

from triton_util.figures.pages import pages


def test_it_says_whose_pages_they_are() -> None:
    alt = pages([[2, 0, 1], [1, 9, 9], [9, 9, 9]], [6, 4, 0], 4, 4).alt
    assert alt == (
        "A cache of 4 pages with 4 slots each. Sequence A has 6 keys in pages 2, 0, in this order, "
        "2 slots of the last one. Sequence B has 4 keys in pages 1, in this order, 4 slots of the "
        "last one. Sequence C has 0 keys in no page. Pages of nobody: 3."
    )


def test_a_cache_may_be_full() -> None:
    assert "nobody" not in pages([[0]], [1], 2, 1).alt


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 12 pages"):
        pages([[0]], [1], 4, 13)
