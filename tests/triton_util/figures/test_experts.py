"""The picture of tiles of experts says in words what it shows."""

import pytest

from triton_util.figures.experts import expert_tiles


def test_each_expert_has_tiles_of_its_own() -> None:
    assert expert_tiles([3, 0, 2], block=2).alt == (
        "Experts with 3, 0 and 2 rows, tiles of 2: tile 0 has expert 0 and rows 0 and 1; tile 1 "
        "has expert 0 and rows 2; tile 2 has expert 2 and rows 3 and 4. Each row is with its own "
        "expert."
    )


def test_rows_that_are_cut_without_regard_meet_another_matrix() -> None:
    alt = expert_tiles([3, 0, 2], block=2, by_expert=False).alt
    assert "tile 1 has expert 0 and rows 2 and 3" in alt
    assert alt.endswith("In all, with another expert's matrix: rows 3 (marked !).")


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 12 tiles of 16 rows"):
        expert_tiles([13], block=1)
