"""What a launch was given, in a sentence."""

from __future__ import annotations

from typing import Any

import torch

from graders.judge.diagnosis.store_targets import handed
from graders.judge.records import Evidence, LaunchFacts
from graders.judge.sandbox.report_reader import parse

X, BIAS = torch.ones(64, 20), torch.ones(20)


def told(**given: Any) -> str:
    launch = LaunchFacts("kernel", (4, 2, 1), {}, given=given)
    return handed(Evidence((X, BIAS), X, None, None, launches=(launch,)), ("x", "bias"))


def test_the_numbers_and_the_grid_are_named() -> None:
    said = told(x_ptr="tensor (64, 20)", n_rows=64, strides="(20, 1)", BLOCK=16)
    assert said == (
        "The kernel gets x_ptr = tensor (64, 20), n_rows = 64, strides = (20, 1), BLOCK = 16, "
        "on the grid (4, 2, 1)."
    )
    assert told() == ""


def test_words_that_are_no_shape_are_left_out() -> None:
    assert told(n=4, mode="the points are mine") == "The kernel gets n = 4, on the grid (4, 2, 1)."


def test_a_tensor_that_arrives_under_the_name_of_another() -> None:
    swapped = told(x_ptr="tensor (20,)", bias_ptr="tensor (64, 20)")
    assert "x_ptr gets a tensor of the shape of bias" in swapped
    assert "gets a tensor" not in told(x_ptr="tensor (64, 20)", bias_ptr="tensor (20,)")
    assert "gets a tensor" not in told(x_ptr="tensor (32, 20)", bias_ptr="tensor (20,)")


def test_a_worker_that_forges_its_arguments_gives_numbers_and_short_texts() -> None:
    launch = b'{"kernel": "k", "grid": [1], "given": {"n": 4, "m": [1], "t": "tensor (4,)"}}'
    (read,) = parse(b'{"launches": [' + launch + b"]}").launches
    assert read.given == {"n": 4, "t": "tensor (4,)"}
    (none,) = parse(b'{"launches": [{"kernel": "k", "grid": [1], "given": [1]}]}').launches
    assert none.given == {}
