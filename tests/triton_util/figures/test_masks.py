"""The picture of dropout masks says in words what it shows."""

import pytest

from triton_util.figures.masks import masks


def test_each_mask_is_compared_with_the_first() -> None:
    alt = masks({"a": [True, False], "b": [True, False], "c": [False, True]}).alt
    assert alt == (
        "Masks of 2 elements. a: drops 1; b: drops 1 (the same mask); c: drops 0 (another mask)."
    )


def test_a_mask_may_drop_nothing() -> None:
    assert "a: drops nothing." in masks({"a": [True]}).alt


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 24 elements"):
        masks({"a": [True] * 25})
