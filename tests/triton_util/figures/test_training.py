"""The pictures of a training say in words what they show."""

import pytest

from triton_util.figures.training import loss_curves, row_gradient


def test_the_gradient_of_a_row_is_told_class_by_class():
    assert row_gradient([0.0, 0.0], target=1).alt == (
        "One row of logits with target 1. class 0: share 0.50, gradient +0.50; "
        "class 1 (the target): share 0.50, gradient -0.50."
    )


def test_large_logits_do_not_overflow():
    assert "class 0 (the target): share 0.73" in row_gradient([1000.0, 999.0], target=0).alt


def test_a_curve_is_told_by_its_ends():
    alt = loss_curves({"yours": [3.0, 1.0], "torch": [3.0, 0.9]}).alt
    assert alt == (
        "Loss over steps. yours: from 3.00 in step 1 to 1.00 in step 2; "
        "torch: from 3.00 in step 1 to 0.90 in step 2."
    )


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="at most 12 classes"):
        row_gradient([0.0] * 13, target=0)
    with pytest.raises(ValueError, match="one to 3 trainings"):
        loss_curves({})
