"""The arguments on which speed is measured: drawn twice from one seed, they are the same."""

from __future__ import annotations

import pytest
import torch

from graders.judge import discovery
from graders.judge.records import TensorSpec, Workload
from graders.judge.sandbox import protocol
from graders.judge.sandbox.job_tensors_gpu import drawn
from graders.judge.sandbox.protocol import Draw, TensorPlace
from graders.judge.sandbox.work import Drawn
from graders.judge.speed import inputs
from graders.judge.speed.inputs import prepare

RELU = discovery.exercise("relu2d")


def place(draw: Draw, dtype: str = "float32") -> TensorPlace:
    region = protocol.Region(0, 0, 60 * protocol.dtype_of(dtype).itemsize)
    return TensorPlace(region, dtype, (4, 5), (12, 2), 3, draw)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_seed_gives_the_same_values_to_everybody(dtype: str) -> None:
    draw = Draw(7, scale=2.0, shift=10.0)
    first, second = (drawn(place(draw, dtype), draw, "cpu") for _ in range(2))
    views = [storage.as_strided((4, 5), (12, 2), 3) for storage in (first, second)]
    assert torch.equal(*views)
    other = drawn(place(draw, dtype), Draw(8), "cpu").as_strided((4, 5), (12, 2), 3)
    assert not torch.equal(views[0], other)
    assert 5 < float(views[0].double().mean()) < 15, "scale and shift count"


@pytest.mark.parametrize(
    "spec",
    [
        TensorSpec((4,), dtype=torch.int32),
        TensorSpec((4,), dtype=torch.float8_e4m3fn),
        TensorSpec((4,), fill="ramp"),
        TensorSpec((4,), values=(1.0, 2.0, 3.0, 4.0)),
        TensorSpec((4,), garbage=((1, 2),)),
    ],
    ids=str,
)
def test_what_no_gpu_draws_is_carried_there(spec: TensorSpec) -> None:
    assert isinstance(inputs._argument(spec, 1), torch.Tensor)


def test_normal_values_are_left_to_the_gpu() -> None:
    found = inputs._argument(TensorSpec((4, 5), view="transposed"), 1)
    assert isinstance(found, Drawn)
    assert (found.shape, found.strides) == ((4, 5), (1, 4))


def test_two_sets_differ_and_their_bytes_are_counted() -> None:
    found = prepare(RELU, Workload("64", (TensorSpec((64, 64)),), 1.0, torch.relu))
    (first,), (second,) = found.sets
    assert not torch.equal(first, second)
    assert found.least_bytes == (64 * 64 * 4.0, 64 * 64 * 4.0)
