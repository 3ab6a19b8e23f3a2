"""The map of a result: its cells, its blocks, and what stands beside it where all is wrong."""

import json
from dataclasses import asdict

import torch

from graders.judge.diagnosis.picture import draw
from triton_util.plain_data import read
from triton_util.report import Picture


def wrong_at(shape: tuple[int, ...], *places: object) -> torch.Tensor:
    wrong = torch.zeros(shape, dtype=torch.bool)
    for place in places:
        wrong[place] = True  # type: ignore[index]
    return wrong


def test_a_small_matrix_has_a_cell_for_each_element():
    wrong = wrong_at((2, 3), (0, 1), (1, 2))
    never = wrong_at((2, 3), (1, 2))
    found = draw(wrong, never)
    assert found.rows == (".x.", "..o")
    assert (found.shape, found.step, found.block) == ((2, 3), (1, 1), None)
    assert "2 of 6 elements are wrong (33 %); no program stored 1 of them" in found.caption


def test_a_cell_of_many_elements_says_which_share_is_wrong_and_not_the_worst():
    """194 wrong elements of 2,040 coloured half of the map when a cell showed its worst one."""
    wrong = wrong_at((64, 128), (slice(None), 0), (slice(32, None), slice(64, None)))
    found = draw(wrong, None)
    assert found.step == (2, 2)
    assert found.rows[0] == "5" + "." * 63
    assert found.rows[-1] == "5" + "." * 31 + "x" * 32


def test_cells_end_where_blocks_end():
    found = draw(wrong_at((100, 150), (99, 149)), None, block=(32, 16))
    assert found.step == (4, 4)
    assert (found.shape, found.block) == ((100, 150), (32, 16))
    found = draw(wrong_at((100, 2000), (99, 1999)), None, block=(32, 16))
    assert found.step == (4, 32)


def test_a_line_of_a_vector_is_a_block_of_its_kernel():
    found = draw(wrong_at((1000,), 999), None, block=(256,))
    assert found.shape == (4, 256)
    assert found.elements == 1000
    assert found.step == (1, 4)
    assert found.rows[-1].rstrip() == "." * 57 + "2"  # 232 of 256 elements are there
    assert draw(wrong_at((1000,), 999), None, block=(4,)).block == (0, 4)
    assert draw(wrong_at((5,), 4), None).rows == ("....x",)


def test_where_all_is_wrong_numbers_stand_beside_numbers():
    got, expected = torch.zeros(8, 8), torch.arange(64.0).reshape(8, 8)
    found = draw(got != expected + 1, None, (got, expected))
    assert found.rows == ()
    assert [side.name for side in found.sides] == ["got", "expected"]
    assert found.sides[1].rows[1] == ("8", "9", "10", "11")
    assert "One cell" not in found.caption
    few = draw(wrong_at((8, 8), (0, 0)), None, (got, expected))
    assert few.sides == ()


def test_a_picture_is_shown_as_one():
    expected = torch.linspace(0, 255, 64).reshape(8, 8)
    found = draw(wrong_at((8, 8), (0, 0)), None, (expected.flip(0), expected), pixels=True)
    got, right = found.sides
    assert right.pixels[0][:2] == "00"
    assert right.pixels[-1][-2:] == "ff"
    assert got.pixels == right.pixels[::-1]
    assert found.rows  # the map stands below


def test_json_and_back():
    values = torch.zeros(3, 40), torch.ones(3, 40)
    found = draw(wrong_at((3, 40), slice(None)), None, values, block=(1, 8))
    assert read(Picture, json.loads(json.dumps(asdict(found)))) == found
    assert read(Picture, {"rows": [".x"], "caption": "old"}) == Picture((".x",), "old")
